//! How busy workers share their polls between their own tasks and those that come
//! from outside. What's counted here is polls, so no check depends on how fast a
//! machine is.

use super::busy::{Busy, WAYS, Way};
use super::outside::assert_takes_within;
use super::*;

/// The longest interval that the default may be.
const INTERVAL: u32 = 127;
/// A task from outside is polled within this many polls if none was taken for an
/// interval.
const SOON: usize = 16;

/// Clause 4: the scheduler can't know how long a poll is.
#[test]
fn what_comes_now_and_then_is_polled_soon() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "If a worker hasn't taken anything from the global queue for an interval, a task \
                  that is spawned or woken outside is polled within sixteen polls.",
        usual_cause: "The worker looks at the global queue only at the end of each interval: if a \
                      poll takes a millisecond, that is every sixty-one milliseconds. Looking \
                      whether there is anything is cheap, so look after each poll.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            for (waited, how) in polls_before_rare_tasks(keep_busy) {
                assert!(
                    waited <= SOON,
                    "a task that was {how} from outside waited for {waited} polls of tasks that \
                     {what}, although for two intervals of {INTERVAL} polls nothing had come"
                );
            }
        }
    });
}

/// Spawns and wakes some tasks from outside, one at a time, each within a poll of
/// the only worker and long after the one before. Returns for how many polls of
/// busy tasks each of them waited.
fn polls_before_rare_tasks(keep_busy: Way) -> Vec<(usize, &'static str)> {
    let runtime = one_worker(INTERVAL);
    let (handle, busy) = (runtime.handle(), Busy::default());
    let counter = busy.clone();
    let parent = runtime.spawn(async move {
        keep_busy(busy.clone());
        let mut waited = Vec::new();
        for _ in 0..5 {
            let (wait, waking) = ManualFuture::new();
            let seen = busy.clone();
            let sleeper = spawn(async move {
                wait.await;
                seen.polls()
            });
            pass(&busy, 2 * INTERVAL as usize).await;
            let (handle, seen) = (handle.clone(), busy.clone());
            let spawning = move || handle.spawn(async move { seen.polls() });
            let task = thread::spawn(spawning).join().expect("it spawns");
            waited.push((polls_until(&busy, task).await, "spawned"));
            pass(&busy, 2 * INTERVAL as usize).await;
            let waking = move || waking.complete();
            thread::spawn(waking).join().expect("it wakes");
            waited.push((polls_until(&busy, sleeper).await, "woken"));
        }
        waited
    });
    let waited = runtime.block_on(parent).expect("the task returns");
    counter.stop();
    waited
}

/// Lets this many polls pass.
async fn pass(busy: &Busy, polls: usize) {
    let end = busy.polls() + polls;
    while busy.polls() < end && !busy.is_over() {
        yield_now().await;
    }
}

/// Returns how many polls pass until that of `task`, which returns how many there
/// have been.
async fn polls_until(busy: &Busy, task: JoinHandle<usize>) -> usize {
    let now = busy.polls();
    task.await.expect("the task returns").saturating_sub(now)
}

/// Clause 4: an interval may be long, and so may a lull.
#[test]
fn no_count_of_polls_keeps_a_task_out() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "With an interval of a thousand polls, a task from outside runs within a thousand, \
                  however many tasks the worker has. If none has come for more than an interval, \
                  no matter for how many polls, it runs within sixteen.",
        usual_cause: "The count of the polls since the worker took a task is a `u8` or a `u16`, and \
                      wraps. A pause that's longer than the type can count is never over; and one \
                      that has been over for long begins again. Count in a `u32`, with \
                      `saturating_add`.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        let crowd: Way =
            |busy| (0..200).for_each(|_| drop(spawn(busy.clone().yields())));
        assert_takes_within(
            Some(1_000),
            1_000,
            "yield, all 200 of them",
            crowd,
        );
        // Each is of twice as many polls. Wherever a count of eight or sixteen bits
        // begins again, one of these ends soon after.
        let lulls = (INTERVAL as usize..).step_by(32).take(10);
        for lull in lulls.chain([1 << 15]) {
            let waited = polls_after_a_lull(lull);
            assert!(
                waited <= SOON,
                "{GUESTS} tasks from outside were polled, and then came none for {lull} polls of \
                 tasks that yield. The next one waited for {waited} polls, with an interval of \
                 {INTERVAL}"
            );
        }
    });
}

