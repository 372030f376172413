//! The program under test: a key-value store over TCP, with clients that try
//! again. It's written once, and runs wherever there's a `world`, a module that
//! has sockets, sleeps and tasks: in a simulation, on this book's runtime, on
//! tokio.
//!
//! A request is a line: its id, a key, and an amount to add to the key's value.
//! The answer is a line, too: the id, and the new value. A client that gets no
//! answer sends the request again, with the same id, and the store adds an
//! amount only once.

mod applied_twice;
mod client;
mod futurelock;
mod lines;
mod lost_update;
mod right;
mod scenario;
mod server;
mod store;

use super::world;

pub use client::Client;
pub use scenario::{CLIENT_COUNT, scenario};
pub use server::serve;
pub use store::{Store, Version};
