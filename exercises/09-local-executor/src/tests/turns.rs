//! Which task is next, and what a tick costs.

use super::*;

/// A victim, which is woken once, and hogs, which want to be polled all the
/// time.
#[derive(Clone, Default)]
struct Contest {
    victim: Rc<RefCell<Option<Waker>>>,
    is_over: Rc<Cell<bool>>,
    /// The most polls of a single hog while the victim was ready.
    most_polls: Rc<Cell<u32>>,
}

impl Contest {
    /// Waits to be woken, once.
    async fn victim(self) {
        let mut is_first = true;
        poll_fn(|cx| {
            if std::mem::take(&mut is_first) {
                *self.victim.borrow_mut() = Some(cx.waker().clone());
                return Poll::Pending;
            }
            self.is_over.set(true);
            Poll::Ready(())
        })
        .await;
    }

    /// Wakes the victim and then, at each poll, itself, until the victim has
    /// been polled, or until long after it should have been.
    async fn hog(self, own: Side, of_victim: Side) {
        let waits_for_victim = || self.victim.borrow().is_none();
        until("the victim still hasn't been polled", || {
            !waits_for_victim()
        })
        .await;
        of_victim.wake(self.victim.borrow().as_ref().expect("it has one"));
        let mut polls = 0;
        poll_fn(|cx| {
            if self.is_over.get() || polls > BOUND + 1 {
                return Poll::Ready(());
            }
            polls += 1;
            own.wake(cx.waker());
            Poll::Pending
        })
        .await;
        self.most_polls.set(self.most_polls.get().max(polls));
        // Otherwise the future of `block_on` would never be polled.
        self.is_over.set(true);
    }

    #[track_caller]
    fn assert_fair(&self, who: &str) {
        let polls = self.most_polls.get();
        assert!(
            polls <= BOUND,
            "{who} was ready, another was polled at least {polls} times"
        );
    }
}

/// Clause 5: a task that computes and yields is a good neighbor only if the
/// other tasks are polled.
#[test]
fn a_ready_task_is_polled_soon() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "No matter how many tasks keep yielding, a task that was woken is polled soon.",
        usual_cause: "A woken task goes to the front of the queue: use `push_back` and \
                      `pop_front`. Or `block_on` polls its own future as long as that is ready.",
        read: "scheduler/local-executor.html#one-queue-for-all",
    };
    check(lesson, || {
        for victim_first in [true, false] {
            let contest = Contest::default();
            let executor = LocalExecutor::new();
            let spawn_victim =
                || drop(executor.spawn(contest.clone().victim()));
            if victim_first {
                spawn_victim();
            }
            for _ in 0..3 {
                let hog = contest.clone().hog(Side::Here, Side::Here);
                drop(executor.spawn(hog));
            }
            if !victim_first {
                spawn_victim();
            }
            executor.run();
            contest.assert_fair("while a task");
            let contest = Contest::default();
            drop(executor.spawn(contest.clone().victim()));
            let hog = contest.clone().hog(Side::Here, Side::Here);
            executor.block_on(hog);
            executor.run();
            contest
                .assert_fair("while a task, beside the future of `block_on`,");
        }
    });
}

/// Clause 5: what overtakes a little at each turn overtakes a lot in many.
#[test]
fn two_that_wake_each_other_do_not_overtake_many() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "While two tasks wake each other, hundreds of others that are ready are polled \
                  soon, too.",
        usual_cause: "A task that is woken is polled next, before those in the queue, a few times \
                      in a row at most. A task at the end of the queue waits for as many turns as \
                      there are tasks before it, and is overtaken at each of them.",
        read: "scheduler/local-executor.html#one-queue-for-all",
    };
    const MANY: usize = 600;
    check(lesson, || {
        let executor = LocalExecutor::new();
        let pair = Rc::new(Pair::default());
        for me in 0..2 {
            let pair = pair.clone();
            drop(executor.spawn(poll_fn(move |cx| pair.poll(me, cx))));
        }
        for _ in 0..MANY {
            let pair = pair.clone();
            pair.others.set(pair.others.get() + 1);
            drop(executor.spawn(async move {
                for _ in 0..4 {
                    let before = pair.polls.get();
                    Yields(1).await;
                    let polls =
                        [0, 1].map(|it| pair.polls.get()[it] - before[it]);
                    let most = pair.most.get().max(polls[0]).max(polls[1]);
                    pair.most.set(most);
                }
                pair.others.set(pair.others.get() - 1);
            }));
        }
        executor.run();
        let most = pair.most.get();
        assert!(
            most <= BOUND,
            "one of {MANY} tasks was ready, and another, which a third woke each time, was polled \
             {most} times"
        );
    });
}

