//! Each short sequence of steps, compared with what the contract says of each checkpoint.

use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use super::*;

/// A step of a task that may have nested budgets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// An item, and a checkpoint after it, and perhaps several more.
    Item,
    /// Begins the poll of a nested budget with an eighth of the slice.
    Short,
    /// Begins the poll of a nested budget with three slices.
    Long,
    /// Ends the poll of the innermost budget.
    Ends,
    /// The same, by a panic.
    Panics,
    /// Polls again the last checkpoint that was pending.
    Again,
}

use Step::*;

const STEPS: [Step; 6] = [Item, Short, Long, Ends, Panics, Again];

struct Named<'a>(&'a [Step], Duration);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cost = self.1;
        let name = |step: &Step| match step {
            Item => format!("an item of {cost:?} and a checkpoint"),
            Short => format!("a nested budget of {:?} begins", SLICE / 8),
            Long => format!("a nested budget of {:?} begins", SLICE * 3),
            Ends => "the innermost poll ends".to_owned(),
            Panics => "the innermost poll panics".to_owned(),
            Again => {
                "the checkpoint that was pending is polled again".to_owned()
            }
        };
        let names: Vec<_> = self.0.iter().map(name).collect();
        f.write_str(&names.join(", "))
    }
}

/// A poll that is running, as the contract sees it.
struct Frame {
    slice: Duration,
    began: Duration,
    /// The first checkpoint.
    first: Option<Duration>,
    /// Whether a checkpoint was pending. A task may go on for other reasons.
    is_told: bool,
}

/// The task, and what the contract says of it.
struct World {
    clock: FakeClock,
    cost: Duration,
    per_step: u32,
    left: RefCell<VecDeque<Step>>,
    taken: RefCell<Vec<Step>>,
    frames: RefCell<Vec<Frame>>,
    pending: RefCell<Option<Pin<Box<super::super::Checkpoint>>>>,
    wakes: Arc<testkit::WakeCounts>,
}

impl World {
    /// Takes the steps until the innermost poll ends.
    fn go(self: &Rc<Self>, cx: &mut Context<'_>) {
        loop {
            let Some(step) = self.left.borrow_mut().pop_front() else {
                return;
            };
            self.taken.borrow_mut().push(step);
            match step {
                Item => {
                    for _ in 0..self.per_step {
                        self.clock.advance(self.cost);
                        if self.check(cx, Box::pin(checkpoint()), false) {
                            break;
                        }
                    }
                }
                Again => {
                    let pending = self.pending.take();
                    pending
                        .into_iter()
                        .for_each(|it| _ = self.check(cx, it, true));
                }
                Short => self.run(cx, SLICE / 8),
                Long => self.run(cx, SLICE * 3),
                Ends => return,
                Panics => std::panic::panic_any("a future may panic"),
            }
        }
    }

    /// Polls a budget, in which the next steps are taken.
    fn run(self: &Rc<Self>, cx: &mut Context<'_>, slice: Duration) {
        self.frames.borrow_mut().push(Frame {
            slice,
            began: self.clock.elapsed(),
            first: None,
            is_told: false,
        });
        let inner = self.clone();
        let go = poll_fn(move |cx| {
            inner.go(cx);
            Poll::<()>::Pending
        });
        let mut budget = pin!(with_budget(slice, go));
        let _ = catch_unwind(AssertUnwindSafe(|| budget.as_mut().poll(cx)));
        self.frames.borrow_mut().pop();
    }

