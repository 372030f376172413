//! Clause 8: ending the driver's wait.

use super::*;

/// Clause 8: an unpark may come between the driver's last look and its wait.
#[test]
fn an_unpark_ends_a_wait_whenever_it_comes() {
    let lesson = Lesson {
        clause: "8. Unpark",
        promise: "An unpark ends the wait, whether it comes before the wait, as the wait begins, \
                  or during it.",
        usual_cause: "The driver checks whether it was unparked and then waits. An unpark that \
                      comes in between leaves no token.",
        read: "io/reactor.html#waking-the-worker-in-the-seat",
    };
    check(lesson, || {
        race_unparks_with_waits();
        with_chaos(SEED, race_unparks_with_waits);
    });
}

/// Unparks at each moment of the driver's turn.
fn race_unparks_with_waits() {
    let mut driver = driver();
    let handle = driver.handle();
    let [begun, ended] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let (begins, ends) = (begun.clone(), ended.clone());
    let unparking = thread::spawn(move || {
        for round in rounds() {
            begins.store(round, SeqCst);
            // Meanwhile, the driver begins to wait.
            spin(Duration::from_nanos(round as u64 % 100 * 20));
            handle.unpark();
            wait_for(&ends, round);
        }
        begins.store(OVER, SeqCst);
    });
    for round in 1.. {
        wait_for(&begun, round);
        if begun.load(SeqCst) == OVER {
            break;
        }
        turn(&mut driver);
        ended.store(round, SeqCst);
    }
    unparking.join().unwrap();
}

/// Clause 8: a driver that isn't waiting is unparked for its next wait.
#[test]
fn an_unpark_before_the_wait_counts() {
    let lesson = Lesson {
        clause: "8. Unpark",
        promise: "After an unpark while no thread waits, the next wait returns.",
        usual_cause: "The unpark finds no waiting thread, and leaves no token.",
        read: "io/reactor.html#waking-the-worker-in-the-seat",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        for _ in 0..100 {
            handle.unpark();
            driver.wait();
            while driver.dispatch(usize::MAX) {}
        }
    });
}

/// Clause 8: a token that's never taken would make the driver spin.
#[test]
fn an_unpark_ends_one_wait() {
    let lesson = Lesson {
        clause: "8. Unpark",
        promise: "Several unparks before a wait end that wait, and not all that follow.",
        usual_cause: "The token isn't taken by the wait that it ends.",
        read: "io/reactor.html#waking-the-worker-in-the-seat",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        (0..3).for_each(|_| handle.unpark());
        turn(&mut driver);
        assert_sleeps_until_unparked(&mut driver, handle);
    });
}

/// Clause 8: a worker may look, and dispatch, between an unpark and its wait.
#[test]
fn neither_a_look_nor_a_dispatch_takes_the_token() {
    let lesson = Lesson {
        clause: "8. Unpark",
        promise: "After an unpark, the next wait ends, even if the driver has looked or dispatched \
                  in between.",
        usual_cause: "One unpark ends several waits. At a hang: `look` or `dispatch` takes the \
                      token. If the poller's waker alone is the token, `look` fetches its event, \
                      and the wait that follows doesn't know of it.",
        read: "io/reactor.html#waking-the-worker-in-the-seat",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        for round in 0..100 {
            handle.unpark();
            if round % 2 == 0 {
                driver.look();
            }
            if round % 3 == 0 {
                while driver.dispatch(usize::MAX) {}
                driver.look();
            }
            turn(&mut driver);
        }
        assert_sleeps_until_unparked(&mut driver, handle);
    });
}

/// Fails if no token is left, and waits end all the same.
#[track_caller]
fn assert_sleeps_until_unparked(driver: &mut Driver, handle: Handle) {
    let is_over = Arc::new(AtomicBool::new(false));
    let (probe, over) = (ThreadProbe::here(), is_over.clone());
    let unparking = thread::spawn(move || {
        probe.wait_until_asleep();
        over.store(true, SeqCst);
        handle.unpark();
    });
    let mut waits = 0;
    while !is_over.load(SeqCst) {
        turn(driver);
        waits += 1;
        assert!(waits < 100, "100 waits ended, and nothing has happened");
    }
    unparking.join().unwrap();
}

/// Clause 11: a wait that ends at once has fetched what there is.
#[test]
fn events_are_fetched_by_waits_that_an_unpark_ends() {
    let lesson = Lesson {
        clause: "11. In two steps",
        promise: "A `wait` that's ended by an unpark has fetched the events that were there.",
        usual_cause: "If there's a token, `wait` returns without asking the poller. While unparks \
                      keep coming, no task is woken by an event.",
        read: "io/reactor.html#waking-the-worker-in-the-seat",
    };
    check(lesson, || {
        const MOST: usize = 20_000;
        let mut driver = driver();
        let handle = driver.handle();
        let _entered = handle.enter();
        let (stream, mut peer) = pair();
        for _ in 0..20 {
            let mut byte = [0];
            let mut reading = Box::pin(stream.read(&mut byte));
            let counts = begin(&mut reading);
            peer.write_all(b"!").unwrap();
            let mut waits = 0;
            while counts.wakes() == 0 {
                assert!(
                    waits < MOST,
                    "a byte has arrived, and {MOST} waits, each of them after an unpark, \
                     haven't fetched its event"
                );
                waits += 1;
                handle.unpark();
                turn(&mut driver);
            }
            drive(&mut driver, reading).unwrap();
        }
    });
}

/// Has the process handle a signal, by doing nothing.
#[cfg(unix)]
pub fn handle_signal(signal: libc::c_int) {
    extern "C" fn nothing(_signal: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int);
    // SAFETY: the handler does nothing, so it may run at any time.
    let before = unsafe { libc::signal(signal, handler as usize) };
    assert!(before != libc::SIG_ERR);
}

/// Clause 8: the system call of a wait ends when its thread has handled a
/// signal, and returns an error.
#[test]
#[cfg(unix)]
fn a_signal_ends_no_more_than_a_wait() {
    let lesson = Lesson {
        clause: "8. Unpark",
        promise: "If a signal interrupts the driver's wait, the driver goes on: an event that \
                  comes later wakes its task.",
        usual_cause: "The error `Interrupted` of the poll is unwrapped. It says only that the \
                      thread has handled a signal.",
        read: "io/reactor.html#waking-the-worker-in-the-seat",
    };
    check(lesson, || {
        handle_signal(libc::SIGUSR1);
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let (stream, mut peer) = pair();
        let mut waiting = Box::pin(stream.readable());
        let counts = begin(&mut waiting);
        let probe = ThreadProbe::here();
        // SAFETY: this function has no precondition.
        let thread = unsafe { libc::pthread_self() };
        let signaling = thread::spawn(move || {
            for _ in 0..20 {
                probe.wait_until_asleep();
                // SAFETY: that thread joins this one, so it still exists.
                let result =
                    unsafe { libc::pthread_kill(thread, libc::SIGUSR1) };
                assert_eq!(result, 0);
            }
            probe.wait_until_asleep();
            peer.write_all(b"!").unwrap();
        });
        while counts.wakes() == 0 {
            turn(&mut driver);
        }
        signaling.join().unwrap();
        assert!(poll_once(waiting).is_ready());
    });
}
