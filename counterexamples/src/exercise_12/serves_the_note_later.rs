//! Breaks clause 4: Scheduled once.
//! Caught by: many_wake_ups_are_one_poll
//!
//! The note is cleared where it is served: when the task would be let go. A
//! wake-up that came before the poll, while the task was queued, causes one
//! more poll, which finds nothing new. Nothing is lost, and a busy task is
//! polled twice as often.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Clears the note where it is served, at the end of the poll.
mod state {
    use sync::atomic::Ordering::Acquire;

    use super::right::{CANCELLED, NOTIFIED};

    super::super::wrapped_state!();

    impl State {
        pub fn begin(&self) -> Turn {
            match self.0.0.load(Acquire) & CANCELLED {
                0 => Turn::Poll,
                _ => Turn::Cancel,
            }
        }

        pub fn let_go(&self) -> Pending {
            let end = self.0.let_go();
            if end == Pending::Notified {
                self.0.0.fetch_and(!NOTIFIED, Acquire);
            }
            end
        }
    }
}
