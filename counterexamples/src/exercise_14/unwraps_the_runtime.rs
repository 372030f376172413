//! Breaks clause 11: Where you are.
//! Caught by: outside_a_runtime_free_functions_say_so
//!
//! Where there is no runtime there is none to unwrap, and the program ends, as it
//! should. It says "called `Option::unwrap()` on a `None` value". Whoever has
//! forgotten to enter a runtime learns that something is missing, and not what.

use ::{run_queue, sleepers, task};

super::parts! {
    builder right context end handle injector owner runtime search shared
    slot start worker all others
}

/// Expects a runtime without a word.
mod context {
    use super::right;
    pub use super::right::{
        Blocked, Entered, Inside, current, leave_forgotten, run_as, worker_of,
    };
    use super::shared::Shared;

    /// # Safety
    ///
    /// The caller must not run any code of the user's while it has the reference.
    #[track_caller]
    pub unsafe fn expect_current<'a>() -> &'a Shared {
        // SAFETY: what was entered is kept by an `Entered` that is still there.
        unsafe { right::current().as_ref() }.unwrap()
    }
}
