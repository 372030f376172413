//! One yield.

use super::*;

/// Clause 1: one pending poll is all there is to a yield.
#[test]
fn a_yield_is_pending_once_and_then_ready() {
    let lesson = Lesson {
        clause: "1. Once",
        promise: "The first poll of a yield is pending, and the second is ready.",
        usual_cause: "It's ready at once, so that no other task runs; or it doesn't remember that \
                      it was polled, and is pending forever, or until a time has passed. State \
                      that one poll leaves for the next belongs in a field of the future.",
        read: "yielding/yield-now.html#pending-and-woken",
    };
    check(lesson, || {
        let (waker, _counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        assert!(
            !is_ready(&mut yielding, &waker),
            "the first poll was ready: the task did not yield"
        );
        assert!(
            is_ready(&mut yielding, &waker),
            "the second poll was pending again"
        );
    });
}

/// Clause 1: like any future, a yield does nothing until it's polled.
#[test]
fn a_yield_takes_place_when_it_is_polled() {
    let lesson = Lesson {
        clause: "1. Once",
        promise: "A yield that was created long before its first poll is pending once, like any other.",
        usual_cause: "The call records something, such as which task runs next, and the poll \
                      relies on it. Do nothing before the first poll.",
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
            "a yield created before another was ready at its first poll"
        );
        assert!(is_ready(&mut early, &waker), "its second poll was pending");
        let wakes = counts.wakes();
        assert!(wakes == 2, "two yields woke their task {wakes} times");
    });
}

/// Clause 2: a wake-up too many is a useless poll of the whole task.
#[test]
fn a_yield_wakes_its_task_once() {
    let lesson = Lesson {
        clause: "2. Woken",
        promise: "The pending poll calls its waker once. The ready poll calls no waker.",
        usual_cause: "The waker isn't called at all, so a task that's alone is never polled again; or \
                      each poll calls it, including the ready one.",
        read: "yielding/yield-now.html#pending-and-woken",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        let wakes_before = counts.wakes();
        let _pending = is_ready(&mut yielding, &waker);
        let wakes = counts.wakes();
        assert!(
            wakes_before == 0,
            "the yield called its waker before it was polled"
        );
        assert!(
            wakes == 1,
            "the pending poll called its waker {wakes} times"
        );
        let _ready = is_ready(&mut yielding, &waker);
        let more = counts.wakes() - wakes;
        assert!(more == 0, "the ready poll called its waker {more} times");
    });
}

/// Clause 2: nothing else will wake a task that only yields.
#[test]
fn a_task_that_is_alone_goes_on() {
    let lesson = Lesson {
        clause: "2. Woken",
        promise: "A task that yields is polled again even if it's alone in its executor.",
        usual_cause: "`Pending` without a wake-up, or with a wake-up that is left to the next \
                      yield of some other task. `Pending` promises that something will wake the \
                      task.",
        read: "yielding/yield-now.html#pending-and-woken",
    };
    check(lesson, || {
        let mut tasks = RoundRobin::new();
        tasks.spawn('A', async {
            yield_now().await;
            yield_now().await;
        });
        let order = tasks.run();
        assert!(
            order == "AAA",
            "two yields were polled as {}, not AAA",
            shortened(order)
        );
    });
}

/// Clause 4: a task that owns its own waker may never be freed.
#[test]
fn a_yield_keeps_no_waker() {
    let lesson = Lesson {
        clause: "4. Nothing kept",
        promise: "When a poll of a yield returns, the future holds no clone of the waker.",
        usual_cause: "The future stores the waker, to call or compare it later. The pending poll \
                      calls it, and nothing needs it after that.",
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

/// Clause 4: `select!` drops the futures that weren't first.
#[test]
fn a_yield_dropped_halfway_changes_nothing_for_the_next() {
    let lesson = Lesson {
        clause: "4. Nothing kept",
        promise: "After a yield that was dropped halfway, the next yield is pending once, like any \
                  other.",
        usual_cause: "The state \"has yielded\" is outside the future, for example in a \
                      thread-local, where the next yield finds it.",
        read: "yielding/yield-now.html#nothing-to-remember",
    };
    check(lesson, || {
        let (waker, counts) = CountingWaker::new();
        for round in 0..3 {
            let mut halfway = pin!(yield_now());
            assert!(
                !is_ready(&mut halfway, &waker),
                "after {round} yields that were dropped halfway, the next was ready at its first poll"
            );
        }
        let wakes = counts.wakes();
        assert!(wakes == 3, "three yields woke their task {wakes} times");
    });
}

/// Clause 4: between the two polls of one task, the executor polls the others.
#[test]
fn yields_of_two_tasks_do_not_get_mixed_up() {
    let lesson = Lesson {
        clause: "4. Nothing kept",
        promise: "Two yields that are polled alternately are each pending once.",
        usual_cause: "All yields of a thread, or of the program, share one flag. Give each future \
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
            "of two yields that began one after the other, the first polls were ready: {firsts:?}"
        );
        assert!(
            seconds == [true, true],
            "of two yields that had each been polled once, the second polls were ready: {seconds:?}"
        );
    });
}

/// Clause 6: a second `Pending` would need a second wake-up, for nothing.
#[test]
fn a_yield_that_is_over_stays_over() {
    let lesson = Lesson {
        clause: "6. Over",
        promise: "However often it's polled after it was ready, a yield is ready again, or panics. \
                  It isn't pending.",
        usual_cause: "Each poll toggles the flag. Set it once, and leave it set. Or the polls are \
                      counted in a small integer, which wraps.",
        read: "yielding/yield-now.html#nothing-to-remember",
    };
    check(lesson, || {
        let (waker, _counts) = CountingWaker::new();
        let mut yielding = pin!(yield_now());
        while !is_ready(&mut yielding, &waker) {}
        assert_stays_over(&mut yielding, &waker, "the yield");
    });
}
