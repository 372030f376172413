//! The benchmark is in `main.rs`; this library is empty.
