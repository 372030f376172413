//! Queued and running are two states, as in tokio.
//!
//! A task is `RUNNING`, or `NOTIFIED` and in a queue, or neither and waiting. A poll begins with
//! one compare-exchange and ends with another, where the solution needs only the second. In return
//! the state says at any time where the task is, which a debugger or a console can use.

super::other_parts!();

mod state {
    use primitives::atomic::Ordering::{AcqRel, Relaxed};

    use super::super::right::{self, CANCELLED, COMPLETE, REFERENCE};
    pub use super::super::right::{
        Completed, Detached, IdleTransition, RunTransition, Woken,
    };

    const RUNNING: usize = right::RUNNING;
    const NOTIFIED: usize = right::NOTIFIED;

    /// The state of one task. What the handle does is as in the solution.
    pub struct State(right::State);

    impl State {
        /// A new task is meant to be queued.
        pub fn new() -> Self {
            let state = right::State::new();
            // Relaxed, both: no other thread knows the task yet.
            state.0.fetch_or(NOTIFIED, Relaxed);
            state.0.fetch_and(!RUNNING, Relaxed);
            Self(state)
        }

        /// Replaces the state with what `next` makes of it, unless that is `None`. Returns the
        /// state before.
        fn exchange(
            &self,
            next: impl Fn(usize) -> Option<usize>,
        ) -> Result<usize, usize> {
            let word = &self.0.0;
            // Relaxed: it is only a guess for the compare-exchange.
            let mut state = word.load(Relaxed);
            loop {
                let Some(next) = next(state) else {
                    return Err(state);
                };
                // AcqRel: pairs with itself; each step hands the task on.
                // Relaxed if it fails: it is again only a guess.
                match word.compare_exchange_weak(state, next, AcqRel, Relaxed) {
                    Ok(state) => return Ok(state),
                    Err(found) => state = found,
                }
            }
        }

        // queued --> running. After a yield it has been running all the time.
        pub fn transition_to_running(&self) -> RunTransition {
            let begun = self.exchange(|it| Some((it | RUNNING) & !NOTIFIED));
            match begun.is_ok_and(|state| state & CANCELLED != 0) {
                true => RunTransition::Cancel,
                false => RunTransition::Poll,
            }
        }

        // running --> waiting, queued
        pub fn transition_to_idle(&self) -> IdleTransition {
            let transition_to_idle = self.exchange(|state| {
                (state & CANCELLED == 0).then_some(state & !RUNNING)
            });
            match transition_to_idle {
                Err(_) => IdleTransition::Cancelled,
                Ok(state) if state & NOTIFIED != 0 => IdleTransition::Notified,
                Ok(_) => IdleTransition::Idle,
            }
        }

        fn wake(&self, given_back: usize) -> Woken {
            let woken = self.exchange(|state| {
                (state & COMPLETE == 0)
                    .then_some((state | NOTIFIED) - given_back)
            });
            match woken {
                Ok(state) if state & (RUNNING | NOTIFIED) == 0 => {
                    Woken::Schedule
                }
                Err(_) if given_back > 0 && self.release() => Woken::Free,
                _ => Woken::Nothing,
            }
        }

        pub fn wake_by_ref(&self) -> Woken {
            self.wake(0)
        }

        pub fn wake_by_value(&self) -> Woken {
            self.wake(REFERENCE)
        }

        pub fn abort(&self) -> Woken {
            let aborted = self.exchange(|state| {
                (state & (COMPLETE | CANCELLED) == 0)
                    .then_some(state | CANCELLED | NOTIFIED)
            });
            match aborted {
                Ok(state) if state & (RUNNING | NOTIFIED) == 0 => {
                    Woken::Schedule
                }
                _ => Woken::Nothing,
            }
        }

        pub fn transition_to_complete(&self, is_dropped: bool) -> Completed {
            self.0.transition_to_complete(is_dropped)
        }

        pub fn is_complete(&self) -> bool {
            self.0.is_complete()
        }

        pub fn publish_waker(&self) -> bool {
            self.0.publish_waker()
        }

        pub fn withdraw_waker(&self) -> bool {
            self.0.withdraw_waker()
        }

        pub fn detach(&self) -> Detached {
            self.0.detach()
        }

        pub fn retain(&self) {
            self.0.retain();
        }

        pub fn release(&self) -> bool {
            self.0.release()
        }
    }
}
