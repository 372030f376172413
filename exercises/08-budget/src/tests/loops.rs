//! Many loops in one task.

use super::*;

/// Clause 2: `join!` polls one loop after another, all in one poll.
#[test]
fn loops_of_one_task_share_its_slice() {
    let lesson = Lesson {
        clause: "2. Bounded polls",
        promise: "Once the slice is over, it's over for everything that the task does in this poll: \
                  each other loop may do one more item, and no more.",
        usual_cause: "The checkpoint that yields starts the next slice. Leave that to the next \
                      poll. Or it starts the next stride, which each other loop then uses up \
                      before it finds the slice over. A few loops may do so within the bound, but \
                      many loops don't.",
        read: "yielding/budget.html#whose-slice-is-it",
    };
    const LOOPS: u32 = 20;
    check(lesson, || {
        // An item each of 50 ns is a small part of a stride.
        for (items, cost) in [(100, micros(5)), (1_000, nanos(50))] {
            let clock = FakeClock::new(READING);
            let loops = (0..LOOPS).map(|_| work(&clock, items, cost));
            let task = budget(&clock, SLICE, join(loops));
            let polls = polls_of(&clock, Duration::ZERO, task);
            assert_bounded(&polls, longest_poll(SLICE, cost, LOOPS));
        }
        for part in [20, 100, 2_000] {
            let many = ManyLoops::with_items_of(SLICE / part);
            many.assert_bounded();
            ManyLoops { turn: 3, ..many }.assert_bounded();
            ManyLoops {
                grows: true,
                ..many
            }
            .assert_bounded();
            // Within a poll, the items only become cheaper.
            let (first_cost, polls) = (SLICE / 20, 1);
            ManyLoops {
                first_cost,
                polls,
                ..many
            }
            .assert_bounded();
        }
    });
}

/// A task with so many loops that one item of each takes two slices.
#[derive(Clone, Copy)]
pub struct ManyLoops {
    loops: u32,
    /// The cost of an item of the first loop.
    first_cost: Duration,
    /// The cost of an item of each other loop.
    cost: Duration,
    /// The number of items after which a loop lets the next one go on.
    turn: u32,
    /// Whether each poll has more loops than the last one.
    grows: bool,
    /// The slice of a budget around each group of loops, and a group's size.
    nested: Option<(Duration, usize)>,
    polls: u32,
}

impl ManyLoops {
    pub fn with_items_of(cost: Duration) -> Self {
        Self {
            loops: (2 * SLICE).div_duration_f64(cost) as u32,
            first_cost: cost,
            cost,
            turn: u32::MAX,
            grows: false,
            nested: None,
            polls: 3,
        }
    }

    /// Puts a budget around each group of so many loops.
    pub fn within(self, slice: Duration, size: usize) -> Self {
        let nested = Some((slice, size));
        Self { nested, ..self }
    }

    /// Fails if a poll of the task exceeds the bound of clause 2.
    #[track_caller]
    pub fn assert_bounded(self) {
        // Each loop may read the clock after the slice, and clause 2 doesn't
        // say how long that takes.
        let clock = FakeClock::new(Duration::ZERO);
        let running = Running::new(&clock);
        let mut task = pin!(budget(&clock, SLICE, self.task(&running)));
        for poll in 1..=self.polls {
            let loops = match self.grows {
                true => self.loops * poll / self.polls,
                false => self.loops,
            };
            let bound = longest_poll(SLICE, self.cost, loops)
                + 2 * (self.first_cost - self.cost);
            running.begin(loops, bound);
            let _pending = poll_once(&clock, task.as_mut());
            assert!(
                !running.is_late(),
                "poll {poll} of {loops} loops with items of {:?}{} took more than {bound:?}: {}",
                self.cost,
                self.budgets(),
                running.seen()
            );
        }
    }

