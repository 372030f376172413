//! Plausible wrong versions of the exercises. Each one breaks one clause, and
//! the test that its header names must catch it; `cargo workshop verify`
//! checks that.
//!
//! These are programs that a good engineer might write on a tired evening:
//! read one, find the bug, then read its header.
// The tests of each exercise are a program of their own: only lints need the whole.
#![cfg(clippy)]
#![expect(
    clippy::duplicate_mod,
    reason = "the tests of an exercise stand once, for every subject, and so \
              do the parts of a solution that a wrong version leaves alone"
)]

pub mod exercise_1;
pub mod exercise_10;
pub mod exercise_11;
pub mod exercise_12;
pub mod exercise_13;
pub mod exercise_14;
pub mod exercise_15;
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
