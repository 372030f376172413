//! The checks of exercise 2, one or more for each clause of the contract.
//! Clause 4 cannot be seen to break on most machines: it has only models.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

use std::future::poll_fn;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use sync::chaos::with_chaos;
use testkit::{
    Cost, Lesson, ManualFuture, Rendezvous, ThreadProbe, Yields, check,
    idle_cost, live_blocks, race_with_wakes, wait_by_thread_park,
};

use super::{Parker, Unparker, block_on};

/// Decides what happens under chaos.
const SEED: u64 = 2;
/// Long enough to see whether a thread sleeps.
const MOMENT: Duration = Duration::from_millis(20);
/// Longer than any check may last.
const HOUR: Duration = Duration::from_secs(3_600);

/// Clause 1: whoever parks first has to wait.
#[test]
fn a_new_parker_has_no_token() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "A new parker has no token.",
        usual_cause: "It starts in the state in which a token leaves it.",
        read: "one-future/parker.html#a-token-of-your-own",
    };
    check(lesson, || {
        let took = Parker::new().park_timeout(MOMENT);
        assert!(!took, "the first `park_timeout` took a token");
    });
}

/// Clause 1: otherwise the next sleep ends before it should.
#[test]
fn a_token_serves_one_park() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "The `park` that returns has taken the token: the next one sleeps.",
        usual_cause: "The token is looked at but not taken away.",
        read: "one-future/parker.html#a-token-of-your-own",
    };
    check(lesson, || {
        let parker = Parker::new();
        for _ in 0..3 {
            parker.unparker().unpark();
            parker.park();
            let took = parker.park_timeout(MOMENT);
            assert!(!took, "after one `unpark` two parks took a token");
        }
    });
}

/// Clause 1: two wake-ups before one poll need no second poll.
#[test]
fn two_unparks_leave_one_token() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "Where a token is already, `unpark` adds none.",
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

/// Clause 2: the other thread is often faster.
#[test]
fn an_unpark_before_park_counts() {
    let lesson = Lesson {
        clause: "2. No lost unpark",
        promise: "An `unpark` that comes first lets the next `park` return at once.",
        usual_cause: "`unpark` rouses only who already sleeps (a condition variable without a flag), \
                      or `park` starts by clearing the flag.",
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
        promise: "An `unpark` from another thread wakes the thread that sleeps in `park`.",
        usual_cause: "The token is left, but nobody rouses the sleeper; or the state in which one \
                      sleeps is taken for that in which there is a token.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparking = unpark_once_asleep(parker.unparker());
        parker.park();
        unparking.join().expect("unparking does not panic");
    });
}

/// Clause 2: no single run can hit the moment between the last look and the
/// sleep. Many runs may; the models do.
#[test]
fn thousands_of_tokens_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "2. No lost unpark",
        promise: "An `unpark` that comes while the thread falls asleep still counts.",
        usual_cause: "`unpark` notifies at a moment at which the thread has looked for a token but \
                      does not sleep yet. The thread must hold the mutex from its look until it \
                      sleeps, and `unpark` must take it in between.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    const ROUNDS: u32 = 2_000;
    check(lesson, || {
        play_ping_pong(ROUNDS);
        with_chaos(SEED, || play_ping_pong(ROUNDS));
    });
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
    partner.join().expect("parking does not panic");
}

/// Clause 3: condition variables and `thread::park` may return without cause.
#[test]
fn park_does_not_return_without_a_token() {
    let lesson = Lesson {
        clause: "3. No spurious return",
        promise: "`park` returns only with a token, even if what it sleeps on returns without cause.",
        usual_cause: "`if` where `while` is needed: after `Condvar::wait` or `thread::park` look \
                      again whether there is a token.",
        read: "one-future/parker.html#a-sleep-that-ends-for-no-reason",
    };
    const ROUNDS: u32 = 300;
    /// How often the partner lets others run before it unparks.
    const YIELDS: u32 = 30;
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
                    (0..YIELDS).for_each(|_| thread::yield_now());
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
        partner.join().expect("unparking does not panic");
    });
}