    fn budgets(self) -> String {
        match self.nested {
            None => String::new(),
            Some((slice, 1)) => format!(", each in a budget of {slice:?},"),
            Some((slice, size)) => {
                format!(
                    ", in groups of {size} with a budget of {slice:?} each,"
                )
            }
        }
    }

    fn task<'a>(self, running: &'a Running<'_>) -> impl Future<Output = ()> {
        let loops = (0..self.loops).map(|number| {
            let is_first = number == 0;
            let cost = if is_first { self.first_cost } else { self.cost };
            Box::pin(running.work(cost, self.turn)) as Loop<'a>
        });
        let mut loops: Vec<_> = loops.collect();
        let mut groups = Vec::new();
        while let Some((slice, size)) = self.nested
            && !loops.is_empty()
        {
            let group = loops.drain(..size.min(loops.len())).collect();
            let group = with_budget(slice, running.take_turns(group));
            groups.push(Box::pin(group) as Loop<'a>);
        }
        groups.extend(loops);
        running.take_turns(groups)
    }
}

/// A loop that never ends.
type Loop<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A poll of a task with many loops.
struct Running<'a> {
    clock: &'a FakeClock,
    /// The number of loops that take turns.
    loops: Cell<usize>,
    /// When the poll must have ended.
    end: Cell<Duration>,
    /// Whether the loop that was polled last let the next one go on, and no
    /// checkpoint was pending.
    gave_way: Cell<bool>,
    /// Whether a checkpoint was pending.
    is_over: Cell<bool>,
    /// The number of loops that did items after that.
    late_loops: Cell<u32>,
    /// The number of these items.
    late_items: Cell<u32>,
}

impl<'a> Running<'a> {
    fn new(clock: &'a FakeClock) -> Self {
        Self {
            clock,
            loops: Cell::default(),
            end: Cell::default(),
            gave_way: Cell::default(),
            is_over: Cell::default(),
            late_loops: Cell::default(),
            late_items: Cell::default(),
        }
    }

    fn begin(&self, loops: u32, bound: Duration) {
        self.loops.set(loops as usize);
        self.end.set(self.clock.elapsed() + bound);
        self.is_over.set(false);
        self.late_loops.set(0);
        self.late_items.set(0);
    }

    fn is_late(&self) -> bool {
        self.clock.elapsed() > self.end.get()
    }

    fn seen(&self) -> String {
        let (loops, items) = (self.late_loops.get(), self.late_items.get());
        match self.is_over.get() {
            true => format!(
                "after a checkpoint had been pending, {loops} more loops did {items} items"
            ),
            false => "no checkpoint was pending".to_owned(),
        }
    }

    /// Does items, with a checkpoint after each, until the poll is late.
    async fn work(&self, cost: Duration, turn: u32) {
        let mut late_in = None;
        while !self.is_late() {
            for _ in 0..turn {
                self.clock.advance(cost);
                if self.is_over.get() {
                    self.late_items.update(|items| items + 1);
                    if late_in.replace(self.end.get()) != Some(self.end.get()) {
                        self.late_loops.update(|loops| loops + 1);
                    }
                }
                if self.is_late() {
                    return;
                }
                checkpoint().await;
            }
            self.gave_way.set(true);
            Yields(1).await;
        }
    }

    /// Polls one loop after another, and again those that gave way.
    async fn take_turns(&self, mut loops: Vec<Loop<'_>>) {
        poll_fn(|cx| {
            let mut left: Vec<_> =
                loops.iter_mut().take(self.loops.get()).collect();
            while !left.is_empty() && !self.is_late() {
                left.retain_mut(|each| {
                    if self.is_late() {
                        return false;
                    }
                    self.gave_way.set(false);
                    let _pending = each.as_mut().poll(cx);
                    let gave_way = self.gave_way.get();
                    // A loop that finds the poll late ends.
                    if !gave_way && !self.is_late() {
                        self.is_over.set(true);
                    }
                    gave_way
                });
            }
            Poll::Pending
        })
        .await
    }
}
