//! Tokens.

use super::*;

/// Clause 1: a thread that parks before any `unpark` has to wait.
#[test]
fn a_new_parker_has_no_token() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "A new parker has no token.",
        usual_cause: "The parker starts in the state in which there is a token.",
        read: "one-future/parker.html#a-token-of-your-own",
    };
    check(lesson, || {
        let took = Parker::new().park_timeout(MOMENT);
        assert!(!took, "the first `park_timeout` took a token");
    });
}

/// Clause 1: an unparker comes and goes with each future that waits.
#[test]
fn a_dropped_unparker_leaves_no_token() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "Only `unpark` leaves a token. Dropping an unparker leaves none.",
        usual_cause: "The `Drop` of the unparker unparks, so that no thread waits for an unparker \
                      that is gone. However, a future drops many wakers that it never called, and \
                      each would end a `park`. If the unparker is built on a channel, keep a \
                      sender in the parker.",
        read: "one-future/parker.html#a-token-of-your-own",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        drop(unparker.clone());
        let took = parker.park_timeout(MOMENT);
        assert!(!took, "the drop of an unparker's clone left a token");
        drop(unparker);
        let took = parker.park_timeout(MOMENT);
        assert!(!took, "the drop of the last unparker left a token");
    });
}

/// Clause 1: otherwise the next sleep would end before it should.
#[test]
fn a_token_serves_one_park() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "The `park` that returns has taken the token, so the next `park` sleeps.",
        usual_cause: "`park` looks at the token but doesn't take it away: the flag or the state that \
                      says that there is one is never cleared.",
        read: "one-future/parker.html#a-token-of-your-own",
    };
    check(lesson, || {
        let parker = Parker::new();
        for _ in 0..3 {
            parker.unparker().unpark();
            parker.park();
            let took = parker.park_timeout(MOMENT);
            assert!(!took, "after one `unpark`, two parks took a token");
        }
    });
}

/// Clause 1: two wake-ups before one poll need no second poll.
#[test]
fn two_unparks_leave_one_token() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "If there is a token already, `unpark` adds none.",
        usual_cause: "The tokens are counted. A flag is enough: it says that there is reason to look.",
        read: "one-future/parker.html#a-token-of-your-own",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        unparker.unpark();
        unparker.unpark();
        parker.park();
        let took = parker.park_timeout(MOMENT);
        assert!(!took, "two unparks in a row let two parks return");
    });
}

/// Clause 1: a socket may be woken many times before its reader gets to poll.
#[test]
fn any_number_of_unparks_leave_one_token() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "No matter how many unparks come before a `park`, there is one token.",
        usual_cause: "If there was no token: the unparks are counted in a small integer, and the \
                      count wraps. After 256 unparks, a `u8` says that there was none. Set the \
                      state with a `swap` or a `fetch_or`. If a second `park_timeout` took one: \
                      the first doesn't take the token that it finds, or the tokens are counted.",
        read: "one-future/parker.html#a-token-of-your-own",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        for unparks in (1..=8).chain([15, 16]).map(|bits| 1_u32 << bits) {
            for _ in 0..unparks {
                unparker.unpark();
            }
            let took = parker.park_timeout(Duration::ZERO);
            assert!(took, "after {unparks} unparks, there was no token");
            let again = parker.park_timeout(Duration::ZERO);
            assert!(
                !again,
                "after {unparks} unparks, a second `park_timeout` took a token, too"
            );
        }
    });
}

/// Clause 2: the other thread is often the faster one.
#[test]
fn an_unpark_before_park_counts() {
    let lesson = Lesson {
        clause: "2. No lost unpark",
        promise: "An `unpark` that comes first lets the next `park` return at once.",
        usual_cause: "`unpark` only wakes a thread that sleeps already (a condition variable \
                      without a flag), or `park` starts by clearing the flag.",
        read: "one-future/parker.html#a-token-of-your-own",
    };
    check(lesson, || {
        let parker = Parker::new();
        parker.unparker().unpark();
        parker.park();
    });
}

/// Clause 2: the usual case.
#[test]
fn an_unpark_ends_the_sleep() {
    let lesson = Lesson {
        clause: "2. No lost unpark",
        promise: "An `unpark` from another thread wakes a thread that sleeps in `park`.",
        usual_cause: "`unpark` leaves the token, but no notification follows: there is none, or it \
                      comes before the token. Or `unpark` takes the state in which the thread \
                      sleeps for the one in which there is a token.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparking = unpark_once_asleep(parker.unparker());
        parker.park();
        unparking.join().expect("unparking doesn't panic");
    });
}

/// Clause 2: no single run can be relied on to hit the moment between the last
/// look and the sleep. Therefore each side is run one instruction at a time,
/// with the other side running after each. Under chaos many runs hit the
/// moment, and the models do, too.
#[test]
fn thousands_of_tokens_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "2. No lost unpark",
        promise: "An `unpark` that comes while the thread is going to sleep still counts.",
        usual_cause: "An `unpark` that comes after the last look for a token and before the sleep \
                      is lost. Or, with three states, `park` stores PARKED over a token that has \
                      just come: go from EMPTY to PARKED with `compare_exchange`. With a condition \
                      variable, the thread must hold the mutex from its look until it sleeps, and \
                      `unpark` must hold the mutex at some time after it has left the token: it \
                      may not give up because `try_lock` fails. Or `unpark` takes the handle of \
                      the thread that sleeps, and the thread, if it finds no token, sleeps again \
                      without having left its handle there again.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    const ROUNDS: u32 = 2_000;
    check(lesson, || {
        let parker = Parker::new();
        race_step_by_step(|answer| wait_by(&parker, answer));
        play_ping_pong(ROUNDS);
        with_chaos(SEED, || play_ping_pong(ROUNDS));
    });
}

