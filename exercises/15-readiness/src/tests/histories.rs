//! Clauses 7 to 9: futures of `ready` are polled, woken, polled again and dropped
//! in every order, beside what the contract says of it.

use super::*;

/// One step of a history. A number is that of a place in the world, which has at
/// most one future at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// The future is polled with a new waker. If there's none, it's made first.
    Await(usize),
    Leave(usize),
    /// A task that waits by `poll_ready` is polled with a new waker.
    Look(Direction),
    /// An event makes the direction ready.
    Report(Direction),
    /// A task that has seen the newest event clears. If there's nothing to clear,
    /// an event comes first.
    Clear(Direction),
}

use Step::*;

/// The direction of each place.
type World = &'static [Direction];

/// A task that waits, or did.
#[derive(Default)]
struct Task {
    /// One for each poll, the newest last.
    wakers: Vec<Arc<WakeCounts>>,
    /// Its newest poll was pending, and no event has come since.
    waits: bool,
}

impl Task {
    /// Whether all its wakers are gone, except for the last `kept`.
    fn has_dropped_all_but(&self, kept: usize) -> bool {
        let count = self.wakers.len() - kept;
        let mut wakers = self.wakers.iter().take(count);
        wakers.all(|it| it.drops() == it.clones() + 1)
    }

    fn is_woken(&self) -> bool {
        self.wakers.last().is_some_and(|it| it.wakes() > 0)
    }
}

/// A future of `ready`, and the task that polls it.
struct Awaiting<'a> {
    future: Waiting<'a>,
    task: Task,
    /// Futures are numbered from 1, in the order of their first polls.
    number: usize,
}

/// A readiness, the tasks that wait for it, and what they've done.
struct Scene<'a> {
    readiness: &'a Readiness,
    world: World,
    awaiting: Vec<Option<Awaiting<'a>>>,
    /// Those that wait by `poll_ready`.
    polled: [Task; 2],
    is_ready: [bool; 2],
    future_count: usize,
    /// Each step, with the number of its future.
    steps: Vec<(Step, usize)>,
}

impl<'a> Scene<'a> {
    fn new(readiness: &'a Readiness, world: World) -> Self {
        Self {
            readiness,
            world,
            awaiting: world.iter().map(|_| None).collect(),
            polled: <[Task; 2]>::default(),
            is_ready: [false; 2],
            future_count: 0,
            steps: Vec::new(),
        }
    }

    /// Whether the step is possible, and no other step does the same.
    fn admits(&self, step: Step) -> bool {
        match step {
            Await(place) => {
                let side = self.world[place];
                let is_free = |other: &usize| {
                    self.world[*other] == side
                        && self.awaiting[*other].is_none()
                };
                self.awaiting[place].is_some()
                    || !self.is_ready[side as usize]
                        && !(0..place).any(|other| is_free(&other))
            }
            Leave(place) => self.awaiting[place].is_some(),
            Look(side) | Report(side) => !self.is_ready[side as usize],
            Clear(_) => true,
        }
    }

    fn make(&mut self, step: Step) {
        if let Clear(side) = step
            && !self.is_ready[side as usize]
        {
            self.make(Report(side));
        }
        let number = match step {
            Await(place) | Leave(place) => match &self.awaiting[place] {
                Some(it) => it.number,
                None => self.future_count + 1,
            },
            _ => 0,
        };
        self.steps.push((step, number));
        match step {
            Await(place) => self.poll_future_in(place),
            Leave(place) => self.drop_future_in(place),
            Look(side) => self.look(side),
            Report(side) => self.report(side),
            Clear(side) => {
                self.readiness.clear(see(self.readiness, side));
                self.is_ready[side as usize] = false;
            }
        }
    }

    fn poll_future_in(&mut self, place: usize) {
        let side = self.world[place];
        let is_ready = self.is_ready[side as usize];
        let readiness = self.readiness;
        let awaiting = self.awaiting[place].get_or_insert_with(|| {
            self.future_count += 1;
            Awaiting {
                future: Box::pin(readiness.ready(side)),
                task: Task::default(),
                number: self.future_count,
            }
        });
        let (waker, counts) = CountingWaker::new();
        let outcome = poll_future(&mut awaiting.future, &waker);
        drop(waker);
        awaiting.task.wakers.push(counts);
        awaiting.task.waits = outcome.is_pending();
        let is_replaced = awaiting.task.has_dropped_all_but(1);
        if outcome.is_ready() != is_ready {
            self.fail(&format!("that poll returned `{outcome:?}`"));
        }
        if !is_replaced {
            self.fail("an older waker of that future is still there");
        }
        if is_ready {
            self.drop_future_in(place);
        }
    }

    fn drop_future_in(&mut self, place: usize) {
        let Some(Awaiting { future, task, .. }) = self.awaiting[place].take()
        else {
            return;
        };
        drop(future);
        if !task.has_dropped_all_but(0) {
            self.fail("that future is dropped, and a waker of it isn't");
        }
    }

    fn look(&mut self, side: Direction) {
        let (waker, counts) = CountingWaker::new();
        let outcome = poll(self.readiness, &waker, side);
        drop(waker);
        let task = &mut self.polled[side as usize];
        task.wakers.push(counts);
        task.waits = true;
        let is_replaced = task.has_dropped_all_but(1);
        if outcome.is_ready() {
            self.fail(&format!("that poll returned `{outcome:?}`"));
        }
        if !is_replaced {
            self.fail("an older waker of `poll_ready` is still there");
        }
    }

