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
            let woken = counts.iter().position(|one| one.wakes() > 0);
            drop(waiting);
            let (Some(woken), false) = (woken, is_over) else {
                // Both events have to come in one batch: another round.
                while driver.dispatch(usize::MAX) {}
                continue;
            };
            rounds += 1;
            let [first, second] = pairs;
            let (kept, gone) = match woken {
                0 => (first, second),
                _ => (second, first),
            };
            // The new stream gets the descriptor of the old one.
            drop(gone.0);
            let (new, _peer) = pair();
            let mut waiting = Box::pin(new.readable());
            let counts = begin(&mut waiting);
            while driver.dispatch(usize::MAX) {}
            let wakes = counts.wakes();
            assert!(wakes == 0, "it was woken by the event of another stream");
            begin(&mut waiting);
            drop(kept);
        }
    });
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
