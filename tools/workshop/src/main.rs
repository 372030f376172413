//! The `cargo workshop` command.

fn main() {}
