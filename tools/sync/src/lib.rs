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
//! What each offers is what all of them have. loom lacks `Weak`, const
//! constructors, `Condvar::wait_while` and time-outs that elapse (a timed wait
//! waits until it is notified). Its thread-locals have `with` and `try_with`
//! only. Its `Arc` cannot become a
//! [`Waker`](std::task::Waker): what implements [`Wake`](std::task::Wake)
//! stays in a [`std::sync::Arc`].

pub mod time;

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

/// std's `thread_local!` over a model checker's: those do not know the
/// `const { … }` that std does.
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
