//! The primitives that the exercises are built from: std's, or wrappers over
//! loom's or shuttle's, under one name. Code that imports from here instead of
//! `std::sync` and `std::thread` can be model-checked as it stands.
//!
//! | feature | what it gives |
//! |---|---|
//! | none | std's types themselves |
//! | `chaos` | std's, wrapped so that a test can switch on spurious returns, failing weak exchanges and seeded delays: `chaos` |
//! | `shuttle` | shuttle's: many random schedules, every atomic sequentially consistent |
//! | `loom` | loom's: every schedule and every value a load may return, within bounds |
//!
//! The clock is std's with any of them; with `chaos` a test can set it: [`time`].
//!
//! What each offers is what all of them have; `missing`, which is there with the feature `loom`,
//! lists what loom can't provide. In a model no time passes: a timed wait waits until it is
//! notified, and none of the spurious failures that std allows occurs. What implements
//! [`Wake`](std::task::Wake) stays in a [`std::sync::Arc`].

#[cfg(feature = "loom")]
pub mod missing;
pub mod time;

#[cfg(any(feature = "loom", feature = "shuttle"))]
mod guard;
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod record;

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod std_backend;
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use std_backend::*;

#[cfg(feature = "loom")]
mod loom_backend;
#[cfg(feature = "loom")]
pub use loom_backend::*;

#[cfg(all(feature = "shuttle", not(feature = "loom")))]
mod shuttle_backend;
#[cfg(all(feature = "shuttle", not(feature = "loom")))]
pub use shuttle_backend::*;

pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

// The compiler shows these lines to code that imports what isn't there.
#[cfg(false)] // not in `primitives`: loom counts strong references only. Use std's `Arc` and `Weak`, which the models don't see
pub struct Weak;
#[cfg(false)] // not in `primitives`: it would outlive a model's execution. Use a `Mutex<Option<T>>`
pub struct OnceLock;
#[cfg(false)] // not in `primitives`: it would outlive a model's execution. Make the value in `new`, or use a `Mutex<Option<T>>`
pub struct LazyLock;
#[cfg(false)] // not in `primitives`: it would outlive a model's execution. Use a `Mutex<bool>`
pub struct Once;

/// std's `thread_local!` over a model checker's, which don't support the `const { … }` that std
/// does.
#[cfg(any(feature = "loom", feature = "shuttle"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __thread_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::model_thread_local! { $(#[$attribute])* $visibility static $name: $type = $init }
        $($crate::__thread_local! { $($rest)* })?
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $crate::model_thread_local! { $(#[$attribute])* $visibility static $name: $type = $init }
        $($crate::__thread_local! { $($rest)* })?
    };
}

#[cfg(all(feature = "chaos", not(any(feature = "loom", feature = "shuttle"))))]
pub mod chaos;
