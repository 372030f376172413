//! Each short sequence of calls, compared with what the contract says of each call.

use std::fmt;

use testkit::WakeCounts;

use super::super::LocalExecutor as Whole;
use super::*;

/// What the tasks that are ready do in their first poll of a call of `block_on`. In further polls
/// they wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Waits,
    WakesItself,
    /// Wakes all three tasks.
    WakesAll,
    IsReady,
    Panics,
}

use Does::*;

/// Where a waker is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On the thread of the executors, while none runs.
    Outside,
    /// While the other executor runs.
    InTheOther,
    OnAnotherThread,
    /// On another thread, while the future of `block_on` is polled for the last time.
    AsItsOwnEnds,
}

use Place::*;

/// A call. The tasks A and B are those of the first executor, X, and C is that of the second, Y.
#[derive(Clone, Copy)]
enum Call {
    Wake(usize, Place),
    /// All wakers of tasks that are over are woken.
    WakeLate,
    BlockOn(usize, Does),
    Run(usize),
    /// In place of a task that is over.
    Spawn(usize),
    PollHandle(usize, usize),
    DropHandle(usize),
    DropExecutor(usize),
}

use Call::*;

/// Names calls in words.
struct Named<'a>(&'a [Call]);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = |it: usize| ["A", "B", "C"][it];
        let executor = |it: usize| ["X", "Y"][it];
        let name = |call: &Call| match *call {
            Wake(it, at) => {
                let at = match at {
                    Outside => "here",
                    InTheOther => "while the other executor runs",
                    OnAnotherThread => "on another thread",
                    AsItsOwnEnds => {
                        "on another thread in the last poll of a `block_on`"
                    }
                };
                format!("wake {} {at}", task(it))
            }
            WakeLate => "wake the tasks that are over".to_owned(),
            BlockOn(it, does) => {
                let does = match does {
                    Waits => "wait",
                    WakesItself => "wake themselves",
                    WakesAll => "wake A, B and C",
                    IsReady => "are ready",
                    Panics => "panic",
                };
                format!("`block_on` of {}, whose tasks {does}", executor(it))
            }
            Run(it) => format!("`run` of {}", executor(it)),
            Spawn(it) => format!("spawn another {}", task(it)),
            PollHandle(it, waker) => format!(
                "poll {}'s handle with the waker {}",
                task(it),
                ["x", "y"][waker]
            ),
            DropHandle(it) => format!("drop {}'s handle", task(it)),
            DropExecutor(it) => format!("drop {}", executor(it)),
        };
        let names: Vec<_> = self.0.iter().map(name).collect();
        f.write_str(&names.join(", "))
    }
}

/// A task, as far as the check can see it.
struct Task {
    polls: Rc<Cell<usize>>,
    future: DropLog,
    waker: Rc<RefCell<Option<Waker>>>,
    handle: Option<JoinHandle<Rc<()>>>,
    wakers: [(Waker, Arc<WakeCounts>); 2],
}

/// What the contract says of a task.
#[derive(Clone)]
struct Expected {
    is_ready: bool,
    end: Option<End>,
    /// How often it may have been polled, at least and at most.
    polls: (usize, usize),
    is_taken: bool,
    /// The waker of the handle's last poll, if it was pending.
    last: Option<usize>,
    /// The same, of a handle that was dropped.
    stray: Option<usize>,
    wakes: [usize; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Returned,
    Panicked,
    Cancelled,
}

use End::*;

impl Expected {
    const NEW: Self = Self {
        is_ready: true,
        end: None,
        polls: (0, 0),
        is_taken: false,
        last: None,
        stray: None,
        wakes: [0; 2],
    };

