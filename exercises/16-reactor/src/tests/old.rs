//! Clause 4: sources that are gone.

use super::*;

/// Clause 4: a batch of events was fetched before one of its sources was
/// dropped.
#[test]
fn an_event_of_a_stream_that_is_gone_reaches_no_other() {
    let lesson = Lesson {
        clause: "4. Old registrations",
        promise: "If a stream is dropped while a batch of events is being dispatched, its event \
                  doesn't reach a stream that's created later.",
        usual_cause: "The key of an event is the file descriptor, or an index without a \
                      generation.",
        read: "io/reactor.html#what-an-event-says",
    };
    check(lesson, || {
        let mut rounds = 0;
        while rounds < 20 {
            let Some(wakes) = wakes_by_an_old_event(0) else {
                continue;
            };
            rounds += 1;
            assert!(wakes == 0, "it was woken by the event of another stream");
        }
    });
}

/// Clause 4: however many sources have come and gone before the batch goes on.
#[test]
fn an_old_event_stays_old_however_many_sources_come_and_go() {
    let lesson = Lesson {
        clause: "4. Old registrations",
        promise: "An event of a dropped stream reaches no stream that's created later, even if \
                  thousands of others have had the same index in between.",
        usual_cause: "The generation has too few bits, so that it comes around: after 256 sources, \
                      a byte is the same again. In a `usize`, give it at least half of the bits.",
        read: "io/reactor.html#what-an-event-says",
    };
    check(lesson, || {
        // One less than each power of two, and a few more: a counter may count
        // other sources, too.
        let small = (1..20).chain((5..13).flat_map(|bits| {
            let all = 1 << bits;
            all - 4..=all
        }));
        for between in small.chain([u16::MAX.into()]) {
            let wakes = loop {
                if let Some(wakes) = wakes_by_an_old_event(between) {
                    break wakes;
                }
            };
            assert!(
                wakes == 0,
                "after {between} others had come and gone, a new stream was woken by the event of \
                 a stream that was dropped before"
            );
        }
    });
}

/// Drops a stream whose event was fetched, creates and drops `between` others,
/// and creates one more. Returns how often the event has woken that one, or
/// `None` if the event wasn't fetched in one batch with another.
fn wakes_by_an_old_event(between: usize) -> Option<usize> {
    let mut driver = driver();
    let _entered = driver.handle().enter();
    let pairs = [pair(), pair()];
    let mut waiting: Vec<_> =
        pairs.iter().map(|one| Box::pin(one.0.readable())).collect();
    let mut counts = Vec::new();
    for one in &mut waiting {
        counts.push(begin(one));
    }
    // The first events may report that there's room to write.
    driver.look();
    while driver.dispatch(usize::MAX) {}
    for (_, peer) in &pairs {
        let mut peer = peer;
        peer.write_all(b"!").unwrap();
    }
    driver.wait();
    let is_over = !driver.dispatch(1);
    let woken = counts.iter().position(|one| one.wakes() > 0)?;
    drop(waiting);
    if is_over {
        return None;
    }
    let [first, second] = pairs;
    let (_kept, gone) = match woken {
        0 => (first, second),
        _ => (second, first),
    };
    // The next stream gets the descriptor of the old one.
    drop(gone.0);
    let (other, _other_peer) = std_pair();
    for _ in 0..between {
        drop(TcpStream::from_std(other.try_clone().unwrap()).unwrap());
    }
    let (new, _peer) = pair();
    let mut waiting = Box::pin(new.readable());
    let counts = begin(&mut waiting);
    while driver.dispatch(usize::MAX) {}
    let wakes = counts.wakes();
    if wakes == 0 {
        begin(&mut waiting);
    }
    Some(wakes)
}

