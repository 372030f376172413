//! Clause 3: what happens at each moment of a worker that runs out of work. A
//! moment is what lies between two of its operations on the types of
//! `primitives`.

use std::collections::VecDeque;

use super::*;

/// How long a thread that may hold a lock waits for another one.
const SHORT: Duration = Duration::from_millis(5);
/// How often a check looks whether a worker sleeps, and for how many times.
const LOOK: Duration = Duration::from_micros(200);
const LOOKS: usize = 25;
/// A task that hasn't begun by then, although workers are parked, is kept by a worker.
const LONG: Duration = Duration::from_millis(20);
/// A task that hasn't begun by then waits forever.
const PATIENCE: Duration = Duration::from_secs(5);

/// Clause 3: a worker's last look, and the queues that it looks at.
#[test]
fn tasks_that_a_worker_spawns_as_another_falls_asleep_are_stolen() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "A task spawns two tasks at any moment at which another worker falls asleep. While \
                  the task is in its poll, the other worker runs one of the two.",
        usual_cause: "A worker announces that it parks, and after that looks only into the global \
                      queue: into those of the other workers it looked before. What was spawned in \
                      between notified nobody, because this worker was still searching. Look into \
                      all queues again.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check(lesson, || {
        let runtime = runtime(2);
        let mut moment = 0;
        while spawn_two_at(moment, &runtime) {
            moment += 1;
        }
    });
}

/// Has a task on one worker spawn two tasks at this moment of the other worker,
/// counted from the end of a poll. Returns `false` if that worker slept before.
fn spawn_two_at(moment: usize, runtime: &Runtime) -> bool {
    let (order, ordered) = mpsc::channel();
    let (spawned, are_spawned) = mpsc::channel();
    let (ran, has_run) = mpsc::channel();
    let begun = Arc::new(Gate::new());
    let signal = begun.clone();
    let spawning = runtime.spawn(async move {
        signal.open();
        ordered.recv().expect("it's sent");
        for _ in 0..2 {
            let ran = ran.clone();
            drop(spawn(async move {
                // The check may be over.
                let _ = ran.send(());
            }));
        }
        let _ = spawned.send(());
        has_run.recv_timeout(PATIENCE).is_ok()
    });
    begun.wait();
    // The other worker polls this one.
    let (sender, worker) = mpsc::channel();
    let has_happened = Arc::new(AtomicBool::new(false));
    let (happened, ordering) = (has_happened.clone(), order.clone());
    drop(runtime.spawn(async move {
        plan_moment(moment, move || {
            happened.store(true, SeqCst);
            // If this worker holds a lock, the tasks may have to wait for it.
            if ordering.send(()).is_ok() {
                let _ = are_spawned.recv_timeout(SHORT);
            }
        });
        sender.send(ThreadProbe::here()).expect("it's received");
    }));
    let worker = worker.recv().expect("it's sent");
    let mut naps = 0;
    while !has_happened.load(SeqCst) && naps < 3 {
        thread::sleep(Duration::from_millis(1));
        naps += usize::from(worker.is_asleep() != Some(false));
    }
    let is_awake = has_happened.load(SeqCst);
    // It may have slept all along, and must then be woken.
    let _ = order.send(());
    let has_run = runtime.block_on(spawning).expect("the task returns");
    let (when, what) = match is_awake {
        true => ("as another worker fell asleep", "that worker sleeps"),
        false => ("while another worker slept", "that worker sleeps on"),
    };
    assert!(
        has_run,
        "a task spawned two tasks {when}, and goes on. None of the two has begun for {PATIENCE:?}: \
         {what}"
    );
    is_awake
}

/// Clause 3: tasks on their way from one queue to another are in neither.
#[test]
fn what_a_thief_carries_is_not_overlooked() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "A worker steals several tasks. No matter when the others look for some, each of \
                  the tasks begins while the first ones are in long polls.",
        usual_cause: "Each push unparks one worker, and so none calls the next. But a worker may \
                      look while a thief has taken tasks out of one queue and hasn't put them into \
                      its own yet: it sees nothing, and parks. So a thief that has several has to \
                      notify; or a worker that parks looks again once no other is searching.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check(lesson, || {
        let runtime = runtime(4);
        let has_slot = keeps_what_it_spawns(&runtime);
        // A queue from which a thief takes some seems empty only once its owner has
        // taken the rest.
        for (count, ends) in [(3, false), (3, true), (4, true)] {
            for moment in 0..MOST {
                // A thief may begin at another queue each time.
                let are_reached = [(); TRIES].map(|()| {
                    steal_at(moment, count, ends, &runtime.handle(), has_slot)
                });
                if are_reached == [false; TRIES] {
                    break;
                }
            }
        }
    });
}

