//! Other right versions of the blocking pool.

pub mod condvar;
pub mod handed_over;
pub mod of_futures;

use std::cell::Cell;
use std::ptr;

sync::thread_local! {
    /// What the pool of this thread shares with its threads.
    static EMPLOYER: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// Notes for which pool this thread works.
fn works_for<S>(shared: &S) {
    EMPLOYER.with(|employer| employer.set(ptr::from_ref(shared).cast()));
}

fn is_working_for<S>(shared: &S) -> bool {
    let shared = ptr::from_ref(shared).cast();
    EMPLOYER.with(|employer| ptr::eq(employer.get(), shared))
}
