//! The future inside.

use super::*;

/// Clause 9: inner loops contain checkpoints, and there are many tasks.
#[test]
fn polls_and_checkpoints_allocate_nothing() {
    let lesson = Lesson {
        clause: "9. No allocation",
        promise: "Neither a poll of `with_budget` nor a checkpoint allocates.",
        usual_cause: "Budgets are kept in a `Vec` or a `Box`. A `Cell` in a thread-local is \
                      enough: the guard on the stack keeps the outer budget.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let nested = budget(&clock, micros(10), work(&clock, 1_000, micros(1)));
        let mut task = pin!(budget(&clock, SLICE, nested));
        let mut polls = 0;
        let mut cx = Context::from_waker(Waker::noop());
        let ((), counted) = clock.run(|| {
            allocations(|| {
                while task.as_mut().poll(&mut cx).is_pending() {
                    polls += 1;
                    assert!(polls < TOO_MANY_POLLS, "the task is never ready");
                }
            })
        });
        let made = counted.count;
        assert!(
            made == 0,
            "{polls} polls and 1,000 checkpoints made {made} allocations"
        );
    });
}

/// Clause 10: an `async` block may contain references into itself.
#[test]
fn the_future_stays_where_it_is_and_is_dropped_once() {
    let lesson = Lesson {
        clause: "10. In good hands",
        promise: "The future isn't moved after its first poll, and is dropped once, with `WithBudget`.",
        usual_cause: "The poll moves the future out of its field and back, or leaks it.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        polls_of(&clock, SLICE, budget(&clock, SLICE, MustNotMove::new(3)));
        for polls in 0..3 {
            let (probe, drops) = DropProbe::new();
            let mut task = Box::pin(budget(&clock, SLICE, async {
                Yields(1).await;
                drop(probe);
            }));
            for _ in 0..polls {
                poll_once(&clock, task.as_mut());
            }
            drop(task);
            let count = drops.count();
            assert!(
                count == 1,
                "after {polls} polls, a value that the future owns was dropped {count} times"
            );
        }
    });
}

/// Clause 10: what is `Unpin` may be moved between two polls, in safe code.
#[test]
fn the_future_stays_where_it_is_even_if_its_budget_is_moved() {
    let lesson = Lesson {
        clause: "10. In good hands",
        promise: "If safe code may poll a `WithBudget`, move it and poll it again, the future \
                  inside it still isn't moved.",
        usual_cause: "`impl<F> Unpin for WithBudget<F>` makes `get_mut` compile. But the future is \
                      a field, and is moved with the `WithBudget`. Without that line, \
                      `WithBudget<F>` is `Unpin` if `F` is, and the pin of the field takes one \
                      line of `unsafe` code, or the crate `pin-project-lite`.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let task = budget(&clock, SLICE, MustNotMove::new(3));
        Movable(task).poll_and_move();
    });
}

/// A future whose type says whether it may be moved after its first poll. If so, the
/// method below takes precedence over the trait's.
struct Movable<F>(F);

#[allow(dead_code, reason = "used only if the future is not `Unpin`")]
trait PollAndMove {
    fn poll_and_move(self);
}

impl<F: Future> PollAndMove for Movable<F> {
    /// Only polls, because the compiler refuses the move.
    fn poll_and_move(self) {
        let mut cx = Context::from_waker(Waker::noop());
        let _pending = pin!(self.0).poll(&mut cx);
    }
}

#[allow(dead_code, reason = "used only if the future is `Unpin`")]
impl<F: Future + Unpin> Movable<F> {
    fn poll_and_move(self) {
        let mut cx = Context::from_waker(Waker::noop());
        let mut here = self.0;
        let _pending = Pin::new(&mut here).poll(&mut cx);
        let mut there = Box::new(here);
        let _pending = Pin::new(&mut *there).poll(&mut cx);
    }
}

/// Clause 10: a budget must not lose a result.
#[test]
fn output_and_panic_of_the_future_come_through() {
    let lesson = Lesson {
        clause: "10. In good hands",
        promise: "`with_budget` returns what its future returns, and panics with its future's panic.",
        usual_cause: "The panic is caught, or the output is dropped on the way.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        let clock = FakeClock::new(READING);
        let task = pin!(budget(&clock, SLICE, async { "output" }));
        let Polled { poll, wakes, .. } = poll_once(&clock, task);
        assert!(
            poll == Poll::Ready("output") && wakes == 0,
            "`with_budget` returned {poll:?} and called its waker {wakes} times"
        );
        let mut panics = Box::pin(budget(&clock, SLICE, async {
            panic!("meant to panic");
        }));
        let poll =
            || poll_once::<dyn Future<Output = ()>>(&clock, panics.as_mut());
        let caught = catch_unwind(AssertUnwindSafe(poll));
        let panic = caught.expect_err("the panic is passed on");
        let message = panic.downcast_ref::<&str>();
        assert!(
            message == Some(&"meant to panic"),
            "the panic came out as {message:?}"
        );
    });
}
