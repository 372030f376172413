//! Clauses 5 and 6: the queue.

use super::*;

fn queue(tasks: impl IntoIterator<Item = u32>) -> ReadyQueue {
    let mut queue = ReadyQueue::new();
    tasks.into_iter().for_each(|task| queue.push(TaskId(task)));
    queue
}

/// Takes out all tasks.
fn drain(queue: &mut ReadyQueue, random: &mut Random) -> Vec<u32> {
    let tasks = std::iter::from_fn(|| queue.pop(random));
    tasks.map(|task| task.0).take(1_000).collect()
}

/// Clause 5: many wake-ups are one poll.
#[test]
fn a_task_that_is_pushed_twice_comes_once() {
    let lesson = Lesson {
        clause: "5. Each once",
        promise: "However often a task is pushed, one `pop` returns it.",
        usual_cause: "`push` doesn't look whether the task is in the queue. A task that's woken \
                      a hundred times would be polled a hundred times.",
        read: "io/simulator.html#the-seed-chooses",
    };
    check(lesson, || {
        for seed in 0..20 {
            let mut queue = queue([1, 2, 1, 1, 3, 2]);
            let mut tasks = drain(&mut queue, &mut Random::new(seed));
            tasks.sort_unstable();
            assert!(
                tasks == [1, 2, 3],
                "tasks 1, 2, 1, 1, 3 and 2 were pushed, and {tasks:?} were popped"
            );
        }
    });
}

/// Clause 5: after its poll, a task can be woken again.
#[test]
fn a_task_can_be_pushed_again_once_it_was_popped() {
    let lesson = Lesson {
        clause: "5. Each once",
        promise: "After `pop` has returned a task, `push` puts it into the queue again. No task \
                  is lost.",
        usual_cause: "A set of the tasks that were ever pushed keeps the task out, or taking one \
                      task out loses another.",
        read: "io/simulator.html#the-seed-chooses",
    };
    check(lesson, || {
        let mut random = Random::new(5);
        let mut queue = queue(1..=5);
        let mut counts = [0; 6];
        for _ in 0..1_000 {
            let task = queue.pop(&mut random).expect("there are five tasks");
            counts[task.0 as usize] += 1;
            queue.push(task);
        }
        let rest = drain(&mut queue, &mut random);
        assert!(rest.len() == 5, "of five tasks, {rest:?} are left");
        let none = queue.pop(&mut random);
        assert!(none.is_none(), "the queue is empty, and returned {none:?}");
    });
}

/// Clause 6: that's what a replay needs.
#[test]
fn equal_seeds_give_the_same_order() {
    let lesson = Lesson {
        clause: "6. By the seed",
        promise: "The same calls with the same seed return the same tasks.",
        usual_cause: "Something else than `random` decides: the thread's own generator, a hash \
                      map's order, an address, the time.",
        read: "io/simulator.html#the-seed-chooses",
    };
    check(lesson, || {
        for seed in 0..50 {
            let run = || {
                let mut random = Random::new(seed);
                let mut queue = queue(1..=8);
                let mut order: Vec<_> =
                    (0..4).map(|_| queue.pop(&mut random)).collect();
                (9..=12).for_each(|task| queue.push(TaskId(task)));
                order.extend((0..9).map(|_| queue.pop(&mut random)));
                order
            };
            let (one, other) = (run(), run());
            assert!(
                one == other,
                "two runs with seed {seed} popped {one:?} and {other:?}"
            );
        }
    });
}

