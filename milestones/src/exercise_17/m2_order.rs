//! The seed chooses among tasks that nothing polls yet.

super::given! {}
super::without_wire! {}

#[path = "../../../solutions/17-simulator/src/ready.rs"]
mod ready;

pub use ready::ReadyQueue;
