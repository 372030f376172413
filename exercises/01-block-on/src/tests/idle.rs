//! What the thread does while there's nothing to do.

use super::*;

/// What a blocked thread did in [`IDLE_WINDOW`], as far as the operating system
/// reports it.
struct Idling {
    cost: Option<Cost>,
    sleeps_by_the_clock: Option<bool>,
    /// How often the future had been polled by the end of the window.
    polls: u32,
}

/// Blocks on a future that is woken only after [`IDLE_WINDOW`].
fn wait_idly() -> Idling {
    let (future, handle) = ManualFuture::new();
    let watcher = thread::spawn(move || {
        let (_waker, blocked) = handle.wait_until_asleep();
        let sleeps_by_the_clock = blocked.sleeps_by_the_clock();
        let cost = idle_cost(&blocked, IDLE_WINDOW);
        let polls = handle.polls();
        handle.complete();
        Idling {
            cost,
            sleeps_by_the_clock,
            polls,
        }
    });
    block_on(future);
    watcher.join().expect("the watcher doesn't panic")
}

/// Clause 2: a thread that spins passes all checks of the other clauses, and
/// burns a core.
#[test]
fn waiting_does_not_spin() {
    let lesson = Lesson {
        clause: "2. Idle",
        promise: "While the future waits, the thread sleeps and uses no CPU time.",
        usual_cause: "The loop polls again, spins or yields instead of sleeping with \
                      `thread::park`. At a hang: the thread sleeps, as it should, but a wake-up \
                      from another thread doesn't reach it: `wake` unparks another thread, or \
                      unparks before it sets its flag. See clauses 3 and 4.",
        read: "one-future/block-on.html#sleep-dont-spin, at a hang #whose-thread-to-wake",
    };
    check(lesson, || {
        if let Some(cost) = wait_idly().cost {
            let cpu = cost.cpu;
            assert!(
                cpu < IDLE_CPU,
                "in {IDLE_WINDOW:?} of waiting for a wake-up the thread used {cpu:.0?} of CPU time"
            );
        }
    });
}

/// Clause 2: a timer that polls again now and then hides lost wake-ups, and
/// keeps the machine from sleeping.
#[test]
fn waiting_does_not_poll_by_a_timer() {
    let lesson = Lesson {
        clause: "2. Idle",
        promise: "The future is polled because it was woken, not because some time has passed.",
        usual_cause: "The loop calls `park_timeout` or `sleep`, as a safety net. A wake-up that \
                      isn't lost needs no net. At a hang: a wake-up from another thread is lost: \
                      `wake` unparks another thread, or unparks before it sets its flag. See \
                      clauses 3 and 4.",
        read: "one-future/block-on.html#sleep-dont-spin, at a hang #whose-thread-to-wake",
    };
    check(lesson, || {
        let Idling {
            sleeps_by_the_clock,
            polls,
            ..
        } = wait_idly();
        assert!(
            sleeps_by_the_clock != Some(true),
            "the thread sleeps until a timeout, not until it is woken"
        );
        assert!(
            polls <= 2,
            "in {IDLE_WINDOW:?} without a wake-up the future was polled {polls} times"
        );
    });
}