/// Clause 6: a bug may need the most unlikely order.
#[test]
fn every_order_is_possible() {
    let lesson = Lesson {
        clause: "6. By the seed",
        promise: "Each task in the queue is equally likely to be next, so every order of four \
                  tasks occurs.",
        usual_cause: "The queue is first-in, first-out, or a task never comes first: \
                      `below(len - 1)` leaves out the last one.",
        read: "io/simulator.html#the-seed-chooses",
    };
    check(lesson, || {
        let mut random = Random::new(6);
        let mut firsts = [0; 4];
        let mut orders = BTreeSet::new();
        for _ in 0..4_000 {
            let order = drain(&mut queue(0..4), &mut random);
            assert!(order.len() == 4, "of four tasks, {order:?} came");
            firsts[order[0] as usize] += 1;
            orders.insert(order);
        }
        // Seven standard deviations: no generator fails this by accident.
        let is_even = firsts.iter().all(|count| (800..=1_200).contains(count));
        assert!(
            is_even,
            "in 4,000 draws of four tasks, tasks 0 to 3 came first {firsts:?} times"
        );
        let count = orders.len();
        assert!(
            count == 24,
            "in 4,000 draws of four tasks, {count} of the 24 orders occurred"
        );
        for (count, order_count) in [(2, 2), (3, 6), (5, 120)] {
            let mut counts = BTreeMap::new();
            for _ in 0..400 * order_count {
                let order = drain(&mut queue(0..count), &mut random);
                *counts.entry(order).or_insert(0_u32) += 1;
            }
            let uneven = counts.iter().find(|it| it.1.abs_diff(400) > 140);
            assert!(
                uneven.is_none() && counts.len() == order_count,
                "{} of the {order_count} orders of {count} tasks occurred, each about 400 times, \
                 except this one: {uneven:?}",
                counts.len()
            );
        }
    });
}

/// Clause 6: a task that has just been woken may overtake the others.
#[test]
fn a_task_that_comes_later_may_be_next() {
    let lesson = Lesson {
        clause: "6. By the seed",
        promise: "Each task in the queue is equally likely to be next, also one that was pushed \
                  after a `pop`.",
        usual_cause: "The seed chooses only among the tasks of a round: what is pushed meanwhile \
                      waits until all others have been popped. Or `push` puts the task where no \
                      draw can find it yet.",
        read: "io/simulator.html#the-seed-chooses",
    };
    check(lesson, || {
        let mut random = Random::new(7);
        for count in [2, 3, 5] {
            let mut overtakes = 0;
            for _ in 0..1_000 {
                let mut queue = queue(1..=count);
                let first = queue.pop(&mut random);
                assert!(first.is_some(), "there were {count} tasks");
                queue.push(TaskId(0));
                let next = queue.pop(&mut random);
                overtakes += u32::from(next == Some(TaskId(0)));
            }
            // Some six standard deviations.
            let expected = 1_000 / count;
            let is_even = overtakes.abs_diff(expected) <= 90;
            assert!(
                is_even,
                "a task was pushed after a `pop`, to {} others: in 1,000 queues it was next \
                 {overtakes} times, and not about {expected} times",
                count - 1
            );
        }
    });
}

/// Where a task stands among those in the queue, by something that happened to
/// it before.
const ORDERS: [(&str, Key); 7] = [
    ("the number of its pushes since its last `pop`", |it| {
        it.tickets
    }),
    ("the number of all its pushes", |it| it.pushes),
    ("how often it was popped", |it| it.pops),
    ("when it came into the queue", |it| it.entered_at),
    ("its latest push", |it| it.pushed_at),
    ("its latest `pop`", |it| it.popped_at),
    ("its number", |it| it.id.into()),
];

/// The places in such an order: the first, three thirds, and the last.
const PLACES: [&str; 5] = [
    "the first",
    "one of the first third of the others",
    "one of the second third of the others",
    "one of the last third of the others",
    "the last",
];

/// What the tasks are sorted by.
type Key = fn(&History) -> u64;

/// What happened to a task until now.
#[derive(Clone, Default)]
struct History {
    id: u32,
    is_queued: bool,
    tickets: u64,
    pushes: u64,
    pops: u64,
    entered_at: u64,
    pushed_at: u64,
    popped_at: u64,
}

/// How often tasks with one place in one order came, and how often they should
/// have, with the variance of that.
#[derive(Clone, Copy, Default)]
struct Odds {
    seen: f64,
    expected: f64,
    variance: f64,
}

/// The place, in [`PLACES`], of the task with this rank.
fn place(rank: usize, count: usize) -> usize {
    match rank {
        0 => 0,
        last if last == count - 1 => 4,
        middle => 1 + (middle - 1) * 3 / (count - 2),
    }
}

/// A queue, and what happened to each task.
struct Watched {
    queue: ReadyQueue,
    random: Random,
    tasks: Vec<History>,
    time: u64,
    odds: [[Odds; PLACES.len()]; ORDERS.len()],
}

