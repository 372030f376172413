//! What all schedulers are measured through.

/// A scheduler with its threads, which end when it is dropped.
pub trait Scheduler: Sized {
    /// What a task spawns others with.
    type Spawner: Spawn;
    /// Starts so many workers.
    fn start(workers: usize) -> Self;
    /// Runs a future on this thread, which isn't a worker.
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
    /// Spawns a detached task.
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F);
    /// The way to yield that belongs to this scheduler.
    fn yield_now() -> impl Future<Output = ()> + Send;
}

/// Makes a contender of a package that has the interface of exercise 14.
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
            #[inline]
            fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
                drop($package::spawn(future));
            }

            fn yield_now() -> impl Future<Output = ()> + Send {
                $package::yield_now()
            }
        }
    };
}
