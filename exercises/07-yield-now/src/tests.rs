//! The checks of exercise 7, one or more for each clause of the contract.

use std::cell::Cell;
use std::future::poll_fn;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::thread;

use block_on::block_on;
use testkit::{CountingWaker, Lesson, RoundRobin, allocations, check};

use super::{EveryNth, yield_now};

/// Polls once and returns `true` if the future is ready.
fn is_ready<F>(future: &mut Pin<&mut F>, waker: &Waker) -> bool
where
    F: Future<Output = ()>,
{
    let mut cx = Context::from_waker(waker);
    future.as_mut().poll(&mut cx).is_ready()
}

fn every_nth(n: u32) -> EveryNth {
    EveryNth::new(NonZeroU32::new(n).expect("no check counts to zero"))
}

/// Ticks once, to the end, and returns `true` if the tick yielded.
fn tick_yields(counter: &mut EveryNth) -> bool {
    let mut tick = pin!(counter.tick());
    let yields = !is_ready(&mut tick, Waker::noop());
    let is_over = !yields || is_ready(&mut tick, Waker::noop());
    assert!(is_over, "a tick was pending twice");
    yields
}

/// Clause 1: this is all there is to a yield.
#[test]
fn a_yield_is_pending_once_and_then_ready() {
    let lesson = Lesson {
        clause: "1. Once",
        promise: "The first poll of a yield is pending, and the second is ready.",
        usual_cause: "It is ready at once, so that nobody else gets a turn; or it does not \
                      remember that it was polled, and is pending for ever. What one poll leaves \
                      for the next is a field of the future.",
        read: "yielding/yield-now.html#pending-and-woken",
    };
    check(lesson, || {
        let (waker, _counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        assert!(
            !is_ready(&mut yielding, &waker),
            "the first poll was ready: the task was not put aside"
        );
        assert!(
            is_ready(&mut yielding, &waker),
            "the second poll was pending again"
        );
    });
}

/// Clause 1: like any future, it is a value that waits to be polled.
#[test]
fn a_yield_takes_place_when_it_is_polled() {
    let lesson = Lesson {
        clause: "1. Once",
        promise: "A yield that was made long ago is pending once, as any other.",
        usual_cause: "The call takes note of something, such as whose turn it is, and the poll \
                      relies on it. Nothing happens before the first poll.",
        read: "yielding/yield-now.html#pending-and-woken",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        let mut early = pin!(yield_now());
        let mut late = pin!(yield_now());
        assert!(!is_ready(&mut late, &waker), "the first poll was ready");
        assert!(is_ready(&mut late, &waker), "the second poll was pending");
        assert!(
            !is_ready(&mut early, &waker),
            "a yield made before another was ready at its first poll"
        );
        assert!(is_ready(&mut early, &waker), "its second poll was pending");
        let wakes = counts.wakes();
        assert!(wakes == 2, "two yields woke their task {wakes} times");
    });
}

/// Clause 2: a wake-up too many is a needless poll of the whole task.
#[test]
fn a_yield_wakes_its_task_once() {
    let lesson = Lesson {
        clause: "2. Woken",
        promise: "The pending poll calls its waker, once. The ready poll wakes nobody.",
        usual_cause: "The waker is not called at all; or it is called in each poll, also in the \
                      one that is ready.",
        read: "yielding/yield-now.html#pending-and-woken",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        let wakes_before = counts.wakes();
        let _pending = is_ready(&mut yielding, &waker);
        let wakes = counts.wakes();
        assert!(wakes_before == 0, "it woke before it was polled");
        assert!(
            wakes == 1,
            "the pending poll called its waker {wakes} times"
        );
        let _ready = is_ready(&mut yielding, &waker);
        let more = counts.wakes() - wakes;
        assert!(more == 0, "the ready poll called its waker {more} times");
    });
}

