//! The `block_on` of futures-lite: a parker of its own, cached per thread.

pub use futures_lite::future::block_on;

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
