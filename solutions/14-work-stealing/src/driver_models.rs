//! The models of the driver: a runtime whose workers wait in a driver, and
//! threads that fire events. The models' driver is a list of wakers.

use std::any::Any;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use primitives::{Condvar, Mutex, thread};

use super::driver::DriverSeat;
use super::{Driver, Runtime, yield_now};

/// The state that the driver shares with the threads that fire events.
#[derive(Default)]
struct Events {
    state: Mutex<State>,
    has_changed: Condvar,
}

#[derive(Default)]
struct State {
    has_token: bool,
    /// For each event, the waker of the task that waits for it.
    waiting: [Option<Waker>; 2],
    is_over: [bool; 2],
    /// The wakers that the driver has to wake.
    ready: Vec<Waker>,
    /// How many tasks have seen their event.
    seen_count: usize,
}

impl Events {
    fn fire(&self, number: usize) {
        let mut state = self.state.lock().unwrap();
        state.is_over[number] = true;
        if let Some(waker) = state.waiting[number].take() {
            state.ready.push(waker);
            self.has_changed.notify_all();
        }
    }

    async fn wait_for(&self, number: usize) {
        poll_fn(|cx| {
            let mut state = self.state.lock().unwrap();
            if state.is_over[number] {
                return Poll::Ready(());
            }
            state.waiting[number] = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Blocks the thread until so many tasks have called this.
    fn meet(&self, tasks: usize) {
        let mut state = self.state.lock().unwrap();
        state.seen_count += 1;
        self.has_changed.notify_all();
        while state.seen_count < tasks {
            state = self.has_changed.wait(state).unwrap();
        }
    }
}

struct ModelDriver(Arc<Events>);

impl Driver for ModelDriver {
    fn unparker(&self) -> Box<dyn Fn() + Send + Sync> {
        let events = self.0.clone();
        Box::new(move || {
            events.state.lock().unwrap().has_token = true;
            events.has_changed.notify_all();
        })
    }

    fn handle(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(())
    }

    fn wait(&mut self) {
        let mut state = self.0.state.lock().unwrap();
        while !state.has_token && state.ready.is_empty() {
            state = self.0.has_changed.wait(state).unwrap();
        }
        state.has_token = false;
    }

    fn look(&mut self) {}

    fn dispatch(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let mut state = self.0.state.lock().unwrap();
            if state.ready.is_empty() {
                return false;
            }
            let waker = state.ready.remove(0);
            drop(state);
            waker.wake();
        }
        !self.0.state.lock().unwrap().ready.is_empty()
    }

    fn shut_down(&mut self) {}
}

fn runtime(workers: usize) -> (Runtime, Arc<Events>) {
    let events = Arc::new(Events::default());
    let driver = ModelDriver(events.clone());
    let built = Runtime::builder().worker_threads(workers).build_on(driver);
    (built.expect("there are threads left"), events)
}

#[cfg(feature = "loom")]
fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    primitives::model_within(preemptions, body);
}

#[cfg(all(feature = "shuttle", not(feature = "loom")))]
fn model(_preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    primitives::model(body);
}

/// Another thread spawns a task and then drops the runtime, while the worker is
/// about to wait in the driver.
#[test]
fn an_unpark_in_the_driver_is_not_lost() {
    // Three preemptions: the worker has to count as parked, then the other
    // thread looks for the occupant, then the worker takes the seat and waits,
    // and only then comes the token. With fewer, the model accepts a `notify`
    // that looks for the occupant before it leaves the token.
    model(3, || {
        let (runtime, _events) = runtime(1);
        let task = runtime.spawn(async { 42 });
        assert_eq!(runtime.block_on(task).expect("it returns"), 42);
    });
}

/// The event fires while the worker is about to wait, or before that.
#[test]
fn an_event_wakes_its_task() {
    model(1, || {
        let (runtime, events) = runtime(1);
        let waited_for = events.clone();
        let task = runtime.spawn(async move { waited_for.wait_for(0).await });
        events.fire(0);
        runtime.block_on(task).expect("it returns");
    });
}

/// A worker that has left the driver blocks in a poll until another worker
/// polls the task of the second event.
#[test]
fn the_driver_is_handed_on() {
    model(1, || hand_on(Machine::Quiet));
}

/// The same where the worker that leaves the driver keeps both tasks, if it's
/// watched.
#[test]
fn the_driver_is_handed_on_on_a_crowded_machine() {
    model(1, || hand_on(Machine::Crowded));
}

fn hand_on(machine: Machine) {
    let (runtime, events) = runtime(2);
    machine.make(&runtime);
    let tasks = [0, 1].map(|number| {
        let events = events.clone();
        runtime.spawn(async move {
            events.wait_for(number).await;
            events.meet(2);
        })
    });
    let firing = thread::spawn(move || {
        events.fire(0);
        events.fire(1);
    });
    firing.join().expect("it doesn't panic");
    for task in tasks {
        runtime.block_on(task).expect("it returns");
    }
}

/// One worker parks while the other, busy one looks at the driver. Then the
/// busy worker blocks in a poll until the event has reached its task.
#[test]
fn a_look_leaves_no_gap() {
    model(1, || look(Machine::Quiet));
}

/// The same where one of the workers serves the driver alone.
#[test]
fn a_look_leaves_no_gap_on_a_crowded_machine() {
    model(1, || look(Machine::Crowded));
}

fn look(machine: Machine) {
    let (runtime, events) = runtime(2);
    machine.make(&runtime);
    let waited_for = events.clone();
    let waiting = runtime.spawn(async move {
        waited_for.wait_for(0).await;
        waited_for.meet(2);
    });
    let busy = runtime.spawn(async move {
        for _ in 0..3 {
            yield_now().await;
        }
        events.fire(0);
        events.meet(2);
    });
    for task in [waiting, busy] {
        runtime.block_on(task).expect("it returns");
    }
}

/// What the workers take the machine for.
#[derive(Clone, Copy)]
enum Machine {
    Quiet,
    Crowded,
}

impl Machine {
    /// On a crowded machine, the first worker serves the driver alone from the
    /// start.
    fn make(self, runtime: &Runtime) {
        if let Self::Crowded = self {
            let shared = runtime.handle().shared().clone();
            let seat = shared.driver.as_ref().expect("it has a driver");
            seat.set_crowded(Some(seat.made() + Duration::from_secs(1)));
            seat.set_alone(0, true);
        }
    }
}

/// The same with three workers. One leaves the driver and blocks. Another one,
/// which watches the driver, gets a token, takes a remote task and blocks, too.
/// The third one has to take the driver.
#[cfg(all(feature = "shuttle", not(feature = "loom")))]
#[test]
fn a_token_that_ends_the_watch_leaves_no_gap() {
    model(1, || {
        let (runtime, events) = runtime(3);
        let mut tasks = Vec::from([0, 1].map(|number| {
            let events = events.clone();
            runtime.spawn(async move {
                events.wait_for(number).await;
                events.meet(3);
            })
        }));
        let firing = events.clone();
        let firing = thread::spawn(move || {
            firing.fire(0);
            firing.fire(1);
        });
        // A worker that gets up before its token has come finds the token when
        // it parks again.
        let shared = runtime.handle().shared().clone();
        let unparking = thread::spawn(move || {
            let seat = shared.driver.as_ref().expect("it has a driver");
            for (worker, remote) in shared.workers.iter().enumerate() {
                remote.unparker.unpark();
                seat.unpark(worker);
            }
        });
        tasks.push(runtime.spawn(async move { events.meet(3) }));
        for thread in [firing, unparking] {
            thread.join().expect("it doesn't panic");
        }
        for task in tasks {
            runtime.block_on(task).expect("it returns");
        }
    });
}

/// A worker ends its watch of the seat while another one leaves the seat. If
/// the one that leaves relies on the watch, the other finds the seat free.
#[test]
fn a_watch_and_a_departure_do_not_miss_each_other() {
    model(3, || {
        let driver = ModelDriver(Arc::default());
        let seat = Arc::new(DriverSeat::new(Box::new(driver)));
        let occupant = seat.try_take(0).expect("it's free");
        assert!(seat.begin_watch());
        let watched = seat.clone();
        let watching = thread::spawn(move || watched.end_watch());
        drop(occupant);
        let relies_on_watch = seat.is_watched_after_departure();
        let finds_it_free = watching.join().expect("it doesn't panic");
        assert!(finds_it_free || !relies_on_watch, "the seat stays empty");
    });
}
