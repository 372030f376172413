//! The runtime on one queue has an end: all tasks are dropped, and all threads
//! joined.

use ::task;

super::one_queue! {}

mod end {
    use std::mem;

    use super::shared::Shared;

    impl Shared {
        /// Drops all tasks, and tells the workers to end.
        pub fn shut_down(&self) {
            let mut queue = self.lock();
            queue.is_closed = true;
            let tasks = mem::take(&mut queue.tasks);
            drop(queue);
            self.some_are_ready.notify_all();
            // Destructors may be any code: they run without the lock.
            drop(tasks);
            self.owned.close_and_cancel();
        }

        /// The same, by a worker in one of its tasks: no thread waits for the
        /// workers.
        pub fn shut_down_detached(&self) {
            self.lock().is_detached = true;
            self.shut_down();
        }

        /// Takes no more blocking jobs, and waits until all have ended.
        pub fn end_blocking(&self) {
            self.blocking().shut_down();
        }
    }
}
