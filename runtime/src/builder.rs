//! What a runtime is to be like.

use std::io;

use reactor::Driver;

use super::handle::Runtime;

/// Makes a [`Runtime`] that isn't the default one.
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
    /// As many workers as there are processors.
    #[expect(
        clippy::new_without_default,
        reason = "it's the default runtime's"
    )]
    pub fn new() -> Self {
        Self {
            inner: work_stealing::Runtime::builder(),
            #[cfg(feature = "metrics")]
            worker_threads: None,
        }
    }

    /// How many threads run tasks. By default, as many as there are processors.
    ///
    /// # Panics
    ///
    /// If it's zero.
    pub fn worker_threads(&mut self, count: usize) -> &mut Self {
        self.inner.worker_threads(count);
        #[cfg(feature = "metrics")]
        {
            self.worker_threads = Some(count);
        }
        self
    }

    /// The name of the threads that run tasks. By default `worker`.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.inner.thread_name(name);
        self
    }

    /// How many jobs of `spawn_blocking` run at a time. By default 512.
    ///
    /// # Panics
    ///
    /// If it's zero.
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        self.inner.max_blocking_threads(count);
        self
    }

    /// After how many polls, at the latest, a busy worker takes a task that
    /// came from elsewhere. By default 61.
    ///
    /// # Panics
    ///
    /// If it's zero.
    pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
        self.inner.global_queue_interval(polls);
        self
    }

    /// Starts the threads.
    ///
    /// # Errors
    ///
    /// If the system has no thread or no file descriptor left, or if there's a
    /// NUL in the name of the threads.
    pub fn build(&mut self) -> io::Result<Runtime> {
        let driver = Driver::new()?;
        let reactor = driver.handle();
        #[cfg(feature = "metrics")]
        let metrics = {
            let processors = std::thread::available_parallelism();
            let count = self.worker_threads;
            let count =
                count.unwrap_or_else(|| processors.map_or(1, usize::from));
            self.inner.observer(super::metrics::observe);
            super::metrics::Registered::new(&driver, count)
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
