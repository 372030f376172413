//! Other right designs of the exercises. The exercises' own tests must accept
//! each of them: what a contract leaves open, its tests leave open too.
#![cfg_attr(
    test,
    expect(
        clippy::duplicate_mod,
        reason = "the tests of an exercise stand once, for every subject"
    )
)]

/// Other right versions of `block_on`.
pub mod exercise_1 {
    pub mod channel;
    pub mod condvar;
    pub mod flag_and_park;
    pub mod of_futures;
    pub mod of_futures_lite;
    pub mod of_pollster;
}
