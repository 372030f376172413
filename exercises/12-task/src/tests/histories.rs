//! Each short sequence of calls, compared with what the contract says of each call.

use std::fmt;

use testkit::WakeCounts;

use super::*;

/// What a poll of a task does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Waits,
    IsWoken,
    GivesWay,
    GivesWayAndIsWoken,
    IsAborted,
    IsAbortedAndGivesWay,
    IsReady,
    Panics,
}

use Does::*;

const ALL: [Does; 8] = [
    Waits,
    IsWoken,
    GivesWay,
    GivesWayAndIsWoken,
    IsAborted,
    IsAbortedAndGivesWay,
    IsReady,
    Panics,
];

impl Does {
    fn aborts(self) -> bool {
        matches!(self, IsAborted | IsAbortedAndGivesWay)
    }

    fn yields(self) -> bool {
        matches!(self, GivesWay | GivesWayAndIsWoken | IsAbortedAndGivesWay)
    }

    fn wakes(self) -> bool {
        matches!(self, IsWoken | GivesWayAndIsWoken)
    }
}

/// A call for one of two tasks, 0 and 1.
#[derive(Clone, Copy)]
enum Call {
    Wake(usize),
    WakeByValue(usize),
    Run(usize, Does),
    DropRunnable(usize),
    Abort(usize),
    /// Its handle is polled with waker 0 or 1.
    PollHandle(usize, usize),
    DropHandle(usize),
    Close,
}

use Call::*;

impl Call {
    fn is_for_b(self) -> bool {
        match self {
            Wake(it) | WakeByValue(it) | Run(it, _) | DropRunnable(it) => {
                it == 1
            }
            Abort(it) | PollHandle(it, _) | DropHandle(it) => it == 1,
            Close => false,
        }
    }
}

/// Names calls in words.
struct Named<'a>(&'a [Call]);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = |it: usize| ["A", "B"][it];
        for (index, call) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            match *call {
                Wake(it) => write!(f, "wake {} by reference", task(it)),
                WakeByValue(it) => write!(f, "wake {} by value", task(it)),
                DropRunnable(it) => write!(f, "drop {}'s `Runnable`", task(it)),
                Abort(it) => write!(f, "abort {}", task(it)),
                DropHandle(it) => write!(f, "drop {}'s handle", task(it)),
                Close => f.write_str("close the list"),
                PollHandle(it, waker) => {
                    let waker = ["x", "y"][waker];
                    write!(f, "poll {}'s handle with waker {waker}", task(it))
                }
                Run(it, does) => {
                    let does = match does {
                        Waits => "is pending",
                        IsWoken => "is woken meanwhile",
                        GivesWay => "yields",
                        GivesWayAndIsWoken => "yields and is woken meanwhile",
                        IsAborted => "is aborted meanwhile",
                        IsAbortedAndGivesWay => "is aborted and yields",
                        IsReady => "is ready",
                        Panics => "panics",
                    };
                    write!(f, "run {}, which {does}", task(it))
                }
            }?;
        }
        Ok(())
    }
}

/// A scheduler that keeps the `Runnable`s of each task apart.
#[derive(Clone)]
struct Lane {
    both: Arc<Both>,
    of: usize,
}

struct Both {
    list: OwnedTasks<Lane>,
    lanes: [Mutex<Vec<Runnable<Lane>>>; 2],
}

impl Schedule for Lane {
    fn schedule(&self, task: Runnable<Self>) {
        self.both.lanes[self.of].lock().unwrap().push(task);
    }

    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        Some(&self.both.list)
    }
}

type Place<T> = Arc<Mutex<Option<T>>>;

/// A task, as far as the check can see it.
struct Task {
    next: Arc<Mutex<Does>>,
    polls: Arc<AtomicUsize>,
    future: DropLog,
    output: DropLog,
    waker: Place<Waker>,
    handle: Place<JoinHandle<DropProbe>>,
}