/// Lets many tasks come from outside at once, and another one so many polls of a busy
/// task after these. Returns for how many polls that one waited.
fn polls_after_a_lull(lull: usize) -> usize {
    let runtime = one_worker(INTERVAL);
    let (handle, busy, opener) =
        (runtime.handle(), Busy::default(), Opener::new());
    occupy_worker(&handle, &opener);
    let guests = (0..GUESTS).map(|_| runtime.spawn(async {}));
    let guests = guests.collect();
    let parent = runtime.spawn(async move {
        drop(spawn(busy.clone().yields()));
        all::<()>(guests).await;
        pass(&busy, lull).await;
        let seen = busy.clone();
        let spawning = move || handle.spawn(async move { seen.polls() });
        let task = thread::spawn(spawning).join().expect("it spawns");
        let waited = polls_until(&busy, task).await;
        busy.stop();
        waited
    });
    drop(opener);
    runtime.block_on(parent).expect("the task returns")
}

/// Clause 4: a task can't know which thread will wake it.
#[test]
fn what_a_timer_or_a_job_wakes_is_polled_soon() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "If a worker hasn't taken anything from the global queue for an interval, a task \
                  that a timer or a blocking job wakes is polled within sixteen polls.",
        usual_cause: "What timers and blocking jobs wake doesn't go to the global queue, but to \
                      one of its own, and a busy worker looks there only at the end of each \
                      interval, as it might look at a driver: if a poll takes a millisecond, each \
                      sleep and each job takes tens of milliseconds longer.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            let waits = waits_for_timers_and_jobs(keep_busy);
            for source in ["timer", "blocking job"] {
                let mut polls: Vec<_> =
                    waits.iter().filter(|wait| wait.source == source).collect();
                // Such a thread may have got no processor until then, but
                // hardly twice: one that has woken nothing within a poll is
                // forgiven.
                polls.sort_by_key(|wait| (!wait.is_woken, wait.polls));
                let woken = polls.iter().filter(|wait| wait.is_woken).count();
                let checked = woken.max(polls.len().saturating_sub(1));
                for wait in polls.iter().take(checked) {
                    let waited = wait.polls;
                    assert!(
                        waited <= SOON,
                        "a task that awaits a {source} waited for {waited} polls of tasks that \
                         {what} after that was over, although for two intervals of {INTERVAL} \
                         polls nothing had come"
                    );
                }
            }
        }
    });
}

/// For how long a worker stays in a poll until a timer or a job has woken a task.
const HOLD: Duration = Duration::from_millis(400);

/// A wait for a timer or a blocking job that was over within a poll.
struct Wait {
    source: &'static str,
    /// How many polls of busy tasks came before that of the waiting task.
    polls: usize,
    /// Whether the task was woken before these.
    is_woken: bool,
}

/// Has tasks wait for timers and blocking jobs, one at a time, each of which is over
/// within a poll of the only worker and long after the one before.
fn waits_for_timers_and_jobs(keep_busy: Way) -> Vec<Wait> {
    let runtime = one_worker(INTERVAL);
    let busy = Busy::default();
    let counter = busy.clone();
    let parent = runtime.spawn(async move {
        keep_busy(busy.clone());
        let mut waits = Vec::new();
        for third in 0..3 {
            // Each at another place between two ends of an interval.
            let pause = (2 * INTERVAL + third * INTERVAL / 3) as usize;
            let nap = sleep(Duration::from_millis(5));
            let source = "timer";
            waits.extend(wait_for(source, nap, None, pause, &busy).await);

            let opener = Opener::new();
            let gate = opener.gate();
            let job = spawn_blocking(move || gate.wait());
            let source = "blocking job";
            waits.extend(
                wait_for(source, job, Some(opener), pause, &busy).await,
            );
        }
        waits
    });
    let waits = runtime.block_on(parent).expect("the task returns");
    counter.stop();
    waits
}

