//! Other right designs of the exercises. The exercises' own tests must accept
//! each of them: what a contract leaves open, its tests leave open too.
#![allow(
    clippy::duplicate_mod,
    reason = "the tests of an exercise stand once, for every subject, and so \
              do the parts that several subjects have"
)]

// Only exercise 14 has models for shuttle.
#[cfg(not(feature = "shuttle"))]
pub mod exercise_1;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_10;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_11;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_12;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_13;
pub mod exercise_14;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_15;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub mod exercise_16;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_17;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_2;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_3;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_4;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_5;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_6;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_7;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_8;
#[cfg(not(feature = "shuttle"))]
pub mod exercise_9;
