//! Breaks clause 3: When run.
//! Caught by: models::the_future_goes_from_thread_to_thread_in_one_piece
//! Also fails: models::an_abort_ends_the_task_in_every_order
//!
//! An exchange is atomic, so nobody else can hold the task before it is let go.
//! But that says nothing about what the poll wrote into the future: with
//! `Relaxed` the next holder may see the future half as it was before. x86
//! orders the writes all the same, and only a model tells.

super::parts! { cell holder owned runnable slot waker right state all others }

/// Lets go without publishing what the poll did.
mod state {
    use sync::atomic::Ordering::Relaxed;

    use super::right::{ACTIVE, CANCELLED, NOTIFIED};

    super::super::wrapped_state!();

    impl State {
        pub fn let_go(&self) -> Pending {
            let mut state = self.0.0.load(Relaxed);
            loop {
                if state & CANCELLED != 0 {
                    return Pending::Cancelled;
                }
                if state & NOTIFIED != 0 {
                    return Pending::Notified;
                }
                let exchanged = self.0.0.compare_exchange_weak(
                    state,
                    state & !ACTIVE,
                    Relaxed,
                    Relaxed,
                );
                match exchanged {
                    Ok(_) => return Pending::Waits,
                    Err(found) => state = found,
                }
            }
        }
    }
}