/// What the contract says of a task.
#[derive(Clone, Copy)]
struct Expected {
    state: State,
    /// Whether no poll may begin; `None` if it isn't determined.
    is_aborted: Option<bool>,
    /// `None` if it isn't determined.
    is_listed: Option<bool>,
    polls: usize,
    handle: HandleState,
    /// The waker of the handle's last poll, if it was pending.
    last: Option<usize>,
    wakes: [usize; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Queued,
    IsWaiting,
    Ended(How),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Returned,
    Panicked,
    Cancelled,
}

use How::*;
use State::*;

#[derive(Clone, Copy, PartialEq, Eq)]
enum HandleState {
    IsThere,
    WasReady,
    IsGone,
}

use HandleState::*;

impl Expected {
    const NEW: Self = Self {
        state: Queued,
        is_aborted: Some(false),
        is_listed: Some(false),
        polls: 0,
        handle: IsThere,
        last: None,
        wakes: [0; 2],
    };

    fn has_ended(&self) -> bool {
        matches!(self.state, Ended(_))
    }

    fn end(&mut self, how: How) {
        self.state = Ended(how);
        if let (Some(waker), IsThere) = (self.last.take(), self.handle) {
            self.wakes[waker] += 1;
        }
    }

    /// Whether calls of the task's handle make sense.
    fn has_handle(&self) -> bool {
        self.handle != IsGone
    }
}

struct World {
    both: Arc<Both>,
    tasks: [Task; 2],
    expected: [Expected; 2],
    is_closed: bool,
    wakers: [[(Waker, Arc<WakeCounts>); 2]; 2],
}

impl World {
    fn new() -> Self {
        let both = Arc::new(Both {
            list: OwnedTasks::new(),
            lanes: Default::default(),
        });
        let spawn = |of| Task::spawn(&both, of);
        let tasks = [0, 1].map(spawn);
        Self {
            both,
            tasks,
            expected: [Expected::NEW; 2],
            is_closed: false,
            wakers: [(); 2].map(|()| [(); 2].map(|()| CountingWaker::new())),
        }
    }

    /// The calls that can come next.
    fn next_calls(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        for (it, task) in self.expected.iter().enumerate() {
            if task.polls > 0 {
                calls.extend([Wake(it), WakeByValue(it)]);
            }
            if task.state == Queued {
                calls.push(DropRunnable(it));
                let can_be = |does: &Does| task.has_handle() || !does.aborts();
                let all = ALL.into_iter().filter(can_be);
                calls.extend(all.map(|does| Run(it, does)));
            }
            if task.has_handle() {
                calls.extend([Abort(it), PollHandle(it, 0), PollHandle(it, 1)]);
                calls.push(DropHandle(it));
            }
        }
        if !self.is_closed {
            calls.push(Close);
        }
        calls
    }

    /// Makes a call. Returns what is wrong with what came of it.
    fn make(&mut self, call: Call) -> Result<(), String> {
        match call {
            Wake(it) | WakeByValue(it) => {
                let waker = self.tasks[it].waker.lock().unwrap().clone();
                let waker = waker.expect("it was polled");
                match call {
                    Wake(_) => waker.wake_by_ref(),
                    _ => waker.wake(),
                }
                let task = &mut self.expected[it];
                if task.state == IsWaiting {
                    task.state = Queued;
                }
            }
            Run(it, does) => {
                *self.tasks[it].next.lock().unwrap() = does;
                self.pop(it)?.run();
                self.expect_run(it, does);
            }
            DropRunnable(it) => {
                drop(self.pop(it)?);
                self.expected[it].end(Cancelled);
            }
            Abort(it) => {
                let handle = self.tasks[it].handle.lock().unwrap();
                handle.as_ref().expect("it is there").abort();
                drop(handle);
                let queued = self.queued(it);
                let task = &mut self.expected[it];
                match task.state {
                    IsWaiting if queued == 0 => task.end(Cancelled),
                    IsWaiting => task.state = Queued,
                    _ => {}
                }
                task.is_aborted = Some(true);
            }
            PollHandle(it, waker) => self.poll(it, waker)?,
            DropHandle(it) => {
                // It is dropped without the lock.
                let handle = self.tasks[it].handle.lock().unwrap().take();
                drop(handle);
                let task = &mut self.expected[it];
                task.handle = IsGone;
                task.last = None;
            }
            Close => {
                self.both.list.close_and_cancel();
                self.is_closed = true;
                for task in &mut self.expected {
                    match (task.state, task.is_listed) {
                        (IsWaiting, _) => task.end(Cancelled),
                        (Queued, Some(true)) => task.is_aborted = Some(true),
                        (Queued, None) if task.is_aborted == Some(false) => {
                            task.is_aborted = None;
                        }
                        _ => {}
                    }
                }
            }
        }
        self.check()
    }