/// Two tasks that wake each other as long as there are others.
#[derive(Default)]
struct Pair {
    wakers: [Cell<Option<Waker>>; 2],
    polls: Cell<[u32; 2]>,
    others: Cell<usize>,
    /// How often one of the two was polled while another task was ready.
    most: Cell<u32>,
}

impl Pair {
    fn poll(&self, me: usize, cx: &mut Context<'_>) -> Poll<()> {
        let mut polls = self.polls.get();
        polls[me] += 1;
        self.polls.set(polls);
        self.wakers[me].set(Some(cx.waker().clone()));
        if let Some(other) = self.wakers[1 - me].take() {
            other.wake();
        }
        match self.others.get() {
            0 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

/// Clause 5: the future of `block_on` often decides when to stop.
#[test]
fn the_future_of_block_on_is_polled_soon() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "No matter how many tasks keep yielding, the future of `block_on` is polled soon.",
        usual_cause: "`block_on` polls its future only when the queue is empty. Put the future \
                      into the queue, as if it were a task.",
        read: "scheduler/local-executor.html#one-queue-for-all",
    };
    check(lesson, || {
        for from in [Side::Here, Side::Elsewhere] {
            let contest = Contest::default();
            let executor = LocalExecutor::new();
            for _ in 0..2 {
                let hog = contest.clone().hog(Side::Here, from);
                drop(executor.spawn(hog));
            }
            executor.block_on(contest.clone().victim());
            contest.assert_fair("while the future of `block_on`");
            executor.run();
        }
    });
}

/// Clause 5: with two queues, the executor may never look at one of them.
#[test]
fn it_does_not_matter_which_thread_woke_a_task() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "A task that another thread woke is polled soon among tasks that were woken here, \
                  and the reverse.",
        usual_cause: "The executor looks for remote wake-ups only when there is nothing else to \
                      do; or they go in front of all others.",
        read: "scheduler/local-executor.html#remote-wake-ups",
    };
    check(lesson, || {
        for (own, of_victim) in
            [(Side::Here, Side::Elsewhere), (Side::Elsewhere, Side::Here)]
        {
            let contest = Contest::default();
            let executor = LocalExecutor::new();
            drop(executor.spawn(contest.clone().victim()));
            drop(executor.spawn(contest.clone().hog(own, of_victim)));
            executor.run();
            contest.assert_fair(&format!("while a task, woken {of_victim:?},"));
        }
    });
}

/// Clause 5: one answer may wake many tasks at once.
#[test]
fn many_tasks_woken_from_elsewhere_are_polled_soon() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "No matter how many tasks another thread wakes at once, each is polled soon, \
                  beside a task that wakes itself.",
        usual_cause: "Now and then, the executor takes a single remote wake-up, and leaves the \
                      others for the next time. Take all that are there.",
        read: "scheduler/local-executor.html#remote-wake-ups",
    };
    const WOKEN: usize = 100;
    check(lesson, || {
        let executor = LocalExecutor::new();
        let wakers = Rc::new(RefCell::new(Vec::new()));
        let polls = Rc::new(Cell::new(0));
        let longest_wait = Rc::new(Cell::new((0, 0)));
        for _ in 0..WOKEN {
            let (wakers, polls, longest_wait) =
                (wakers.clone(), polls.clone(), longest_wait.clone());
            let mut is_first = true;
            drop(executor.spawn(poll_fn(move |cx| {
                if std::mem::take(&mut is_first) {
                    wakers.borrow_mut().push(cx.waker().clone());
                    return Poll::Pending;
                }
                let (count, _) = longest_wait.get();
                longest_wait.set((count + 1, polls.get()));
                Poll::Ready(())
            })));
        }
        let (hog_polls, waited) = (polls.clone(), longest_wait.clone());
        drop(executor.spawn(poll_fn(move |cx| {
            if wakers.borrow().len() == WOKEN {
                let woken = wakers.take();
                elsewhere(move || woken.into_iter().for_each(Waker::wake));
                hog_polls.set(0);
            }
            hog_polls.set(hog_polls.get() + 1);
            cx.waker().wake_by_ref();
            match waited.get().0 == WOKEN || hog_polls.get() > 100_000 {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })));
        executor.run();
        let (count, longest) = longest_wait.get();
        assert!(count == WOKEN, "{count} of {WOKEN} tasks were polled");
        assert!(
            longest <= BOUND,
            "another thread woke {WOKEN} tasks, and a task that wakes itself was polled {longest} \
             times before the last of them"
        );
    });
}

