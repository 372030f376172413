//! Sleeps that are due at the same time.

use super::*;

/// Clause 2: std's clock may well stand still between two calls.
#[test]
fn sleeps_of_one_deadline_are_all_woken() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "Of several sleeps with the same deadline, each is woken once, and is ready then.",
        usual_cause: "Two sleeps share an entry: the deadline alone is the key, or what is beside \
                      it isn't unique to the sleep for all its life (an address, from which the \
                      sleep may move away). Put a number beside it. Or only one sleep is taken out \
                      at each deadline.",
        read: "blocking/sleep.html#a-list-of-deadlines",
    };
    const SLEEPS: usize = 9;
    check(lesson, || {
        let mut driven = Driven::new();
        let mut sleeps = [(); SLEEPS].map(|()| begin(driven.after(SECOND)));
        let end = driven.now + SECOND + MS;
        driven.run_until(end, |_| {});
        let wakes = sleeps.each_ref().map(|(_, wakes)| wakes.wakes());
        assert!(
            wakes == [1; SLEEPS],
            "{SLEEPS} sleeps with the same deadline were woken {wakes:?} times"
        );
        let is_ready = sleeps
            .each_mut()
            .map(|(sleep, _)| poll(sleep, Waker::noop()));
        assert!(
            is_ready == [true; SLEEPS],
            "{SLEEPS} sleeps with the same deadline were woken; ready: {is_ready:?}"
        );
    });
}

/// Clause 6: a sleep must find its own entry.
#[test]
fn dropping_a_sleep_leaves_others_of_its_deadline() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "Of several sleeps with the same deadline, dropping one doesn't take out another.",
        usual_cause: "`Drop` searches for the deadline and takes what it finds first: the entry of \
                      another sleep. Search for the deadline and the number.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    const SLEEPS: usize = 5;
    check(lesson, || {
        for dropped in 0..SLEEPS {
            let mut driven = Driven::new();
            let begin_one = |_| Some(begin(driven.after(SECOND)));
            let mut sleeps: Vec<_> = (0..SLEEPS).map(begin_one).collect();
            let all_wakes: Vec<_> =
                sleeps.iter().flatten().map(|(_, w)| w.clone()).collect();
            drop(sleeps[dropped].take());
            // Another waker for the next sleep.
            let other = (dropped + 1) % SLEEPS;
            let (waker, new) = CountingWaker::new();
            if let Some((sleep, _)) = &mut sleeps[other] {
                poll(sleep, &waker);
            }
            let end = driven.now + SECOND + MS;
            driven.run_until(end, |_| {});
            let mut wakes: Vec<_> =
                all_wakes.iter().map(|wakes| wakes.wakes()).collect();
            wakes[other] += new.wakes();
            let expected: Vec<_> =
                (0..SLEEPS).map(|one| usize::from(one != dropped)).collect();
            assert!(
                wakes == expected,
                "number {dropped} of {SLEEPS} sleeps was dropped; they were woken {wakes:?} times"
            );
            let wakes = new.wakes();
            assert!(wakes == 1, "a newer waker was woken {wakes} times");
        }
    });
}

/// Clause 6: the task that waits for the first of many drops the others.
#[test]
fn a_waker_that_drops_sleeps_due_with_its_own_is_the_last() {
    let lesson = Lesson {
        clause: "6. Nothing left behind",
        promise: "A waker may drop the sleeps that are due together with its own. None of them is \
                  woken then.",
        usual_cause: "`fire` takes out all that is due, or a batch of it, and then calls the wakers. \
                      Take one out, unlock, wake it, and look again.",
        read: "blocking/sleep.html#most-sleeps-are-dropped",
    };
    const SLEEPS: usize = 40;
    check(lesson, || {
        for apart in [Duration::ZERO, NS, MS / 8, MS] {
            let mut driven = Driven::new();
            let sleeps: Arc<Mutex<Vec<Sleep>>> = Arc::default();
            let wakes = Arc::new(AtomicUsize::new(0));
            for index in 0..SLEEPS as u32 {
                let mut sleep = driven.after(SECOND + apart * index);
                let waker = HostileWaker::new({
                    let (sleeps, wakes) = (sleeps.clone(), wakes.clone());
                    move || {
                        wakes.fetch_add(1, SeqCst);
                        let all = std::mem::take(&mut *lock(&sleeps));
                        drop(all);
                    }
                });
                poll(&mut sleep, &waker);
                lock(&sleeps).push(sleep);
            }
            driven.now += SECOND + MS * SLEEPS as u32;
            driven.fire();
            let wakes = wakes.load(SeqCst);
            assert!(
                wakes == 1,
                "the first waker dropped all {SLEEPS} sleeps; {wakes} were \
                 woken, {apart:?} apart"
            );
        }
    });
}

