//! Wrong versions of `block_on`.

// The build lists what stands in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_1.rs"));