    fn end(&mut self, end: End, has_handle: bool) {
        self.end = Some(end);
        self.is_ready = false;
        if let (Some(waker), true) = (self.last.take(), has_handle) {
            self.wakes[waker] += 1;
        }
    }
}

/// What the tasks share.
#[derive(Default)]
struct Stage {
    does: Cell<Option<Does>>,
    /// Those that have been polled in this call.
    polled: RefCell<Vec<usize>>,
    wakers: RefCell<[Rc<RefCell<Option<Waker>>>; 3]>,
}

struct World {
    executors: [Option<Whole>; 2],
    stage: Rc<Stage>,
    tasks: [Task; 3],
    expected: [Expected; 3],
    late: Vec<Waker>,
}

const EXECUTOR_OF: [usize; 3] = [0, 0, 1];

impl Task {
    fn spawn(executor: &Whole, stage: &Rc<Stage>, it: usize) -> Self {
        let (probe, future) = DropProbe::new();
        let task = Self {
            polls: Rc::default(),
            future,
            waker: Rc::default(),
            handle: None,
            wakers: [(); 2].map(|()| CountingWaker::new()),
        };
        stage.wakers.borrow_mut()[it] = task.waker.clone();
        let (polls, waker, stage) =
            (task.polls.clone(), task.waker.clone(), stage.clone());
        let future = poll_fn(move |cx| {
            let _with_the_future = &probe;
            polls.set(polls.get() + 1);
            *waker.borrow_mut() = Some(cx.waker().clone());
            let is_first = !stage.polled.borrow().contains(&it);
            stage.polled.borrow_mut().push(it);
            let does = stage.does.get().filter(|_| is_first).unwrap_or(Waits);
            match does {
                WakesItself => cx.waker().wake_by_ref(),
                WakesAll => {
                    let wakers = stage.wakers.borrow().clone();
                    for waker in wakers {
                        let waker = waker.borrow().clone();
                        waker.into_iter().for_each(Waker::wake);
                    }
                }
                IsReady => return Poll::Ready(Rc::new(())),
                Panics => panic!("a task may panic"),
                Waits => {}
            }
            Poll::Pending
        });
        let handle = executor.spawn(future);
        Self {
            handle: Some(handle),
            ..task
        }
    }
}

impl World {
    fn new() -> Self {
        let executors = [(); 2].map(|()| Whole::new());
        let stage = Rc::<Stage>::default();
        let spawn = |it| Task::spawn(&executors[EXECUTOR_OF[it]], &stage, it);
        Self {
            tasks: [0, 1, 2].map(spawn),
            executors: executors.map(Some),
            stage,
            expected: [const { Expected::NEW }; 3],
            late: Vec::new(),
        }
    }

    fn of(executor: usize) -> impl Iterator<Item = usize> {
        (0..3).filter(move |it| EXECUTOR_OF[*it] == executor)
    }

    /// The calls that can come next.
    fn next_calls(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        for (it, executor) in EXECUTOR_OF.into_iter().enumerate() {
            let (task, expected) = (&self.tasks[it], &self.expected[it]);
            let is_there = self.executors[executor].is_some();
            if task.waker.borrow().is_some() {
                calls.extend([Wake(it, Outside), Wake(it, OnAnotherThread)]);
                if self.executors[1 - executor].is_some() {
                    calls.push(Wake(it, InTheOther));
                }
                if is_there {
                    calls.push(Wake(it, AsItsOwnEnds));
                }
            }
            if expected.end.is_some() && is_there {
                calls.push(Spawn(it));
            }
            if task.handle.is_some() {
                calls.push(PollHandle(it, 0));
                calls.push(DropHandle(it));
                if expected.last.is_some() {
                    calls.push(PollHandle(it, 1));
                }
            }
        }
        for it in 0..2 {
            if self.executors[it].is_none() {
                continue;
            }
            calls.extend([DropExecutor(it), BlockOn(it, Waits)]);
            let is_ready = |of: usize| self.expected[of].is_ready;
            if Self::of(it).any(is_ready) {
                let all = [WakesItself, WakesAll, IsReady, Panics];
                calls.extend(all.map(|does| BlockOn(it, does)));
            }
            let ends = |of| is_ready(of) || self.expected[of].end.is_some();
            if Self::of(it).all(ends) {
                calls.push(Run(it));
            }
        }
        if !self.late.is_empty() {
            calls.push(WakeLate);
        }
        calls
    }

