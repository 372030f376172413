//! Each short sequence of what polls with yields in them do.

use std::fmt;

use super::*;

/// A step of a task's polls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// One of two yields is polled with the task's waker.
    Own(usize),
    /// One of two yields is polled with another waker.
    Foreign(usize),
    /// The task's own waker is woken.
    Wakes,
    /// Another task is run, which yields.
    RunsOneThatYields,
    /// Another task is run, which waits.
    RunsOneThatWaits,
    /// The poll is pending, and the task is polled again.
    Ends,
}

use Step::*;

const STEPS: [Step; 8] = [
    Own(0),
    Own(1),
    Foreign(0),
    Foreign(1),
    Wakes,
    RunsOneThatYields,
    RunsOneThatWaits,
    Ends,
];

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |it: usize| ["a", "b"][it];
        match *self {
            Own(it) => write!(f, "polls the yield {}", name(it)),
            Foreign(it) => {
                write!(f, "polls the yield {} with another waker", name(it))
            }
            Wakes => f.write_str("is woken"),
            RunsOneThatYields => f.write_str("runs a task that yields"),
            RunsOneThatWaits => f.write_str("runs a task that waits"),
            Ends => f.write_str("is pending and polled again"),
        }
    }
}

/// Clause 16: a `join!` polls several yields, and other tasks' wakers.
#[test]
fn each_short_history_of_yields_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "16. Yield",
        promise: "Whatever the polls of a task do in turn, each yield is pending once, a poll in \
                  which one was pending with the task's waker ends in `schedule_yielded`, once, \
                  and other wakers are woken.",
        usual_cause: "A second yield of the same poll takes back what the first has noted, or \
                      wakes the waker after all; or a yield that was pending with another waker is \
                      pending again; or what a task that runs within the poll does counts for the \
                      outer one.",
        read: "scheduler/task.html#a-yield-without-a-waker",
    };
    check(lesson, || {
        for length in 1..=4_u32 {
            for number in 0..STEPS.len().pow(length) {
                let step = |place| {
                    STEPS[number / STEPS.len().pow(place) % STEPS.len()]
                };
                let steps: Vec<_> = (0..length).map(step).collect();
                // The two are alike, and the last poll ends anyway.
                let first =
                    steps.iter().find(|it| matches!(it, Own(_) | Foreign(_)));
                let is_new = !matches!(first, Some(Own(1) | Foreign(1)));
                if is_new && steps.last() != Some(&Ends) {
                    take(&steps);
                }
            }
        }
    });
}

/// Has a task take these steps.
#[track_caller]
fn take(steps: &[Step]) {
    let (queue, others) = (Queue::default(), Queue::default());
    let own_waker = Arc::new(Mutex::new(None));
    let polls: Vec<Vec<_>> = steps
        .split(|step| *step == Ends)
        .map(<[Step]>::to_vec)
        .collect();
    let (mut scripts, mut yields) =
        (polls.clone().into_iter(), [yield_now(), yield_now()]);
    let (foreign, foreign_wakes) = CountingWaker::new();
    let (sender, found) = mpsc::channel();
    let (place, inner) = (own_waker.clone(), others.clone());
    let _handle = queue.spawn(poll_fn(move |cx| {
        *place.lock().unwrap() = Some(cx.waker().clone());
        for step in scripts.next().unwrap_or_default() {
            match step {
                Own(it) => {
                    let polled = Pin::new(&mut yields[it]).poll(cx);
                    let _ = sender.send(polled.is_pending());
                }
                Foreign(it) => {
                    let mut cx = Context::from_waker(&foreign);
                    let polled = Pin::new(&mut yields[it]).poll(&mut cx);
                    let _ = sender.send(polled.is_pending());
                }
                Wakes => cx.waker().wake_by_ref(),
                RunsOneThatYields => spawn(yield_now(), inner.clone()).0.run(),
                RunsOneThatWaits => {
                    spawn(pending::<()>(), inner.clone()).0.run()
                }
                Ends => unreachable!("it separates the polls"),
            }
        }
        Poll::<()>::Pending
    }));
    let mut was_polled = [false; 2];
    let (mut wakes, mut others_yield) = (0, 0);
    for (index, poll) in polls.iter().enumerate() {
        let so_far = || {
            let steps: Vec<_> = polls[..=index].join(&Ends);
            let steps: Vec<_> = steps.iter().map(Step::to_string).collect();
            format!("a task {}", steps.join(", then "))
        };
        let before = (queue.yielded(), queue.scheduled());
        queue.run_one();
        let (mut yields, mut is_woken) = (false, false);
        for step in poll {
            match *step {
                Own(it) | Foreign(it) => {
                    let is_pending = found.try_recv().expect("it was polled");
                    let is_first =
                        !std::mem::replace(&mut was_polled[it], true);
                    assert!(
                        is_pending == is_first,
                        "{}: the yield {} was pending: {is_pending}, and not {is_first}",
                        so_far(),
                        ["a", "b"][it]
                    );
                    yields |= is_first && matches!(step, Own(_));
                    wakes +=
                        usize::from(is_first && matches!(step, Foreign(_)));
                }
                Wakes => is_woken = true,
                RunsOneThatYields => others_yield += 1,
                _ => {}
            }
        }
        let (yielded, scheduled) =
            (queue.yielded() - before.0, queue.scheduled() - before.1);
        let right = usize::from(yields || is_woken);
        assert!(
            scheduled == right && (!yields || yielded == 1),
            "{}: the scheduler was called {scheduled} times, {yielded} times by `schedule_yielded`; it \
             yields: {yields}, it was woken: {is_woken}",
            so_far()
        );
        let seen = (foreign_wakes.wakes(), others.yielded());
        assert!(
            seen == (wakes, others_yield),
            "{}: (wake-ups of the other waker, yields of other tasks) is {seen:?}, and not {:?}",
            so_far(),
            (wakes, others_yield)
        );
        if right == 0 {
            let waker = own_waker.lock().unwrap().clone();
            waker.expect("it was polled").wake();
        }
    }
    // What is left would keep its scheduler.
    own_waker.lock().unwrap().take();
    drop((queue.pop(), others.lock().drain(..).collect::<Vec<_>>()));
}