/// Clause 5: the result tells whether there is something to do.
#[test]
fn a_timed_park_takes_a_token_that_is_there() {
    let lesson = Lesson {
        clause: "5. Time-outs",
        promise: "With a token there, `park_timeout` takes it and returns `true` at once.",
        usual_cause: "It sleeps before it looks, or returns whether the time was up.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        let parker = Parker::new();
        parker.unparker().unpark();
        assert!(parker.park_timeout(HOUR), "it took no token");
        let again = parker.park_timeout(MOMENT);
        assert!(!again, "it left the token where it was");
    });
}

/// Clause 5: a sleep with a limit can be ended like any other.
#[test]
fn an_unpark_ends_a_timed_park() {
    let lesson = Lesson {
        clause: "5. Time-outs",
        promise: "An `unpark` wakes the thread that sleeps in `park_timeout`, which returns `true`.",
        usual_cause: "It sleeps the whole time (`thread::sleep`), or returns what it saw before it \
                      slept.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparking = unpark_once_asleep(parker.unparker());
        assert!(parker.park_timeout(HOUR), "it was unparked, and says not");
        unparking.join().expect("unparking does not panic");
    });
}

/// Clause 5: who is early runs a timer twice, or takes a slow answer for none.
#[test]
fn a_timed_park_is_never_early() {
    let lesson = Lesson {
        clause: "5. Time-outs",
        promise: "Without a token `park_timeout` returns `false`, and not before the time is up.",
        usual_cause: "After a wake-up without cause it returns, instead of sleeping for the time that \
                      is left; or it returns `true` for any wake-up.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    const TRIES: u32 = 60;
    const TIMEOUT: Duration = Duration::from_millis(1);
    check(lesson, || {
        let parker = Parker::new();
        with_chaos(SEED, || {
            for _ in 0..TRIES {
                let start = Instant::now();
                let took = parker.park_timeout(TIMEOUT);
                let slept = start.elapsed();
                assert!(
                    !took,
                    "it says that it took a token, and there was none"
                );
                assert!(
                    slept >= TIMEOUT,
                    "it gave up after {slept:.0?} instead of {TIMEOUT:?}"
                );
            }
        });
    });
}

/// Clause 5: nobody should need to know which durations are too long.
#[test]
fn any_timeout_will_do() {
    let lesson = Lesson {
        clause: "5. Time-outs",
        promise: "`Duration::ZERO` only looks, and `Duration::MAX` sleeps until there is a token.",
        usual_cause: "`Instant::now() + timeout` overflows. Use `checked_add`, and no deadline where \
                      it returns `None`.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        assert!(!parker.park_timeout(Duration::ZERO), "there was no token");
        for timeout in [Duration::ZERO, Duration::MAX] {
            unparker.unpark();
            let took = parker.park_timeout(timeout);
            assert!(took, "there was a token, and {timeout:?} did not take it");
        }
        let unparking = unpark_once_asleep(unparker);
        let took = parker.park_timeout(Duration::MAX);
        assert!(took, "`Duration::MAX` was over before there was a token");
        unparking.join().expect("unparking does not panic");
    });
}

/// Clause 5: a time-out ends one sleep and nothing else.
#[test]
fn a_park_after_a_time_out_works_as_before() {
    let lesson = Lesson {
        clause: "5. Time-outs",
        promise: "A time-out leaves no trace: the next `park` sleeps, and the next `unpark` counts.",
        usual_cause: "The state still says that the thread sleeps. Whoever stops sleeping takes that \
                      back.",
        read: "one-future/parker.html#three-states",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        for _ in 0..3 {
            assert!(!parker.park_timeout(MOMENT), "there was no token");
        }
        unparker.unpark();
        parker.park();
        assert!(!parker.park_timeout(MOMENT), "there was one token only");
        let unparking = unpark_once_asleep(unparker);
        parker.park();
        unparking.join().expect("unparking does not panic");
    });
}

/// Clause 5: a token that comes late is for the next park.
#[test]
fn a_token_that_comes_as_time_runs_out_is_taken_once() {
    let lesson = Lesson {
        clause: "5. Time-outs",
        promise: "A token that comes just as the time is up is taken now or by the next `park`.",
        usual_cause: "On a time-out the state is set back without a look at what it was. Use a swap, \
                      and return `true` if there was a token.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        race_with_the_clock();
        // Who has given up stops for a moment now and then before it says so.
        with_chaos(SEED, race_with_the_clock);
    });
}

