//! Another correct design: one mutex guards the whole state, so each change is
//! one step, and no atomic needs an ordering. Each call takes the lock at least
//! once, and a poll that has to wait takes it twice.
//!
//! Each direction has a tick, which counts its events. A [`Ready`] stores the
//! tick, so `clear` can tell whether an event has come since.
//!
//! No waker is woken, cloned or dropped under the lock. A waker runs code of
//! its executor, and that code may need the lock.

#[path = "../../../../exercises/15-readiness/src/event.rs"]
mod event;
#[cfg(all(test, feature = "loom"))]
#[path = "../../../../exercises/15-readiness/src/models.rs"]
mod models;
mod readiness;
mod side;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../../exercises/15-readiness/src/tests/mod.rs"]
mod tests;
mod waiting;

pub use event::{Direction, Event, ShutDown};
pub use readiness::{Readiness, Ready};