/// Clause 4: a duplicate of the descriptor keeps the kernel's entry alive.
#[test]
fn a_stream_that_is_gone_makes_no_events() {
    let lesson = Lesson {
        clause: "4. Old registrations",
        promise: "A dropped stream causes no more events, even if a duplicate of its descriptor is \
                  still open.",
        usual_cause: "The stream is closed without being deregistered first.",
        read: "io/reactor.html#deregister-then-close",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        let _entered = handle.enter();
        let (ours, mut peer) = std_pair();
        let duplicate = ours.try_clone().unwrap();
        drop(TcpStream::from_std(ours).unwrap());
        // If the stream were still registered, each write would be an event.
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let writing = thread::spawn(move || {
            for _ in 0..200 {
                peer.write_all(b"!").unwrap();
                thread::sleep(Duration::from_millis(1));
            }
            over.store(true, SeqCst);
            handle.unpark();
            drop(duplicate);
        });
        let mut waits = 0;
        while !is_over.load(SeqCst) {
            turn(&mut driver);
            waits += 1;
        }
        writing.join().unwrap();
        assert!(waits < 20, "{waits} waits ended, though one was to end");
    });
}

/// Clause 4: a server has a new source for each connection.
#[test]
fn no_memory_is_lost_with_a_source_that_is_gone() {
    let lesson = Lesson {
        clause: "4. Old registrations",
        promise: "A thousand sources that were created and dropped, one after the other, leave no \
                  memory behind.",
        usual_cause: "The driver's entry for a source stays when the source is dropped: the source \
                      is only deregistered from the operating system, or its index isn't used \
                      again.",
        read: "io/reactor.html#deregister-then-close",
    };
    check(lesson, || {
        const COUNT: usize = 1_000;
        // Not even a pointer for each.
        const MOST: isize = (COUNT * size_of::<usize>()) as isize;
        let mut driver = driver();
        let _entered = driver.handle().enter();
        have_an_event(&mut driver);
        let mut come_and_go = |count| {
            for _ in 0..count {
                let socket = UdpSocket::bind(HERE.into()).unwrap();
                let mut buffer = [0];
                let mut receiving = Box::pin(socket.recv_from(&mut buffer));
                begin(&mut receiving);
                drop(receiving);
                drop(socket);
                driver.look();
                while driver.dispatch(usize::MAX) {}
            }
        };
        // What is kept for the next source is there from now on.
        come_and_go(100);
        let before = live_bytes();
        come_and_go(COUNT);
        let lost = live_bytes() - before;
        assert!(
            lost < MOST,
            "{COUNT} sockets came and went, and {lost} bytes more are in use than before"
        );
    });
}

/// After its first event, a driver has all the memory that it needs, even if it
/// has a thread of its own.
fn have_an_event(driver: &mut Driver) {
    let socket = UdpSocket::bind(HERE.into()).unwrap();
    drive(driver, socket.send_to(b"!", socket.local_addr().unwrap())).unwrap();
}

/// Clause 4: the system may refuse a source, and its entry goes, too.
#[test]
#[cfg(target_os = "linux")]
fn no_memory_is_lost_with_a_source_that_is_refused() {
    let lesson = Lesson {
        clause: "4. Old registrations",
        promise: "A thousand sources that the system refuses to watch leave no memory behind.",
        usual_cause: "The source gets its entry first. If the system then refuses the source, the \
                      error is returned, and the entry stays: the table grows with each attempt.",
        read: "io/reactor.html#deregister-then-close",
    };
    check(lesson, || {
        const COUNT: usize = 1_000;
        const MOST: isize = (COUNT * size_of::<usize>()) as isize;
        let mut driver = driver();
        let _entered = driver.handle().enter();
        have_an_event(&mut driver);
        let attempt = |count| {
            for _ in 0..count {
                // No socket but a file, which epoll refuses.
                let file = std::fs::File::open("/dev/null").unwrap();
                let file = std::os::fd::OwnedFd::from(file);
                drop(TcpStream::from_std(file.into()));
            }
        };
        attempt(100);
        let before = live_bytes();
        attempt(COUNT);
        let lost = live_bytes() - before;
        assert!(
            lost < MOST,
            "{COUNT} sources were refused, and {lost} bytes more are in use than before"
        );
    });
}
