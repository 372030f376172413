//! Asks another thread of this process for its backtrace, with a signal.

pub(super) use machine::backtrace_of;

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
))]
mod machine {
    use std::backtrace::Backtrace;
    use std::ffi::{c_int, c_long};
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicPtr};
    use std::thread;
    use std::time::{Duration, Instant};

    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

    /// `SIGUSR2`, the same number on both architectures.
    const SIGNAL: c_int = 12;
    #[cfg(target_arch = "x86_64")]
    const TGKILL: c_long = 234;
    #[cfg(target_arch = "aarch64")]
    const TGKILL: c_long = 131;
    /// How long a thread may take to answer.
    const TIMEOUT: Duration = Duration::from_secs(2);

    unsafe extern "C" {
        fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
        fn syscall(number: c_long, ...) -> c_long;
        fn pause() -> c_int;
    }

    /// The backtrace of the thread that is being asked.
    static ANSWER: AtomicPtr<Backtrace> = AtomicPtr::new(ptr::null_mut());
    /// Set once a thread hasn't answered: it may hold a lock that the others need.
    static IS_STUCK: AtomicBool = AtomicBool::new(false);

    extern "C" fn answer(_number: c_int) {
        let backtrace = Box::into_raw(Box::new(Backtrace::force_capture()));
        // Release: pairs with the Acquire in `backtrace_of`; publishes the backtrace.
        ANSWER.store(backtrace, Release);
        // The thread goes no further, so that what is reported about the others stays true.
        loop {
            // SAFETY: it has no preconditions.
            unsafe { pause() };
        }
    }

    /// Halts a thread of this process and returns its backtrace.
    pub(crate) fn backtrace_of(thread: u32) -> Option<Backtrace> {
        // Relaxed: only this thread uses the flag.
        if IS_STUCK.load(Relaxed) {
            return None;
        }
        let (process, thread) = (c_long::from(std::process::id()), c_long::from(thread));
        // SAFETY: the handler has the signature that `signal` wants, and lives as long as the program.
        unsafe { signal(SIGNAL, answer) };
        // SAFETY: `tgkill` takes three numbers, and touches no memory of this process.
        let failed = unsafe { syscall(TGKILL, process, thread, c_long::from(SIGNAL)) };
        if failed != 0 {
            return None;
        }
        let deadline = Instant::now() + TIMEOUT;
        loop {
            // Acquire: pairs with the Release in `answer`; this thread sees the backtrace.
            let answer = ANSWER.swap(ptr::null_mut(), Acquire);
            if !answer.is_null() {
                // SAFETY: the handler made it from a box and gave it up; the swap took it, so it is
                // taken only once.
                return Some(*unsafe { Box::from_raw(answer) });
            }
            if Instant::now() >= deadline {
                IS_STUCK.store(true, Relaxed);
                return None;
            }
            thread::sleep(Duration::from_micros(200));
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
mod machine {
    use std::backtrace::Backtrace;

    /// Threads can't be asked here.
    pub(crate) fn backtrace_of(_thread: u32) -> Option<Backtrace> {
        None
    }
}