/// How often a moment of a thief is tried.
const TRIES: usize = 4;
/// A worker hardly makes so many operations from the end of a poll until it sleeps.
const MOST: usize = 150;

/// Has a task spawn some others. One worker stops at this moment. Then the poll of the
/// former task may end, and two more workers look for work. Checks that all of
/// those that were spawned begin. Returns `false` if the worker found one or
/// slept before that moment.
fn steal_at(
    moment: usize,
    count: usize,
    ends: bool,
    handle: &Handle,
    has_slot: bool,
) -> bool {
    let mut scene = Scene::new(handle, [&[], &[moment], &[], &[]], has_slot);
    let [spawning, thief] = [0, 1];
    scene.spawn_on(spawning, count);
    let is_reached = scene.let_go(thief);
    let others = [2, 3].into_iter().chain(ends.then_some(spawning));
    for at in others.rev().chain([thief]) {
        scene.let_go(at);
    }
    let begun = scene.begun_of(count);
    assert!(
        begun == count,
        "a worker in a poll spawned {count} tasks. One that had run out of work looked for some, \
         and meanwhile two others did, too. After {PATIENCE:?}, {begun} of these tasks had begun, \
         and a worker slept"
    );
    is_reached
}

/// Clause 3: a worker that is notified of one task may have found another.
#[test]
fn a_worker_that_is_notified_on_its_way_leaves_no_task_alone() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "Two workers run out of work, while the two others are in polls that each spawn a \
                  task, at any moment. Each of the two tasks begins.",
        usual_cause: "A worker looks again before it parks, sees a task, and goes for it. While \
                      it's still listed as parked, `notify` chooses it for another task. It takes \
                      one of the two, and no worker is notified of the other: another one that \
                      parks looked into that queue before. So a worker that has been listed and \
                      finds work has to look at all queues again, or to call `notify`, before it \
                      polls.",
        read: "scheduler/work-stealing.html#the-worker-loop",
    };
    check(lesson, || {
        let runtime = runtime(4);
        let handle = runtime.handle();
        let has_slot = keeps_what_it_spawns(&runtime);
        for first in 0..MOST {
            let mut is_reached = false;
            for later in [7, 11] {
                for spawners in [[0, 3], [3, 0]] {
                    for order in [[1, 2], [2, 1]] {
                        let moments = [first, later];
                        is_reached |= spawn_at(
                            moments, spawners, order, &handle, has_slot,
                        );
                    }
                }
            }
            if !is_reached {
                break;
            }
        }
    });
}

/// Has two of four workers stop at the first moment, and then so many operations
/// later. Each time, one of the others spawns a task. Then lets the two go on, in
/// this order, and checks that both of what was spawned begin. Returns `false` if
/// the first of the two slept before the first moment.
fn spawn_at(
    moments: [usize; 2],
    spawners: [usize; 2],
    order: [usize; 2],
    handle: &Handle,
    has_slot: bool,
) -> bool {
    let stepped = [1, 2];
    let mut scene =
        Scene::new(handle, [&[], &moments, &moments, &[]], has_slot);
    let mut is_reached = None;
    for spawner in spawners {
        for at in stepped {
            let has_stopped = scene.let_go(at);
            is_reached.get_or_insert(has_stopped);
        }
        scene.spawn_on(spawner, 1);
    }
    for at in order {
        scene.let_go(at);
    }
    let begun = scene.begun_of(2);
    assert!(
        begun == 2,
        "while two workers ran out of work, each of two others spawned a task in a poll. After \
         {PATIENCE:?}, {begun} of the two tasks had begun, and a worker slept"
    );
    is_reached == Some(true)
}

/// Returns whether a task that a worker in a poll has spawned stays where no other
/// worker can take it. If a worker takes too long to come, it seems so.
fn keeps_what_it_spawns(runtime: &Runtime) -> bool {
    let spawning = BusyWorker::new(&runtime.handle());
    let (begun, has_begun) = mpsc::channel();
    spawning.begin(move || {
        drop(spawn(async move {
            // The check may be over.
            let _ = begun.send(());
        }));
    });
    has_begun.recv_timeout(LONG).is_err()
}

/// Four workers in polls, in the order in which their threads began. Once a poll has
/// ended, the worker stops at some of its moments until it's told to go on.
struct Scene {
    workers: [Stepped; 4],
    /// Whether a worker keeps the last task that it has spawned.
    has_slot: bool,
    sender: mpsc::Sender<Seen>,
    seen: mpsc::Receiver<Seen>,
    begun: usize,
    /// Until then, the tasks that were spawned are in their polls.
    end: Opener,
}

