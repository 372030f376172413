//! The schedulers that are measured, behind one interface, and what they are
//! measured by.

mod deque_pool;
pub mod load;
pub mod measure;
mod one_queue;
pub mod workloads;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::thread::{self, JoinHandle};

use async_executor::Executor;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::executor::ThreadPool;
use futures::task::SpawnExt;

pub use deque_pool::DequePool;
pub use one_queue::{OneQueue, Sharded};

/// A scheduler with its threads, which end when it is dropped.
pub trait Scheduler: Sized {
    /// What a task spawns others with.
    type Spawner: Spawn;
    /// Starts so many workers.
    fn start(workers: usize) -> Self;
    /// Runs a future on this thread, which is no worker.
    fn block_on<F: Future>(&self, future: F) -> F::Output;
    /// Spawns a task from this thread, and returns what awaits its end.
    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static;
    /// Makes what a task takes along.
    fn spawner(&self) -> Self::Spawner;
}

/// Spawns tasks from within [`Scheduler::block_on`] and from tasks.
pub trait Spawn: Clone + Send + 'static {
    /// Spawns a task that nobody awaits.
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F);
    /// The way to yield that belongs to this scheduler.
    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// Yields as any future may: wakes itself. The way of 2019.
pub async fn wake_itself() {
    let mut is_woken = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut is_woken, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// tokio's multi-thread runtime, without drivers.
pub struct Tokio(tokio::runtime::Runtime);

/// Spawns on the tokio runtime of this thread.
#[derive(Clone)]
pub struct TokioSpawner;

impl Scheduler for Tokio {
    type Spawner = TokioSpawner;

    fn start(workers: usize) -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(workers).build();
        Self(runtime.expect("the threads can be started"))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.spawn(future)
    }

    fn spawner(&self) -> TokioSpawner {
        TokioSpawner
    }
}

impl Spawn for TokioSpawner {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        drop(tokio::spawn(future));
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }
}

/// Makes contenders of those who have the interface of exercise 14.
#[macro_export]
macro_rules! runtime {
    ($name:ident, $spawner:ident, $package:ident) => {
        #[doc = concat!("The runtime of `", stringify!($package), "`.")]
        pub struct $name($package::Runtime);

        #[doc = concat!("Spawns on the `", stringify!($package), "` runtime of this thread.")]
        #[derive(Clone)]
        pub struct $spawner;

        impl $crate::schedulers::Scheduler for $name {
            type Spawner = $spawner;

            fn start(workers: usize) -> Self {
                let mut builder = $package::Runtime::builder();
                let runtime = builder.worker_threads(workers).build();
                Self(runtime.expect("the threads can be started"))
            }

            fn block_on<F: Future>(&self, future: F) -> F::Output {
                self.0.block_on(future)
            }

            fn spawn<F>(&self, future: F) -> impl Future
            where
                F: Future<Output = ()> + Send + 'static,
            {
                self.0.spawn(future)
            }

            fn spawner(&self) -> $spawner {
                $spawner
            }
        }

        impl $crate::schedulers::Spawn for $spawner {
            fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
                drop($package::spawn(future));
            }

            fn yield_now() -> impl Future<Output = ()> + Send {
                $package::yield_now()
            }
        }
    };
}

runtime!(Solution14, Solution14Spawner, solution_14);

/// `async-executor`, run by threads that do nothing else.
pub struct AsyncExecutor {
    executor: Arc<Executor<'static>>,
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Scheduler for AsyncExecutor {
    type Spawner = Arc<Executor<'static>>;

    fn start(workers: usize) -> Self {
        let executor = Arc::new(Executor::new());
        let (stop, stopped) = oneshot::channel();
        let stopped = stopped.shared();
        let run = |_| {
            let (executor, stopped) = (executor.clone(), stopped.clone());
            thread::spawn(move || {
                // An error says that the sender is gone, which is how it stops.
                let _ = futures_lite::future::block_on(executor.run(stopped));
            })
        };
        let threads = (0..workers).map(run).collect();
        Self {
            executor,
            stop: Some(stop),
            threads,
        }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        futures_lite::future::block_on(future)
    }

    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Executor::spawn(&self.executor, future)
    }

    fn spawner(&self) -> Self::Spawner {
        self.executor.clone()
    }
}

impl Drop for AsyncExecutor {
    fn drop(&mut self) {
        drop(self.stop.take());
        for thread in self.threads.drain(..) {
            thread.join().expect("no task panics");
        }
    }
}

impl Spawn for Arc<Executor<'static>> {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        Executor::spawn(self, future).detach();
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        futures_lite::future::yield_now()
    }
}

/// The thread pool of `futures`: one queue for all, a channel of std.
pub struct FuturesPool(ThreadPool);

impl Scheduler for FuturesPool {
    type Spawner = ThreadPool;

    fn start(workers: usize) -> Self {
        let pool = ThreadPool::builder().pool_size(workers).create();
        Self(pool.expect("the threads can be started"))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        futures::executor::block_on(future)
    }

    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let handle = self.0.spawn_with_handle(future);
        handle.expect("the pool is not shut down")
    }

    fn spawner(&self) -> ThreadPool {
        self.0.clone()
    }
}

impl Spawn for ThreadPool {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.spawn_ok(future);
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        wake_itself()
    }
}
