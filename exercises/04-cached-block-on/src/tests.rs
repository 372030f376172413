//! The checks of exercise 4, one or more for each clause of the contract.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use sync::chaos::{read_modify_writes, with_chaos};
use testkit::{
    Cost, DropProbe, Lesson, ManualFuture, MustNotMove, Yields, allocations,
    check, idle_cost, live_blocks, panic_message, race_with_wakes,
    wait_by_thread_park,
};

use super::block_on;

/// Clause 1: nobody knows how many polls a future needs.
#[test]
fn a_future_is_polled_until_it_is_ready() {
    let lesson = Lesson {
        clause: "1. Prompt",
        promise: "A future is polled at once and until it is ready, and its output comes back.",
        usual_cause: "The thread sleeps before the first poll, or the loop ends after the second.",
        read: "one-future/block-on.html#poll-first",
    };
    check(lesson, || {
        let polls = Cell::new(0);
        let output = block_on(poll_fn(|_| {
            polls.set(polls.get() + 1);
            Poll::Ready("at once")
        }));
        assert!(output == "at once", "`block_on` returned `{output}`");
        let polls = polls.get();
        assert!(polls == 1, "a ready future was polled {polls} times");
        block_on(Yields(1_000));
    });
}

/// How long the idle check watches, and what a sleeping thread may cost in
/// that time: a hundred times what it does.
const IDLE_WINDOW: Duration = Duration::from_millis(200);
const IDLE_CPU: Duration = Duration::from_millis(20);
const IDLE_SLEEPS: u64 = 20;

/// Clause 2: also after wake-ups, whose flags somebody has to clear.
#[test]
fn waiting_is_idle() {
    let lesson = Lesson {
        clause: "2. Idle",
        promise: "While the future waits, the thread sleeps, until it is woken.",
        usual_cause: "The loop spins or looks again by a timer, or it finds a flag that an earlier \
                      wake-up set and nobody has cleared.",
        read: "one-future/block-on.html#sleep-do-not-spin",
    };
    check(lesson, || {
        block_on(Yields(3));
        let (future, handle) = ManualFuture::new();
        let watcher = thread::spawn(move || {
            let (_waker, blocked) = handle.wait_until_asleep();
            let cost = idle_cost(&blocked, IDLE_WINDOW);
            handle.complete();
            cost
        });
        block_on(async {
            Yields(3).await;
            future.await;
        });
        let cost = watcher.join().expect("the watcher does not panic");
        if let Some(Cost { cpu, sleeps }) = cost {
            assert!(
                cpu < IDLE_CPU && sleeps < IDLE_SLEEPS,
                "in {IDLE_WINDOW:?} of waiting the thread used {cpu:.0?} of CPU time and woke up \
                 {sleeps} times"
            );
        }
    });
}

/// Clause 3: this is what `yield_now` does, on the same thread and, by its
/// waker, on another.
#[test]
fn a_wake_during_poll_is_not_lost() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up during the poll counts, from this thread and from another one.",
        usual_cause: "The flag is cleared after the poll, or before the sleep, without being looked \
                      at; or only a thread that sleeps already is woken.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    check(lesson, || {
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            let waker = cx.waker().clone();
            match polls {
                1 => waker.wake_by_ref(),
                2 => waker.wake(),
                3 => join(thread::spawn(move || waker.wake_by_ref())),
                4 => join(thread::spawn(move || waker.wake())),
                _ => return Poll::Ready(()),
            }
            Poll::Pending
        }));
    });
}

/// Clause 3: the next poll answers both, and both ways must work again.
#[test]
fn wakes_by_both_ways_at_once_are_not_lost() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "When the future and another thread wake in one poll, it is polled again, and \
                  each of both can wake once more.",
        usual_cause: "Whoever takes the wake-up of this thread takes half of the other's with it: \
                      its token and not its flag, or its flag and not its token.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    check(lesson, || {
        for own_first in [true, false] {
            let (rest, handle) = ManualFuture::new();
            let waking = thread::spawn(move || {
                handle.wait_until_asleep();
                handle.complete();
            });
            let mut is_first = true;
            block_on(async {
                poll_fn(|cx| {
                    if !std::mem::take(&mut is_first) {
                        return Poll::Ready(());
                    }
                    let wake_here = || cx.waker().wake_by_ref();
                    let waker = cx.waker().clone();
                    if own_first {
                        wake_here();
                    }
                    join(thread::spawn(|| waker.wake()));
                    if !own_first {
                        wake_here();
                    }
                    Poll::Pending
                })
                .await;
                rest.await;
                Yields(2).await;
            });
            join(waking);
        }
    });
}