/// Lets tokens come about when the time is up, one after the other.
fn race_with_the_clock() {
    const MOST_ROUNDS: u32 = 800;
    const FEWEST_ROUNDS: u32 = 50;
    const TIME: Duration = Duration::from_millis(500);
    const TIMEOUT: Duration = Duration::from_micros(60);
    const STEP: Duration = Duration::from_micros(1);
    let parker = Parker::new();
    let unparker = parker.unparker();
    let meeting = Arc::new(Rendezvous::new());
    let in_time = Arc::new(AtomicBool::new(false));
    let is_over = Arc::new(AtomicBool::new(false));
    let partner = thread::spawn({
        let meeting = meeting.clone();
        let (in_time, is_over) = (in_time.clone(), is_over.clone());
        move || {
            let mut pause = TIMEOUT;
            while !is_over.load(SeqCst) {
                meeting.meet();
                let moment = Instant::now() + pause;
                while Instant::now() < moment {}
                unparker.unpark();
                meeting.meet();
                // Closes in on the moment at which the other thread gives up.
                pause = match in_time.load(SeqCst) {
                    true => pause + STEP,
                    false => pause.saturating_sub(STEP),
                };
            }
        }
    });
    let end = Instant::now() + TIME;
    for round in 1..=MOST_ROUNDS {
        meeting.meet();
        let took = parker.park_timeout(TIMEOUT);
        if !took {
            parker.park();
        }
        in_time.store(took, SeqCst);
        // On a busy machine each meeting takes long.
        let is_last = round >= FEWEST_ROUNDS && Instant::now() >= end;
        is_over.store(is_last || round == MOST_ROUNDS, SeqCst);
        meeting.meet();
        // The token of this round has come, and was taken.
        let again = parker.park_timeout(Duration::ZERO);
        assert!(!again, "one token was taken twice");
        if is_last {
            break;
        }
    }
    partner.join().expect("unparking does not panic");
}

