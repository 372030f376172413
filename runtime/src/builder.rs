//! The settings of a runtime.

use std::io;

use reactor::Driver;

use super::handle::Runtime;

/// Builds a [`Runtime`] with settings other than the default.
///
/// ```
/// let runtime = runtime::Builder::new()
///     .worker_threads(2)
///     .thread_name("web")
///     .build()?;
/// # drop(runtime);
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    inner: work_stealing::Builder,
    #[cfg(feature = "metrics")]
    worker_threads: Option<usize>,
}

impl Builder {
    /// Creates a builder with the default settings: as many workers as there
    /// are processors.
    #[expect(
        clippy::new_without_default,
        reason = "one way to make it is enough"
    )]
    pub fn new() -> Self {
        Self {
            inner: work_stealing::Runtime::builder(),
            #[cfg(feature = "metrics")]
            worker_threads: None,
        }
    }

    /// Sets how many worker threads run tasks. By default, there are as many as
    /// processors.
    ///
    /// # Panics
    ///
    /// If `count` is zero.
    pub fn worker_threads(&mut self, count: usize) -> &mut Self {
        self.inner.worker_threads(count);
        #[cfg(feature = "metrics")]
        {
            self.worker_threads = Some(count);
        }
        self
    }

    /// Sets the name of the worker threads. The default is `worker`. If the
    /// name contains a NUL, [`build`](Self::build) returns an error.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.inner.thread_name(name);
        self
    }

    /// Sets how many jobs of [`spawn_blocking`](super::spawn_blocking) may run
    /// at the same time. Further jobs wait in a queue. The default is 512.
    ///
    /// # Panics
    ///
    /// If `count` is zero.
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        self.inner.max_blocking_threads(count);
        self
    }

    /// Sets after how many polls, at the latest, a busy worker takes a task
    /// from the global queue. Tasks that other threads spawn or wake go into
    /// that queue. The default is 61.
    ///
    /// # Panics
    ///
    /// If `polls` is zero.
    pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
        self.inner.global_queue_interval(polls);
        self
    }

    /// Starts the worker threads. The builder can be used again.
    ///
    /// # Errors
    ///
    /// Returns the operating system's error if it can't start a thread or
    /// create a poller, for example because no file descriptor is left. Returns
    /// `InvalidInput` if the thread name contains a NUL.
    pub fn build(&mut self) -> io::Result<Runtime> {
        let driver = Driver::new()?;
        let reactor = driver.handle();
        #[cfg(feature = "metrics")]
        let (metrics, driver) = {
            let processors = std::thread::available_parallelism();
            let count = self.worker_threads;
            let count =
                count.unwrap_or_else(|| processors.map_or(1, usize::from));
            self.inner.observer(super::metrics::observe);
            super::metrics::Registered::new(driver, count)
        };
        let inner = self.inner.build_on(driver)?;
        Ok(Runtime {
            inner,
            reactor,
            #[cfg(feature = "metrics")]
            metrics,
        })
    }
}
