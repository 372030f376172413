//! Each short sequence of calls, compared with what the contract says of each call.

use std::fmt;

use testkit::{CountingWaker, WakeCounts};

use super::super::Handle;
use super::*;

/// What a task does when it's woken, in the first poll. In further polls it waits.
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

const ALL: [Does; 5] = [Waits, WakesItself, WakesAll, IsReady, Panics];

/// Where a task is woken, twice each time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    /// In a poll of another task of the same pool.
    InItsPool,
    /// In a poll of a task of the other pool.
    InTheOther,
}

use Place::*;

/// A call. The tasks A and B are those of the first pool, X, and C is that of the second, Y. Each
/// pool has one worker.
#[derive(Clone, Copy)]
enum Call {
    Wake(usize, Place, Does),
    /// Spawns another task in place of one that is over, perhaps too late.
    Spawn(usize),
    PollHandle(usize, usize),
    DropHandle(usize),
    DropPool(usize),
}

use Call::*;

/// Names calls in words.
struct Named<'a>(&'a [Call]);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = |it: usize| ["A", "B", "C"][it];
        let name = |call: &Call| match *call {
            Wake(it, at, does) => {
                let at = match at {
                    Outside => "here",
                    InItsPool => "in a poll of its pool",
                    InTheOther => "in a poll of the other pool",
                };
                let does = match does {
                    Waits => "waits",
                    WakesItself => "wakes itself",
                    WakesAll => "wakes A, B and C",
                    IsReady => "is ready",
                    Panics => "panics",
                };
                format!("wake {} twice {at}, which {does}", task(it))
            }
            Spawn(it) => format!("spawn another {}", task(it)),
            PollHandle(it, waker) => format!(
                "poll {}'s handle with the waker {}",
                task(it),
                ["x", "y"][waker]
            ),
            DropHandle(it) => format!("drop {}'s handle", task(it)),
            DropPool(it) => format!("drop the pool {}", ["X", "Y"][it]),
        };
        let names: Vec<_> = self.0.iter().map(name).collect();
        f.write_str(&names.join(", "))
    }
}

/// What the tasks share.
#[derive(Default)]
struct Stage {
    /// What the task that is polled next does, with its index.
    does: Mutex<Option<(usize, Does)>>,
    wakers: Mutex<[Option<Waker>; 3]>,
}

/// A task, as far as the check can see it.
struct Task {
    polls: Arc<AtomicUsize>,
    future: DropLog,
    handle: Option<JoinHandle<()>>,
    wakers: [(Waker, Arc<WakeCounts>); 2],
}

/// What the contract says of a task.
struct Expected {
    end: Option<End>,
    polls: usize,
    is_taken: bool,
    /// The waker of the handle's last poll, if it was pending.
    last: Option<usize>,
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
    fn new(is_polled: bool) -> Self {
        Self {
            end: (!is_polled).then_some(Cancelled),
            polls: usize::from(is_polled),
            is_taken: false,
            last: None,
            wakes: [0; 2],
        }
    }

    fn end(&mut self, end: End) {
        if self.end.is_none() {
            self.end = Some(end);
            self.last
                .take()
                .into_iter()
                .for_each(|it| self.wakes[it] += 1);
        }
    }
}

const POOL_OF: [usize; 3] = [0, 0, 1];

struct World {
    pools: [Option<Pool>; 2],
    /// To spawn too late.
    spawners: [Handle; 2],
    stage: Arc<Stage>,
    tasks: [Task; 3],
    expected: [Expected; 3],
}

impl Task {
    fn spawn(spawner: &Handle, stage: &Arc<Stage>, it: usize) -> Self {
        let (probe, future) = DropProbe::new();
        let polls = Arc::new(AtomicUsize::new(0));
        let (counted, stage) = (polls.clone(), stage.clone());
        stage.wakers.lock().unwrap()[it] = None;
        let handle = spawner.spawn(poll_fn(move |cx| {
            let _with_the_future = &probe;
            counted.fetch_add(1, SeqCst);
            stage.wakers.lock().unwrap()[it] = Some(cx.waker().clone());
            let does = stage.does.lock().unwrap().take_if(|does| does.0 == it);
            match does.map_or(Waits, |does| does.1) {
                WakesItself => cx.waker().wake_by_ref(),
                WakesAll => {
                    let wakers = stage.wakers.lock().unwrap().clone();
                    wakers.into_iter().flatten().for_each(Waker::wake);
                }
                IsReady => return Poll::Ready(()),
                Panics => panic!("a task may panic"),
                Waits => {}
            }
            Poll::Pending
        }));
        Self {
            polls,
            future,
            handle: Some(handle),
            wakers: [(); 2].map(|()| CountingWaker::new()),
        }
    }
}