/// What makes a task ready.
#[derive(Clone, Copy, Debug)]
enum Cause {
    SpawnBetweenCalls,
    SpawnInCall,
    WakeBetweenCalls(Side),
    WakeInCall(Side),
}

use Cause::*;

const CAUSES: [Cause; 6] = [
    WakeBetweenCalls(Side::Elsewhere),
    WakeBetweenCalls(Side::Here),
    WakeInCall(Side::Elsewhere),
    WakeInCall(Side::Here),
    SpawnBetweenCalls,
    SpawnInCall,
];

impl Cause {
    fn name(self) -> &'static str {
        match self {
            SpawnBetweenCalls => "spawned between two calls",
            SpawnInCall => "spawned in a call",
            WakeBetweenCalls(Side::Here) => {
                "woken on the executor's thread between two calls"
            }
            WakeBetweenCalls(Side::Elsewhere) => {
                "woken on another thread between two calls"
            }
            WakeInCall(Side::Here) => "woken by the future of a call",
            WakeInCall(Side::Elsewhere) => {
                "woken on another thread during a call"
            }
        }
    }
}

/// A task that is made ready, and its last poll.
#[derive(Default)]
struct ReadyOnce {
    waker: Cell<Option<Waker>>,
    /// How often the hog had been polled at this task's last poll.
    seen: Cell<Option<u32>>,
}

impl ReadyOnce {
    fn future(
        self: &Rc<Self>,
        hog_polls: &Rc<Cell<u32>>,
    ) -> impl Future<Output = ()> + 'static {
        let (this, hog_polls) = (self.clone(), hog_polls.clone());
        poll_fn(move |cx| {
            this.waker.set(Some(cx.waker().clone()));
            this.seen.set(Some(hog_polls.get()));
            Poll::Pending
        })
    }
}

/// A hog, which wakes itself at each poll, on an executor that runs only in
/// short calls.
struct ShortCalls {
    executor: LocalExecutor,
    /// How often the future of a call yields.
    yields: u32,
    hog_polls: Rc<Cell<u32>>,
}

impl ShortCalls {
    fn new(hog_wakes: Side, yields: u32) -> Self {
        let (executor, polls) = (LocalExecutor::new(), Rc::new(Cell::new(0)));
        let hog_polls = polls.clone();
        drop(executor.spawn(poll_fn(move |cx| {
            polls.set(polls.get() + 1);
            // Otherwise a call may never end.
            if polls.get() <= 10 * MANY {
                hog_wakes.wake(cx.waker());
            }
            Poll::<()>::Pending
        })));
        Self {
            executor,
            yields,
            hog_polls,
        }
    }