/// Clause 3: no single run can hit the moment between the last look and the
/// sleep; many runs do, and more so with delays in between.
#[test]
fn thousands_of_wakes_between_two_threads_all_arrive() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up that comes between the poll and the sleep still counts.",
        usual_cause: "The thread looks for a wake-up and then sleeps without looking again, or \
                      says that it sleeps after its last look.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
    };
    const TIME: Duration = Duration::from_millis(150);
    check(lesson, || {
        race_both_ways(TIME);
        with_chaos(4, || race_both_ways(TIME));
    });
}

/// Waits for answers of another thread, with a wake-up of its own in every
/// third round.
fn race_both_ways(time: Duration) {
    let mut round = 0;
    race_with_wakes(time, |answer| {
        round += 1;
        let mut wakes_itself = round % 3 == 0;
        let mut answer = pin!(answer);
        block_on(poll_fn(|cx| {
            let poll = answer.as_mut().poll(cx);
            if std::mem::take(&mut wakes_itself) {
                cx.waker().wake_by_ref();
            }
            poll
        }));
    });
}

/// Clause 3: between a wake-up and the end of the poll the future waits for
/// something by `thread::park`, as a lock or a channel may.
#[test]
fn a_wake_up_survives_a_future_that_parks() {
    let lesson = Lesson {
        clause: "3. No lost wake-up",
        promise: "A wake-up still counts if the future calls `thread::park` after it.",
        usual_cause: "The wake-up is kept in the thread's own token only, and the future took it.",
        read: "one-future/parker.html#who-takes-the-token",
    };
    check(lesson, || {
        for from_elsewhere in [false, true] {
            let mut is_first = true;
            block_on(poll_fn(|cx| {
                if !std::mem::take(&mut is_first) {
                    return Poll::Ready(());
                }
                let waker = cx.waker().clone();
                if from_elsewhere {
                    join(thread::spawn(|| waker.wake()));
                } else {
                    waker.wake();
                }
                wait_by_thread_park();
                Poll::Pending
            }));
        }
    });
}

/// Clause 4: two threads wait at once, and only one of them is woken.
#[test]
fn two_waiting_threads_do_not_take_each_others_wake_ups() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A waker wakes the thread that it was made for, however many wait elsewhere.",
        usual_cause: "All threads share one cache: a `static` where `thread_local!` is needed.",
        read: "one-future/cached-block-on.html#what-a-call-pays-for",
    };
    check(lesson, || {
        for _ in 0..10 {
            let [first, second] = [(); 2].map(|()| {
                let (future, handle) = ManualFuture::new();
                let waiting = thread::spawn(|| block_on(future));
                handle.wait_until_asleep();
                (handle, waiting)
            });
            for (handle, waiting) in [second, first] {
                handle.complete();
                join(waiting);
            }
        }
    });
}

/// Clause 4: a thread that runs a `block_on` of its own wakes that of another
/// one. "Is somebody polling here?" is the wrong question then.
#[test]
fn a_waker_wakes_its_thread_from_within_another_block_on() {
    let lesson = Lesson {
        clause: "4. Any thread",
        promise: "A future that `block_on` polls on one thread can wake a `block_on` on another.",
        usual_cause: "The waker asks whether its caller polls, and not whether it polls for this \
                      waker. Compare with the thread that the waker was made for.",
        read: "one-future/cached-block-on.html#whose-flag-is-it",
    };
    check(lesson, || {
        let (future, handle) = ManualFuture::new();
        let waiting = thread::spawn(|| block_on(future));
        handle.wait_until_asleep();
        block_on(poll_fn(|_| {
            handle.complete();
            Poll::Ready(())
        }));
        join(waiting);
    });
}

/// Polls without a wake-up that a sound design may make.
const SPARE: u32 = 10;

/// Clause 5: twice the polls are twice the work.
#[test]
fn a_wake_up_causes_one_poll() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "The future is polled once, and then once at most for each wake-up.",
        usual_cause: "A wake-up leaves two marks, and each is taken for one: set one of them only.",
        read: "one-future/cached-block-on.html#two-ways-to-be-woken",
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
            polls <= wakes + 1 + SPARE,
            "{wakes} wake-ups caused {polls} polls"
        );

        let mut polls = 0;
        let (probe, probed) = ManualFuture::new();
        let completing = thread::spawn(move || {
            probed.wait_until_asleep();
            probed.complete();
        });
        let mut probe = pin!(probe);
        block_on(poll_fn(|cx| {
            polls += 1;
            if polls <= WAKES {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            probe.as_mut().poll(cx)
        }));
        join(completing);
        assert!(
            polls <= WAKES + 2 + SPARE,
            "{WAKES} wake-ups on the polling thread and one from another caused {polls} polls"
        );
    });
}

