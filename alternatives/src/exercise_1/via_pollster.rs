//! The `block_on` of pollster: a mutex and a condition variable.

pub use pollster::block_on;

#[cfg(test)]
#[path = "../../../exercises/01-block-on/src/tests/mod.rs"]
mod tests;