impl World {
    fn new() -> Self {
        let pools = [(); 2].map(|()| Pool::new(1));
        let spawners = pools.each_ref().map(Pool::handle);
        let stage = Arc::<Stage>::default();
        let spawn = |it| Task::spawn(&spawners[POOL_OF[it]], &stage, it);
        let world = Self {
            tasks: [0, 1, 2].map(spawn),
            pools: pools.map(Some),
            spawners,
            stage,
            expected: [(); 3].map(|()| Expected::new(true)),
        };
        world.settle();
        world
    }

    /// Waits until all tasks that are ready have been polled. A task that is
    /// woken in its poll comes behind the first of these.
    fn settle(&self) {
        for pool in self.pools.iter().flatten().cycle().take(4) {
            block_on(pool.spawn(async {})).expect("it's polled");
        }
        for pool in self.pools.iter().flatten() {
            block_on(pool.spawn(async {})).expect("it's polled");
        }
    }

    /// The calls that can come next.
    fn next_calls(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        for (it, pool) in POOL_OF.into_iter().enumerate() {
            let (task, expected) = (&self.tasks[it], &self.expected[it]);
            let is_there = |pool: usize| self.pools[pool].is_some();
            let mut wake = |at: Place| match expected.end {
                None => calls.extend(ALL.map(|does| Wake(it, at, does))),
                Some(_) => calls.push(Wake(it, at, Waits)),
            };
            if expected.polls > 0 {
                wake(Outside);
                if is_there(pool) {
                    wake(InItsPool);
                }
                if is_there(1 - pool) {
                    wake(InTheOther);
                }
            }
            if expected.end.is_some() {
                calls.push(Spawn(it));
            }
            if task.handle.is_some() {
                calls.extend([PollHandle(it, 0), DropHandle(it)]);
                if expected.last.is_some() {
                    calls.push(PollHandle(it, 1));
                }
            }
        }
        let pools = (0..2).filter(|it| self.pools[*it].is_some());
        calls.extend(pools.map(DropPool));
        calls
    }

    /// Makes a call. Returns what is wrong with what came of it.
    fn make(&mut self, call: Call) -> Result<(), String> {
        match call {
            Wake(it, at, does) => {
                let waker = self.stage.wakers.lock().unwrap()[it].clone();
                let waker = waker.expect("it was polled");
                let wake = move || {
                    waker.wake_by_ref();
                    waker.wake();
                };
                if self.expected[it].end.is_none() {
                    *self.stage.does.lock().unwrap() = Some((it, does));
                }
                let by = match at {
                    Outside => None,
                    InItsPool => Some(POOL_OF[it]),
                    InTheOther => Some(1 - POOL_OF[it]),
                };
                match by {
                    // Both before the poll.
                    None => self.hold_while(POOL_OF[it], wake),
                    Some(by) if by == POOL_OF[it] => {
                        let pool = self.pools[by].as_ref();
                        let by =
                            pool.expect("it's there").spawn(async { wake() });
                        block_on(by).expect("it's polled");
                    }
                    Some(by) => self.hold_while(POOL_OF[it], || {
                        let pool = self.pools[by].as_ref();
                        let by =
                            pool.expect("it's there").spawn(async { wake() });
                        block_on(by).expect("it's polled");
                    }),
                }
                self.expect_polls(it, does);
            }
            Spawn(it) => {
                let (spawner, pool) =
                    (&self.spawners[POOL_OF[it]], &self.pools[POOL_OF[it]]);
                self.tasks[it] = Task::spawn(spawner, &self.stage, it);
                self.expected[it] = Expected::new(pool.is_some());
            }
            PollHandle(it, waker) => self.poll(it, waker)?,
            DropHandle(it) => {
                self.expected[it].last = None;
                // Its waker may stay, and be woken.
                self.tasks[it].handle = None;
                self.tasks[it].wakers = [(); 2].map(|()| CountingWaker::new());
                self.expected[it].wakes = [0; 2];
            }
            DropPool(it) => {
                drop(self.pools[it].take());
                let all = self.expected.iter_mut().zip(POOL_OF);
                all.filter(|(_, pool)| *pool == it)
                    .for_each(|(task, _)| task.end(Cancelled));
            }
        }
        self.settle();
        self.check()
    }

