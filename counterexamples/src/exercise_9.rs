//! Wrong versions of the local executor. Most are edits of the solution.

// The build lists the files in the folder of this name.
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/exercise_9.rs"));
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/exercise_9.tested.rs"));
