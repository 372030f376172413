//! Solution 14: a runtime whose workers steal, composed of the solutions before
//! it: the tasks of 12, the queues of 11, the sleepers of 13, the blocking pool
//! of 6 and the timers of 5.
//!
//! `worker` is what a worker does all day; `slot` and `injector` are where it
//! gets tasks from, besides its queue. `shared` is what all of them share, and
//! how it ends. `context` is what a thread knows, and `runtime` what its users
//! see.
//!
//! # Examples
//!
//! ```
//! let runtime = solution_14::Runtime::new()?;
//! let answer = runtime.block_on(async {
//!     let half = solution_14::spawn(async { 21 });
//!     2 * half.await.expect("it does not panic")
//! });
//! assert_eq!(answer, 42);
//! # Ok::<(), std::io::Error>(())
//! ```

mod builder;
mod context;
mod injector;
mod runtime;
mod shared;
mod slot;
mod worker;

pub use builder::Builder;
pub use context::Enter;
pub use runtime::{Handle, Runtime, sleep, spawn, spawn_blocking};
pub use spawn_blocking::JoinError;
pub use task::{JoinHandle, YieldNow, yield_now};
