//! The executor with which hyper spawns tasks: for HTTP/2, one for each stream.

/// Spawns tasks on the runtime that the caller is in. HTTP/2 servers and
/// clients need it, and HTTP/1 doesn't.
#[derive(Clone, Copy, Debug, Default)]
pub struct Executor {
    _private: (),
}

impl Executor {
    /// Creates an executor. It needs no runtime until it spawns.
    pub fn new() -> Self {
        Self::default()
    }
}

// ANCHOR: executor
impl<F> hyper::rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    /// # Panics
    ///
    /// If the thread has entered no [`Runtime`](runtime::Runtime).
    fn execute(&self, future: F) {
        // Dropping the handle detaches the task. If the drop aborted the task,
        // each HTTP/2 stream would end as it begins.
        drop(runtime::spawn(future));
    }
}
// ANCHOR_END: executor
