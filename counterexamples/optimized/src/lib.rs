//! Wrong versions that pass every test in a debug build. They are compiled as
//! their exercise is: optimized, and without debug assertions.
#![cfg_attr(
    test,
    expect(
        clippy::duplicate_mod,
        reason = "the tests of an exercise stand once, for every subject"
    )
)]

pub mod exercise_3;