    fn report(&mut self, side: Direction) {
        let event = if side == Read { READABLE } else { WRITABLE };
        self.readiness.set_ready(event);
        self.is_ready[side as usize] = true;
        let is_deaf = |task: &mut Task| {
            std::mem::take(&mut task.waits) && !task.is_woken()
        };
        if is_deaf(&mut self.polled[side as usize]) {
            self.fail("that event didn't wake the task of `poll_ready`");
        }
        let of_side = self.awaiting.iter_mut().zip(self.world);
        let of_side = of_side.filter(|(_, it)| **it == side);
        let mut of_side = of_side.filter_map(|(it, _)| it.as_mut());
        let deaf = of_side.find_map(|it| {
            let is_deaf = is_deaf(&mut it.task);
            is_deaf.then_some(it.number)
        });
        if let Some(number) = deaf {
            self.fail(&format!("that event didn't wake future {number}"));
        }
    }

    /// Has one more event wake all that wait, and drops all futures.
    fn end(mut self) {
        for side in [Read, Write] {
            if self.world.contains(&side) && self.admits(Report(side)) {
                self.make(Report(side));
            }
        }
        for place in 0..self.world.len() {
            if self.admits(Leave(place)) {
                self.make(Leave(place));
            }
        }
    }

    #[track_caller]
    fn fail(&self, wrong: &str) {
        let told = self.steps.iter().map(|(step, number)| match step {
            Await(_) => format!("future {number} was polled"),
            Leave(_) => format!("future {number} was dropped"),
            Look(side) => format!("`poll_ready` was called for `{side:?}`"),
            Report(side) => format!("an event made `{side:?}` ready"),
            Clear(side) => format!("a task cleared `{side:?}`"),
        });
        let told: Vec<_> = told.collect();
        panic!("{}; and {wrong}", told.join("; "));
    }
}

/// All steps that concern the futures of this world.
fn of_futures(world: World) -> Vec<Step> {
    let places = 0..world.len();
    let futures = places.clone().map(Await).chain(places.map(Leave));
    let ways = [Read, Write].into_iter().filter(|it| world.contains(it));
    let events = ways.flat_map(|it| [Report(it), Clear(it)]);
    futures.chain(events).collect()
}

/// The same, and the steps of the tasks that wait by `poll_ready`.
fn of_all(world: World) -> Vec<Step> {
    let ways = [Read, Write].into_iter().filter(|it| world.contains(it));
    of_futures(world)
        .into_iter()
        .chain(ways.map(Look))
        .collect()
}

/// Makes every history of this many steps.
fn make_each_history(world: World, steps: &[Step], length: usize) {
    // Which of the possible steps is made, for each place in the history.
    let mut choices = vec![0; length];
    let mut possible = vec![0; length];
    loop {
        let readiness = Readiness::new();
        let mut scene = Scene::new(&readiness, world);
        for (choice, possible) in choices.iter().zip(&mut possible) {
            let is_possible = |step: &&Step| scene.admits(**step);
            *possible = steps.iter().filter(is_possible).count();
            let step = steps.iter().filter(is_possible).nth(*choice);
            scene.make(*step.expect("there are as many"));
        }
        scene.end();
        let has_next = |at: &usize| choices[*at] + 1 < possible[*at];
        let Some(at) = (0..length).rev().find(has_next) else {
            return;
        };
        choices[at] += 1;
        choices[at + 1..].fill(0);
    }
}

/// Makes histories of this many steps, chosen at random, but the same each time.
fn make_some_histories(
    world: World,
    steps: &[Step],
    count: usize,
    length: usize,
) {
    // xorshift32.
    let mut random = 0x9E37_79B9_u32;
    for _ in 0..count {
        let readiness = Readiness::new();
        let mut scene = Scene::new(&readiness, world);
        for _ in 0..length {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            let is_possible = |step: &&Step| scene.admits(**step);
            let possible = steps.iter().filter(is_possible).count();
            let choice = (random >> 8) as usize % possible;
            let step = steps.iter().filter(is_possible).nth(choice);
            scene.make(*step.expect("there are as many"));
        }
        scene.end();
    }
}

/// Clause 8: which future waits in which place changes with every event.
#[test]
fn futures_polled_in_any_order_are_all_woken() {
    let lesson = Lesson {
        clause: "8. Any number",
        promise: "Whatever futures of `ready` are polled and dropped, before and after events, in \
                  any order, each event wakes all that wait, by their newest wakers.",
        usual_cause: "An event takes a future's waker out, and so frees the future's place or id. \
                      Another future gets it. When the first future is polled again, it still has \
                      the old place or id, and replaces the other future's waker. Let a future \
                      keep its place until it's dropped, or never use an id twice.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let three: World = &[Read; 3];
        // The shortest history that goes wrong is the one to show.
        for length in 1..=6 {
            make_each_history(three, &of_futures(three), length);
        }
        for world in [three, &[Read, Write]] {
            for length in 1..=4 {
                make_each_history(world, &of_all(world), length);
            }
        }
        for world in [&[Read; 6], &[Read, Write, Read, Write, Read, Write]] {
            make_some_histories(world, &of_all(world), 100, 30);
        }
    });
}