struct Stepped {
    thread: ThreadProbe,
    /// While it's in its poll.
    worker: Option<BusyWorker>,
    go_on: Option<mpsc::Sender<()>>,
    stops: Option<Stops>,
}

/// What the thread of a worker needs to know of its stops.
struct Stops {
    /// Each counted from the stop before, and the first from the end of the poll.
    moments: VecDeque<usize>,
    sender: mpsc::Sender<Seen>,
    goes_on: mpsc::Receiver<()>,
}

/// What a worker does.
enum Seen {
    Stopped,
    Begun,
}

impl Stops {
    /// Plans the next stop of this thread.
    fn plan(mut self) {
        let Some(moment) = self.moments.pop_front() else {
            return;
        };
        plan_moment(moment, move || {
            // The check may be over.
            let has_stopped = self.sender.send(Seen::Stopped).is_ok();
            if has_stopped && self.goes_on.recv().is_ok() {
                self.plan();
            }
        });
    }
}

impl Scene {
    fn new(handle: &Handle, moments: [&[usize]; 4], has_slot: bool) -> Self {
        let (sender, seen) = mpsc::channel();
        let mut workers = [(); 4].map(|()| {
            let (worker, (id, thread)) =
                BusyWorker::beginning_with(handle, || {
                    (thread::current().id(), ThreadProbe::here())
                });
            let (go_on, goes_on) = mpsc::channel();
            let stops = Stops {
                moments: VecDeque::new(),
                sender: sender.clone(),
                goes_on,
            };
            let stepped = Stepped {
                thread,
                worker: Some(worker),
                go_on: Some(go_on),
                stops: Some(stops),
            };
            (format!("{id:?}"), stepped)
        });
        workers.sort_by_key(|(id, _)| (id.len(), id.clone()));
        let mut workers = workers.map(|(_, worker)| worker);
        for (worker, moments) in workers.iter_mut().zip(moments) {
            let stops = worker.stops.iter_mut();
            stops.for_each(|stops| stops.moments.extend(moments));
        }
        Self {
            workers,
            has_slot,
            sender,
            seen,
            begun: 0,
            end: Opener::new(),
        }
    }

    /// Has a worker spawn so many tasks in its poll.
    fn spawn_on(&self, at: usize, count: usize) {
        let tasks = (0..count).map(|_| {
            let (sender, gate) = (self.sender.clone(), self.end.gate());
            async move {
                let _ = sender.send(Seen::Begun);
                gate.wait();
            }
        });
        let tasks: Vec<_> = tasks.collect();
        let has_slot = self.has_slot;
        let (spawned, are_spawned) = mpsc::channel();
        let worker = self.workers[at].worker.as_ref();
        worker.expect("it's in its poll").begin(move || {
            tasks.into_iter().for_each(|task| drop(spawn(task)));
            if has_slot {
                fill_slot();
            }
            let _ = spawned.send(());
        });
        // A worker that has stopped may hold a lock.
        let _ = are_spawned.recv_timeout(SHORT);
    }

    /// Lets a worker go on until it stops, begins a task or sleeps. Returns `true`
    /// if it has stopped.
    fn let_go(&mut self, at: usize) -> bool {
        let stepped = &mut self.workers[at];
        if let Some(worker) = stepped.worker.take() {
            let stops = stepped.stops.take();
            worker.begin(|| stops.into_iter().for_each(Stops::plan));
        } else if let Some(go_on) = &stepped.go_on {
            let _ = go_on.send(());
        }
        for _ in 0..LOOKS {
            match self.seen.recv_timeout(LOOK) {
                Ok(Seen::Stopped) => return true,
                Ok(Seen::Begun) => {
                    self.begun += 1;
                    return false;
                }
                Err(_) if stepped.thread.is_asleep() != Some(false) => break,
                Err(_) => {}
            }
        }
        false
    }

    /// Lets all go on that have stopped. Waits until so many tasks have begun, or
    /// for long, and returns how many have.
    fn begun_of(&mut self, count: usize) -> usize {
        self.workers
            .iter_mut()
            .for_each(|stepped| stepped.go_on = None);
        while self.begun < count {
            match self.seen.recv_timeout(PATIENCE) {
                Ok(Seen::Begun) => self.begun += 1,
                Ok(Seen::Stopped) => {}
                Err(_) => break,
            }
        }
        self.begun
    }
}
