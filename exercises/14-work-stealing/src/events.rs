//! What a runtime may tell of its queues and its workers. The words are those
//! of `trace::queue`, so that a timeline can be drawn of them.

/// What has just happened on this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// From now on this thread is the worker of this number; they begin at 0.
    Started {
        /// Its number, as in the other events.
        worker: usize,
    },
    /// A task has entered a queue. One that leaves the slot because of a newer
    /// one is pushed, too, after that one.
    Pushed(Queue),
    /// A task has left a queue, and is polled next; or it has left the slot
    /// since it is not its turn, and is pushed.
    Popped(Queue),
    /// This worker's own queue was full.
    Overflowed {
        /// So many tasks went to the global queue instead, the one among them
        /// that found no room.
        count: usize,
    },
    /// This worker has taken tasks from the global queue into its own. The one
    /// that is polled at once is popped from there.
    Took {
        /// So many, that one among them.
        count: usize,
    },
    /// This worker has taken tasks from the queue of another into its own. The
    /// one that is polled at once is popped from there.
    Stole {
        /// Whose queue it was.
        from: usize,
        /// So many, that one among them.
        count: usize,
    },
    /// This worker looks for tasks of others, or was woken to do so.
    SearchBegan,
    /// It does so no longer.
    SearchEnded {
        /// Whether it has found any.
        found: bool,
    },
    /// A worker was chosen to be woken.
    Notified {
        /// Its number.
        worker: usize,
    },
    /// This worker sleeps from now on.
    Parked,
    /// It is up.
    Unparked,
}

/// Where a task waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// The worker's own queue.
    Local,
    /// The worker's slot for the next task.
    Slot,
    /// The queue that all workers share.
    Global,
}
