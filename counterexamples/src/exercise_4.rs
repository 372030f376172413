//! Wrong versions of the cached `block_on`.
