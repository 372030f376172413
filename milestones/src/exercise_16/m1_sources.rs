//! The driver waits for events, and tasks read and write. It knows no time, and
//! has no end.

super::sources! {}

#[path = "unwritten/deadlines.rs"]
mod deadlines;
#[path = "unwritten/sleep.rs"]
mod sleep;
