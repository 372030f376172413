//! Wrong versions of the readiness. All are edits of right ones.

// The build lists what stands in the folder of this name.
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/exercise_15.rs"));
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/exercise_15.tested.rs"));