    fn queued(&self, it: usize) -> usize {
        self.both.lanes[it].lock().unwrap().len()
    }

    fn pop(&self, it: usize) -> Result<Runnable<Lane>, String> {
        let task = self.both.lanes[it].lock().unwrap().pop();
        task.ok_or_else(|| "the scheduler doesn't have the task".to_owned())
    }

    /// Determines what was to come of this run.
    fn expect_run(&mut self, it: usize, does: Does) {
        let (polls, queued) =
            (self.tasks[it].polls.load(SeqCst), self.queued(it));
        let task = &mut self.expected[it];
        // Where it isn't determined, what was done is right.
        let is_aborted = task.is_aborted.unwrap_or(polls == task.polls);
        if is_aborted {
            return task.end(Cancelled);
        }
        task.is_aborted = Some(false);
        task.polls += 1;
        match does {
            IsReady => task.end(Returned),
            Panics => task.end(Panicked),
            IsAborted => task.end(Cancelled),
            IsAbortedAndGivesWay if queued == 0 => task.end(Cancelled),
            IsAbortedAndGivesWay => task.is_aborted = Some(true),
            Waits if self.is_closed => task.end(Cancelled),
            Waits => {
                task.state = IsWaiting;
                task.is_listed = Some(true);
            }
            // A pending poll may list the task, and a closed list cancels it.
            _ if self.is_closed && queued == 0 => task.end(Cancelled),
            _ if !self.is_closed && task.is_listed == Some(false) => {
                task.is_listed = None;
            }
            _ => {}
        }
    }

    fn poll(&mut self, it: usize, waker: usize) -> Result<(), String> {
        let mut handle = self.tasks[it].handle.lock().unwrap();
        let own = handle.as_mut().expect("it is there");
        let mut polled = None;
        let panic = panic_message(|| {
            polled = Some(poll(own, &self.wakers[it][waker].0));
        });
        drop(handle);
        let task = &mut self.expected[it];
        match (task.handle, task.state, panic, polled) {
            (WasReady, _, Some(panic), _) if panic.contains("after") => {}
            (WasReady, _, panic, _) => {
                return Err(format!(
                    "a handle that was ready was polled, and panicked with {panic:?}"
                ));
            }
            (_, Ended(how), None, Some(Poll::Ready(result))) => {
                let found = match &result {
                    Ok(_) => Returned,
                    Err(error) if error.is_cancelled() => Cancelled,
                    Err(_) => Panicked,
                };
                if found != how {
                    return Err(format!(
                        "the task's end is {how:?}, and the handle says {found:?}"
                    ));
                }
                task.handle = WasReady;
            }
            (_, Queued | IsWaiting, None, Some(Poll::Pending)) => {
                task.last = Some(waker);
            }
            (_, state, panic, polled) => {
                return Err(format!(
                    "the task is {state:?}; the poll of the handle is ready: {:?}, its panic {panic:?}",
                    polled.map(|it| it.is_ready())
                ));
            }
        }
        Ok(())
    }

