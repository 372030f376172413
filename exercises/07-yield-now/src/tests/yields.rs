//! One yield.

use super::*;

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
