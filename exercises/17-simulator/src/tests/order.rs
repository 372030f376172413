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