    /// Makes a call. Returns what is wrong with what came of it.
    fn make(&mut self, call: Call) -> Result<(), String> {
        match call {
            Wake(it, at) => {
                let waker = self.tasks[it].waker.borrow().clone();
                let waker = waker.expect("it was polled");
                match at {
                    Outside => waker.wake_by_ref(),
                    OnAnotherThread => elsewhere(move || waker.wake()),
                    InTheOther => {
                        let other = 1 - EXECUTOR_OF[it];
                        self.block_on(other, None, Some(waker), None)?;
                        // Its tasks may be polled, too.
                        self.expect_polls(other, Waits);
                    }
                    AsItsOwnEnds => {
                        let own = EXECUTOR_OF[it];
                        self.block_on(own, None, None, Some(waker))?;
                        self.expect_polls(own, Waits);
                    }
                }
                let task = &mut self.expected[it];
                task.is_ready |= task.end.is_none();
            }
            WakeLate => self.late.iter().for_each(Waker::wake_by_ref),
            BlockOn(it, does) => {
                self.block_on(it, Some(does), None, None)?;
                self.expect_polls(it, does);
            }
            Run(it) => {
                self.stage.polled.borrow_mut().clear();
                self.stage.does.set(Some(IsReady));
                self.executors[it].as_ref().expect("it's there").run();
                self.expect_polls(it, IsReady);
            }
            Spawn(it) => {
                let executor = self.executors[EXECUTOR_OF[it]].as_ref();
                let executor = executor.expect("it's there");
                let new = Task::spawn(executor, &self.stage, it);
                let old = std::mem::replace(&mut self.tasks[it], new);
                self.late.extend(old.waker.take());
                self.expected[it] = Expected::NEW;
            }
            PollHandle(it, waker) => self.poll(it, waker)?,
            DropHandle(it) => {
                drop(self.tasks[it].handle.take());
                // The waker may stay, and be woken.
                self.expected[it].stray = self.expected[it].last.take();
            }
            DropExecutor(it) => {
                drop(self.executors[it].take());
                for of in Self::of(it) {
                    let has_handle = self.tasks[of].handle.is_some();
                    let task = &mut self.expected[of];
                    if task.end.is_none() {
                        task.end(Cancelled, has_handle);
                    }
                }
            }
        }
        self.check()
    }