    /// Compares what can be seen with what is expected.
    fn check(&self) -> Result<(), String> {
        for (it, name) in ["A", "B"].into_iter().enumerate() {
            let (task, expected) = (&self.tasks[it], &self.expected[it]);
            let assert = |what: &str, seen: usize, right: usize| {
                if seen == right {
                    return Ok(());
                }
                Err(format!("{what} of {name}: {seen}, and not {right}"))
            };
            let has_ended = usize::from(expected.has_ended());
            let is_queued = usize::from(expected.state == Queued);
            assert("`Runnable`s", self.queued(it), is_queued)?;
            assert("polls", task.polls.load(SeqCst), expected.polls)?;
            assert("drops of the future", task.future.count(), has_ended)?;
            // What never came went with the future.
            let is_kept =
                expected.state == Ended(Returned) && expected.handle == IsThere;
            let drops = if is_kept { 0 } else { has_ended };
            assert("drops of the output", task.output.count(), drops)?;
            if let Some(handle) = &*task.handle.lock().unwrap() {
                let is_finished = usize::from(handle.is_finished());
                assert("`is_finished`", is_finished, has_ended)?;
            }
            for (waker, name) in ["x", "y"].into_iter().enumerate() {
                let counts = &self.wakers[it][waker].1;
                let what = format!("wake-ups of the handle's waker {name}");
                assert(&what, counts.wakes(), expected.wakes[waker])?;
                let may_keep = expected.handle == IsThere;
                let left = counts.clones() - counts.drops();
                if left > 0 && !may_keep {
                    let what = format!("clones of the waker {name}");
                    assert(&what, left, 0)?;
                }
            }
        }
        let listed = |it: &Expected| {
            if it.has_ended() {
                Some(false)
            } else {
                it.is_listed
            }
        };
        let listed = self.expected.each_ref().map(listed);
        let is_empty = self.both.list.is_empty();
        if is_empty && listed.contains(&Some(true)) {
            return Err("the list is empty, and a task is listed".to_owned());
        }
        if !is_empty && listed == [Some(false); 2] {
            return Err(
                "no task is listed, and the list isn't empty".to_owned()
            );
        }
        Ok(())
    }

