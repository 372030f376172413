//! System calls that fail as a check wants them to.
//!
//! A definition in the program comes before that of libc, so whatever calls libc's function calls
//! ours. A program that accepts or waits in another way, and one on a system other than Linux,
//! notices nothing.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

std::thread_local! {
    /// The errors of the next calls of `accept4`.
    static ACCEPTS: RefCell<VecDeque<i32>> = const { RefCell::new(VecDeque::new()) };
    /// How many waits are still to be interrupted, and those that were.
    static WAITS: RefCell<(usize, Vec<InterruptedWait>)> = const { RefCell::new((0, Vec::new())) };
}

/// Has this thread's next calls of `accept4` fail with `errors`, one after the other. Nothing is
/// accepted meanwhile, and the calls after that are real ones. Returns how many of the errors are
/// left over from before.
pub fn fail_accepts(errors: &[i32]) -> usize {
    ACCEPTS.with_borrow_mut(|left| {
        let before = left.len();
        *left = errors.iter().copied().collect();
        before
    })
}

/// A call of `epoll_wait` that ended early.
#[derive(Clone, Copy, Debug)]
pub struct InterruptedWait {
    /// How long it was meant to last.
    pub timeout: Duration,
    /// When it ended, or a little earlier.
    pub end: Instant,
}

/// Runs `body`. Meanwhile, this thread's first `count` calls of `epoll_wait` with a timeout end when
/// half of it has passed, as if a signal had come. Also returns those calls.
pub fn with_interrupted_waits<R>(
    count: usize,
    body: impl FnOnce() -> R,
) -> (R, Vec<InterruptedWait>) {
    WAITS.set((count, Vec::new()));
    let result = body();
    let (_, waits) = WAITS.take();
    (result, waits)
}

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod definitions {
    use std::ffi::{c_int, c_long, c_void};
    use std::ptr;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::{ACCEPTS, InterruptedWait, WAITS};

    #[cfg(target_arch = "x86_64")]
    mod numbers {
        pub const ACCEPT4: super::c_long = 288;
        pub const EPOLL_PWAIT: super::c_long = 281;
    }
    #[cfg(target_arch = "aarch64")]
    mod numbers {
        pub const ACCEPT4: super::c_long = 242;
        pub const EPOLL_PWAIT: super::c_long = 22;
    }

    const EINTR: c_int = 4;
    /// The size of a set of signals.
    const SIGNALS: usize = 8;

    unsafe extern "C" {
        fn syscall(number: c_long, ...) -> c_long;
        fn __errno_location() -> *mut c_int;
    }

    fn fail(error: c_int) -> c_int {
        // SAFETY: it may be called at any time.
        let place = unsafe { __errno_location() };
        // SAFETY: it's the place of this thread's error.
        unsafe { *place = error };
        -1
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
        let planned = ACCEPTS.try_with(|errors| errors.borrow_mut().pop_front());
        if let Ok(Some(error)) = planned {
            return fail(error);
        }
        // SAFETY: what the caller promises is what the system call needs.
        let accepted = unsafe { syscall(numbers::ACCEPT4, socket, address, length, flags) };
        accepted as c_int
    }

    /// # Safety
    ///
    /// As for libc's function.
    // SAFETY: it has the name and the signature of libc's function, and does the same.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn epoll_wait(
        poller: c_int,
        events: *mut c_void,
        most: c_int,
        timeout_ms: c_int,
    ) -> c_int {
        if timeout_ms > 0 && is_to_be_interrupted() {
            let timeout = Duration::from_millis(timeout_ms.unsigned_abs().into());
            thread::sleep(timeout / 2);
            let end = Instant::now();
            WAITS.with_borrow_mut(|(_, waits)| waits.push(InterruptedWait { timeout, end }));
            return fail(EINTR);
        }
        let no_signals = ptr::null::<c_void>();
        // SAFETY: what the caller promises is what the system call needs. Without a set of
        // signals, it's `epoll_wait`, which not every system has.
        let count = unsafe {
            syscall(
                numbers::EPOLL_PWAIT,
                poller,
                events,
                most,
                timeout_ms,
                no_signals,
                SIGNALS,
            )
        };
        count as c_int
    }

    fn is_to_be_interrupted() -> bool {
        let interrupted = WAITS.try_with(|waits| {
            let (count, _) = &mut *waits.borrow_mut();
            let is_planned = *count > 0;
            *count -= usize::from(is_planned);
            is_planned
        });
        interrupted.unwrap_or(false)
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use std::ffi::{c_int, c_void};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::ptr;

    use super::*;

    unsafe extern "C" {
        fn epoll_create1(flags: c_int) -> c_int;
        fn epoll_wait(poller: c_int, events: *mut c_void, most: c_int, timeout: c_int) -> c_int;
        fn close(file: c_int) -> c_int;
    }

    #[test]
    fn an_accept_fails_as_asked_and_then_accepts() {
        const ECONNABORTED: i32 = 103;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it's bound");
        let _client = TcpStream::connect(address).expect("it listens");
        fail_accepts(&[ECONNABORTED]);
        let error = listener.accept().expect_err("that was asked for");
        assert_eq!(error.raw_os_error(), Some(ECONNABORTED));
        listener.accept().expect("the connection is still there");
        assert_eq!(fail_accepts(&[]), 0);
    }

    #[test]
    fn a_wait_is_interrupted_when_half_of_its_time_has_passed() {
        const LIMIT: Duration = Duration::from_millis(20);
        // SAFETY: it may be called at any time.
        let poller = unsafe { epoll_create1(0) };
        let mut events = [0_u64; 2];
        let wait = |events: &mut [u64; 2]| {
            let events = ptr::from_mut(events).cast();
            // SAFETY: there's room for one event.
            unsafe { epoll_wait(poller, events, 1, LIMIT.as_millis() as c_int) }
        };
        let start = Instant::now();
        let (first, waits) = with_interrupted_waits(1, || wait(&mut events));
        let [interrupted] = waits[..] else {
            panic!("one wait was to be interrupted: {waits:?}")
        };
        assert_eq!((first, interrupted.timeout), (-1, LIMIT));
        assert!(interrupted.end - start >= LIMIT / 2);
        let start = Instant::now();
        assert_eq!(wait(&mut events), 0, "no event comes");
        assert!(start.elapsed() >= LIMIT, "this one is a real one");
        // SAFETY: nothing else uses it.
        assert_eq!(unsafe { close(poller) }, 0);
    }
}