/// Waits for the answer, which comes with an `unpark`.
fn wait_by(parker: &Parker, answer: impl Future<Output = ()>) {
    let waker = Arc::new(UnparkOnWake(Mutex::new(parker.unparker()))).into();
    let mut cx = Context::from_waker(&waker);
    let mut answer = pin!(answer);
    while answer.as_mut().poll(&mut cx).is_pending() {
        parker.park();
    }
}

struct UnparkOnWake(Mutex<Unparker>);

impl Wake for UnparkOnWake {
    fn wake(self: Arc<Self>) {
        self.0.lock().expect("nothing panics").unpark();
    }
}

/// Passes one token to and fro between two threads.
fn play_ping_pong(rounds: u32) {
    let (here, there) = (Parker::new(), Parker::new());
    let (to_here, to_there) = (here.unparker(), there.unparker());
    let partner = thread::spawn(move || {
        for _ in 0..rounds {
            there.park();
            to_here.unpark();
        }
    });
    for _ in 0..rounds {
        to_there.unpark();
        here.park();
    }
    partner.join().expect("parking doesn't panic");
}

/// Clause 3: condition variables and `thread::park` may return spuriously.
#[test]
fn park_does_not_return_without_a_token() {
    let lesson = Lesson {
        clause: "3. No spurious return",
        promise: "`park` returns only with a token, even if what it sleeps on returns spuriously.",
        usual_cause: "An `if` where a `while` is needed: after `Condvar::wait` or `thread::park`, \
                      check again whether there is a token. At a hang: an `unpark` that comes \
                      after the last look for a token and before the sleep is lost. See clause 2.",
        read: "one-future/parker.html#spurious-wake-ups, at a hang #between-the-look-and-the-sleep",
    };
    const ROUNDS: u32 = 300;
    /// How often the partner lets other threads run before it unparks.
    const YIELDS: u32 = 30;
    /// On a busy machine, a single yield may take that long, and lets the
    /// thread that parks run.
    const YIELDS_TIME: Duration = Duration::from_millis(1);
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let start = Arc::new(Rendezvous::new());
        let tokens = Arc::new(AtomicU32::new(0));
        let partner = thread::spawn({
            let (start, tokens) = (start.clone(), tokens.clone());
            move || {
                for _ in 0..ROUNDS {
                    start.meet();
                    let began = Instant::now();
                    for _ in 0..YIELDS {
                        thread::yield_now();
                        if began.elapsed() > YIELDS_TIME {
                            break;
                        }
                    }
                    tokens.fetch_add(1, SeqCst);
                    unparker.unpark();
                }
            }
        });
        with_chaos(SEED, || {
            for round in 1..=ROUNDS {
                start.meet();
                parker.park();
                let tokens = tokens.load(SeqCst);
                assert!(
                    tokens == round,
                    "`park` returned {round} times for {tokens} tokens"
                );
            }
        });
        partner.join().expect("unparking doesn't panic");
    });
}

/// Clause 7: any lock or channel may call `thread::park`.
#[test]
fn thread_park_does_not_take_the_token() {
    let lesson = Lesson {
        clause: "7. Independent",
        promise: "The parker's token is still there after a `thread::park` on the same thread.",
        usual_cause: "The parker uses the thread's token, which all code on the thread shares. \
                      Keep a token of your own.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    check(lesson, || {
        let parker = Parker::new();
        parker.unparker().unpark();
        thread::current().unpark();
        thread::park();
        parker.park();
    });
}

/// Clause 7: any code that has the thread's handle may unpark it.
#[test]
fn an_unpark_of_the_thread_does_not_end_a_park() {
    let lesson = Lesson {
        clause: "7. Independent",
        promise: "`Thread::unpark` does not make `park` or `park_timeout` return.",
        usual_cause: "`thread::park` is called without a loop. It needs one that checks for a \
                      token of the parker's own. At a hang: an `unpark` of the parker doesn't wake \
                      the thread. See clause 2.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    const UNPARKS: u32 = 10;
    check(lesson, || {
        let parker = Parker::new();
        let ways: [(_, fn(&Parker)); 2] = [
            ("park", Parker::park),
            ("park_timeout", |parker| _ = parker.park_timeout(HOUR)),
        ];
        for (which, park) in ways {
            let (thread, parked) = (thread::current(), ThreadProbe::here());
            let unparker = parker.unparker();
            let is_unparked = Arc::new(AtomicBool::new(false));
            let partner = thread::spawn({
                let is_unparked = is_unparked.clone();
                move || {
                    for _ in 0..UNPARKS {
                        parked.wait_until_asleep();
                        thread.unpark();
                    }
                    parked.wait_until_asleep();
                    is_unparked.store(true, SeqCst);
                    unparker.unpark();
                }
            });
            park(&parker);
            assert!(
                is_unparked.load(SeqCst),
                "`{which}` returned because of an unpark of the thread"
            );
            partner.join().expect("unparking doesn't panic");
        }
    });
}