    /// Gives everything up, in one of two orders. Returns what is left.
    fn give_up(self, wakers_first: bool) -> Result<(), String> {
        let Self {
            both,
            tasks,
            wakers,
            ..
        } = self;
        let drop_wakers = || {
            tasks
                .iter()
                .for_each(|it| drop(it.waker.lock().unwrap().take()))
        };
        if wakers_first {
            drop_wakers();
        }
        for task in &tasks {
            let handle = task.handle.lock().unwrap().take();
            drop(handle);
        }
        both.list.close_and_cancel();
        for lane in &both.lanes {
            let tasks = std::mem::take(&mut *lane.lock().unwrap());
            drop(tasks);
        }
        drop_wakers();
        for (task, name) in tasks.iter().zip(["A", "B"]) {
            let drops = (task.future.count(), task.output.count());
            if drops != (1, 1) {
                return Err(format!(
                    "drops of {name}'s (future, output): {drops:?}"
                ));
            }
        }
        let left = |(waker, counts): (Waker, Arc<WakeCounts>)| {
            drop(waker);
            counts.clones() + 1 - counts.drops()
        };
        let left: usize = wakers.into_iter().flatten().map(left).sum();
        let schedulers = Arc::strong_count(&both) - 1;
        if left + schedulers > 0 {
            return Err(format!(
                "all is given up, and {left} wakers of handles and {schedulers} schedulers are left"
            ));
        }
        Ok(())
    }
}

impl Task {
    fn spawn(both: &Arc<Both>, of: usize) -> Self {
        let [(future_probe, future), (output_probe, output)] =
            [(); 2].map(|()| DropProbe::new());
        let (next, polls) = (Arc::new(Mutex::new(Waits)), Arc::default());
        let (waker, handle) = (Place::default(), Place::default());
        let task = Self {
            next,
            polls,
            future,
            output,
            waker,
            handle,
        };
        let (next, polls) = (task.next.clone(), task.polls.clone());
        let (waker, own) = (task.waker.clone(), task.handle.clone());
        let mut output_probe = Some(output_probe);
        let polls_itself = poll_fn(move |cx| {
            let _with_the_future = &future_probe;
            polls.fetch_add(1, SeqCst);
            *waker.lock().unwrap() = Some(cx.waker().clone());
            let does = *next.lock().unwrap();
            if does.aborts() {
                let own = own.lock().unwrap();
                let own: Option<&JoinHandle<DropProbe>> = own.as_ref();
                own.expect("it is there").abort();
            }
            if does.wakes() {
                cx.waker().wake_by_ref();
            }
            if does.yields() {
                assert!(pin!(yield_now()).poll(cx).is_pending());
            }
            match does {
                IsReady => Poll::Ready(output_probe.take().expect("once")),
                Panics => panic!("a task may panic"),
                _ => Poll::Pending,
            }
        });
        let scheduler = Lane {
            both: both.clone(),
            of,
        };
        let (runnable, own) = spawn(polls_itself, scheduler);
        *task.handle.lock().unwrap() = Some(own);
        both.lanes[of].lock().unwrap().push(runnable);
        task
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

/// Makes each sequence of so many more calls. The tasks are alike, so the first of them is for A.
#[track_caller]
fn try_all(calls: &[Call], more: usize) {
    let mut histories = vec![calls.to_vec()];
    for _ in 0..more {
        let mut longer = Vec::new();
        for history in &histories {
            let is_first = history.len() == calls.len();
            let next = make_all(history).into_iter();
            let next = next.filter(|call| !is_first || !call.is_for_b());
            longer.extend(next.map(|it| [history.as_slice(), &[it]].concat()));
        }
        histories = longer;
    }
    histories.iter().for_each(|it| _ = make_all(it));
}

/// Clause 15: what a call does depends on those before it.
#[test]
fn each_short_history_of_two_tasks_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "Whatever calls come one after the other, two tasks with one list are scheduled, \
                  polled, cancelled, listed and dropped as the contract says, and their handles \
                  too.",
        usual_cause: "A call changes the state in a way that is right in the usual states only, and \
                      the last call of the history finds another one. The other checks that fail \
                      name the mistake.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    check(lesson, || {
        try_all(&[], 2);
        try_all(&[Run(0, Waits), Run(1, Waits)], 3);
        // xorshift32.
        let mut random = 0x9E37_79B9_u32;
        for _ in 0..300 {
            let mut calls = vec![Run(0, Waits), Run(1, IsWoken)];
            let mut world = World::new();
            calls.iter().for_each(|it| world.make(*it).expect("tried"));
            while calls.len() < 16 {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                let next = world.next_calls();
                let Some(call) =
                    next.get((random >> 8) as usize % next.len().max(1))
                else {
                    break;
                };
                calls.push(*call);
                if let Err(seen) = world.make(*call) {
                    panic!("after {}: {seen}", Named(&calls));
                }
            }
            if let Err(seen) = world.give_up(random & 64 == 0) {
                panic!("after {}: {seen}", Named(&calls));
            }
        }
    });
}

/// Clause 15: what is left of a list that is closed still has to be kept in order.
#[test]
fn a_closed_list_is_empty_after_the_last_of_its_tasks() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "Tasks that are queued when their list is closed stay listed until they end, in \
                  whatever order they end. The list stays closed, and a task that would be listed \
                  is cancelled and takes no other along.",
        usual_cause: "A task leaves a closed list in another way than an open one, as if its \
                      neighbors didn't matter anymore; or a task that a closed list has refused \
                      leaves it all the same, and what it takes for its neighbors replaces the \
                      first; or a list that becomes empty is open again.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    // Several in each list, however many lists there are internally.
    const TASKS: usize = 100;
    check(lesson, || {
        for step in [1, TASKS - 1, 37, 63] {
            for waits in [false, true] {
                end_each_after_the_close::<TASKS>(step, waits);
            }
        }
    });
}

