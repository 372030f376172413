//! One task on one thread, by solution 12 and its peers:
//! `cargo bench -p benches --bench task`.
//!
//! The queue is the same for all, a `VecDeque` of this thread, and so part of
//! each figure.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use benches::table::{Estimates, Row, criterion_home, render};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};

/// Joined: spawned, run and awaited. Detached: the handle is dropped first.
/// Wake: woken by reference, and polled to be pending. Yield: run, and back in
/// the queue.
const WORKLOADS: [&str; 4] = ["joined", "detached", "wake", "yield"];

const ROWS: &[Row<'static>] = &[
    row("solution-12", "lists what waits; abort; panics caught"),
    row("recycling", "the same, with the memory of ended tasks kept"),
    #[cfg(feature = "mine-12")]
    row("exercise-12", "yours"),
    row("async-task", "no list; a dropped handle cancels"),
    row("arc-mutex", "Arc<Mutex<Box>>, no abort, no panics caught"),
];

const fn row<'a>(contender: &'a str, notes: &'a str) -> Row<'a> {
    Row { contender, notes }
}

/// A contender.
trait Tasks {
    type Task: 'static;
    type Handle: Future + Unpin;

    fn spawn<F>(future: F) -> (Self::Task, Self::Handle)
    where
        F: Future<Output = u32> + Send + 'static;
    fn detach(handle: Self::Handle) {
        drop(handle);
    }
    fn run(task: Self::Task);
    /// Takes the next task from this thread's queue.
    fn pop() -> Option<Self::Task>;
    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// A queue of this thread for the tasks of one contender.
macro_rules! queue_of {
    ($task:ty) => {
        thread_local! {
            static QUEUE: RefCell<VecDeque<$task>> = const { RefCell::new(VecDeque::new()) };
        }

        fn push(task: $task) {
            QUEUE.with_borrow_mut(|queue| queue.push_back(task));
        }

        fn pop() -> Option<$task> {
            QUEUE.with_borrow_mut(VecDeque::pop_front)
        }
    };
}

/// Contenders with the exercise's interface. `$more` stands in their scheduler.
macro_rules! with_our_interface {
    ($contender:ident, $module:ident, $task:ident, { $($more:tt)* }) => {
        struct $contender;

        mod $module {
            use super::*;

            #[derive(Clone)]
            pub struct Here;

            impl $task::Schedule for Here {
                $($more)*

                fn schedule(&self, task: $task::Runnable<Self>) {
                    push(task);
                }
            }

            queue_of!($task::Runnable<Here>);

            impl Tasks for $contender {
                type Task = $task::Runnable<Here>;
                type Handle = $task::JoinHandle<u32>;

                fn spawn<F>(future: F) -> (Self::Task, Self::Handle)
                where
                    F: Future<Output = u32> + Send + 'static,
                {
                    $task::spawn(future, Here)
                }

                fn run(task: Self::Task) {
                    task.run();
                }

                fn pop() -> Option<Self::Task> {
                    pop()
                }

                fn yield_now() -> impl Future<Output = ()> + Send {
                    $task::yield_now()
                }
            }
        }
    };
}

with_our_interface!(Solution, ours, solution_12, {});
with_our_interface!(Recycling, recycling, solution_12, {
    const RECYCLES: bool = true;
});
#[cfg(feature = "mine-12")]
with_our_interface!(Exercise, mine, exercise_12, {});

/// The crate that smol is built on.
struct AsyncTask;

mod via_async_task {
    use super::*;

    queue_of!(async_task::Runnable);

    impl Tasks for AsyncTask {
        type Task = async_task::Runnable;
        type Handle = async_task::Task<u32>;

        fn spawn<F>(future: F) -> (Self::Task, Self::Handle)
        where
            F: Future<Output = u32> + Send + 'static,
        {
            async_task::spawn(future, push)
        }

        fn detach(handle: Self::Handle) {
            handle.detach();
        }

        fn run(task: Self::Task) {
            task.run();
        }

        fn pop() -> Option<Self::Task> {
            pop()
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            solution_7::yield_now()
        }
    }
}

/// A task as one writes it first.
struct ArcMutex;

mod of_arc_and_mutex {
    use super::*;