/// Has a task await `future`. As many polls as `pause` later, opens the gate, and
/// stays in this poll until the task is woken. Returns nothing if it was woken
/// before that, or if the busy tasks gave up meanwhile.
async fn wait_for<F>(
    source: &'static str,
    future: F,
    opener: Option<Opener>,
    pause: usize,
    busy: &Busy,
) -> Option<Wait>
where
    F: Future<Output: Send> + Send + 'static,
{
    let (report, wakes) = mpsc::channel();
    let seen = busy.clone();
    let sleeper = spawn(async move {
        reporting_wakes(future, report).await;
        seen.polls()
    });
    pass(busy, pause).await;
    if wakes.try_recv() != Err(mpsc::TryRecvError::Empty) {
        return None;
    }
    drop(opener);
    let is_woken = wakes.recv_timeout(HOLD).is_ok();
    let polls = polls_until(busy, sleeper).await;
    (!busy.is_over()).then_some(Wait {
        source,
        polls,
        is_woken,
    })
}

/// Awaits `future`, and reports each wake-up after passing it on.
async fn reporting_wakes<F: Future>(future: F, report: mpsc::Sender<()>) {
    let mut future = Box::pin(future);
    poll_fn(|cx| {
        let waker =
            Arc::new(Reporting(cx.waker().clone(), report.clone())).into();
        future.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await;
}

struct Reporting(Waker, mpsc::Sender<()>);

impl Wake for Reporting {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
        // A task that has ended needs no more of them.
        let _ = self.1.send(());
    }
}

/// Clause 4: tasks in the queue of a busy worker wait for that worker.
#[test]
fn busy_workers_share_what_comes_from_outside() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "Of a hundred tasks that come while all workers are busy, no worker polls more \
                  than three quarters if the others are as fast.",
        usual_cause: "A busy worker takes as many tasks as its queue has room for. The others are \
                      busy, too, so they don't steal them. Take a share: the length of the global \
                      queue, divided by twice the number of workers.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for workers in [2, 4] {
            let polls = polls_of_each_worker(workers);
            let most = polls.iter().max().copied().unwrap_or_default();
            assert!(
                4 * most <= 3 * GUESTS,
                "{GUESTS} tasks came from outside while {workers} workers were busy; these polled \
                 {polls:?} of them"
            );
        }
    });
}

const GUESTS: usize = 100;
/// A worker has this many polls of its own tasks to take one from outside.
const PATIENCE: usize = 1_000;

/// Lets tasks come from outside while each worker has tasks that yield. Returns
/// how many of them each worker polled.
fn polls_of_each_worker(workers: usize) -> Vec<usize> {
    let runtime = endless(
        Runtime::builder()
            .worker_threads(workers)
            .global_queue_interval(INTERVAL)
            .build(),
    );
    let crowd = Arc::new(Crowd::new(workers));
    let meeting = Arc::new(Barrier::new(workers + 1));
    let hosts = (0..workers).map(|_| {
        let (crowd, meeting) = (crowd.clone(), meeting.clone());
        runtime.spawn(async move {
            crowd.workers.lock().unwrap().push(thread::current().id());
            meeting.wait();
            let tasks = (0..4).map(|_| spawn(crowd.clone().yields()));
            let tasks = tasks.collect::<Vec<_>>();
            meeting.wait();
            all(tasks).await;
        })
    });
    let hosts: Vec<_> = hosts.collect();
    meeting.wait();
    let guests = (0..GUESTS).map(|_| {
        let crowd = crowd.clone();
        runtime.spawn(async move { crowd.keep_pace() })
    });
    let guests = guests.collect();
    meeting.wait();
    runtime.block_on(all(guests));
    crowd.is_over.store(true, SeqCst);
    runtime.block_on(all(hosts));
    crowd
        .guests
        .iter()
        .map(|polls| polls.load(SeqCst))
        .collect()
}