    /// Makes a task ready. Returns how often the hog was polled meanwhile, and
    /// the number of calls.
    fn wait_of_task(&self, cause: Cause) -> (u32, u32) {
        let task = Rc::<ReadyOnce>::default();
        let mut future = Some(task.future(&self.hog_polls));
        self.hog_polls.set(0);
        if let WakeBetweenCalls(_) | WakeInCall(_) = cause {
            let is_polled = || task.seen.get().is_some();
            self.executor.block_on(async {
                drop(future.take().map(spawn));
                until("a new task still hasn't been polled", is_polled).await;
            });
        }
        let mut make_ready = || {
            self.hog_polls.set(0);
            task.seen.set(None);
            match cause {
                SpawnBetweenCalls => {
                    drop(future.take().map(|it| self.executor.spawn(it)));
                }
                SpawnInCall => drop(future.take().map(spawn)),
                WakeBetweenCalls(side) | WakeInCall(side) => {
                    side.wake(&task.waker.take().expect("it was polled"));
                }
            }
        };
        let mut is_in_call = matches!(cause, SpawnInCall | WakeInCall(_));
        if !is_in_call {
            make_ready();
        }
        let mut calls = 0;
        while is_in_call
            || task.seen.get().is_none()
                && self.hog_polls.get() <= BOUND
                && calls < MANY
        {
            calls += 1;
            self.executor.block_on(async {
                if std::mem::take(&mut is_in_call) {
                    make_ready();
                }
                Yields(self.yields).await;
            });
        }
        (task.seen.get().unwrap_or(self.hog_polls.get()), calls)
    }
}

/// Clause 5: a task is ready until its next poll, and not until the next call.
#[test]
fn a_ready_task_is_polled_soon_in_short_calls() {
    let lesson = Lesson {
        clause: "5. Fair",
        promise: "No matter how short the calls of `block_on` are, a task that was spawned or \
                  woken is polled soon, beside a task that keeps yielding.",
        usual_cause: "The count of ticks until the executor looks for remote wake-ups, or the \
                      place where it goes on in its list, starts from zero in each call. Keep it \
                      in the executor, or look for remote wake-ups when a call begins, too. Or a \
                      call that ends takes wake-ups with it that it hasn't served.",
        read: "scheduler/local-executor.html#remote-wake-ups",
    };
    check(lesson, || {
        for hog_wakes in [Side::Here, Side::Elsewhere] {
            for yields in [0, 1, 8] {
                let short = ShortCalls::new(hog_wakes, yields);
                for cause in CAUSES {
                    let (polls, calls) = short.wait_of_task(cause);
                    assert!(
                        polls <= BOUND,
                        "a task was {}, and another was polled at least {polls} times before it, \
                         in {calls} calls of `block_on`",
                        cause.name()
                    );
                }
            }
        }
    });
}

/// The number of tasks that wait while others run.
const WAITING: usize = 10_000;

/// Creates an executor with this many waiting tasks, and counts their polls.
fn crowded(waiting: usize) -> (LocalExecutor, Rc<Cell<usize>>) {
    let executor = LocalExecutor::new();
    let polls = Rc::new(Cell::new(0));
    for _ in 0..waiting {
        let polls = polls.clone();
        drop(executor.spawn(poll_fn(move |_| {
            polls.set(polls.get() + 1);
            Poll::<()>::Pending
        })));
    }
    let polled = || polls.get() >= waiting;
    executor.block_on(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if polled() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }));
    (executor, polls)
}

/// Clause 12: checking each of ten thousand tasks costs more than a poll.
#[test]
fn a_wake_up_costs_the_same_among_many_tasks() {
    let lesson = Lesson {
        clause: "12. No scan",
        promise: "A wake-up and its poll allocate no more, and take no longer, among ten thousand \
                  tasks than among ten.",
        usual_cause: "Each tick checks all tasks for those that were woken, or copies their list. \
                      Let the wake-up say which task it's for: use a queue of keys.",
        read: "scheduler/local-executor.html#keys-in-a-queue",
    };
    const YIELDS: u32 = 200;
    const ROUNDS: usize = 10;
    check(lesson, || {
        let executors = [10, WAITING].map(|waiting| crowded(waiting).0);
        let mut times = [Duration::MAX; 2];
        let mut blocks = [u64::MAX; 2];
        for _ in 0..ROUNDS {
            for (at, executor) in executors.iter().enumerate() {
                let start = Instant::now();
                let ((), allocated) =
                    allocations(|| executor.block_on(Yields(YIELDS)));
                times[at] = times[at].min(start.elapsed());
                blocks[at] = blocks[at].min(allocated.count);
            }
        }
        let [few, many] = blocks;
        assert!(
            many <= few + u64::from(YIELDS) / 4,
            "{YIELDS} ticks allocate {few} blocks among 10 tasks, and {many} among {WAITING}"
        );
        let [few, many] = times;
        assert!(
            many < few * 10,
            "{YIELDS} ticks take {few:.0?} among 10 tasks, and {many:.0?} among {WAITING}"
        );
    });
}

