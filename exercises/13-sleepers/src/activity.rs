//! What a worker does while it isn't parked.

/// What a worker that isn't parked does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It has work of its own.
    Busy,
    /// It looks for work in the queues of the others.
    Searching,
}
