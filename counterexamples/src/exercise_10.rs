//! Wrong versions of the pool with one queue. Most are edits of right
//! ones.

// The build lists the files in the folder of this name.
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/exercise_10.rs"));
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/exercise_10.tested.rs"));
