//! Clause 11: fetching, and then waking.

use super::*;

/// Clause 11: a worker that waits counts as parked, and must get no tasks.
#[test]
fn waiting_and_looking_wake_no_task() {
    let lesson = Lesson {
        clause: "11. In two steps",
        promise: "`wait` and `look` wake no task. `dispatch` does.",
        usual_cause: "The wakers are called where the events are fetched.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        for is_look in [false, true] {
            let mut driver = driver();
            let _entered = driver.handle().enter();
            let (stream, mut peer) = pair();
            let mut buffer = [0];
            let mut reading = Box::pin(stream.read(&mut buffer));
            let counts = begin(&mut reading);
            peer.write_all(b"!").unwrap();
            while counts.wakes() == 0 {
                match is_look {
                    true => driver.look(),
                    false => driver.wait(),
                }
                let wakes = counts.wakes();
                let name = if is_look { "look" } else { "wait" };
                assert!(wakes == 0, "`{name}` has woken a task");
                while driver.dispatch(usize::MAX) {}
            }
        }
    });
}

/// Clause 7: sleeps keep to the two steps, too, and only a dispatch of all
/// events wakes them.
#[test]
fn only_a_dispatch_of_all_events_wakes_sleeps() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "A sleep that's due is woken neither by `wait` nor by `look` nor by \
                  `dispatch(1)`, which returns `true`. `dispatch(usize::MAX)` wakes it.",
        usual_cause: "The driver asks for the next deadline with the present time, which wakes \
                      what is due. At a hang: `dispatch(1)` returns `false` because no event is \
                      left, although a sleep is due.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        for is_look in [false, true] {
            let mut nap = Box::pin(handle.sleep(Duration::from_millis(2)));
            let counts = begin(&mut nap);
            spin(Duration::from_millis(3));
            let mut is_left = false;
            while !is_left {
                match is_look {
                    true => driver.look(),
                    false => driver.wait(),
                }
                assert!(counts.wakes() == 0, "fetching has woken a sleep");
                is_left = driver.dispatch(1);
                assert!(counts.wakes() == 0, "`dispatch(1)` has woken a sleep");
            }
            while counts.wakes() == 0 {
                while driver.dispatch(usize::MAX) {}
                if counts.wakes() == 0 {
                    driver.wait();
                }
            }
        }
    });
}

/// Clause 11: the rest of a batch goes to another queue.
#[test]
fn a_dispatch_wakes_for_as_many_events_as_it_is_told() {
    let lesson = Lesson {
        clause: "11. In two steps",
        promise: "`dispatch(1)` wakes the tasks of one event and says whether events or due sleeps \
                  are left. No event is lost between two calls.",
        usual_cause: "`dispatch` doesn't count, begins from the first event each time, or drops \
                      the events that are left.",
        read: "io/reactor.html#a-thousand-events-one-queue",
    };
    check(lesson, || {
        for most in [1, 3] {
            dispatch_by(most);
        }
    });
}

/// Wakes the tasks of ten events, at most so many in each step.
fn dispatch_by(most: usize) {
    const COUNT: usize = 10;
    let mut driver = driver();
    let _entered = driver.handle().enter();
    let pairs = [(); COUNT].map(|()| pair());
    let mut waiting: Vec<_> =
        pairs.iter().map(|one| Box::pin(one.0.readable())).collect();
    let counts: Vec<_> = waiting.iter_mut().map(begin).collect();
    let woken = || counts.iter().filter(|one| one.wakes() > 0).count();
    for (_, peer) in &pairs {
        let mut peer = peer;
        peer.write_all(b"!").unwrap();
    }
    let mut are_left = false;
    let mut before = 0;
    while woken() < COUNT {
        if !are_left {
            driver.wait();
        }
        driver.dispatch(0);
        assert!(woken() == before, "`dispatch(0)` has woken tasks");
        are_left = driver.dispatch(most);
        let now = woken();
        assert!(
            now <= before + most,
            "`dispatch({most})` has woken {} tasks",
            now - before
        );
        before = now;
    }
    while driver.dispatch(usize::MAX) {}
    assert!(
        !driver.dispatch(1),
        "`dispatch(1)` says that something is left, but nothing is"
    );
    for one in waiting {
        assert!(poll_once(one).is_ready());
    }
}

/// Clause 11: a look is made between two polls of a busy worker.
#[test]
fn a_look_does_not_block() {
    let lesson = Lesson {
        clause: "11. In two steps",
        promise: "`look` returns at once if there's nothing.",
        usual_cause: "`look` waits as `wait` does, or a millisecond.",
        read: "io/reactor.html#which-thread-waits",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        let _entered = handle.enter();
        let (_stream, _peer) = pair();
        let begun = Instant::now();
        for _ in 0..5_000 {
            driver.look();
            while driver.dispatch(usize::MAX) {}
        }
        let took = begun.elapsed();
        assert!(
            took < Duration::from_secs(4),
            "5,000 looks took {took:?}, with nothing to find"
        );
    });
}