/// Clause 12: a search may find the oldest and the newest task at once, and the
/// one in the middle after thousands of steps.
#[test]
fn each_of_many_tasks_is_found_at_once() {
    let lesson = Lesson {
        clause: "12. No scan",
        promise: "No matter which tasks are woken, old or new, from here or from another thread, a \
                  wake-up and its poll take no longer among many tasks than among few.",
        usual_cause: "A wake-up contains its task's number, and the executor searches for the task \
                      with that number: from the end, it finds the newest soon. Use a key that \
                      says where the task is: an index, or a key of a map.",
        read: "scheduler/local-executor.html#keys-in-a-queue",
    };
    const WOKEN: usize = 50;
    const ROUNDS: usize = 10;
    check(lesson, || {
        let crowds = [1, 100].map(|each| Crowd::new(WOKEN, each));
        for from in [Side::Here, Side::Elsewhere] {
            let mut times = [Duration::MAX; 2];
            for _ in 0..ROUNDS {
                for (best, crowd) in times.iter_mut().zip(&crowds) {
                    *best = crowd.wake_all(from).min(*best);
                }
            }
            let [few, many] = times;
            assert!(
                many < few * 10,
                "{WOKEN} tasks, woken {from:?}, are polled within {few:.0?} if there are no \
                 others, and within {many:.0?} among {}",
                crowds[1].count
            );
        }
    });
}

/// Tasks that wait, and the wakers of some of them.
struct Crowd {
    executor: LocalExecutor,
    count: usize,
    /// The wakers of tasks that are as far apart as possible.
    wakers: Vec<Waker>,
    polls: Rc<Cell<usize>>,
    awaiting: Rc<RefCell<Option<Waker>>>,
}

impl Crowd {
    /// Creates tasks, of which every `each`th will be woken.
    fn new(woken: usize, each: usize) -> Self {
        let count = woken * each;
        let (executor, polls) = (LocalExecutor::new(), Rc::new(Cell::new(0)));
        let wakers = Rc::new(RefCell::new(Vec::new()));
        let awaiting = Rc::new(RefCell::new(None::<Waker>));
        for place in 0..count {
            let (polls, wakers) = (polls.clone(), wakers.clone());
            let (awaiting, mut is_first) = (awaiting.clone(), true);
            drop(executor.spawn(poll_fn(move |cx| {
                polls.set(polls.get() + 1);
                if std::mem::take(&mut is_first) {
                    if place % each == each / 2 {
                        wakers.borrow_mut().push(cx.waker().clone());
                    }
                } else if polls.get() == woken {
                    let awaiting: Option<Waker> = awaiting.take();
                    awaiting.expect("`wake_all` waits for the last").wake();
                }
                Poll::<()>::Pending
            })));
        }
        executor
            .block_on(until("some tasks still haven't been polled", || {
                polls.get() == count
            }));
        Self {
            executor,
            count,
            wakers: wakers.take(),
            polls,
            awaiting,
        }
    }

    /// Wakes them, and measures the time until they have been polled.
    fn wake_all(&self, from: Side) -> Duration {
        self.polls.set(0);
        let wakers = &self.wakers;
        let wake = || {
            let start = Instant::now();
            wakers.iter().for_each(Waker::wake_by_ref);
            start.elapsed()
        };
        let (time, mut is_first) = match from {
            Side::Here => (Duration::ZERO, true),
            Side::Elsewhere => (elsewhere(wake), false),
        };
        let start = Instant::now();
        self.executor.block_on(poll_fn(|cx| {
            *self.awaiting.borrow_mut() = Some(cx.waker().clone());
            if std::mem::take(&mut is_first) {
                wake();
            }
            match self.polls.get() == wakers.len() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }));
        time + start.elapsed()
    }
}