/// Clause 5: else a thread that is often unparked never sees its time-out.
#[test]
fn wake_ups_without_a_token_do_not_prolong_a_timed_park() {
    let lesson = Lesson {
        clause: "5. Time-outs",
        promise: "The time runs from the call on, whatever wakes the thread meanwhile.",
        usual_cause: "Each further sleep is given the whole time again. Note a deadline first, and \
                      sleep for what is left.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    // Between two unparks not so much time passes, also on a busy machine.
    const TIMEOUT: Duration = Duration::from_millis(200);
    const UNPARKS: u32 = 300;
    const PAUSE: Duration = Duration::from_millis(5);
    check(lesson, || {
        let parked = thread::current();
        let is_over = Arc::new(AtomicBool::new(false));
        let partner = thread::spawn({
            let is_over = is_over.clone();
            move || {
                for _ in 0..UNPARKS {
                    if is_over.load(SeqCst) {
                        return;
                    }
                    thread::sleep(PAUSE);
                    parked.unpark();
                }
                panic!(
                    "after {:?} a time-out of {TIMEOUT:?} was still not over",
                    UNPARKS * PAUSE
                );
            }
        });
        assert!(!Parker::new().park_timeout(TIMEOUT), "there was no token");
        is_over.store(true, SeqCst);
        if let Err(panic) = partner.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// How long the idle checks watch, and what a sleeping thread may cost in
/// that time: fifty times what it does.
const IDLE_WINDOW: Duration = Duration::from_millis(200);
const IDLE_CPU: Duration = Duration::from_millis(5);
const IDLE_SLEEPS: u64 = 20;

/// Clause 6: a parker that spins or looks again passes every other check.
#[test]
fn a_parked_thread_is_idle() {
    let lesson = Lesson {
        clause: "6. Idle",
        promise: "A thread in `park` sleeps until it is unparked.",
        usual_cause: "A loop looks for the token and spins, yields or sleeps for a while.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    check(lesson, || assert_idle(Parker::park));
}

/// Clause 6: the loop around the clock is where one spins unawares.
#[test]
fn a_thread_in_a_timed_park_is_idle() {
    let lesson = Lesson {
        clause: "6. Idle",
        promise: "A thread in `park_timeout` sleeps until it is unparked or the time is up.",
        usual_cause: "A loop looks at the clock again and again. Sleep for all the time that is left.",
        read: "one-future/parker.html#when-the-time-is-up",
    };
    check(lesson, || {
        assert_idle(|parker| _ = parker.park_timeout(HOUR))
    });
}

/// Asserts that `park` costs next to nothing while there is no token.
#[track_caller]
fn assert_idle(park: impl FnOnce(&Parker)) {
    let parker = Parker::new();
    let unparker = parker.unparker();
    let parked = ThreadProbe::here();
    let watcher = thread::spawn(move || {
        parked.wait_until_asleep();
        let cost = idle_cost(&parked, IDLE_WINDOW);
        unparker.unpark();
        cost
    });
    park(&parker);
    let cost = watcher.join().expect("the watcher does not panic");
    if let Some(Cost { cpu, sleeps }) = cost {
        assert!(
            cpu < IDLE_CPU,
            "parked for {IDLE_WINDOW:?}, the thread used {cpu:.0?} of CPU time"
        );
        assert!(
            sleeps < IDLE_SLEEPS,
            "parked for {IDLE_WINDOW:?}, the thread woke up {sleeps} times"
        );
    }
}

/// Clause 7: any lock or channel may call `thread::park`.
#[test]
fn thread_park_does_not_take_the_token() {
    let lesson = Lesson {
        clause: "7. Independent",
        promise: "A token of the parker is still there after `thread::park` on the same thread.",
        usual_cause: "The token is the one of the thread, which everybody shares. Keep one of your \
                      own.",
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

/// Clause 7: whoever holds a handle of the thread may unpark it.
#[test]
fn an_unpark_of_the_thread_does_not_end_a_park() {
    let lesson = Lesson {
        clause: "7. Independent",
        promise: "`Thread::unpark` does not make `park` or `park_timeout` return.",
        usual_cause: "`thread::park` stands alone. It needs a loop around it that looks for a token \
                      of the parker's own.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    const UNPARKS: u32 = 10;
    check(lesson, || {
        let parker = Parker::new();
        for park in [Parker::park, |parker: &Parker| {
            _ = parker.park_timeout(HOUR)
        }] {
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
                "it returned for an unpark of the thread"
            );
            partner.join().expect("unparking does not panic");
        }
    });
}

/// Clause 8: an executor may be built on one thread and run on another.
#[test]
fn a_parker_may_move_to_another_thread() {
    let lesson = Lesson {
        clause: "8. One owner",
        promise: "Wherever the parker has moved, its unparkers wake the thread that parks.",
        usual_cause: "The parker keeps `thread::current()` from when it was made or first parked.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        assert!(!parker.park_timeout(MOMENT), "there was no token");
        let (tell, told) = mpsc::channel();
        let moved = thread::spawn(move || {
            let _ = tell.send(ThreadProbe::here());
            parker.park();
        });
        let parked = told.recv().expect("the thread tells before it parks");
        parked.wait_until_asleep();
        unparker.unpark();
        moved.join().expect("parking does not panic");
    });
}

/// Clause 8: what cannot be shared needs no answer to who gets the token.
#[test]
fn a_parker_cannot_be_shared() {
    let lesson = Lesson {
        clause: "8. One owner",
        promise: "`Parker` is not `Sync`: no two threads can park in one parker at once.",
        usual_cause: "All its fields are `Sync`, so it is too. A field `PhantomData<Cell<()>>` takes \
                      that away, and leaves it `Send`.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let _stub_ends_here = Parker::new();
        let is_sync = Asked::<Parker>(PhantomData).is_sync();
        assert!(!is_sync, "two threads can call `park` at the same time");
    });
}

/// Asks whether `T` is `Sync`. Where it is, the method below wins over the
/// trait's.
struct Asked<T>(PhantomData<T>);

#[allow(dead_code, reason = "used only if `Parker` is not `Sync`")]
trait IsSync {
    fn is_sync(&self) -> bool;
}

impl<T> IsSync for Asked<T> {
    fn is_sync(&self) -> bool {
        false
    }
}

#[allow(dead_code, reason = "used only if `Parker` is `Sync`")]
impl<T: Sync> Asked<T> {
    fn is_sync(&self) -> bool {
        true
    }
}

/// Clause 9: each future that waits keeps a clone of its own.
#[test]
fn every_clone_unparks() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "Every clone of an unparker, and a clone of a clone, unparks from any thread.",
        usual_cause: "A clone does not share the state, or the end of one is taken for the end of \
                      all: a derived `Clone` counts nothing.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let parker = Parker::new();
        let mut unparker = parker.unparker();
        for _ in 0..5 {
            let clone = unparker.clone();
            drop(std::mem::replace(&mut unparker, clone));
            let unparking = unpark_once_asleep(unparker.clone());
            parker.park();
            unparking.join().expect("unparking does not panic");
        }
    });
}

/// Clause 9: a thread may have many parkers, and a process many threads.
#[test]
fn an_unparker_unparks_its_own_parker_only() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "A token is for the parker whose unparker left it, on this thread and on others.",
        usual_cause: "Parkers share a token, a lock or a condition variable, in a `static` or a \
                      `thread_local!`.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let (first, second) = (Parker::new(), Parker::new());
        first.unparker().unpark();
        assert!(
            !second.park_timeout(MOMENT),
            "it took the token of another parker"
        );
        assert!(first.park_timeout(MOMENT), "its token is gone");

        for _ in 0..10 {
            let sleepers = [Parker::new(), Parker::new()].map(|parker| {
                let unparker = parker.unparker();
                let (tell, told) = mpsc::channel();
                let sleeper = thread::spawn(move || {
                    let _ = tell.send(ThreadProbe::here());
                    parker.park();
                });
                let parked =
                    told.recv().expect("the thread tells before it parks");
                parked.wait_until_asleep();
                (unparker, sleeper)
            });
            // Who went to sleep first is usually roused first, so the token is for the other.
            for (unparker, sleeper) in sleepers.into_iter().rev() {
                unparker.unpark();
                sleeper.join().expect("parking does not panic");
            }
        }
    });
}

