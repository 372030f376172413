//! Where hyper spawns tasks: for HTTP/2, one for each stream.

/// Spawns on the runtime that the caller is in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Executor {
    _private: (),
}

impl Executor {
    /// Makes an executor.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<F> hyper::rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    /// # Panics
    ///
    /// Where there's no runtime.
    fn execute(&self, future: F) {
        // Dropping the handle detaches the task. With a handle that aborts its
        // task, the streams of HTTP/2 would end as they begin.
        drop(runtime::spawn(future));
    }
}
