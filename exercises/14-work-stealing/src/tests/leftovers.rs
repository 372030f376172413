//! Clause 15: what the end of a runtime finds: tasks in each pair of places, whose
//! destructors do things to each other and to the runtime.

use std::fmt;

use testkit::{CountingWaker, WakeCounts};

use super::*;

/// Where a task is as the runtime ends.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Waiting,
    Queued,
    Next,
    Outside,
}

use Place::{Next, Outside, Queued, Waiting};

const PLACES: [Place; 4] = [Waiting, Queued, Outside, Next];

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waiting => "waits",
            Queued => "is in a worker's queue",
            Next => "is a worker's next task",
            Outside => "was spawned elsewhere and not polled",
        })
    }
}

/// What the destructor of a future does.
#[derive(Clone, Copy, PartialEq)]
enum Deed {
    /// Wakes the other task, if that waits.
    Wake,
    /// Wakes all tasks that wait, of which two more do.
    WakeAll,
    Abort,
    /// Drops the other task's handle.
    Detach,
    /// Polls it.
    Await,
    Spawn,
    SpawnJob,
    Panic,
    /// Wakes the other task, and panics then.
    WakeAndPanic,
}

use Deed::*;

const DEEDS: [Deed; 9] = [
    Wake,
    WakeAll,
    Abort,
    Detach,
    Await,
    Spawn,
    SpawnJob,
    Panic,
    WakeAndPanic,
];

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wake => "wakes the other task",
            WakeAll => "wakes the other task and two more",
            Abort => "aborts the other task",
            Detach => "drops the other task's handle",
            Await => "polls the other task's handle",
            Spawn => "spawns a task",
            SpawnJob => "spawns a blocking job",
            Panic => "panics",
            WakeAndPanic => "wakes the other task and panics",
        })
    }
}

/// Where the runtime is dropped.
#[derive(Clone, Copy, PartialEq)]
enum Dropper {
    /// On a thread that waits for the end.
    Elsewhere,
    /// In a poll of one of its own tasks.
    OwnTask,
}

use Dropper::{Elsewhere, OwnTask};

/// What the destructors of two futures use.
struct World {
    deed: Deed,
    handle: Handle,
    wakers: Mutex<[Option<Waker>; 4]>,
    tasks: Mutex<[Option<JoinHandle<()>>; 4]>,
    /// Of a task that a destructor awaits.
    wakes: Mutex<Vec<Arc<WakeCounts>>>,
    spawned: Mutex<Vec<JoinHandle<()>>>,
    jobs: Mutex<Vec<JobIsRight>>,
    /// How many futures have been made and dropped.
    made: AtomicUsize,
    dropped: AtomicUsize,
}

/// What a future owns, with its index.
struct Acting(Arc<World>, usize);

/// What a future owns that does nothing.
struct Plain(Arc<World>);

impl Plain {
    fn new(world: &Arc<World>) -> Self {
        world.made.fetch_add(1, SeqCst);
        Self(world.clone())
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, SeqCst);
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        let Self(world, index) = self;
        // Last of all, even if this panics.
        let _dropped = CountsWhenDropped(&world.dropped);
        let Some(other) = 1_usize.checked_sub(*index) else {
            // One of the two more.
            return;
        };
        match world.deed {
            Wake | WakeAndPanic => {
                let waker = world.wakers.lock().unwrap()[other].take();
                waker.into_iter().for_each(Waker::wake);
            }
            WakeAll => {
                let others = std::mem::take(&mut *world.wakers.lock().unwrap());
                others.into_iter().flatten().for_each(Waker::wake);
            }
            Abort => {
                // Not under the lock: an abort may run the other destructor.
                let task = world.tasks.lock().unwrap()[other].take();
                if let Some(task) = task {
                    task.abort();
                    world.tasks.lock().unwrap()[other] = Some(task);
                }
            }
            Detach => {
                let task = world.tasks.lock().unwrap()[other].take();
                drop(task);
            }
            Await => {
                let task = world.tasks.lock().unwrap()[other].take();
                if let Some(mut task) = task {
                    let (waker, wakes) = CountingWaker::new();
                    let mut cx = Context::from_waker(&waker);
                    if Pin::new(&mut task).poll(&mut cx).is_pending() {
                        world.wakes.lock().unwrap().push(wakes);
                        world.tasks.lock().unwrap()[other] = Some(task);
                    }
                }
            }
            Spawn => {
                let plain = Plain::new(world);
                let task = world.handle.spawn(async move {
                    let _plain = plain;
                    pending::<()>().await;
                });
                world.spawned.lock().unwrap().push(task);
            }
            SpawnJob => {
                let plain = Plain::new(world);
                let job = world.handle.spawn_blocking(move || drop(plain));
                world.jobs.lock().unwrap().push(Box::pin(async {
                    job.await.err().is_none_or(|it| it.is_cancelled())
                }));
            }
            Panic => {}
        }
        if matches!(world.deed, Panic | WakeAndPanic) {
            panic!("a destructor of a future");
        }
    }
}

struct CountsWhenDropped<'a>(&'a AtomicUsize);