/// Clause 2: nobody else will wake a task that only yields.
#[test]
fn a_task_that_is_alone_goes_on() {
    let lesson = Lesson {
        clause: "2. Woken",
        promise: "A task that yields and is alone in its executor is polled again.",
        usual_cause: "`Pending` without a wake-up, or a wake-up that is left to the next yield of \
                      some other task. `Pending` means: somebody will wake me.",
        read: "yielding/yield-now.html#pending-and-woken",
    };
    check(lesson, || {
        let mut tasks = RoundRobin::new();
        tasks.spawn('A', async {
            yield_now().await;
            yield_now().await;
        });
        let turns = tasks.run();
        assert!(turns == "AAA", "two yields took the turns {turns}");
    });
}

/// Clause 3: concurrency without a second thread.
#[test]
fn two_tasks_take_turns() {
    let lesson = Lesson {
        clause: "3. A turn for the others",
        promise: "Two tasks that yield after each step do their steps in turn.",
        usual_cause: "The yield is over within one poll: it polls itself again, gives the turn to \
                      another thread by `thread::yield_now`, or is ready at once.",
        read: "yielding/yield-now.html#the-back-of-the-queue",
    };
    check(lesson, || {
        let mut tasks = RoundRobin::new();
        for name in ['A', 'B'] {
            tasks.spawn(name, async {
                for _ in 0..3 {
                    yield_now().await;
                }
            });
        }
        let turns = tasks.run();
        assert!(turns == "ABABABAB", "the turns were {turns}, not ABABABAB");
    });
}

/// Clause 3: what yields are for.
#[test]
fn a_busy_task_shares_its_thread() {
    let lesson = Lesson {
        clause: "3. A turn for the others",
        promise: "While a busy task yields, tasks that are woken meanwhile run on the same thread.",
        usual_cause: "The yield is ready at once, or waits inside its poll. Only a poll that \
                      returns `Pending` gives the thread back.",
        read: "yielding/yield-now.html#nobody-takes-the-thread-away",
    };
    check(lesson, || {
        const BEATS: u32 = 10;
        let beats = Cell::new(0);
        let mut tasks = RoundRobin::new();
        tasks.spawn('B', async {
            let mut steps = 0;
            while beats.get() < BEATS {
                assert!(
                    steps < 10 * BEATS,
                    "after {steps} yields of a busy task another had had {} turns of {BEATS}",
                    beats.get()
                );
                steps += 1;
                yield_now().await;
            }
        });
        tasks.spawn('H', async {
            for _ in 0..BEATS {
                beats.set(beats.get() + 1);
                testkit::Yields(1).await;
            }
        });
        tasks.run();
    });
}

/// Clause 4: a task that holds its own waker may never be freed.
#[test]
fn a_yield_keeps_no_waker() {
    let lesson = Lesson {
        clause: "4. Nothing kept",
        promise: "When a poll of a yield returns, the future holds no clone of the waker.",
        usual_cause: "The waker is kept in the future, to be called or compared later. It is \
                      called in the pending poll, and not needed after.",
        read: "yielding/yield-now.html#nothing-to-remember",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        let _pending = is_ready(&mut yielding, &waker);
        let kept = counts.clones() - counts.drops();
        assert!(
            kept == 0,
            "after the pending poll {kept} clones of the waker were left"
        );
    });
}

/// Clause 4: `select!` drops the futures that were not first.
#[test]
fn a_yield_dropped_halfway_changes_nothing_for_the_next() {
    let lesson = Lesson {
        clause: "4. Nothing kept",
        promise: "After a yield that was dropped halfway the next is pending once, as any other.",
        usual_cause: "\"I have yielded\" is noted outside the future, in a thread-local for \
                      instance, and the next yield finds the note.",
        read: "yielding/yield-now.html#nothing-to-remember",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        for round in 0..3 {
            let mut halfway = pin!(yield_now());
            assert!(
                !is_ready(&mut halfway, &waker),
                "after {round} yields dropped halfway the next was ready at its first poll"
            );
        }
        let wakes = counts.wakes();
        assert!(wakes == 3, "three yields woke their task {wakes} times");
    });
}