/// Clause 5: a timer that was not needed fires late, and so may a hundred.
#[test]
fn stale_wake_ups_cost_the_next_call_one_poll_at_most() {
    let lesson = Lesson {
        clause: "5. Bounded polls",
        promise: "However often wakers of earlier calls are woken between two calls, the next call \
                  polls once more at most, and waits as ever.",
        usual_cause: "Wake-ups are counted, not remembered as one, or a flag that is set between \
                      two calls is never cleared.",
        read: "one-future/cached-block-on.html#what-a-call-leaves-behind",
    };
    const STALE: u32 = 100;
    check(lesson, || {
        for from_elsewhere in [false, true] {
            let waker = waker_of_this_thread();
            let stale = move || (0..STALE).for_each(|_| waker.wake_by_ref());
            if from_elsewhere {
                join(thread::spawn(stale));
            } else {
                stale();
            }
            let (future, handle) = ManualFuture::new();
            let waking = thread::spawn(move || {
                handle.wait_until_asleep();
                let polls = handle.polls();
                handle.complete();
                polls
            });
            block_on(future);
            let polls = waking.join().expect("waking does not panic");
            assert!(
                polls <= 2,
                "after {STALE} stale wake-ups a future that nobody woke was polled {polls} times"
            );
        }
    });
}

/// A waker of a call that has returned.
fn waker_of_this_thread() -> Waker {
    block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())))
}

/// Clause 6: an `async` block may hold references into itself.
#[test]
fn the_future_stays_where_it_is_and_is_dropped_once() {
    let lesson = Lesson {
        clause: "6. One drop",
        promise: "Once polled, the future stays where it is until it is dropped, once, before \
                  `block_on` returns.",
        usual_cause: "The future is moved from one part of the function to another after its first \
                      poll, or leaked to pin it.",
        read: "one-future/block-on.html#pin-it-first",
    };
    check(lesson, || {
        for _ in 0..2 {
            block_on(MustNotMove::new(3));
            let (probe, log) = DropProbe::new();
            let not_send = Rc::new(probe);
            let mut yields = pin!(Yields(2));
            // Not an `async` block, which drops what it holds when it is done.
            block_on(poll_fn(move |cx| {
                let _held = &not_send;
                yields.as_mut().poll(cx)
            }));
            let drops = log.count();
            assert!(drops == 1, "the future has been dropped {drops} times");
        }
    });
}

/// Clause 7: what the exercise is about.
#[test]
fn calls_after_the_first_allocate_nothing() {
    let lesson = Lesson {
        clause: "7. No allocation",
        promise: "After the first call on a thread, `block_on` allocates nothing, ready or not.",
        usual_cause: "The parker and the waker are made for each call, or they are taken out of the \
                      cache and not put back.",
        read: "one-future/cached-block-on.html#what-a-call-pays-for",
    };
    check(lesson, || {
        block_on(async {});
        for round in 1..=5 {
            let ((), ready) = allocations(|| block_on(async {}));
            let ((), yields) = allocations(|| block_on(Yields(10)));
            let blocks = ready.count + yields.count;
            assert!(blocks == 0, "round {round} allocated {blocks} blocks");
        }
        // Some systems allocate a mutex when it is first locked, to sleep.
        allocations_of_a_sleep();
        let blocks = allocations_of_a_sleep();
        assert!(blocks == 0, "a call that sleeps allocated {blocks} blocks");
    });
}

/// How many blocks a `block_on` that sleeps allocates, without those of its
/// future.
fn allocations_of_a_sleep() -> u64 {
    let (future, handle) = ManualFuture::new();
    let waking = thread::spawn(move || {
        handle.wait_until_asleep();
        handle.complete();
    });
    let of_polls = Cell::new(0);
    let mut future = pin!(future);
    let ((), whole) = allocations(|| {
        block_on(poll_fn(|cx| {
            let (poll, counted) = allocations(|| future.as_mut().poll(cx));
            of_polls.set(of_polls.get() + counted.count);
            poll
        }))
    });
    join(waking);
    whole.count - of_polls.get()
}

