//! The models of exercise 14: a whole runtime, and threads that use it at any
//! moment.

#[cfg(feature = "loom")]
mod loom;
#[cfg(all(feature = "shuttle", not(feature = "loom")))]
mod shuttle;

use super::Runtime;

fn runtime(workers: usize) -> Runtime {
    let built = Runtime::builder().worker_threads(workers).build();
    built.expect("there are threads left")
}
