//! Wrong versions of the sleepers. Nearly all are edits of right ones.

// The build lists what stands in the folder of this name.
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/exercise_13.rs"));
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/exercise_13.tested.rs"));