/// Fails unless `block_on` panics here and says why, without a poll.
fn assert_recursion_panics(place: &str) {
    let is_polled = Cell::new(false);
    let message = panic_message(|| {
        block_on(poll_fn(|_| {
            is_polled.set(true);
            Poll::Ready(())
        }));
    });
    match message {
        None => panic!("{place} did not panic"),
        Some(message) => assert!(
            message.contains("recursive `block_on`"),
            "{place} panicked with `{message}`, which does not say \"recursive `block_on`\""
        ),
    }
    assert!(!is_polled.get(), "{place} panicked, but polled its future");
}

/// Clause 8: two waits on one thread share what the thread has only once.
#[test]
fn a_recursive_call_panics_and_says_so() {
    let lesson = Lesson {
        clause: "8. No recursion",
        promise: "A `block_on` within another one on the same thread panics, and its message has \
                  the words \"recursive `block_on`\".",
        usual_cause: "The cache is shared by both, or a `RefCell` panics with words of its own, or \
                      the mark of the outer call goes with the inner one.",
        read: "one-future/cached-block-on.html#a-call-within-a-call",
    };
    check(lesson, || {
        let mut polls = 0;
        block_on(poll_fn(|cx| {
            polls += 1;
            assert_recursion_panics("a recursive call");
            assert_recursion_panics("a second recursive call");
            if polls == 3 {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
    });
}

/// Clause 8: a program may catch the panic, as a test harness does.
#[test]
fn a_recursive_call_leaves_the_outer_one_able_to_finish() {
    let lesson = Lesson {
        clause: "8. No recursion",
        promise: "The outer call keeps its wake-ups, sleeps and ends, whatever the inner one tried.",
        usual_cause: "The inner call clears the flag or takes the token before it panics.",
        read: "one-future/cached-block-on.html#a-call-within-a-call",
    };
    check(lesson, || {
        for woken_from_elsewhere in [false, true] {
            let mut is_first = true;
            let (rest, handle) = ManualFuture::new();
            let waking = thread::spawn(move || {
                handle.wait_until_asleep();
                handle.complete();
            });
            block_on(async {
                poll_fn(|cx| {
                    if !std::mem::take(&mut is_first) {
                        return Poll::Ready(());
                    }
                    let waker = cx.waker().clone();
                    if woken_from_elsewhere {
                        join(thread::spawn(|| waker.wake()));
                    } else {
                        waker.wake_by_ref();
                    }
                    let _ = panic_message(|| block_on(async {}));
                    Poll::Pending
                })
                .await;
                rest.await;
            });
            join(waking);
        }
    });
}

/// Clause 8: it is recursion only on the same thread and at the same time.
#[test]
fn calls_on_other_threads_and_later_calls_are_no_recursion() {
    let lesson = Lesson {
        clause: "8. No recursion",
        promise: "While one thread is in `block_on`, others may call it, and so may this one later.",
        usual_cause: "The mark is a `static` and not a thread-local, or it is never cleared.",
        read: "one-future/cached-block-on.html#a-call-within-a-call",
    };
    check(lesson, || {
        for _ in 0..3 {
            block_on(poll_fn(|_| {
                join(thread::spawn(|| block_on(Yields(2))));
                Poll::Ready(())
            }));
            block_on(Yields(2));
        }
    });
}

/// Clause 9: also the mark against recursion, and also the cache.
#[test]
fn a_panic_of_the_future_leaves_the_thread_usable() {
    let lesson = Lesson {
        clause: "9. Panics",
        promise: "A panic of the future drops it once and comes out; later calls work, and allocate \
                  nothing.",
        usual_cause: "What is taken or marked at the start is put back at the end, and a panic \
                      skips the end. Put it back in a `Drop`.",
        read: "one-future/cached-block-on.html#a-call-within-a-call",
    };
    check(lesson, || {
        block_on(async {});
        let (probe, log) = DropProbe::new();
        let mut yields = pin!(Yields(1));
        // Not an `async` block, which drops what it holds when it panics.
        let future = poll_fn(move |cx| {
            let _held = &probe;
            match yields.as_mut().poll(cx) {
                Poll::Ready(()) => panic!("the future panics"),
                Poll::Pending => Poll::Pending,
            }
        });
        let message = panic_message(|| block_on(future));
        assert!(
            message.as_deref() == Some("the future panics"),
            "out of `block_on` came {message:?}"
        );
        let drops = log.count();
        assert!(drops == 1, "the future has been dropped {drops} times");
        let ((), counted) = allocations(|| block_on(Yields(2)));
        assert!(
            counted.count == 0,
            "the next call allocated {} blocks",
            counted.count
        );
    });
}

/// Clause 10: a timer that was not needed fires late.
#[test]
fn a_waker_may_be_used_after_its_thread_has_ended() {
    let lesson = Lesson {
        clause: "10. Wakers live on",
        promise: "A waker may be woken, cloned and dropped anywhere, after the call and after the \
                  thread.",
        usual_cause: "The waker points into the thread's cache without a count, and the cache ends \
                      with the thread.",
        read: "one-future/cached-block-on.html#what-a-call-leaves-behind",
    };
    check(lesson, || {
        let here = waker_of_this_thread();
        let ended = thread::spawn(|| {
            block_on(Yields(1));
            waker_of_this_thread()
        });
        let ended = ended.join().expect("the thread does not panic");
        // A thread that comes after it, and may get its memory.
        join(thread::spawn(move || {
            for waker in [here, ended] {
                block_on(async {
                    waker.wake_by_ref();
                    let clone = waker.clone();
                    Yields(1).await;
                    clone.wake();
                    waker.wake();
                });
            }
        }));
        block_on(Yields(1));
    });
}

/// Calls `block_on` when its thread ends.
struct BlocksOnDrop(mpsc::Sender<Waker>);

impl Drop for BlocksOnDrop {
    fn drop(&mut self) {
        block_on(Yields(3));
        let waker = block_on(poll_fn(|cx| {
            let waker = cx.waker().clone();
            join(thread::spawn(|| waker.wake()));
            Poll::Ready(cx.waker().clone())
        }));
        block_on(Yields(1));
        let _ = self.0.send(waker);
    }
}

thread_local! {
    static LAST_WORDS: RefCell<Option<BlocksOnDrop>> = const { RefCell::new(None) };
}

/// Clause 11: thread-locals are destroyed one after the other, and whoever
/// comes later finds the cache gone.
#[test]
fn it_works_in_the_destructor_of_a_thread_local() {
    let lesson = Lesson {
        clause: "11. Thread exit",
        promise: "`block_on` works while the thread ends, whether or not it was called before.",
        usual_cause: "The cache is a thread-local that may be gone already: `with` panics then. Ask \
                      by `try_with`, and do without.",
        read: "one-future/cached-block-on.html#when-the-thread-ends",
    };
    check(lesson, || {
        // A thread-local is registered where it is first used; the last one is destroyed first.
        let before: fn() = || block_on(Yields(1));
        let never: fn() = || ();
        for [first, then] in [[before, never], [never, before], [never, never]]
        {
            let (tell, told) = mpsc::channel();
            join(thread::spawn(move || {
                first();
                LAST_WORDS.set(Some(BlocksOnDrop(tell)));
                then();
            }));
            let waker = told.recv();
            waker.expect("the destructor ran").wake();
        }
    });
}

/// Clause 11: a program may start a thread for each request.
#[test]
fn what_a_thread_kept_is_freed_when_it_ends() {
    let lesson = Lesson {
        clause: "11. Thread exit",
        promise: "The parker and the waker of a thread are freed when it ends.",
        usual_cause: "The cache is leaked to get a `'static` reference, or kept by a raw pointer \
                      that nobody frees.",
        read: "one-future/cached-block-on.html#when-the-thread-ends",
    };
    const THREADS: isize = 100;
    check(lesson, || {
        let call = || join(thread::spawn(|| block_on(Yields(1))));
        call();
        let before = live_blocks();
        (0..THREADS).for_each(|_| call());
        let kept = live_blocks() - before;
        assert!(
            kept < THREADS / 2,
            "{THREADS} threads that have ended left {kept} blocks of memory behind"
        );
    });
}

/// Clause 12: counted and not timed, so that every machine agrees. What is
/// counted is what the code does by the crate `sync`.
#[test]
fn a_wake_on_the_polling_thread_takes_no_atomic_read_modify_write() {
    let lesson = Lesson {
        clause: "12. Cheap",
        promise: "To be woken by reference on the polling thread, and polled again, takes no atomic \
                  read-modify-write.",
        usual_cause: "The waker swaps an atomic flag or locks a mutex although nobody else is \
                      concerned, or the loop takes the other threads' token before its own flag.",
        read: "one-future/cached-block-on.html#where-do-the-nanoseconds-go",
    };
    const WAKES: u32 = 1_000;
    check(lesson, || {
        block_on(async {});
        let before = read_modify_writes();
        block_on(Yields(WAKES));
        let made = read_modify_writes() - before;
        assert!(
            made < u64::from(WAKES) / 10,
            "{WAKES} wake-ups on the polling thread took {made} atomic read-modify-writes"
        );
    });
}

#[track_caller]
fn join<T>(thread: thread::JoinHandle<T>) {
    drop(thread.join().expect("the other thread does not panic"));
}
