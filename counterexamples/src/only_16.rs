//! The wrong versions of exercise 16, and their tests.
// The tests are linted where they stand: in the exercise.
#![cfg(not(clippy))]
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    clippy::duplicate_mod,
    reason = "the library has the whole; this has what the tests of one exercise need"
)]

mod exercise_16;
