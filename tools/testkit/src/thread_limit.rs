//! A limit under which the system refuses to start threads.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

use crate::Gate;

/// Runs `body` while the system refuses to start threads. Returns `None`, without running `body`,
/// where the system can't be made to.
pub fn without_new_threads<R>(body: impl FnOnce() -> R) -> Option<R> {
    let (mut body, mut result) = (Some(body), None);
    starve(&mut || result = body.take().map(|body| body()));
    result
}

/// The same for any body, so that it's compiled once.
fn starve(body: &mut dyn FnMut()) {
    // The stacks of ended threads are kept for new ones: these use them up.
    let gate = Arc::new(Gate::new());
    let (arrive, arrived) = mpsc::channel();
    let wait = |arrive: Sender<()>| {
        let gate = gate.clone();
        move || {
            let _ = arrive.send(());
            gate.wait();
        }
    };
    let start = |_| thread::Builder::new().spawn(wait(arrive.clone()));
    let threads: Vec<_> = (0..MAX_CACHED_STACKS).flat_map(start).collect();
    // A thread that gets no memory as it starts ends the process: none may be starting when the
    // limit comes.
    threads.iter().for_each(|_| _ = arrived.recv());
    let limit = AddressLimit::tighten();
    let is_refused = limit.is_some() && start(0).is_err();
    if is_refused {
        body();
    }
    drop(limit);
    gate.open();
    for thread in threads {
        thread.join().expect("waiting does not panic");
    }
}

/// More stacks than a process caches: glibc stops at 40 MiB.
const MAX_CACHED_STACKS: usize = 32;

/// Leaves the process too little address space for the stack of a thread.
/// Lifted when it is dropped.
struct AddressLimit {
    #[allow(dead_code, reason = "where there is no limit there is none to lift")]
    before: Limit,
}

/// What `getrlimit` and `setrlimit` pass.
#[allow(dead_code, reason = "where there is no limit there is none to read")]
#[repr(C)]
#[derive(Clone, Copy)]
struct Limit {
    now: u64,
    most: u64,
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod linux {
    use super::{AddressLimit, Limit};
    use std::ffi::c_int;

    /// The address space, on these processors.
    const RLIMIT_AS: c_int = 9;
    /// What `body` may still allocate.
    const SPARE_BYTES: u64 = 256 * 1024;

    unsafe extern "C" {
        fn getrlimit(resource: c_int, limit: *mut Limit) -> c_int;
        fn setrlimit(resource: c_int, limit: *const Limit) -> c_int;
    }

    fn set(limit: Limit) -> bool {
        // SAFETY: it reads a `Limit`, which stays where the pointer points.
        (unsafe { setrlimit(RLIMIT_AS, &limit) }) == 0
    }

    impl AddressLimit {
        pub(super) fn tighten() -> Option<Self> {
            let mut before = Limit { now: 0, most: 0 };
            // SAFETY: it writes a `Limit`, which stays where the pointer points.
            if unsafe { getrlimit(RLIMIT_AS, &mut before) } != 0 {
                return None;
            }
            let status = std::fs::read_to_string("/proc/self/status").ok()?;
            let size = status
                .lines()
                .find_map(|line| line.strip_prefix("VmSize:"))?;
            let kibibytes: u64 = size.split_whitespace().next()?.parse().ok()?;
            let tight = Limit {
                now: kibibytes * 1024 + SPARE_BYTES,
                ..before
            };
            set(tight).then_some(Self { before })
        }
    }

    impl Drop for AddressLimit {
        fn drop(&mut self) {
            set(self.before);
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
impl AddressLimit {
    fn tighten() -> Option<Self> {
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::{Lesson, check};

    #[test]
    fn no_thread_starts_inside_and_threads_start_again_outside() {
        let lesson = Lesson {
            clause: "1. Example",
            promise: "the system refuses threads for a while",
            usual_cause: "the limit is not tight, or not lifted",
            read: "example.html",
        };
        check(lesson, || {
            let start = || {
                let thread = thread::Builder::new().spawn(|| ());
                thread.is_ok_and(|thread| thread.join().is_ok())
            };
            assert!(start(), "a thread starts before");
            let inside = without_new_threads(|| [start(), start(), start()]);
            assert!(inside == Some([false; 3]), "inside it is {inside:?}");
            assert!(start(), "a thread starts after");
        });
    }
}