    /// Polls a checkpoint. Returns `true` if it's pending.
    #[track_caller]
    fn check(
        &self,
        cx: &mut Context<'_>,
        mut checkpoint: Pin<Box<super::super::Checkpoint>>,
        was_pending: bool,
    ) -> bool {
        let now = self.clock.elapsed();
        let mut frames = self.frames.borrow_mut();
        let mut fail = None;
        let before = self.wakes.wakes();
        let is_pending = checkpoint.as_mut().poll(cx).is_pending();
        let woken = self.wakes.wakes() - before;
        for frame in &mut *frames {
            // A slice may begin at a checkpoint that was pending.
            frame.first.get_or_insert(now);
        }
        let begin = |frame: &Frame| frame.first.unwrap_or(now);
        let is_over =
            frames.iter().any(|it| now - begin(it) >= it.slice) && !was_pending;
        let longest = |it: &Frame| longest_poll(it.slice, self.cost, 1);
        let is_late = |it: &Frame| !it.is_told && now - it.began > longest(it);
        let is_late = frames.iter().any(is_late);
        if is_pending && !is_over {
            fail = Some("was pending, and no slice is over".to_owned());
        } else if !is_pending && is_late && !was_pending {
            fail = Some("was ready, and a poll lasts too long".to_owned());
        } else if woken != usize::from(is_pending) {
            fail = Some(format!(
                "was pending: {is_pending}, and called the waker {woken} times"
            ));
        }
        if let Some(seen) = fail {
            // Not a panic of the check's own task, which is caught.
            let taken = self.taken.borrow();
            FAILED.set(Some(format!(
                "after {}: the last checkpoint {seen}",
                Named(&taken, self.cost)
            )));
        }
        if is_pending {
            frames.iter_mut().for_each(|it| it.is_told = true);
            self.pending.replace(Some(checkpoint));
        }
        is_pending
    }
}

thread_local! {
    static FAILED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Has a task take these steps, and as many more outside of any budget.
#[track_caller]
fn take(steps: impl Iterator<Item = Step>, cost: Duration, per_step: u32) {
    let (waker, wakes) = CountingWaker::new();
    let clock = FakeClock::new(Duration::ZERO);
    let world = Rc::new(World {
        clock: clock.clone(),
        cost,
        per_step,
        left: RefCell::new(steps.collect()),
        taken: RefCell::default(),
        frames: RefCell::default(),
        pending: RefCell::default(),
        wakes,
    });
    let mut cx = Context::from_waker(&waker);
    clock.run(|| {
        while !world.left.borrow().is_empty() {
            world.run(&mut cx, SLICE);
            // Outside of any budget.
            world.clock.advance(SLICE);
            world.check(&mut cx, Box::pin(checkpoint()), false);
        }
    });
    if let Some(seen) = FAILED.take() {
        panic!("{seen}");
    }
}

/// Clause 8: what a checkpoint does depends on all polls that are running.
#[test]
fn each_short_history_of_nested_polls_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "8. Nested",
        promise: "Whatever nested polls begin, end and panic in turn, a checkpoint is pending only \
                  if a slice that it belongs to is over, in time, and wakes the waker then.",
        usual_cause: "What the outer poll had is lost or kept in one of the ways in which an inner \
                      poll ends, or when a second one follows it. The other checks that fail name \
                      the mistake.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    check(lesson, || {
        for cost in [SLICE / 2, SLICE, SLICE * 2] {
            for length in 1..=5_u32 {
                for number in 0..STEPS.len().pow(length) {
                    let step = |place| {
                        STEPS[number / STEPS.len().pow(place) % STEPS.len()]
                    };
                    // Panics cost most of the time.
                    let steps = (0..length).map(step);
                    let panics = steps.clone().filter(|it| *it == Panics);
                    let items = steps.clone().filter(|it| *it == Item);
                    if panics.count() <= 1 && items.count() >= 2 {
                        take(steps, cost, 1);
                    }
                }
            }
        }
        // A loop that polls nested budgets, within up to two.
        let units: [&[Step]; 4] = [
            &[Item],
            &[Short, Item, Ends],
            &[Long, Item, Ends],
            &[Long, Short, Item, Ends, Ends],
        ];
        let begins = [None, Some(Short), Some(Long)];
        for (first, second) in
            begins.map(|it| begins.map(|of| (it, of))).concat()
        {
            for unit in units {
                for parts in [8, 32] {
                    let begin = [Some(Item), first, Some(Item), second];
                    let steps = begin.into_iter().flatten();
                    let repeated = unit.repeat(12);
                    take(steps.chain(repeated), SLICE / parts, 1);
                }
            }
        }
        // xorshift32.
        let mut random = 0x9E37_79B9_u32;
        for _ in 0..300 {
            let steps = [(); 20].map(|()| {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                match (random >> 8) % 64 {
                    0..32 => Item,
                    32..40 => Short,
                    40..48 => Long,
                    48..60 => Ends,
                    60 => Panics,
                    _ => Again,
                }
            });
            let parts = [4, 8, 32][random as usize % 3];
            take(steps.into_iter(), SLICE / parts, parts / 4);
        }
    });
}
