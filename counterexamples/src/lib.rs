//! Plausible wrong versions of the exercises. Each one breaks one clause, and
//! the test that its header names must catch it; `cargo workshop verify`
//! checks that.
//!
//! These are programs that a good engineer might write on a tired evening:
//! read one, find the bug, then read its header.
#![cfg_attr(
    test,
    expect(
        clippy::duplicate_mod,
        reason = "the tests of an exercise stand once, for every subject"
    )
)]

/// Wrong versions of `block_on`.
pub mod exercise_1 {
    pub mod busy_polls;
    pub mod clears_flag_after_poll;
    pub mod forgets_the_future;
    pub mod gives_up_early;
    pub mod moves_the_future;
    pub mod polls_by_timer;
    pub mod polls_twice_to_be_sure;
    pub mod rouses_only_sleepers;
    pub mod shares_one_signal;
    pub mod unparks_the_waking_thread;
    pub mod waker_dies_with_the_call;
}
