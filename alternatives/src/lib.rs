//! Other right designs of the exercises. The exercises' own tests must accept
//! each of them: what a contract leaves open, its tests leave open too.
#![expect(
    clippy::duplicate_mod,
    reason = "the tests of an exercise stand once, for every subject, and so \
              do the parts that several subjects have"
)]

pub mod exercise_1;
pub mod exercise_10;
pub mod exercise_11;
pub mod exercise_12;
pub mod exercise_13;
pub mod exercise_14;
pub mod exercise_15;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub mod exercise_16;
pub mod exercise_17;
pub mod exercise_2;
pub mod exercise_3;
pub mod exercise_4;
pub mod exercise_5;
pub mod exercise_6;
pub mod exercise_7;
pub mod exercise_8;
pub mod exercise_9;