/// Clause 4: between the two polls of one task lie polls of all the others.
#[test]
fn yields_of_two_tasks_do_not_get_mixed_up() {
    let lesson = Lesson {
        clause: "4. Nothing kept",
        promise: "Two yields that are polled in turn are each pending once.",
        usual_cause: "All yields of a thread, or of the program, share one flag. Each future has \
                      its own.",
        read: "yielding/yield-now.html#nothing-to-remember",
    };
    check(lesson, || {
        let [waker, other] = [(); 2].map(|()| CountingWaker::new().0);
        let mut first = pin!(yield_now());
        let mut second = pin!(yield_now());
        let firsts =
            [is_ready(&mut first, &waker), is_ready(&mut second, &other)];
        let seconds =
            [is_ready(&mut first, &waker), is_ready(&mut second, &other)];
        assert!(
            firsts == [false, false],
            "of two yields begun one after the other, the first polls were ready: {firsts:?}"
        );
        assert!(
            seconds == [true, true],
            "of two yields in the middle, the second polls were ready: {seconds:?}"
        );
    });
}

/// Clause 5: the executor of exercise 4, as it stands.
#[test]
fn block_on_runs_a_future_that_yields() {
    let lesson = Lesson {
        clause: "5. Any executor",
        promise: "Under `block_on` a thousand yields are a thousand and one polls.",
        usual_cause: "The yield relies on more than the waker: on another task, or on a queue that \
                      is not there.",
        read: "yielding/yield-now.html#any-executor",
    };
    check(lesson, || {
        let polls = Cell::new(0);
        let mut yields = pin!(async {
            for _ in 0..1_000 {
                yield_now().await;
            }
        });
        block_on(poll_fn(|cx| {
            polls.set(polls.get() + 1);
            yields.as_mut().poll(cx)
        }));
        let polls = polls.get();
        assert!(polls == 1_001, "a thousand yields took {polls} polls");
    });
}

/// Clause 5: a task that was moved into a `join!` or a set of futures.
#[test]
fn the_second_poll_may_bring_another_waker() {
    let lesson = Lesson {
        clause: "5. Any executor",
        promise: "The second poll is ready, whatever waker it brings, and wakes neither.",
        usual_cause: "The yield waits for the waker that it knows. Each poll brings its own, and \
                      only the newest counts.",
        read: "yielding/yield-now.html#any-executor",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        let (other_waker, other_counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        let _pending = is_ready(&mut yielding, &waker);
        assert!(
            is_ready(&mut yielding, &other_waker),
            "polled with another waker, it was pending again"
        );
        let wakes = (counts.wakes(), other_counts.wakes());
        assert!(
            wakes == (1, 0),
            "of two wakers the first was called {} times, the second {}",
            wakes.0,
            wakes.1
        );
    });
}

/// Clause 5: the worker that polls next may be another.
#[test]
fn a_yield_may_begin_and_end_on_two_threads() {
    let lesson = Lesson {
        clause: "5. Any executor",
        promise: "A yield that began on one thread is ready when another polls it.",
        usual_cause: "The state is in a thread-local. Keep it in the future, which moves with its \
                      task.",
        read: "yielding/yield-now.html#any-executor",
    };
    check(lesson, || {
        let (waker, _counts) = CountingWaker::new();
        let mut yielding = Box::pin(yield_now());
        let _pending = is_ready(&mut yielding.as_mut(), &waker);
        let elsewhere =
            thread::spawn(move || is_ready(&mut yielding.as_mut(), &waker));
        let is_ready = elsewhere.join().expect("a yield does not panic");
        assert!(is_ready, "on another thread it was pending again");
    });
}

