//! Breaks clause 10: Abort.
//! Caught by: an_abort_after_the_end_changes_nothing
//! Also fails: future_and_output_are_dropped_once_whatever_happens
//!
//! Nobody holds the task, so whoever aborts it gets hold of it, and schedules it
//! for its end. But nobody holds a task that has ended, either. Its scheduler is
//! gone, and so is its future; the output that the handle is to get is replaced.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Aborts whatever was not aborted before.
mod state {
    use sync::atomic::Ordering::{AcqRel, Relaxed};

    use super::right::{ACTIVE, CANCELLED};

    super::super::wrapped_state!();

    impl State {
        pub fn abort(&self) -> Woken {
            let mut state = self.0.0.load(Relaxed);
            while state & CANCELLED == 0 {
                let exchanged = self.0.0.compare_exchange_weak(
                    state,
                    state | CANCELLED | ACTIVE,
                    AcqRel,
                    Relaxed,
                );
                match exchanged {
                    Ok(_) if state & ACTIVE == 0 => return Woken::Schedule,
                    Ok(_) => return Woken::Nothing,
                    Err(found) => state = found,
                }
            }
            Woken::Nothing
        }
    }
}