impl Watched {
    fn new(count: usize) -> Self {
        // The numbers have gaps, and these have different widths.
        let ids = (1..=count as u32).map(|index| index * index);
        let tasks = ids.map(|id| History {
            id,
            ..History::default()
        });
        Self {
            queue: ReadyQueue::new(),
            random: Random::new(8),
            tasks: tasks.collect(),
            time: 0,
            odds: Default::default(),
        }
    }

    fn push(&mut self, index: usize) {
        self.time += 1;
        let task = &mut self.tasks[index];
        self.queue.push(TaskId(task.id));
        if !task.is_queued {
            task.is_queued = true;
            task.tickets = 0;
            task.entered_at = self.time;
        }
        task.tickets += 1;
        task.pushes += 1;
        task.pushed_at = self.time;
    }

    /// Takes out a task, and compares it with the others that are there.
    /// Returns its index.
    fn pop(&mut self) -> Option<usize> {
        self.time += 1;
        let queued = self.tasks.iter().filter(|it| it.is_queued);
        let queued: Vec<History> = queued.cloned().collect();
        let popped = self.queue.pop(&mut self.random);
        let count = queued.len();
        let chosen = queued.iter().find(|it| popped == Some(TaskId(it.id)));
        assert!(
            chosen.is_some() || (popped.is_none() && count == 0),
            "there were {count} tasks in the queue, and `pop` returned {popped:?}, which isn't one \
             of them"
        );
        let chosen = chosen?;
        if count > 1 {
            for ((_, key), odds) in ORDERS.iter().zip(&mut self.odds) {
                let key = |it: &History| (key(it), it.id);
                let before = queued.iter().filter(|it| key(it) < key(chosen));
                odds[place(before.count(), count)].seen += 1.0;
                let mut sizes = [0.0; PLACES.len()];
                (0..count).for_each(|rank| sizes[place(rank, count)] += 1.0);
                for (odds, size) in odds.iter_mut().zip(sizes) {
                    let share = size / count as f64;
                    odds.expected += share;
                    odds.variance += share * (1.0 - share);
                }
            }
        }
        let index = self.tasks.iter().position(|it| it.id == chosen.id)?;
        let task = &mut self.tasks[index];
        task.is_queued = false;
        task.pops += 1;
        task.popped_at = self.time;
        Some(index)
    }
}

/// Clause 6: neither wake-ups nor earlier polls change the odds.
#[test]
fn no_history_makes_a_task_more_likely() {
    let lesson = Lesson {
        clause: "6. By the seed",
        promise: "Each task in the queue is equally likely to be next, however often it was pushed, \
                  when it was popped before, and how long it has been there.",
        usual_cause: "A task is in the draw once for each push, and only `pop` removes its other \
                      entries. Or the queue prefers a task that has waited for long, avoids the \
                      one that it returned last, or starts at a random number and takes the next \
                      task after it.",
        read: "io/simulator.html#the-seed-chooses",
    };
    check(lesson, || {
        for count in [2, 5, 40, 250] {
            let mut watched = Watched::new(count);
            let mut script = Random::new(count as u64);
            // Some tasks are woken much more often than others.
            let any = |script: &mut Random| {
                let indexes = [(); 2].map(|()| script.below(count as u64));
                indexes.into_iter().min().unwrap_or(0) as usize
            };
            for step in 0..4_000 {
                for _ in 0..script.below(7) {
                    let index = any(&mut script);
                    watched.push(index);
                }
                let popped = watched.pop();
                // As a task that yields.
                if let Some(index) = popped.filter(|_| script.one_in(2)) {
                    watched.push(index);
                }
                if step % 800 == 799 {
                    while watched.pop().is_some() {}
                }
            }
            for ((order, _), odds) in ORDERS.iter().zip(watched.odds) {
                for (place, odds) in PLACES.iter().zip(odds) {
                    let Odds {
                        seen,
                        expected,
                        variance,
                    } = odds;
                    // Six standard deviations: no generator fails this by
                    // accident.
                    let is_even =
                        (seen - expected).abs() <= 6.0 * variance.sqrt() + 1.0;
                    assert!(
                        is_even,
                        "{count} tasks were pushed and popped again and again. If the tasks that \
                         are in the queue are sorted by {order}, {place} was next {seen:.0} \
                         times, and not about {expected:.0} times"
                    );
                }
            }
        }
    });
}
