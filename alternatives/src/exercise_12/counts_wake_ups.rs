//! Counts the wake-ups instead of flagging them, as nexosim does.
//!
//! The thread that has the task remembers the count that it saw when the poll began, and lets the
//! task go only if the count is still the same. So nothing has to be cleared when a poll begins,
//! however many wake-ups came. The count wraps around: it would take four billion wake-ups within
//! one poll to make it the same again.

super::other_parts!();

mod state {
    use std::ops::Deref;

    use primitives::UnsafeCell;
    use primitives::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

    use super::super::right::{
        self, CANCELLED, COMPLETE, JOIN_INTEREST, JOIN_WAKER, REFERENCE,
        RUNNING,
    };
    pub use super::super::right::{
        Completed, Detached, IdleTransition, RunTransition, Woken,
    };

    /// Wake-ups that found the task running, above the references.
    const WAKE: usize = 1 << 32;
    const ALL_BELOW: usize = WAKE - 1;

    /// The state of one task. A wake-up that finds nothing to wake is handled as in the solution.
    pub struct State {
        word: right::State,
        /// How many wake-ups there were when the poll began. Belongs to the thread that has the
        /// task.
        seen: UnsafeCell<usize>,
    }

    impl Deref for State {
        type Target = right::State;

        fn deref(&self) -> &right::State {
            &self.word
        }
    }

    impl State {
        pub fn new() -> Self {
            Self {
                word: right::State::new(),
                seen: UnsafeCell::new(0),
            }
        }

        pub fn transition_to_running(&self) -> RunTransition {
            // Acquire: pairs with the Release of `wake`; shows what was written
            // before each wake-up that is counted.
            let state = self.word.0.load(Acquire);
            // SAFETY: only the thread that has the task begins a poll.
            self.seen.with_mut(|seen| unsafe { *seen = state / WAKE });
            match state & CANCELLED {
                0 => RunTransition::Poll,
                _ => RunTransition::Cancel,
            }
        }

        pub fn transition_to_idle(&self) -> IdleTransition {
            // SAFETY: only the thread that has the task lets it go.
            let seen = self.seen.with(|seen| unsafe { *seen });
            // Relaxed: it is only a guess for the compare-exchange, which fails if a wake-up comes
            // in between.
            let mut state = self.word.0.load(Relaxed);
            loop {
                if state & CANCELLED != 0 {
                    return IdleTransition::Cancelled;
                }
                if state / WAKE != seen {
                    return IdleTransition::Notified;
                }
                // Release: pairs with the Acquire of the thread that next gets the task, in `wake`
                // or `abort`.
                let exchanged = self.word.0.compare_exchange_weak(
                    state,
                    state & !RUNNING,
                    Release,
                    Relaxed,
                );
                match exchanged {
                    Ok(_) => return IdleTransition::Idle,
                    Err(found) => state = found,
                }
            }
        }

        pub fn wake_by_ref(&self) -> Woken {
            self.wake(0)
        }

        pub fn wake_by_value(&self) -> Woken {
            self.wake(REFERENCE)
        }

        fn wake(&self, given_back: usize) -> Woken {
            // Relaxed: it is only a guess for the compare-exchange, except for `COMPLETE`, which
            // stays; and the thread that wakes a complete task reads nothing of it.
            let mut state = self.word.0.load(Relaxed);
            while state & COMPLETE == 0 {
                let is_held = state & RUNNING != 0;
                let next = match is_held {
                    true => state.wrapping_add(WAKE),
                    false => state | RUNNING,
                };
                // AcqRel: as in the solution.
                let exchanged = self.word.0.compare_exchange_weak(
                    state,
                    next - given_back,
                    AcqRel,
                    Relaxed,
                );
                match exchanged {
                    Ok(_) if is_held => return Woken::Nothing,
                    Ok(_) => return Woken::Schedule,
                    Err(found) => state = found,
                }
            }
            if given_back > 0 && self.release() {
                return Woken::Free;
            }
            Woken::Nothing
        }

        /// Ends the count of wake-ups, too: from now on only the references are above the flags.
        pub fn transition_to_complete(&self, is_dropped: bool) -> Completed {
            // Acquire: as in the solution. Here even the last reference goes through the
            // compare-exchange, which acquires: Relaxed would do.
            let mut state = self.word.0.load(Acquire);
            loop {
                if !is_dropped && state & JOIN_INTEREST == 0 {
                    return Completed::Unwanted;
                }
                let mut next = (state & ALL_BELOW | COMPLETE) & !RUNNING;
                if state & JOIN_WAKER == 0 {
                    next -= REFERENCE;
                }
                // AcqRel: as in the solution, and for the last reference.
                // Acquire if it fails: as above.
                let exchanged = self
                    .word
                    .0
                    .compare_exchange_weak(state, next, AcqRel, Acquire);
                match exchanged {
                    Ok(_) if state & JOIN_WAKER != 0 => {
                        return Completed::WakeJoiner;
                    }
                    Ok(_) if next < REFERENCE => return Completed::Free,
                    Ok(_) => return Completed::Shared,
                    Err(found) => state = found,
                }
            }
        }
    }
}