    /// Does something while the worker of the pool, if it's there, is in a poll.
    fn hold_while(&self, pool: usize, action: impl FnOnce()) {
        let Some(pool) = &self.pools[pool] else {
            return action();
        };
        let opener = Opener::new();
        let (held, _waker) = hold(pool, &opener);
        action();
        drop(opener);
        block_on(held).expect("it ends");
    }

    /// Determines what was to come of a wake-up.
    fn expect_polls(&mut self, it: usize, does: Does) {
        if self.expected[it].end.is_some() {
            return;
        }
        let task = &mut self.expected[it];
        task.polls += 1;
        match does {
            Waits => {}
            WakesItself => task.polls += 1,
            WakesAll => {
                let is_alive = |it: &&mut Expected| it.end.is_none();
                let alive = self.expected.iter_mut().filter(is_alive);
                alive.for_each(|it| it.polls += 1);
            }
            IsReady => task.end(Returned),
            Panics => task.end(Panicked),
        }
    }

    fn poll(&mut self, it: usize, waker: usize) -> Result<(), String> {
        let task = &mut self.tasks[it];
        let handle = task.handle.as_mut().expect("it's there");
        let mut cx = Context::from_waker(&task.wakers[waker].0);
        let mut polled = None;
        let panic = panic_message(|| {
            polled = Some(Pin::new(handle).poll(&mut cx));
        });
        let expected = &mut self.expected[it];
        let found = polled.map(|polled| match polled {
            Poll::Pending => None,
            Poll::Ready(Ok(())) => Some(Returned),
            Poll::Ready(Err(error)) if error.is_cancelled() => Some(Cancelled),
            Poll::Ready(Err(_)) => Some(Panicked),
        });
        let is_right = match (expected.is_taken, found) {
            (true, found) => found.is_none(),
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
    fn check(&self) -> Result<(), String> {
        for (it, name) in ["A", "B", "C"].into_iter().enumerate() {
            let (task, expected) = (&self.tasks[it], &self.expected[it]);
            let assert = |what: &str, seen: usize, right: usize| {
                if seen == right {
                    return Ok(());
                }
                Err(format!("{what} of {name}: {seen}, and not {right}"))
            };
            let has_ended = usize::from(expected.end.is_some());
            assert("polls", task.polls.load(SeqCst), expected.polls)?;
            assert("drops of the future", task.future.count(), has_ended)?;
            for (waker, name) in ["x", "y"].into_iter().enumerate() {
                let wakes = task.wakers[waker].1.wakes();
                let what = format!("wake-ups of the handle's waker {name}");
                assert(&what, wakes, expected.wakes[waker])?;
            }
        }
        Ok(())
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
    world.next_calls()
}

/// Clause 11: what a call does depends on those before it.
#[test]
fn each_short_history_of_two_pools_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "Whatever calls come one after the other, the tasks of two pools are polled, end and \
                  are dropped as the contract says, and their handles are woken.",
        usual_cause: "A call changes the state in a way that is right in the usual states only. For \
                      example, a wake-up counts for the pool whose worker calls it, or for a task \
                      whose pool has ended. The other checks that fail name the mistake.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let first = make_all(&[]);
        first.iter().for_each(|it| _ = make_all(&[*it]));
        // xorshift32.
        let mut random = 0x9E37_79B9_u32;
        for _ in 0..60 {
            let (mut calls, mut world) = (Vec::new(), World::new());
            while calls.len() < 12 {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                let next = world.next_calls();
                let call = next[(random >> 8) as usize % next.len()];
                calls.push(call);
                if let Err(seen) = world.make(call) {
                    panic!("after {}: {seen}", Named(&calls));
                }
            }
        }
    });
}
