//! A listener while the process has no file descriptor left. The limit holds
//! for the whole process, so this test is a program of its own.
#![cfg(unix)]

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use solution_16::{Driver, TcpListener};
use testkit::{Lesson, check};
use work_stealing::{Runtime, spawn};

fn limit_descriptors(count: libc::rlim_t) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer points to a limit that may be written.
    let result =
        unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    assert_eq!(result, 0);
    limit.rlim_cur = count;
    // SAFETY: the pointer points to an initialized limit.
    let result =
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(result, 0);
}

/// Row: accept at `EMFILE` doesn't spin.
#[test]
fn a_loop_that_goes_on_after_errors_does_not_spin() {
    let lesson = Lesson {
        clause: "6. Accept",
        promise: "While the process has no descriptor for a connection, a loop \
                  around `accept` tries only a few times. Once there's one \
                  again, the waiting connection is accepted.",
        usual_cause: "The listener stays ready, so the next attempt fails at \
                      once. Or its readiness was cleared, and no event comes \
                      for a connection that waits already.",
        read: "",
    };
    check(lesson, || {
        let mut builder = Runtime::builder();
        let runtime = builder.worker_threads(1);
        let runtime = runtime.build_on(Driver::new().unwrap()).unwrap();
        let (listener, address) = runtime.block_on(async {
            let here = (Ipv4Addr::LOCALHOST, 0).into();
            let listener = TcpListener::bind(here).unwrap();
            let address = listener.local_addr().unwrap();
            (listener, address)
        });
        // The connection waits in the kernel until the task accepts it.
        let client = std::net::TcpStream::connect(address).unwrap();
        // The limit becomes the lowest free descriptor, so the client's is the
        // last one that can be opened.
        let next = std::fs::File::open("/dev/null").unwrap();
        let count = std::os::fd::AsRawFd::as_raw_fd(&next);
        drop(next);
        limit_descriptors(count as libc::rlim_t);
        let accepting = runtime.spawn(async move {
            let task = spawn(async move {
                let mut failed = 0;
                loop {
                    match listener.accept().await {
                        Ok(_) => return failed,
                        Err(_) => failed += 1,
                    }
                }
            });
            task.await.unwrap()
        });
        let start = Instant::now();
        std::thread::sleep(Duration::from_millis(500));
        limit_descriptors(count as libc::rlim_t + 10);
        let failed = runtime.block_on(accepting).unwrap();
        let most = start.elapsed().as_millis() as usize / 50 + 2;
        assert!(
            (1..=most).contains(&failed),
            "`accept` has failed {failed} times"
        );
        drop(client);
    });
}
