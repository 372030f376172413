//! Sleeps, in the same wait. The driver still has no end.

super::sources! {}

#[path = "../../../solutions/16-reactor/src/deadlines.rs"]
mod deadlines;
#[path = "../../../solutions/16-reactor/src/sleep.rs"]
mod sleep;
