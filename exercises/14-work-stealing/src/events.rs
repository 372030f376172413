//! What a runtime may report about its queues and its workers. The words are
//! those of `trace::queue`, so that they can be drawn as a timeline.

/// What has just happened on this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// From now on this thread is the worker with this index.
    Started {
        /// Its index, from 0, as in the other events.
        worker: usize,
    },
    /// A task has entered a queue. A task that a newer one displaces from the
    /// slot is pushed, too, after the newer one.
    Pushed(Queue),
    /// A task has left a queue, and is polled next; or it has left the slot
    /// because it isn't its turn, and is pushed.
    Popped(Queue),
    /// This worker's own queue was full.
    Overflowed {
        /// How many tasks went to the global queue instead, including the task
        /// that found no room.
        count: usize,
    },
    /// This worker has taken tasks from the global queue into its own. The task
    /// that is polled at once is popped from there.
    Took {
        /// How many, including that task.
        count: usize,
    },
    /// This worker has taken tasks from another worker's queue into its own.
    /// The task that is polled at once is popped from there.
    Stole {
        /// The index of the worker that had them.
        from: usize,
        /// How many, including that task.
        count: usize,
    },
    /// This worker searches the other workers' queues, or was unparked to do
    /// so.
    SearchBegan,
    /// This worker's search is over.
    SearchEnded {
        /// Whether it has found any.
        found: bool,
    },
    /// A worker was chosen to be unparked.
    Notified {
        /// Its index.
        worker: usize,
    },
    /// This worker is parked from now on.
    Parked,
    /// This worker isn't parked anymore.
    Unparked,
}

/// Where a task waits to be polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// The worker's own queue.
    Local,
    /// The worker's LIFO slot, for the next task.
    Slot,
    /// The queue that all workers share.
    Global,
}
