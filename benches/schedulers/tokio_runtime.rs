//! tokio's multi-thread runtime, as it is and as its own benchmarks build it.

use super::{Scheduler, Spawn};

/// tokio's multi-thread runtime, with all drivers or with none.
pub struct TokioRuntime<const ENABLE_ALL: bool>(tokio::runtime::Runtime);

/// Without drivers.
pub type Tokio = TokioRuntime<false>;

/// With all drivers, as tokio's own benchmarks build it.
pub type TokioEnableAll = TokioRuntime<true>;

/// Spawns on the tokio runtime of this thread.
#[derive(Clone)]
pub struct TokioSpawner;

impl<const ENABLE_ALL: bool> Scheduler for TokioRuntime<ENABLE_ALL> {
    type Spawner = TokioSpawner;

    fn start(workers: usize) -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        if ENABLE_ALL {
            builder.enable_all();
        }
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
    #[inline]
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        drop(tokio::spawn(future));
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }
}
