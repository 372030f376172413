//! `accept4` that fails as a check wants it to.
//!
//! A definition in the program comes before that of libc, so whatever accepts by calling libc's
//! function calls ours.

use std::cell::RefCell;
use std::collections::VecDeque;

std::thread_local! {
    /// The errors of the next calls.
    static ERRORS: RefCell<VecDeque<i32>> = const { RefCell::new(VecDeque::new()) };
}

/// Has this thread's next calls of `accept4` fail with `errors`, one after the other. Nothing is
/// accepted meanwhile, and the calls after that are real ones. Returns how many of the errors are
/// left over from before.
///
/// A program that accepts in another way, and one on a system other than Linux, notices nothing.
pub fn fail_accepts(errors: &[i32]) -> usize {
    ERRORS.with_borrow_mut(|left| {
        let before = left.len();
        *left = errors.iter().copied().collect();
        before
    })
}

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod interposed {
    use std::ffi::{c_int, c_long, c_void};

    use super::ERRORS;

    #[cfg(target_arch = "x86_64")]
    const SYS_ACCEPT4: c_long = 288;
    #[cfg(target_arch = "aarch64")]
    const SYS_ACCEPT4: c_long = 242;

    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
        fn __errno_location() -> *mut c_int;
    }

    /// # Safety
    ///
    /// As for libc's function.
    // SAFETY: it has the name and the signature of libc's function, and does the same.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn accept4(
        socket: c_int,
        address: *mut c_void,
        length: *mut c_void,
        flags: c_int,
    ) -> c_int {
        // `try_with`: a thread may accept while its locals are destroyed.
        let planned = ERRORS.try_with(|errors| errors.borrow_mut().pop_front());
        if let Ok(Some(error)) = planned {
            // SAFETY: it may be called at any time.
            let place = unsafe { __errno_location() };
            // SAFETY: it's the place of this thread's error.
            unsafe { *place = error };
            return -1;
        }
        // SAFETY: what the caller promises is what the system call needs.
        let accepted = unsafe { syscall(SYS_ACCEPT4, socket, address, length, flags) };
        accepted as c_int
    }
}
