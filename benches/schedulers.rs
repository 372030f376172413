//! The schedulers that are measured, behind one interface, and what they are
//! measured by.

mod deque_pool;
mod interface;
pub mod load;
pub mod measure;
pub mod meetings;
mod one_queue;
mod smol;
mod tokio_runtime;
pub mod workloads;

use std::future::poll_fn;
use std::task::Poll;

use futures::executor::ThreadPool;
use futures::task::SpawnExt;

use crate::runtime;

pub use deque_pool::DequePool;
pub use interface::{Scheduler, Spawn};
pub use one_queue::{OneQueue, Sharded};
pub use smol::{AsyncExecutor, StaticAsyncExecutor};
pub use tokio_runtime::{Tokio, TokioEnableAll};

runtime!(Solution14, Solution14Spawner, solution_14);

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
