//! The programs are in `examples/`; this library is empty.