/// What the workers have polled.
struct Crowd {
    workers: Mutex<Vec<ThreadId>>,
    own: Vec<AtomicUsize>,
    guests: Vec<AtomicUsize>,
    is_over: AtomicBool,
}

impl Crowd {
    fn new(workers: usize) -> Self {
        let zeros = || (0..workers).map(|_| AtomicUsize::new(0)).collect();
        Self {
            workers: Mutex::default(),
            own: zeros(),
            guests: zeros(),
            is_over: AtomicBool::new(false),
        }
    }

    fn this_worker(&self) -> usize {
        let this = thread::current().id();
        let workers = self.workers.lock().unwrap();
        let at = workers.iter().position(|worker| *worker == this);
        at.expect("a worker polls it")
    }

    async fn yields(self: Arc<Self>) {
        while !self.is_over.load(SeqCst) {
            self.own[self.this_worker()].fetch_add(1, SeqCst);
            yield_now().await;
        }
    }

    /// A poll of a task from outside. Waits for the workers that have polled fewer,
    /// unless they prefer tasks of their own.
    fn keep_pace(&self) {
        let this = self.this_worker();
        let mine = self.guests[this].fetch_add(1, SeqCst) + 1;
        let own = |worker: usize| self.own[worker].load(SeqCst);
        let seen: Vec<_> = (0..self.own.len()).map(own).collect();
        let lags = |worker: usize| {
            self.guests[worker].load(SeqCst) < mine
                && own(worker) < seen[worker] + PATIENCE
        };
        while (0..seen.len()).any(lags) {
            thread::sleep(Duration::from_micros(20));
        }
    }
}

/// Clause 4: a worker that was idle may have taken many tasks at once.
#[test]
fn a_large_batch_does_not_delay_the_next_task() {
    const INTERVAL: usize = 31;
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "When a hundred tasks from outside were polled, the next one is polled within two \
                  intervals, even if the worker has taken all hundred at once.",
        usual_cause: "After taking some tasks, the worker lets twice as many polls pass, and that's \
                      more than an interval. The interval is a limit in any case.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            let waited = polls_after_a_batch(INTERVAL as u32, keep_busy);
            assert!(
                waited <= 2 * INTERVAL,
                "{GUESTS} tasks came from outside at once, and then one more: with an interval of \
                 {INTERVAL}, it waited for {waited} polls of tasks that {what}, after the others \
                 had been polled"
            );
        }
    });
}

/// Lets many tasks come from outside while the only worker is in its last poll,
/// and another one as the first of them is polled. Returns how many polls there
/// were between the last of the former and the latter.
fn polls_after_a_batch(interval: u32, keep_busy: Way) -> usize {
    let runtime = one_worker(interval);
    let (handle, busy, opener) =
        (runtime.handle(), Busy::default(), Opener::new());
    occupy_worker(&handle, &opener);
    let (begin, seen) = (busy.clone(), busy.clone());
    let first = runtime.spawn(async move {
        keep_busy(begin);
        let last = move || handle.spawn(async move { seen.polls() });
        thread::spawn(last).join().expect("it spawns")
    });
    let others = (1..GUESTS).map(|_| {
        let seen = busy.clone();
        runtime.spawn(async move { seen.polls() })
    });
    let others = others.collect();
    drop(opener);
    let (before, after) = runtime.block_on(async {
        let last = first.await.expect("the task returns");
        let before = all(others).await.into_iter().max();
        (before, last.await.expect("the task returns"))
    });
    busy.stop();
    after.saturating_sub(before.unwrap_or_default())
}