/// Clause 9: a timer that nobody waits for any more still fires.
#[test]
fn an_unparker_may_outlive_its_parker() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "An unparker may be used, cloned and dropped when its parker is gone.",
        usual_cause: "The unparker points into its parker. What they share must be counted, by an \
                      `Arc` for instance.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    check(lesson, || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let unparking = unpark_once_asleep(unparker.clone());
        parker.park();
        unparking.join().expect("unparking does not panic");
        drop(parker);
        let clone = unparker.clone();
        unparker.unpark();
        let elsewhere = thread::spawn(move || {
            clone.unpark();
            drop(clone);
            unparker.unpark();
        });
        elsewhere.join().expect("a late unpark does not panic");
    });
}

/// Clause 9: `block_on` makes a parker for each call.
#[test]
fn all_is_freed_once_all_are_gone() {
    let lesson = Lesson {
        clause: "9. Unparkers live on",
        promise: "A parker and its unparkers leave no memory behind, whoever goes last.",
        usual_cause: "What they share is leaked (`Box::leak`), or it holds a counted reference to \
                      itself.",
        read: "one-future/parker.html#who-may-hold-which-end",
    };
    const ROUNDS: isize = 1_000;
    /// What the rest of the process may allocate meanwhile.
    const SPARE: isize = 100;
    check(lesson, || {
        let before = live_blocks();
        for round in 0..ROUNDS {
            let parker = Parker::new();
            let unparker = parker.unparker();
            unparker.unpark();
            parker.park();
            if round % 2 == 0 {
                drop(parker);
                unparker.unpark();
            }
        }
        let left = live_blocks() - before;
        assert!(
            left < SPARE,
            "of {ROUNDS} parkers {left} blocks of memory are left"
        );
    });
}

/// Clause 10: this is what `yield_now` does.
#[test]
fn a_wake_by_the_future_itself_is_not_lost() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A future that wakes itself while it is polled is polled again.",
        usual_cause: "The token is cleared after the poll, or `wake` only rouses a sleeper.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || block_on(Yields(3)));
}

/// Clause 10: made certain by joining the waking thread inside the poll.
#[test]
fn a_wake_from_another_thread_during_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A wake-up from another thread that comes while the future is polled still counts.",
        usual_cause: "The token is cleared after the poll, or `wake` only rouses a sleeper.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            let waking = thread::spawn(|| waker.wake());
            waking.join().expect("waking does not panic");
            Poll::Pending
        }));
    });
}