/// Closes a list whose tasks are queued, except for some if `waits`, and ends
/// them in an order that `step` determines.
#[track_caller]
fn end_each_after_the_close<const TASKS: usize>(step: usize, waits: bool) {
    let queue = Queue::with_list();
    let tasks: Vec<_> = (0..TASKS).map(|_| queue.spawn_waiting()).collect();
    let is_queued = |it: &usize| !waits || it % 3 != 1;
    let wake = |it: usize| {
        tasks[it].1.wake_by_ref();
        queue.pop()
    };
    let mut queued: Vec<_> = (0..TASKS).filter(is_queued).map(wake).collect();
    queue.list().close_and_cancel();
    // They are kept, so that each of them is elsewhere.
    let refuses = || {
        let handles: Vec<_> = (0..2 * TASKS)
            .map(|_| queue.spawn(pending::<()>()))
            .collect();
        queue.run_all();
        let left = handles.iter().filter(|it| !it.is_finished()).count();
        assert!(
            left == 0,
            "of {} tasks that waited after the close, {left} weren't cancelled",
            2 * TASKS
        );
    };
    let count = queued.len();
    for left in (1..=count).rev() {
        if left == 1 {
            refuses();
        }
        let is_empty = queue.list().is_empty();
        assert!(
            !is_empty,
            "a list was closed when {count} of its tasks were queued; {} of them have ended since, \
             and it's empty",
            count - left
        );
        let mut at = left * step % count;
        while queued[at].is_none() {
            at = (at + 1) % count;
        }
        queued[at].take().into_iter().for_each(Runnable::run);
    }
    let is_empty = queue.list().is_empty();
    assert!(is_empty, "all tasks have ended, and their list isn't empty");
    let ended = tasks.iter().all(|it| it.2.is_finished());
    assert!(ended, "a task of a closed list hasn't ended");
    refuses();
}

/// A call for one of three `Runnable`s, 0 to 2.
#[derive(Clone, Copy, Debug)]
enum LinkCall {
    SetNext(usize, Option<usize>),
    TakeNext(usize),
    RunIt(usize),
    DropIt(usize),
}

use LinkCall::*;

impl fmt::Display for LinkCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |it: usize| ["A", "B", "C"][it];
        match *self {
            SetNext(it, Some(next)) => {
                write!(f, "link {} behind {}", name(next), name(it))
            }
            SetNext(it, None) => write!(f, "link none behind {}", name(it)),
            TakeNext(it) => write!(f, "take what is behind {}", name(it)),
            RunIt(it) => write!(f, "run {}", name(it)),
            DropIt(it) => write!(f, "drop {}", name(it)),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    IsKept,
    HasRun,
    WasCancelled,
}

use Fate::*;

/// What the contract says of three `Runnable`s.
#[derive(Clone, Copy)]
struct Links {
    is_in_hand: [bool; 3],
    next: [Option<usize>; 3],
    fates: [Fate; 3],
}

impl Links {
    fn next_calls(&self) -> Vec<LinkCall> {
        let in_hand = || (0..3).filter(|it| self.is_in_hand[*it]);
        let mut calls = Vec::new();
        for it in in_hand() {
            let others = in_hand().filter(|other| *other != it).map(Some);
            calls.extend(others.map(|other| SetNext(it, other)));
            calls.extend([SetNext(it, None), TakeNext(it)]);
            calls.extend([RunIt(it), DropIt(it)]);
        }
        calls
    }

    /// Cancels what is linked behind it.
    fn cut(&mut self, it: usize) {
        let mut next = self.next[it].take();
        while let Some(it) = next {
            self.fates[it] = WasCancelled;
            next = self.next[it].take();
        }
    }

    fn make(&mut self, call: LinkCall) {
        match call {
            SetNext(it, next) => {
                self.cut(it);
                self.next[it] = next;
                next.into_iter().for_each(|it| self.is_in_hand[it] = false);
            }
            TakeNext(it) => {
                let next = self.next[it].take();
                next.into_iter().for_each(|it| self.is_in_hand[it] = true);
            }
            RunIt(it) | DropIt(it) => {
                self.cut(it);
                self.is_in_hand[it] = false;
                self.fates[it] = match call {
                    RunIt(_) => HasRun,
                    _ => WasCancelled,
                };
            }
        }
    }
}