/// Clause 4: neither side starves the other.
#[test]
fn a_flood_from_outside_leaves_polls_for_the_own_tasks() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "While thousands of tasks from outside wait, at least a quarter of a worker's \
                  polls are of its own tasks; and with an interval of three polls, at least a \
                  quarter are of those from outside.",
        usual_cause: "A worker takes tasks from the global queue after each poll, or takes more at \
                      a time than it polls until it takes the next: soon its own queue is full of \
                      them. After taking some, let twice as many polls pass.",
        read: "scheduler/work-stealing.html#the-sixty-first-poll",
    };
    check(lesson, || {
        for (what, keep_busy) in WAYS {
            for interval in [3, 61, INTERVAL] {
                let own = own_polls_during_a_flood(interval, keep_busy);
                for guests in (500..=FLOOD).step_by(500) {
                    let own = own[guests - 1];
                    assert!(
                        3 * own >= guests,
                        "with an interval of {interval}, tasks that {what} had {own} polls while \
                         {guests} tasks from outside were polled"
                    );
                    assert!(
                        interval > 3 || own <= 3 * guests,
                        "with an interval of {interval}, {guests} tasks from outside were polled \
                         while tasks that {what} had {own} polls"
                    );
                }
            }
        }
    });
}

/// How many tasks come from outside at once.
const FLOOD: usize = 3_000;

/// Returns how many polls of busy tasks came before each task from outside.
fn own_polls_during_a_flood(interval: u32, keep_busy: Way) -> Vec<usize> {
    let runtime = one_worker(interval);
    let (busy, opener) = (Busy::default(), Opener::new());
    let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
    let (tell, begin) = (begun.clone(), busy.clone());
    drop(runtime.spawn(async move {
        (0..4).for_each(|_| keep_busy(begin.clone()));
        tell.open();
        gate.wait();
    }));
    begun.wait();
    let tasks = (0..FLOOD).map(|_| {
        let seen = busy.clone();
        runtime.spawn(async move { seen.polls() })
    });
    let tasks = tasks.collect();
    drop(opener);
    let mut own = runtime.block_on(all(tasks));
    busy.stop();
    own.sort_unstable();
    own
}

/// Clause 4: a queue that overflows gives away what was taken into it.
#[test]
fn what_a_worker_has_taken_keeps_its_place() {
    let lesson = Lesson {
        clause: "4. From outside",
        promise: "If tasks come from outside in a row, and then a task of the only worker spawns \
                  more than its queue holds, none of the former is overtaken by more than half as \
                  many of them as there are.",
        usual_cause: "If the queue overflows, its older half goes to the end of the global queue, \
                      with the tasks that the worker has taken from there. Let the younger half \
                      go. Or the global queue gives out its newest tasks first.",
        read: "scheduler/work-stealing.html#what-goes-back",
    };
    check(lesson, || {
        for yields in 1..=3 {
            let order = order_of_tasks_from_outside(yields);
            let overtaken = most_overtaken(&order);
            assert!(
                overtaken <= ROW / 2,
                "of {ROW} tasks from outside one was polled after {overtaken} that had come later"
            );
        }
    });
}

/// How many tasks come in a row.
const ROW: usize = 250;

/// Lets tasks come from outside while the only worker is in a poll of a task that
/// then yields some times, and spawns many others. Returns their numbers in the order
/// in which they were polled.
fn order_of_tasks_from_outside(yields: usize) -> Vec<usize> {
    let runtime = one_worker(31);
    let (busy, opener) = (Busy::default(), Opener::new());
    let (begun, gate) = (Arc::new(Gate::new()), opener.gate());
    let (tell, begin) = (begun.clone(), busy.clone());
    drop(runtime.spawn(async move {
        tell.open();
        gate.wait();
        for _ in 0..yields {
            yield_now().await;
        }
        begin.bursts().await;
    }));
    begun.wait();
    let order = Arc::new(Mutex::new(Vec::new()));
    let tasks = (0..ROW).map(|number| {
        let order = order.clone();
        runtime.spawn(async move { order.lock().unwrap().push(number) })
    });
    let tasks = tasks.collect();
    drop(opener);
    runtime.block_on(all(tasks));
    busy.stop();
    order.lock().unwrap().clone()
}

/// Returns how many larger numbers there are before any one of them, at most.
fn most_overtaken(order: &[usize]) -> usize {
    let before = |at: usize| {
        let earlier = order[..at].iter();
        earlier.filter(|number| **number > order[at]).count()
    };
    (0..order.len()).map(before).max().unwrap_or_default()
}