/// Clause 10: the bug that this exercise is about. Between the wake-up and
/// the end of the poll the future waits for something by `thread::park`.
#[test]
fn a_wake_up_survives_a_future_that_parks() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A wake-up still counts if the future calls `thread::park` after it.",
        usual_cause: "The wake-up is kept in the thread's own token only, and the future took it. \
                      Keep it in your parker.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    check(lesson, || {
        let mut is_first = true;
        block_on(poll_fn(|cx| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            wait_by_thread_park();
            Poll::Pending
        }));
    });
}

/// Clause 10: no single run can hit the moment between the last look and the
/// sleep; many runs do.
#[test]
fn thousands_of_wakes_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "10. No lost wake-up",
        promise: "A wake-up that comes between the poll and the sleep still counts.",
        usual_cause: "The token gets lost between the last look and the sleep: see clause 2.",
        read: "one-future/parker.html#between-the-look-and-the-sleep",
    };
    const TIME: Duration = Duration::from_millis(150);
    check(lesson, || {
        race_with_wakes(TIME, block_on);
        with_chaos(SEED, || race_with_wakes(TIME, block_on));
    });
}

/// Polls without a wake-up that a sound design may make.
const SPARE_POLLS: u32 = 10;

/// Clause 11: twice the polls are twice the work.
#[test]
fn a_wake_up_causes_one_poll() {
    let lesson = Lesson {
        clause: "11. Polled when woken",
        promise: "The future is polled once, and then once for each wake-up.",
        usual_cause: "The loop polls once more to be sure. The token is kept, so there is nothing to \
                      be sure of.",
        read: "one-future/parker.html#block_on-second-version",
    };
    const WAKES: u32 = 30;
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let waking = thread::spawn(move || {
            handle.wake_one_by_one(WAKES);
            handle
        });
        block_on(future);
        let polls = waking.join().expect("waking does not panic").polls();
        let wakes = WAKES + 1;
        assert!(
            polls <= 1 + wakes + SPARE_POLLS,
            "{wakes} wake-ups caused {polls} polls"
        );
    });
}

/// Clause 11: with a parker that returns only for a token, nothing else needs
/// to make the future be polled.
#[test]
fn the_future_is_polled_only_when_woken() {
    let lesson = Lesson {
        clause: "11. Polled when woken",
        promise: "Neither time nor an unpark of the thread makes the future be polled.",
        usual_cause: "The loop sleeps by `thread::park`, or by `park_timeout` as a safety net.",
        read: "one-future/parker.html#block_on-second-version",
    };
    const UNPARKS: u32 = 50;
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let thread = thread::current();
        let watcher = thread::spawn(move || {
            let (_waker, parked) = handle.wait_until_asleep();
            for _ in 0..UNPARKS {
                thread.unpark();
                parked.wait_until_asleep();
            }
            let cost = idle_cost(&parked, IDLE_WINDOW);
            let polls = handle.polls();
            handle.complete();
            (polls, cost)
        });
        block_on(future);
        let (polls, cost) = watcher.join().expect("the watcher does not panic");
        assert!(
            polls <= 1 + SPARE_POLLS,
            "without a wake-up the future was polled {polls} times"
        );
        let sleeps = cost.map_or(0, |cost| cost.sleeps);
        assert!(
            sleeps < IDLE_SLEEPS,
            "in {IDLE_WINDOW:?} without a wake-up the thread woke up {sleeps} times"
        );
    });
}

/// Clause 12: a timer that was not needed fires late.
#[test]
fn a_waker_may_be_used_after_block_on_returned() {
    let lesson = Lesson {
        clause: "12. Wakers live on",
        promise: "A waker may be woken, cloned and dropped on any thread after `block_on` returned.",
        usual_cause: "The waker points at something of the call that is gone with it.",
        read: "one-future/parker.html#block_on-second-version",
    };
    check(lesson, || {
        let waker = block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        let clone = waker.clone();
        waker.wake_by_ref();
        let elsewhere = thread::spawn(move || {
            clone.wake_by_ref();
            clone.wake();
        });
        elsewhere.join().expect("a late wake-up does not panic");
        block_on(Yields(2));
        waker.wake();
        block_on(Yields(2));
    });
}

/// Starts a thread that unparks once the calling thread sleeps.
fn unpark_once_asleep(unparker: Unparker) -> thread::JoinHandle<()> {
    let parked = ThreadProbe::here();
    thread::spawn(move || {
        parked.wait_until_asleep();
        unparker.unpark();
    })
}