/// Makes the calls. Returns those that can come next.
#[track_caller]
fn link(calls: &[LinkCall]) -> Vec<LinkCall> {
    let queue = Queue::default();
    let mut links = Links {
        is_in_hand: [true; 3],
        next: [None; 3],
        fates: [IsKept; 3],
    };
    let ran = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
    let [a, b, c] = ran.each_ref().map(|ran| {
        let ran = ran.clone();
        spawn(async move { ran.store(true, SeqCst) }, queue.clone())
    });
    let (runnables, handles): (Vec<_>, Vec<_>) = [a, b, c].into_iter().unzip();
    let raw: Vec<_> = runnables.into_iter().map(Runnable::into_raw).collect();
    // SAFETY: `into_raw` has returned it, and its task is converted back and
    // forth here, where the rest of the check does it in turn.
    let back = |raw| Some(unsafe { Runnable::<Queue>::from_raw(raw) });
    let mut hands: Vec<_> = raw.iter().map(|raw| back(*raw)).collect();
    let own = |it: Option<Runnable<Queue>>| it.expect("it's in hand");
    for (index, call) in calls.iter().enumerate() {
        let mut taken = None;
        match *call {
            SetNext(it, next) => {
                let next = next.map(|next| own(hands[next].take()));
                let runnable = hands[it].as_mut().expect("it's in hand");
                runnable.set_next(next);
            }
            TakeNext(it) => {
                let runnable = hands[it].as_mut().expect("it's in hand");
                taken = runnable.take_next();
                let seen = taken.is_some();
                let right = links.next[it].is_some();
                let so_far = Names(&calls[..=index]);
                assert!(
                    seen == right,
                    "after {so_far}: there was one: {seen}, and not {right}"
                );
            }
            RunIt(it) => own(hands[it].take()).run(),
            DropIt(it) => drop(own(hands[it].take())),
        }
        if let (Some(taken), TakeNext(it)) = (taken, *call) {
            let found = taken.into_raw();
            let at = raw.iter().position(|raw| *raw == found);
            let so_far = Names(&calls[..=index]);
            assert!(
                at == links.next[it],
                "after {so_far}: it was the one with the index {at:?}, and not {:?}",
                links.next[it]
            );
            hands[at.expect("just compared")] = back(found);
        }
        links.make(*call);
        let fates: Vec<_> = handles
            .iter()
            .zip(&ran)
            .map(|(handle, ran)| match handle.is_finished() {
                false => IsKept,
                true if ran.load(SeqCst) => HasRun,
                true => WasCancelled,
            })
            .collect();
        let so_far = Names(&calls[..=index]);
        assert!(
            fates == links.fates,
            "after {so_far}: A, B and C are {fates:?}, and not {:?}",
            links.fates
        );
    }
    drop(hands);
    let ended = handles.iter().all(JoinHandle::is_finished);
    let so_far = Names(calls);
    assert!(
        ended,
        "after {so_far}, all are dropped, and one hasn't ended"
    );
    links.next_calls()
}

struct Names<'a>(&'a [LinkCall]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(LinkCall::to_string).collect();
        f.write_str(&names.join(", "))
    }
}

/// Clause 11: queues link, take out, and forget.
#[test]
fn each_short_history_of_linked_tasks_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "11. Dropped unrun",
        promise: "Whatever is linked, taken out, run and dropped in turn, what is linked behind a \
                  `Runnable` is taken out or cancelled, once, and all that is linked behind that.",
        usual_cause: "A link is overwritten without a look at what was there, for example by \
                      `set_next(None)`; or only the first of several that are linked is cancelled; \
                      or a link stays after it was taken.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        let mut histories = vec![Vec::new()];
        for _ in 0..4 {
            let mut longer = Vec::new();
            for history in &histories {
                let next = link(history).into_iter();
                longer.extend(
                    next.map(|it| [history.as_slice(), &[it]].concat()),
                );
            }
            histories = longer;
            // They are alike.
            histories.retain(|it: &Vec<_>| match it[0] {
                SetNext(it, next) => it == 0 && next != Some(2),
                TakeNext(it) | RunIt(it) | DropIt(it) => it == 0,
            });
        }
        histories.iter().for_each(|it| _ = link(it));
    });
}