    pub struct Task {
        future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
        is_queued: AtomicBool,
    }

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            if !self.is_queued.swap(true, SeqCst) {
                push(self);
            }
        }
    }

    #[derive(Default)]
    struct Slot {
        output: Option<u32>,
        waker: Option<Waker>,
    }

    pub struct Handle(Arc<Mutex<Slot>>);

    impl Future for Handle {
        type Output = u32;

        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u32> {
            let mut slot = self.0.lock().expect("no thread panics with it");
            match slot.output.take() {
                Some(output) => Poll::Ready(output),
                None => {
                    slot.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        }
    }

    queue_of!(Arc<Task>);

    impl Tasks for ArcMutex {
        type Task = Arc<Task>;
        type Handle = Handle;

        fn spawn<F>(future: F) -> (Self::Task, Self::Handle)
        where
            F: Future<Output = u32> + Send + 'static,
        {
            let slot = Arc::<Mutex<Slot>>::default();
            let handle = Handle(slot.clone());
            let future = async move {
                let output = future.await;
                let mut slot = slot.lock().expect("no thread panics with it");
                slot.output = Some(output);
                if let Some(waker) = slot.waker.take() {
                    waker.wake();
                }
            };
            let task = Task {
                future: Mutex::new(Some(Box::pin(future))),
                is_queued: AtomicBool::new(true),
            };
            (Arc::new(task), handle)
        }

        fn run(task: Self::Task) {
            task.is_queued.store(false, SeqCst);
            let waker = Waker::from(task.clone());
            let mut place = task.future.lock().expect("no thread panics with it");
            let Some(future) = &mut *place else { return };
            let mut cx = Context::from_waker(&waker);
            if future.as_mut().poll(&mut cx).is_ready() {
                *place = None;
            }
        }

        fn pop() -> Option<Self::Task> {
            pop()
        }

        fn yield_now() -> impl Future<Output = ()> + Send {
            solution_7::yield_now()
        }
    }
}

fn measure<T: Tasks>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str) {
    for workload in WORKLOADS {
        let id = BenchmarkId::new(name, workload);
        group.bench_function(id, |bencher| match workload {
            "joined" => bencher.iter(|| {
                let (task, mut handle) = T::spawn(async { black_box(7) });
                T::run(task);
                let mut cx = Context::from_waker(Waker::noop());
                black_box(Pin::new(&mut handle).poll(&mut cx).is_ready())
            }),
            "detached" => bencher.iter(|| {
                let (task, handle) = T::spawn(async { black_box(7) });
                T::detach(handle);
                T::run(task);
            }),
            "wake" => {
                let (waker, _handle) = spawn_waiting::<T>();
                bencher.iter(|| {
                    waker.wake_by_ref();
                    T::run(T::pop().expect("it was woken"));
                });
            }
            _ => {
                let (task, _handle) = T::spawn(async {
                    loop {
                        T::yield_now().await;
                    }
                });
                T::run(task);
                bencher.iter(|| T::run(T::pop().expect("it has yielded")));
                drop(T::pop());
            }
        });
    }
}

/// Spawns a task that is always pending, and returns its waker.
fn spawn_waiting<T: Tasks>() -> (Waker, T::Handle) {
    let out = Arc::new(Mutex::new(None));
    let mut leave = Some(out.clone());
    let (task, handle) = T::spawn(poll_fn(move |cx| {
        if let Some(out) = leave.take() {
            *out.lock().expect("no thread panics with it") = Some(cx.waker().clone());
        }
        Poll::Pending
    }));
    T::run(task);
    let waker = out.lock().expect("no thread panics with it").take();
    (waker.expect("the first poll has left it"), handle)
}

fn main() {
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(30)
        .configure_from_args();
    let estimates = Estimates::from_now_on("task");
    let mut group = criterion.benchmark_group("task");
    measure::<Solution>(&mut group, "solution-12");
    measure::<Recycling>(&mut group, "recycling");
    #[cfg(feature = "mine-12")]
    measure::<Exercise>(&mut group, "exercise-12");
    measure::<AsyncTask>(&mut group, "async-task");
    measure::<ArcMutex>(&mut group, "arc-mutex");
    group.finish();
    criterion.final_summary();

    println!("\nOne task, with its way through a queue of one thread:\n");
    let bases = ("async-task", "arc-mutex");
    println!(
        "{}",
        render(&estimates, ROWS, &WORKLOADS, &["joined", "wake"], bases)
    );
}