    /// Runs an executor until its ready tasks have been polled, and a little
    /// longer. Its future wakes `first` in its first poll, and has another
    /// thread wake `last` in its last one.
    fn block_on(
        &self,
        it: usize,
        does: Option<Does>,
        mut first: Option<Waker>,
        mut last: Option<Waker>,
    ) -> Result<(), String> {
        let executor = self.executors[it].as_ref().expect("it's there");
        self.stage.polled.borrow_mut().clear();
        self.stage.does.set(does);
        // Each is polled at least this often.
        let is_ready = |of: usize| self.expected[of].is_ready;
        let wakes_all = does == Some(WakesAll) && Self::of(it).any(is_ready);
        let is_woken = |of: usize| {
            let is_over = self.expected[of].end.is_some();
            does == Some(WakesItself) && is_ready(of) || wakes_all && !is_over
        };
        let count = |of| usize::from(is_ready(of)) + usize::from(is_woken(of));
        let awaited: Vec<_> = Self::of(it).map(|of| (of, count(of))).collect();
        let is_polled = |(of, count): &(usize, usize)| {
            let polled = self.stage.polled.borrow();
            polled.iter().filter(|it| *it == of).count() >= *count
        };
        let (mut left, mut more) = (2 * MANY, 8);
        executor.block_on(poll_fn(|cx| {
            first.take().into_iter().for_each(Waker::wake);
            match awaited.iter().all(is_polled) {
                true => more -= 1,
                false => left -= 1,
            }
            if more == 0 || left == 0 {
                let wake = |last: Waker| elsewhere(move || last.wake());
                last.take().into_iter().for_each(wake);
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        match left {
            0 => Err("a task that is ready wasn't polled".to_owned()),
            _ => Ok(()),
        }
    }

    /// Determines what was to come of a call that runs this executor.
    fn expect_polls(&mut self, executor: usize, does: Does) {
        let was_ready = self.expected.each_ref().map(|it| it.is_ready);
        let here = |it: usize| EXECUTOR_OF[it] == executor;
        let is_any = (0..3).any(|it| here(it) && was_ready[it]);
        for it in Self::of(executor) {
            if !was_ready[it] {
                continue;
            }
            let has_handle = self.tasks[it].handle.is_some();
            let task = &mut self.expected[it];
            task.is_ready = false;
            task.polls.0 += 1;
            task.polls.1 += 1;
            match does {
                IsReady => task.end(Returned, has_handle),
                Panics => task.end(Panicked, has_handle),
                WakesItself => {
                    task.polls.0 += 1;
                    task.polls.1 += 1;
                }
                WakesAll | Waits => {}
            }
        }
        if !(does == WakesAll && is_any) {
            return;
        }
        for it in 0..3 {
            let has_waker = self.tasks[it].waker.borrow().is_some();
            let task = &mut self.expected[it];
            match here(it) {
                _ if task.end.is_some() => {}
                false => task.is_ready |= has_waker,
                // Each that was ready wakes all in its first poll: itself,
                // and one that comes later once, or has come before again.
                // One that wasn't wakes none, since it's told to.
                true => {
                    let others = Self::of(executor);
                    let others =
                        others.filter(|of| *of != it && was_ready[*of]);
                    let others = others.count();
                    task.polls.0 += 1;
                    task.polls.1 += 1 + others;
                    if !was_ready[it] {
                        // It wakes all in turn, and it was woken.
                        task.polls.1 += 1;
                    } else {
                        let idle = Self::of(executor);
                        let idle = idle.filter(|of| !was_ready[*of]);
                        task.polls.1 += idle.count();
                    }
                }
            }
        }
    }

    fn poll(&mut self, it: usize, waker: usize) -> Result<(), String> {
        let task = &mut self.tasks[it];
        let handle = task.handle.as_mut().expect("it's there");
        let mut polled = None;
        let panic = panic_message(|| {
            polled = Some(poll(handle, &task.wakers[waker].0));
        });
        let expected = &mut self.expected[it];
        let found = polled.map(|polled| match polled {
            Poll::Pending => None,
            Poll::Ready(Ok(_)) => Some(Returned),
            Poll::Ready(Err(error)) if error.is_cancelled() => Some(Cancelled),
            Poll::Ready(Err(_)) => Some(Panicked),
        });
        let is_right = match (expected.is_taken, found) {
            // It panics, or says again that it was cancelled.
            (true, found) => found != Some(None),
            (false, found) => found == Some(expected.end),
        };
        if !is_right {
            return Err(format!(
                "a poll of the handle found {found:?}, its panic {panic:?}, and the end of the task is {:?}",
                expected.end
            ));
        }
        match expected.end {
            None => expected.last = Some(waker),
            Some(_) => expected.is_taken = true,
        }
        Ok(())
    }

    /// Compares what can be seen with what is expected.
    fn check(&mut self) -> Result<(), String> {
        for it in 0..3 {
            let (task, expected) = (&self.tasks[it], &mut self.expected[it]);
            let name = ["A", "B", "C"][it];
            let polls = task.polls.get();
            let (least, most) = expected.polls;
            if !(least..=most).contains(&polls) {
                return Err(format!(
                    "{name} was polled {polls} times, and not {least} to {most} times"
                ));
            }
            // Some may be late.
            expected.polls.0 = polls;
            let assert = |what: &str, seen: usize, right: usize| {
                if seen == right {
                    return Ok(());
                }
                Err(format!("{what} of {name}: {seen}, and not {right}"))
            };
            let has_ended = usize::from(expected.end.is_some());
            assert("drops of the future", task.future.count(), has_ended)?;
            for (waker, name) in ["x", "y"].into_iter().enumerate() {
                let wakes = task.wakers[waker].1.wakes();
                let may_be_more = expected.stray == Some(waker);
                let what = format!("wake-ups of the handle's waker {name}");
                if wakes != expected.wakes[waker] + usize::from(may_be_more) {
                    assert(&what, wakes, expected.wakes[waker])?;
                }
            }
        }
        Ok(())
    }

    /// Gives everything up. Returns what is left.
    fn give_up(mut self, executors_last: bool) -> Result<(), String> {
        if executors_last {
            self.tasks.iter_mut().for_each(|it| drop(it.handle.take()));
        }
        drop(self.executors);
        let mut left = 0;
        for task in self.tasks {
            drop(task.handle);
            if task.future.count() != 1 {
                return Err("the future of a task isn't dropped".to_owned());
            }
            for (waker, counts) in task.wakers {
                drop(waker);
                left += counts.clones() + 1 - counts.drops();
            }
        }
        match left {
            0 => Ok(()),
            _ => Err(format!("{left} wakers of handles are left")),
        }
    }
}

/// Makes the calls. Returns those that can come next.
#[track_caller]
fn make_all(calls: &[Call]) -> Vec<Call> {
    let mut world = World::new();
    for (index, call) in calls.iter().enumerate() {
        if let Err(seen) = world.make(*call) {
            panic!("after {}: {seen}", Named(&calls[..=index]));
        }
    }
    let next = world.next_calls();
    if let Err(seen) = world.give_up(calls.len().is_multiple_of(2)) {
        panic!("after {}: {seen}", Named(calls));
    }
    next
}

/// Clause 11: what a call does depends on those before it.
#[test]
fn each_short_history_of_two_executors_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "11. Drop",
        promise: "Whatever calls come one after the other, the tasks of two executors on one thread \
                  are polled, are over and are dropped as the contract says, and their handles are \
                  woken.",
        usual_cause: "A call changes the state in a way that is right in the usual states only. For \
                      example, a wake-up counts for the wrong executor, or for a task that has the \
                      place of one that is over. The other checks that fail name the mistake.",
        read: "scheduler/local-executor.html#nothing-borrowed-while-a-future-runs",
    };
    let start = [BlockOn(0, Waits), BlockOn(1, Waits)];
    check(lesson, move || {
        let mut histories = vec![start.to_vec()];
        for _ in 0..2 {
            let mut longer = Vec::new();
            for history in &histories {
                let next = make_all(history).into_iter();
                longer.extend(
                    next.map(|it| [history.as_slice(), &[it]].concat()),
                );
            }
            histories = longer;
        }
        histories.iter().for_each(|it| _ = make_all(it));
        // xorshift32.
        let mut random = 0x9E37_79B9_u32;
        for _ in 0..1_000 {
            let mut calls = start[..random as usize % 3].to_vec();
            let mut world = World::new();
            calls.iter().for_each(|it| world.make(*it).expect("tried"));
            while calls.len() < 12 {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                let next = world.next_calls();
                if next.is_empty() {
                    break;
                }
                let call = next[(random >> 8) as usize % next.len()];
                calls.push(call);
                if let Err(seen) = world.make(call) {
                    panic!("after {}: {seen}", Named(&calls));
                }
            }
            if let Err(seen) = world.give_up(random & 64 == 0) {
                panic!("after {}: {seen}", Named(&calls));
            }
        }
    });
}
