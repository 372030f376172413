//! Wrong versions of the work-stealing runtime. Nearly all are edits of the right one.
#![allow(
    dead_code,
    unexpected_cfgs,
    reason = "the other parts have what the right one needs, and a feature"
)]

// The build lists what stands in the folder of this name.
#[cfg(clippy)]
include!(concat!(env!("OUT_DIR"), "/exercise_14.rs"));
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/exercise_14.tested.rs"));
