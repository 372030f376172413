//! Wrong versions that pass every test in a debug build. They are compiled as
//! their exercise is: optimized, and without debug assertions.

pub mod exercise_3;
