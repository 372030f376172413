//! An async runtime, composed of the exercises' solutions: the work-stealing
//! scheduler of exercise 14, the blocking pool of exercise 6, and the reactor
//! of exercise 16 with its timers. Tasks have the time slices of exercise 8.
//!
//! ```
//! use std::time::Duration;
//!
//! fn main() -> std::io::Result<()> {
//!     let runtime = runtime::Runtime::new()?;
//!     runtime.block_on(async {
//!         let listener = runtime::net::TcpListener::bind(([127, 0, 0, 1], 0).into())?;
//!         let address = listener.local_addr()?;
//!         let serving = runtime::spawn(async move {
//!             let (stream, _peer) = listener.accept().await?;
//!             stream.write_all(b"hello").await
//!         });
//!         let stream = runtime::net::TcpStream::connect(address).await?;
//!         let mut answer = Vec::new();
//!         let reading = stream.read_to_end(&mut answer);
//!         runtime::timeout(Duration::from_secs(5), reading).await??;
//!         assert_eq!(answer, b"hello");
//!         serving.await.expect("it doesn't panic")
//!     })
//! }
//! ```
//!
//! # What is where
//!
//! | | |
//! |---|---|
//! | [`Runtime`], [`Builder`], [`Handle`] | the runtime, its settings, and using it from other threads |
//! | [`spawn`], [`spawn_blocking()`], [`yield_now`] | tasks and blocking jobs |
//! | [`sleep`], [`sleep_until`], [`timeout`], [`interval`] | time |
//! | [`select`], [`join()`], [`join!`], [`join_all`] | several futures in one task |
//! | [`net`] | TCP and UDP |
//! | [`LocalRuntime`], [`spawn_local`] | one thread, for futures that aren't `Send` |
//! | [`Runtime::metrics`](Runtime#method.metrics) | counters of the workers and tasks (feature `metrics`) |
//!
//! # Rules for tasks
//!
//! - A poll should take tens of microseconds, because it keeps the other tasks
//!   of its worker waiting. Run longer work with [`spawn_blocking()`], or await
//!   [`checkpoint`] in its loop, which yields when the task's time slice is
//!   over.
//! - A future may be dropped at any `.await`: by [`select`], [`timeout`],
//!   `abort`, or the end of the runtime. The documentation of each function
//!   says what a dropped future has done by then.
//! - When the runtime ends, tasks are dropped at the `.await` where they wait.
//!   Dropping the [`Runtime`] waits for the current polls and for the blocking
//!   jobs that have begun.
//! - Outside a runtime, the functions that need one panic. They say so under
//!   "Panics". After the runtime has ended, its sockets return errors of the
//!   kind [`NotConnected`](std::io::ErrorKind::NotConnected), and its sleeps
//!   panic.
//! - A sleep, a timeout and a socket need a runtime where they're *made*. In
//!   `block_on(sleep(time))` that's before `block_on` runs, and so it panics:
//!   write `block_on(async { sleep(time).await })`.
//! - A socket belongs to the runtime in which it was made. Tasks of other
//!   runtimes may use it, too. Once its own runtime has ended, the socket's
//!   operations return errors.
//!
//! # What isn't here
//!
//! There are no traits for reading and writing, such as `AsyncRead`: streams have
//! methods. Channels and locks needn't know the runtime, and those of the crate
//! futures work. Files, child processes and signals are left to
//! [`spawn_blocking()`], and there are no Unix sockets. The drop of a [`Runtime`]
//! can't be limited in time: a blocking job that never ends keeps it waiting.

mod builder;
mod combine;
mod handle;
mod local;
#[cfg(feature = "metrics")]
mod metrics;
pub mod net;
mod time;

pub use budget::checkpoint;
pub use builder::Builder;
pub use combine::{Either, join, join_all, select};
pub use handle::{
    BlockingHandle, EnterGuard, Handle, JoinHandle, Runtime, spawn,
    spawn_blocking,
};
pub use local::{LocalJoinHandle, LocalRuntime, spawn_local};
#[cfg(feature = "metrics")]
pub use metrics::{Metrics, TaskMetrics, WorkerMetrics};
pub use reactor::{Sleep, sleep, sleep_until};
pub use time::{Elapsed, Interval, Timeout, interval, timeout, timeout_at};
pub use work_stealing::{JoinError, yield_now};