fn lock(sleeps: &Mutex<Vec<Sleep>>) -> MutexGuard<'_, Vec<Sleep>> {
    sleeps.lock().expect("no code panics here")
}

/// Clause 2: when a server stalls, a thousand timeouts end together.
#[test]
fn thousands_that_are_due_at_once_are_woken_at_once() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "No matter how many sleeps are due, `fire` wakes them all.",
        usual_cause: "`fire` stops after a fixed number, and returns the next deadline *after* \
                      now, so the sleeps that are left over are late by that much.",
        read: "blocking/sleep.html#the-next-deadline",
    };
    const SLEEPS: u32 = 5_000;
    check(lesson, || {
        let mut driven = Driven::new();
        let begin_one = |index| {
            // No two deadlines are equal, and all fall into half a millisecond.
            begin(driven.after(SECOND + NS * 97 * index))
        };
        let sleeps: Vec<_> = (0..SLEEPS).map(begin_one).collect();
        let (_far, far_wakes) = begin(driven.after(HOUR));
        driven.now += SECOND + MS;
        // `fire` may ask to be called again at once.
        let now = driven.now;
        while driven.fire().is_some_and(|next| next <= now) {
            let calls = driven.calls;
            assert!(calls < SLEEPS as usize, "`fire` was called {calls} times");
        }
        let woken = sleeps.iter().filter(|(_, wakes)| wakes.wakes() == 1);
        let woken = woken.count();
        assert!(
            woken == SLEEPS as usize,
            "`fire` woke {woken} of {SLEEPS} sleeps that were due"
        );
        assert!(far_wakes.wakes() == 0, "a sleep of an hour was woken");
    });
}

/// Clause 3: the driver is quick, and looks before `poll` has returned.
#[test]
fn the_driver_finds_the_sleep_that_it_is_called_for() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "When `unpark` is called, the next `fire` finds the new sleep.",
        usual_cause: "`unpark` is called first, and the sleep is inserted after that. A driver \
                      that looks in between finds nothing, and sleeps on. Insert the sleep, \
                      unlock, and then call `unpark`.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    /// How long `unpark` waits for the driver. If it's called under the lock,
    /// it waits in vain, which isn't a fault.
    const PATIENCE: Duration = Duration::from_millis(100);
    check(lesson, || {
        let (ask, asked) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let answers = Arc::new(Mutex::new((0, answers, None)));
        let unparks = Arc::new(AtomicUsize::new(0));
        let timers = Arc::new(Timers::new({
            let (unparks, answers) = (unparks.clone(), answers.clone());
            move || {
                unparks.fetch_add(1, SeqCst);
                let _ = ask.send(());
                let mut answers = answers.lock().expect("no code panics here");
                if let Ok(next) = answers.1.recv_timeout(PATIENCE) {
                    answers.0 += 1;
                    answers.2 = Some(next);
                }
            }
        }));
        let now = Instant::now() + HOUR;
        timers.fire(now);
        let driven = timers.clone();
        thread::spawn(move || {
            for () in asked {
                let _ = answer.send(driven.fire(now));
            }
        });
        let deadline = now + SECOND;
        let _begun = begin(timers.sleep_until(deadline));
        let unparks = unparks.load(SeqCst);
        assert!(unparks > 0, "the very first sleep didn't call `unpark`");
        let mut answers = answers.lock().expect("no code panics here");
        while answers.0 < unparks {
            answers.2 = answers.1.recv().ok();
            answers.0 += 1;
        }
        let next = answers.2.flatten();
        assert!(
            next.is_some_and(|next| next <= deadline + MS),
            "`unpark` was called, and then `fire` knew of no sleep: {next:?}"
        );
    });
}
