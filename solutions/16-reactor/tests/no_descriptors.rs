//! A listener while the process has no file descriptor left. The limit holds
//! for the whole process, so this test is a program of its own.
#![cfg(unix)]

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use solution_16::{Driver, TcpListener, TcpStream};
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

/// Row: shutdown wakes all who wait, with an error.
#[test]
fn the_end_of_a_driver_is_an_error_in_the_pause_too() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "An `accept` that waits because there was no descriptor gets \
                  an error when the driver ends, as any other does.",
        usual_cause: "It waits in a sleep, which panics.",
        read: "",
    };
    check(lesson, || {
        let mut builder = Runtime::builder();
        let runtime = builder.worker_threads(1);
        let runtime = runtime.build_on(Driver::new().unwrap()).unwrap();
        let listener = {
            let _inside = runtime.enter();
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap()
        };
        let address = listener.local_addr().unwrap();
        let client = std::net::TcpStream::connect(address).unwrap();
        let next = std::fs::File::open("/dev/null").unwrap();
        let count = std::os::fd::AsRawFd::as_raw_fd(&next);
        drop(next);
        let (pause, pausing) = std::sync::mpsc::channel();
        let accepting = std::thread::spawn(move || {
            limit_descriptors(count as libc::rlim_t);
            // An error, unless what watches this check has closed a file since.
            let _first = block_on::block_on(listener.accept());
            pause.send(()).unwrap();
            loop {
                match block_on::block_on(listener.accept()) {
                    Err(error) if error.kind() == ErrorKind::NotConnected => {
                        return;
                    }
                    _ => {}
                }
            }
        });
        pausing.recv().unwrap();
        drop(runtime);
        accepting.join().unwrap();
        drop(client);
    });
}

/// What `connect` needs first is a descriptor.
#[test]
fn a_connect_without_a_descriptor_is_an_error() {
    let lesson = Lesson {
        clause: "5. Connect",
        promise: "While there's no descriptor, each `connect` gives the error \
                  of the system. After that it works again.",
        usual_cause: "The attempt is repeated until there's a descriptor, or \
                      the error is kept.",
        read: "",
    };
    check(lesson, || {
        let mut builder = Runtime::builder();
        let runtime = builder.worker_threads(1);
        let runtime = runtime.build_on(Driver::new().unwrap()).unwrap();
        let here = (Ipv4Addr::LOCALHOST, 0);
        let listener = std::net::TcpListener::bind(here).unwrap();
        let address = listener.local_addr().unwrap();
        let next = std::fs::File::open("/dev/null").unwrap();
        let count = std::os::fd::AsRawFd::as_raw_fd(&next);
        drop(next);
        limit_descriptors(count as libc::rlim_t + 10);
        let connecting = runtime.spawn(async move {
            for _ in 0..3 {
                let mut streams = Vec::new();
                let error = loop {
                    match TcpStream::connect(address).await {
                        Ok(stream) => streams.push(stream),
                        Err(error) => break error,
                    }
                };
                assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
                // What watches this check has files open at times.
                let count = streams.len();
                assert!((5..=10).contains(&count), "{count} connections");
            }
        });
        runtime.block_on(connecting).unwrap();
    });
}
