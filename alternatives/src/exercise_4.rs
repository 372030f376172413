//! Other right versions of the cached `block_on`.