impl Drop for CountsWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Clause 15: destructors run at the end, wherever their task is found.
#[test]
fn tasks_end_wherever_they_are_and_whatever_their_destructors_do() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "Two tasks may each wait, or be in any queue, as the runtime is dropped. Whatever \
                  their destructors do to each other's handles and wakers and to the runtime, both \
                  futures and what they have spawned are dropped, and all handles give errors.",
        usual_cause: "A place is emptied, and then a destructor puts a task there: all that's woken \
                      or spawned at the end belongs where the last look comes. Or a destructor's \
                      panic ends the loop that drops the others. At a hang: the same, and the end \
                      waits for a task that's in a place where no thread looks again.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for deed in DEEDS {
            for (at, first) in PLACES.into_iter().enumerate() {
                for second in PLACES.into_iter().skip(at) {
                    for dropper in [Elsewhere, OwnTask] {
                        end_with(deed, [first, second], dropper);
                    }
                }
            }
        }
    });
}

fn end_with(deed: Deed, places: [Place; 2], dropper: Dropper) {
    let builder = &mut Runtime::builder();
    let builder = builder.worker_threads(1).max_blocking_threads(1);
    let runtime = endless(builder.build()).into_inner();
    let handle = runtime.handle();
    let world = Arc::new(World {
        deed,
        handle: handle.clone(),
        wakers: Mutex::default(),
        tasks: Mutex::default(),
        wakes: Mutex::default(),
        spawned: Mutex::default(),
        jobs: Mutex::default(),
        made: AtomicUsize::new(0),
        dropped: AtomicUsize::new(0),
    });
    let spawn_one = |index: usize| {
        world.made.fetch_add(1, SeqCst);
        let (acting, handle) = (Acting(world.clone(), index), handle.clone());
        let (polled, is_polled) = mpsc::channel();
        let spawn = move || {
            let world = acting.0.clone();
            let task = handle.spawn(async move {
                let _acting = &acting;
                poll_fn(|cx| {
                    let waker = cx.waker().clone();
                    acting.0.wakers.lock().unwrap()[index] = Some(waker);
                    let _ = polled.send(());
                    Poll::<()>::Pending
                })
                .await;
            });
            world.tasks.lock().unwrap()[index] = Some(task);
        };
        (spawn, is_polled)
    };
    for index in 0..4 {
        if places.get(index).unwrap_or(&Waiting) == &Waiting {
            let (spawn, is_polled) = spawn_one(index);
            spawn();
            is_polled.recv().expect("it's polled");
        }
    }
    let worker = BusyWorker::new(&handle);
    for index in [0, 1] {
        match places[index] {
            Waiting => {}
            Outside => spawn_one(index).0(),
            Queued => {
                let spawn = spawn_one(index).0;
                worker.run(move || {
                    spawn();
                    fill_slot();
                });
            }
            Next => worker.run(spawn_one(index).0),
        }
    }
    match dropper {
        OwnTask => {
            worker.begin(move || drop(runtime));
            drop(worker);
        }
        Elsewhere => {
            // The worker returns from its poll once the drop waits for it.
            let waiting = ThreadProbe::here();
            worker.begin(move || {
                while waiting.is_asleep() == Some(false) {
                    thread::sleep(Duration::from_micros(20));
                }
            });
            drop(worker);
            drop(runtime);
        }
    }
    world.assert_over(places, dropper);
}

impl World {
    /// Asserts that all has been dropped, and that all handles say so.
    fn assert_over(&self, places: [Place; 2], dropper: Dropper) {
        let which = match dropper {
            Elsewhere => "a runtime was dropped",
            OwnTask => "a task dropped its own runtime",
        };
        let which = format!(
            "{which}. One of its tasks {}, another one {}, and the destructor of each {}",
            places[0], places[1], self.deed
        );
        if dropper == Elsewhere {
            let left = self.made.load(SeqCst) - self.dropped.load(SeqCst);
            assert!(left == 0, "{which}: {left} futures weren't dropped");
        }
        let start = Instant::now();
        while self.made.load(SeqCst) != self.dropped.load(SeqCst) {
            assert!(
                start.elapsed() < PATIENCE,
                "{which}: a future wasn't dropped in {PATIENCE:?}"
            );
            thread::yield_now();
        }
        // Before a handle is polled here: only the waker of its last poll is woken.
        let wakes = std::mem::take(&mut *self.wakes.lock().unwrap());
        for wakes in wakes {
            // No thread waits for the end of a runtime that its own task drops.
            while dropper == OwnTask
                && wakes.wakes() == 0
                && start.elapsed() < PATIENCE
            {
                thread::yield_now();
            }
            assert!(
                wakes.wakes() > 0,
                "{which}: a handle's waker wasn't woken"
            );
        }
        let tasks = self.tasks.lock().unwrap().each_mut().map(Option::take);
        let spawned = std::mem::take(&mut *self.spawned.lock().unwrap());
        for task in tasks.into_iter().flatten().chain(spawned) {
            let is_right = match parker::block_on(task) {
                Err(error) if error.is_panic() => {
                    matches!(self.deed, Panic | WakeAndPanic)
                }
                Err(error) => error.is_cancelled(),
                Ok(()) => false,
            };
            assert!(
                is_right,
                "{which}: a handle doesn't say that it's cancelled"
            );
        }
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap());
        for job in jobs {
            let is_right = parker::block_on(job);
            assert!(is_right, "{which}: the job's handle gives another error");
        }
    }
}

/// By then a runtime has ended for which no thread waits.
const PATIENCE: Duration = Duration::from_secs(5);
