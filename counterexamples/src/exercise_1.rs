//! Wrong versions of `block_on`.

// The build lists the files in the folder of this name.
include!(concat!(env!("OUT_DIR"), "/exercise_1.rs"));
