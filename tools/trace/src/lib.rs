//! Records which task ran where and when. Standard library only.
//!
//! ```
//! use std::pin::pin;
//! use std::task::{Context, Waker};
//!
//! let recording = trace::record("one poll", "by hand", 1);
//! trace::thread_start(); // this thread is worker 0
//! let mut task = pin!(trace::task("A", async { 42 }));
//! let _ready = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
//! let trace = recording.finish();
//! assert_eq!(trace.polls("A").len(), 1);
//! trace.save("one-poll"); // for the page, or for `cargo workshop record`
//! ```
//!
//! It sees what goes through it: a wrapped future reports when it is polled,
//! and passes its future a wrapped waker, which reports who wakes it. So it
//! works with any executor. What a runtime's threads do is reported by
//! [`thread_start`], [`thread_park`] and [`thread_unpark`], from the runtime's
//! hooks:
//!
//! ```text
//! tokio   builder.on_thread_start(trace::thread_start)
//!                .on_thread_park(trace::thread_park)
//!                .on_thread_unpark(trace::thread_unpark)
//! rayon   builder.start_handler(|_| trace::thread_start())
//! ```
//!
//! A scheduler of your own can report what becomes of its queues, see
//! [`queue`].
//!
//! Recording one event takes reading the clock and three stores into a buffer
//! that belongs to the thread: no lock, and no allocation. A lock is taken, and
//! memory may be allocated, when a thread records its first event, and for the
//! name of a task or a mark. A full buffer loses the newest events, and counts
//! them.
//!
//! The document it writes has the schema `workshop.trace/1`, see
//! `schema/workshop.trace-1.schema.json`.

#[cfg(feature = "record")]
mod attribution;
#[cfg(feature = "record")]
mod buffer;
mod chrome;
#[cfg(feature = "document")]
pub mod document;
mod event;
mod host;
mod json;
pub mod queue;
mod queues;
mod reading;
#[cfg_attr(not(feature = "record"), path = "off.rs")]
mod recorder;
#[cfg(feature = "document")]
pub mod steps;
mod sweep;
#[cfg(feature = "record")]
mod task;
mod trace;

pub use reading::{Park, Poll};
pub use recorder::{Recording, mark, record, thread_park, thread_start, thread_unpark, yielded};
#[cfg(not(feature = "record"))]
pub use recorder::{Task, job, span, task};
pub use sweep::Sweep;
#[cfg(feature = "record")]
pub use task::{Task, job, span, task};
pub use trace::Trace;
