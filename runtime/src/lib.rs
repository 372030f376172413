//! An async runtime, composed of the solutions of the exercises: the
//! work-stealing scheduler of exercise 14, the blocking pool of 6, and the
//! reactor of 16, with its timers. Tasks have the time slices of 8.
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
//! | [`Runtime`], [`Builder`], [`Handle`] | the threads, how many, and how other threads use them |
//! | [`spawn`], [`spawn_blocking()`], [`yield_now`] | tasks and jobs |
//! | [`sleep`], [`sleep_until`], [`timeout`], [`interval`] | time |
//! | [`select`], [`join()`], [`join!`], [`join_all`] | several futures in one task |
//! | [`net`] | TCP and UDP |
//! | [`LocalRuntime`], [`spawn_local`] | one thread, for futures that aren't `Send` |
//! | [`Runtime::metrics`](Runtime#method.metrics) | with the feature `metrics`: what the workers do |
//!
//! # What a task must know
//!
//! - A poll should end within some ten microseconds or so. What takes longer
//!   keeps other tasks of its worker waiting; if it's long, call
//!   [`spawn_blocking()`], and if it's a loop, await [`checkpoint`] in it.
//! - A future may be dropped at any `.await`, by [`select`], [`timeout`], `abort`
//!   or the end of the runtime. Each function here says what it then has done.
//! - At the end of the runtime, tasks are dropped where they wait. The drop of
//!   the [`Runtime`] waits for the polls and the blocking jobs that run.
//! - A sleep, a timeout and a socket need a runtime where they're *made*. In
//!   `block_on(sleep(time))` that's before `block_on` runs, and so it panics:
//!   write `block_on(async { sleep(time).await })`.
//! - A socket belongs to the runtime in which it was made. Tasks of another one
//!   may use it, until its own ends; then it gives errors.
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
