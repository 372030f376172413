//! The designs with nothing to steal: one queue for all workers, solution 10,
//! and a queue for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use solution_4::block_on;
use solution_10::{Handle, JoinHandle, Pool};

use super::{Scheduler, Spawn, wake_itself};

/// Solution 10: one queue under one lock.
pub struct OneQueue(Pool);

impl Scheduler for OneQueue {
    type Spawner = Handle;

    fn start(workers: usize) -> Self {
        Self(Pool::new(workers))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        block_on(future)
    }

    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.spawn(future)
    }

    fn spawner(&self) -> Handle {
        self.0.handle()
    }
}

impl Spawn for Handle {
    #[inline]
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        drop(Handle::spawn(self, future));
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        wake_itself()
    }
}

/// Pools of one worker each, which get the tasks in turn. A task stays where it
/// was spawned, however much or little the other pools have to do.
pub struct Sharded {
    spawner: Shards,
    /// Ended with this.
    _pools: Vec<Pool>,
}

/// Spawns on one pool after the other.
#[derive(Clone)]
pub struct Shards(Arc<Turns>);

struct Turns {
    pools: Vec<Handle>,
    next: AtomicUsize,
}

impl Sharded {
    /// Starts so many pools.
    pub fn new(workers: usize) -> Self {
        let pools: Vec<_> = (0..workers).map(|_| Pool::new(1)).collect();
        let turns = Turns {
            pools: pools.iter().map(Pool::handle).collect(),
            next: AtomicUsize::new(0),
        };
        Self {
            spawner: Shards(Arc::new(turns)),
            _pools: pools,
        }
    }

    /// Spawns on the next pool.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawner.start(future)
    }
}

impl Shards {
    fn start<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // Relaxed: any pool will do.
        let next = self.0.next.fetch_add(1, Relaxed);
        self.0.pools[next % self.0.pools.len()].spawn(future)
    }
}

impl Scheduler for Sharded {
    type Spawner = Shards;

    fn start(workers: usize) -> Self {
        Self::new(workers)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        block_on(future)
    }

    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawner.start(future)
    }

    fn spawner(&self) -> Shards {
        self.spawner.clone()
    }
}

impl Spawn for Shards {
    #[inline]
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        drop(self.start(future));
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        wake_itself()
    }
}
