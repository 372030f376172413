//! A lock around plain fields, with the reference count beside it.
//!
//! Each step reads as it works, and none has to be retried. Each step costs a
//! lock, and a poll takes one more step than necessary. The count is outside
//! the lock: the thread that gives back the last reference frees the block, and
//! with it the lock, which no other thread may still be releasing.

super::other_parts!();

mod state {
    use std::sync::PoisonError;

    use primitives::atomic::AtomicUsize;
    use primitives::atomic::Ordering::{AcqRel, Relaxed};
    use primitives::{Mutex, MutexGuard};

    pub use super::super::right::{
        Completed, Detached, IdleTransition, RunTransition, Woken,
    };

    /// The state of one task.
    pub struct State {
        fields: Mutex<Fields>,
        references: AtomicUsize,
    }

    struct Fields {
        is_held: bool,
        is_notified: bool,
        is_cancelled: bool,
        is_complete: bool,
        has_handle: bool,
        has_join_waker: bool,
    }

    impl State {
        pub fn new() -> Self {
            Self {
                fields: Mutex::new(Fields {
                    is_held: true,
                    is_notified: false,
                    is_cancelled: false,
                    is_complete: false,
                    has_handle: true,
                    has_join_waker: false,
                }),
                references: AtomicUsize::new(2),
            }
        }

        fn lock(&self) -> MutexGuard<'_, Fields> {
            self.fields.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub fn transition_to_running(&self) -> RunTransition {
            let mut fields = self.lock();
            fields.is_notified = false;
            match fields.is_cancelled {
                false => RunTransition::Poll,
                true => RunTransition::Cancel,
            }
        }

        pub fn transition_to_idle(&self) -> IdleTransition {
            let mut fields = self.lock();
            if fields.is_cancelled {
                return IdleTransition::Cancelled;
            }
            if fields.is_notified {
                return IdleTransition::Notified;
            }
            fields.is_held = false;
            IdleTransition::Idle
        }

        pub fn wake_by_ref(&self) -> Woken {
            let mut fields = self.lock();
            if fields.is_complete {
                return Woken::Nothing;
            }
            if fields.is_held {
                fields.is_notified = true;
                return Woken::Nothing;
            }
            fields.is_held = true;
            Woken::Schedule
        }

        pub fn wake_by_value(&self) -> Woken {
            let woken = self.wake_by_ref();
            match self.release() {
                true => Woken::Free,
                false => woken,
            }
        }

        pub fn abort(&self) -> Woken {
            let mut fields = self.lock();
            if fields.is_complete || fields.is_cancelled {
                return Woken::Nothing;
            }
            fields.is_cancelled = true;
            match std::mem::replace(&mut fields.is_held, true) {
                true => Woken::Nothing,
                false => Woken::Schedule,
            }
        }

        pub fn transition_to_complete(&self, is_dropped: bool) -> Completed {
            let mut fields = self.lock();
            if !is_dropped && !fields.has_handle {
                return Completed::Unwanted;
            }
            fields.is_complete = true;
            if fields.has_join_waker {
                return Completed::WakeJoiner;
            }
            drop(fields);
            match self.release() {
                true => Completed::Free,
                false => Completed::Shared,
            }
        }

        pub fn is_complete(&self) -> bool {
            self.lock().is_complete
        }

        pub fn publish_waker(&self) -> bool {
            let mut fields = self.lock();
            fields.has_join_waker = true;
            fields.is_complete
        }

        pub fn withdraw_waker(&self) -> bool {
            let mut fields = self.lock();
            fields.has_join_waker = false;
            fields.is_complete
        }

        pub fn detach(&self) -> Detached {
            let mut fields = self.lock();
            if fields.is_complete {
                return Detached::DropOutput;
            }
            fields.has_handle = false;
            fields.has_join_waker = false;
            // The waker cell is the handle's now, with or without a waker.
            Detached::DropWaker
        }

        pub fn retain(&self) {
            // Relaxed: a thread that clones a waker has one.
            self.references.fetch_add(1, Relaxed);
        }

        pub fn release(&self) -> bool {
            // Release: pairs with the Acquire of the last, which frees what the
            // others have used.
            self.references.fetch_sub(1, AcqRel) == 1
        }
    }
}