/// Clause 5: a `join!` polls all its branches when one is woken.
#[test]
fn branches_of_one_task_take_turns_too() {
    let lesson = Lesson {
        clause: "5. Any executor",
        promise: "Two branches that one task polls together go on step by step, one poll each.",
        usual_cause: "The yield polls itself again until it is over, or waits for a wake-up of its \
                      own. A poll without one is allowed.",
        read: "yielding/yield-now.html#any-executor",
    };
    check(lesson, || {
        let steps = Rc::new(Cell::new(String::new()));
        let branch = |name: char| {
            let steps = steps.clone();
            async move {
                for _ in 0..3 {
                    let so_far = steps.take();
                    steps.set(so_far + &name.to_string());
                    yield_now().await;
                }
            }
        };
        let mut branches = [Box::pin(branch('a')), Box::pin(branch('b'))];
        let both = poll_fn(move |cx| {
            let polls = branches.each_mut().map(|it| it.as_mut().poll(cx));
            match polls == [Poll::Ready(()); 2] {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        });
        let mut tasks = RoundRobin::new();
        tasks.spawn('J', both);
        let turns = tasks.run().len();
        let steps = steps.take();
        assert!(steps == "ababab", "the branches stepped {steps}");
        assert!(turns == 4, "three yields of each took {turns} polls");
    });
}

/// Clause 6: a second `Pending` would need a second wake-up, for nothing.
#[test]
fn a_yield_that_is_over_stays_over() {
    let lesson = Lesson {
        clause: "6. Over",
        promise: "Polled after it was ready, a yield is ready again, or panics. It is not pending.",
        usual_cause: "Each poll turns the flag over. Set it, and leave it set.",
        read: "yielding/yield-now.html#nothing-to-remember",
    };
    check(lesson, || {
        let (waker, _counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        while !is_ready(&mut yielding, &waker) {}
        for _ in 0..2 {
            let polled = catch_unwind(AssertUnwindSafe(|| {
                is_ready(&mut yielding, &waker)
            }));
            let is_over = polled.unwrap_or(true);
            assert!(is_over, "it was ready, and then pending again");
        }
    });
}

/// Clause 7: off by one is off for ever.
#[test]
fn every_nth_tick_yields_and_no_other() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "Of the ticks of one counter the n-th, the 2n-th and so on yield, and no other.",
        usual_cause: "The count starts at the wrong end, is compared before the tick is counted, \
                      counts polls instead of ticks, or is not kept in the counter.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        for n in [3, 2, 7, 1] {
            let mut counter = every_nth(n);
            for number in 1..=5 * n {
                let yields = tick_yields(&mut counter);
                let does = if yields { "yields" } else { "does not yield" };
                assert!(
                    yields == (number % n == 0),
                    "with n = {n}, tick {number} {does}"
                );
            }
        }
    });
}

/// Clause 7: "practically never" is a period too.
#[test]
fn the_longest_period_counts_as_any_other() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "With the largest n the first thousand ticks are ready at once.",
        usual_cause: "`n + 1`, or a sum of counts, does not fit into the number.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut counter = every_nth(u32::MAX);
        for number in 1..=1_000 {
            let yields = tick_yields(&mut counter);
            assert!(!yields, "with n = {}, tick {number} yields", u32::MAX);
        }
    });
}

/// Clause 7: the bill of a yield is one poll and one wake-up.
#[test]
fn a_task_pays_one_poll_for_each_nth_tick() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "A task of a thousand ticks with n = 10 is woken a hundred times and polled a \
                  hundred and one times.",
        usual_cause: "A tick waits inside its poll until the yield is over, or wakes more than \
                      once.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut tasks = RoundRobin::new();
        tasks.spawn('A', async {
            let mut counter = every_nth(10);
            for _ in 0..1_000 {
                counter.tick().await;
            }
        });
        tasks.run();
        let (wakes, polls) = (tasks.wakes('A'), tasks.polls('A'));
        assert!(
            (wakes, polls) == (100, 101),
            "it was woken {wakes} times and polled {polls} times"
        );
    });
}

