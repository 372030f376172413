//! `async-executor`, run by threads that do nothing else.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use async_executor::{Executor, StaticExecutor};
use futures::FutureExt;
use futures::channel::oneshot;

use super::{Scheduler, Spawn};

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
    #[inline]
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        Executor::spawn(self, future).detach();
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        futures_lite::future::yield_now()
    }
}

/// The same with an executor that lives forever, which needs no list of its tasks.
pub struct StaticAsyncExecutor {
    executor: &'static StaticExecutor,
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Scheduler for StaticAsyncExecutor {
    type Spawner = &'static StaticExecutor;

    fn start(workers: usize) -> Self {
        let executor: &'static StaticExecutor = Box::leak(Box::new(StaticExecutor::new()));
        let (stop, stopped) = oneshot::channel();
        let stopped = stopped.shared();
        let run = |_| {
            let stopped = stopped.clone();
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
        self.executor.spawn(future)
    }

    fn spawner(&self) -> Self::Spawner {
        self.executor
    }
}

impl Drop for StaticAsyncExecutor {
    fn drop(&mut self) {
        drop(self.stop.take());
        for thread in self.threads.drain(..) {
            thread.join().expect("no task panics");
        }
    }
}

impl Spawn for &'static StaticExecutor {
    #[inline]
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        StaticExecutor::spawn(self, future).detach();
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        futures_lite::future::yield_now()
    }
}
