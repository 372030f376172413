//! Breaks clause 5: No lost wake-up.
//! Caught by: models::what_was_written_before_any_wake_up_is_seen
//!
//! A wake-up that finds the task notified has nothing to change, so it returns
//! after a load. It has written something, though, and published it nowhere:
//! the poll that serves the note of somebody else need not see it. On x86 it
//! nearly always does. Tokio had this bug, too.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Returns at once where the note is left already.
mod state {
    use sync::atomic::Ordering::Relaxed;

    use super::right::NOTIFIED;

    super::super::wrapped_state!();

    impl State {
        pub fn wake_by_ref(&self) -> Woken {
            if self.0.0.load(Relaxed) & NOTIFIED != 0 {
                return Woken::Nothing;
            }
            self.0.wake_by_ref()
        }

        pub fn wake_by_value(&self) -> Woken {
            if self.0.0.load(Relaxed) & NOTIFIED != 0 {
                return match self.0.release() {
                    true => Woken::Free,
                    false => Woken::Nothing,
                };
            }
            self.0.wake_by_value()
        }
    }
}