/// Clause 8: this is what makes a large n cheap.
#[test]
fn a_tick_in_between_touches_no_waker() {
    let lesson = Lesson {
        clause: "8. Free in between",
        promise: "A tick that does not yield neither calls the waker nor clones it.",
        usual_cause: "The waker is cloned or called before the count is looked at.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        let mut counter = every_nth(1_000);
        for _ in 0..10 {
            let _ready = is_ready(&mut pin!(counter.tick()), &waker);
        }
        let (wakes, clones) = (counts.wakes(), counts.clones());
        assert!(
            (wakes, clones) == (0, 0),
            "ten ticks without a yield called the waker {wakes} times and cloned it {clones} times"
        );
    });
}

/// Clause 8: an allocation costs more than many steps.
#[test]
fn ticks_in_between_allocate_nothing() {
    let lesson = Lesson {
        clause: "8. Free in between",
        promise: "A tick that does not yield allocates nothing.",
        usual_cause: "Each tick is put into a box. Return a struct that borrows the counter.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut counter = every_nth(1_000);
        let ((), counted) = allocations(|| {
            for _ in 0..100 {
                let _ready = is_ready(&mut pin!(counter.tick()), Waker::noop());
            }
        });
        let count = counted.count;
        assert!(count == 0, "a hundred ticks allocated {count} times");
    });
}

/// Clause 9: each task has its own beat.
#[test]
fn each_counter_counts_for_itself() {
    let lesson = Lesson {
        clause: "9. Its own count",
        promise: "Two counters that tick in turn each yield at their own n-th tick.",
        usual_cause: "The count is in a `static` or a thread-local, and the tasks of a thread \
                      count together.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut counters = [every_nth(4), every_nth(4)];
        for number in 1..=12 {
            let yields = counters.each_mut().map(tick_yields);
            assert!(
                yields == [number % 4 == 0; 2],
                "of two counters with n = 4, tick {number} yields: {yields:?}"
            );
        }
    });
}

/// Clause 9: a task goes on wherever a worker has time.
#[test]
fn a_counter_goes_on_counting_on_another_thread() {
    let lesson = Lesson {
        clause: "9. Its own count",
        promise: "A counter that moves to another thread goes on from where it was.",
        usual_cause: "The count is in a thread-local. Keep it in the counter.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        let mut counter = every_nth(5);
        let here: Vec<bool> =
            (1..=3).map(|_| tick_yields(&mut counter)).collect();
        let elsewhere = thread::spawn(move || {
            let ticks = (4..=10).map(|_| tick_yields(&mut counter));
            ticks.collect::<Vec<_>>()
        });
        let elsewhere = elsewhere.join().expect("a tick does not panic");
        let yields = [here, elsewhere].concat();
        let expected: Vec<bool> =
            (1..=10).map(|number| number % 5 == 0).collect();
        assert!(
            yields == expected,
            "with n = 5, three ticks on one thread and seven on another yield: {yields:?}"
        );
    });
}

/// Clause 10: a task may leave its wait for another reason.
#[test]
fn a_tick_dropped_halfway_does_not_stop_the_count() {
    let lesson = Lesson {
        clause: "10. Dropped ticks",
        promise: "After a tick that was dropped halfway, one of the next n ticks yields.",
        usual_cause: "The count is set back when the yield is over. If that never comes, it runs \
                      past n, and `==` does not find it there. Set it back when the yield begins.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        const N: u32 = 4;
        let mut counter = every_nth(N);
        for round in 0..3 {
            let halfway = (0..N).find(|_| {
                let mut tick = pin!(counter.tick());
                !is_ready(&mut tick, Waker::noop())
            });
            assert!(
                halfway.is_some(),
                "after {round} ticks dropped halfway, {N} ticks in a row did not yield"
            );
        }
    });
}
