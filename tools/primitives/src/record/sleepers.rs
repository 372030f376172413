//! What a checker doesn't say by itself: which threads sleep, and whom a notification wakes. The
//! scheduler hears that a thread can't go on, and the operation that it has begun says whether it
//! sleeps.

use super::log::{Entry, Log, Number, Step, Thread};
use super::{Begun, IS_WRITTEN, ThreadNumber, finish, is_on, with_log};

impl ThreadNumber {
    /// Says that the calling thread is this one, and that of this number for the checker.
    pub fn enter_as(self, task: impl FnOnce() -> usize) {
        if let Self(Some(number)) = self {
            with_log(|log| log.enter(number, Some(task())));
        }
    }
}

impl Begun {
    /// It has taken effect, and wakes one of the threads that sleep in this operation on the same
    /// object.
    pub fn woke_one_in(self, operation: &'static str) {
        self.wake(operation, Log::wake_one);
    }

    /// It has taken effect, and wakes all threads that sleep in this operation on the same object.
    pub fn woke_all_in(self, operation: &'static str) {
        self.wake(operation, Log::wake_all);
    }

    fn wake(self, operation: &'static str, wake: fn(&mut Log, Number, &'static str)) {
        if let Self(Some(number)) = self {
            with_log(|log| wake(log, number, operation));
        }
        self.done();
    }
}

/// The operations in which a thread sleeps until another one wakes it.
const SLEEPS: [&str; 3] = ["wait", "park", "recv"];

/// Says that a thread, of this number for the checker, can't go on.
pub(crate) fn note_blocked(task: usize) {
    if !is_on() {
        return;
    }
    with_log(|log| {
        let is_it = |thread: &Thread| thread.task == Some(task);
        let Some(thread) = log.threads.iter().position(is_it) else {
            return;
        };
        let last = log.steps.iter().rposition(|step| step.thread == thread);
        if let Some(number) = last.filter(|&number| log.may_sleep(number)) {
            log.put_to_sleep(number);
        }
    });
}

/// Records that after the next step, all of the `orders` that were tried fail.
pub(crate) fn note_lost(orders: usize) {
    if is_on() {
        with_log(|log| log.order.push(Entry::Lost(orders)));
    }
}

/// Records another execution that fails, in the place of the last one.
pub(crate) fn record_again() {
    IS_WRITTEN.set(false);
}

/// Ends the recording with the first panic of the execution, if there is one: what shuttle passes
/// on doesn't say what has happened.
pub(crate) fn finish_with_first_panic() {
    if let Some(message) = with_log(|log| log.first_panic()).flatten() {
        finish(&message);
    }
}

impl Log {
    /// Whether a thread that can't go on sleeps in this operation. If it has slept in it before, it
    /// was woken, and waits for a lock now.
    fn may_sleep(&self, number: Number) -> bool {
        let step: &Step = &self.steps[number];
        let mut order = self.order.iter();
        let has_slept = order.any(|entry| matches!(entry, Entry::Sleeps(it) if *it == number));
        !step.is_done && SLEEPS.contains(&step.operation) && !has_slept
    }

    fn put_to_sleep(&mut self, number: Number) {
        self.order.push(Entry::Sleeps(number));
        self.asleep.push(number);
    }

    /// No thread can go on. The scheduler wasn't asked anything after the last one had fallen
    /// asleep.
    pub fn put_last_to_sleep(&mut self) {
        let number = (0..self.steps.len()).rfind(|&number| self.may_sleep(number));
        if let Some(number) = number {
            self.put_to_sleep(number);
        }
    }

    /// The message of the first panic.
    pub fn first_panic(&self) -> Option<String> {
        self.order.iter().find_map(Entry::panic)
    }

    /// Says that all wake up that sleep in `operation` on the object of the step of this number.
    pub fn wake_all(&mut self, number: Number, operation: &'static str) {
        let woken = self.sleepers(number, operation);
        self.asleep.retain(|step| !woken.contains(step));
        let threads = woken.iter().map(|&step| self.steps[step].thread);
        let threads: Vec<_> = threads.collect();
        self.steps[number].wakes.extend(threads);
    }

    /// The same for one of them.
    pub fn wake_one(&mut self, number: Number, operation: &'static str) {
        match self.sleepers(number, operation).as_slice() {
            [] => {}
            [_] => self.wake_all(number, operation),
            _ => self.pending.push(number),
        }
    }
}
