//! What is woken and spawned while a pool ends: by destructors, and by other threads at each moment.

use primitives::chaos::at_moment;
use testkit::start_elsewhere;

use super::super::Handle;
use super::*;

/// How many pools end in the same way. If each leaves something behind, that's as many blocks.
const POOLS: isize = 3;
/// The end of a pool may take so many operations. Further moments aren't tried.
const MOST: usize = 40;
/// A thread that no longer belongs to a pool has ended by then.
const PATIENCE: Duration = Duration::from_secs(2);

/// The wakers of all tasks of a pool. Each of its futures owns them, its own and those of the
/// others, so that tasks and futures keep one another until the futures are dropped.
type Wakers = Arc<Mutex<Vec<Waker>>>;

fn wake_all(wakers: &Wakers) {
    let all = wakers.lock().unwrap().clone();
    all.into_iter().for_each(Waker::wake);
}

/// What the futures of a pool own.
#[derive(Clone)]
struct Owned {
    wakers: Wakers,
    handle: Handle,
    /// Whether destructors wake all tasks, and spawn.
    acts: bool,
}

/// A pool that is about to end, and its tasks.
struct Scene {
    pool: Pool,
    owned: Owned,
    tasks: Vec<(JoinHandle<()>, DropLog)>,
}

impl Owned {
    /// Spawns a task that is never ready. In its first poll, it calls `first`.
    fn spawn(
        &self,
        first: impl FnOnce(&Waker) + Send + 'static,
    ) -> (JoinHandle<()>, DropLog) {
        let (probe, log) = DropProbe::new();
        let (owned, mut first) = (self.clone(), Some(first));
        let on_drop = OnDrop({
            let owned = self.clone();
            move || {
                if owned.acts {
                    wake_all(&owned.wakers);
                    let wakers = owned.wakers.clone();
                    drop(owned.handle.spawn(async move { drop(wakers) }));
                }
            }
        });
        let task = self.handle.spawn(poll_fn(move |cx| {
            let _with_the_future = (&probe, &on_drop);
            if let Some(first) = first.take() {
                owned.wakers.lock().unwrap().push(cx.waker().clone());
                first(cx.waker());
            }
            Poll::Pending
        }));
        (task, log)
    }
}

impl Scene {
    /// Two tasks wait to be woken.
    fn new(acts: bool) -> Self {
        let pool = Pool::new(1);
        let owned = Owned {
            wakers: Wakers::default(),
            handle: pool.handle(),
            acts,
        };
        let tasks = (0..2).map(|_| owned.spawn(|_| ())).collect();
        // When this is polled, the worker has finished with those.
        block_on(pool.spawn(async {})).expect("it's polled");
        Self { pool, owned, tasks }
    }
}

/// The pool has been dropped, so all tasks have ended.
#[track_caller]
fn assert_ended(tasks: Vec<(JoinHandle<()>, DropLog)>, when: &str) {
    for (task, log) in tasks {
        let drops = log.count();
        assert!(drops == 1, "{when}, and a future was dropped {drops} times");
        let is_cancelled = block_on(task).is_err_and(|it| it.is_cancelled());
        assert!(
            is_cancelled,
            "{when}, and a handle doesn't say that its task was cancelled"
        );
    }
}

/// Ends [`POOLS`] pools, and then expects to find the memory as it was.
#[track_caller]
fn end_all(when: &str, mut end_one: impl FnMut()) {
    // A leak is there each time. What std allocates for a thread that waits for
    // the first time is not.
    for is_last in [false, false, true] {
        let before = live_blocks();
        (0..POOLS).for_each(|_| end_one());
        let begun = Instant::now();
        // A worker that dropped its own pool may still be on its way out.
        while is_last
            && live_blocks() - before >= POOLS
            && begun.elapsed() < PATIENCE
        {
            thread::sleep(Duration::from_millis(1));
        }
        let left = live_blocks() - before;
        if left < POOLS {
            return;
        }
        assert!(
            !is_last,
            "{when}. All is dropped, and of {POOLS} such pools {left} blocks of memory are left"
        );
    }
}

/// Clause 8: one future may own the sender of the channel that another waits for.
#[test]
fn a_task_that_a_destructor_wakes_as_the_pool_ends_leaves_no_memory_behind() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "If destructors of futures wake tasks and spawn as their pool is dropped, all tasks \
                  are still cancelled, and none of their memory is left.",
        usual_cause: "The end empties the queue, and then cancels one task after the other. The \
                      destructor of one wakes another that isn't cancelled yet, and this wake-up \
                      puts it into the queue that was just emptied. Nothing takes it out, and the \
                      queue and the task keep each other. Under the lock of the queue, a wake-up \
                      has to check whether the pool has ended, as spawning does.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        drop(Scene::new(true));
        for (is_polled, from_within, when) in [
            (
                false,
                false,
                "two futures wake both tasks when they're dropped",
            ),
            (
                true,
                false,
                "a future that is polled as its pool ends wakes all",
            ),
            (
                false,
                true,
                "a task drops its own pool, and the futures wake all",
            ),
        ] {
            end_all(when, || {
                let Scene {
                    pool,
                    owned,
                    mut tasks,
                } = Scene::new(true);
                let opener = Opener::new();
                let (begin, begun) = mpsc::channel();
                let gate = opener.gate();
                let (give, given) = mpsc::channel::<Pool>();
                if is_polled || from_within {
                    tasks.push(owned.spawn(move |_| {
                        let _ = begin.send(());
                        if from_within {
                            drop(given.recv());
                        }
                        gate.wait();
                    }));
                    begun.recv().expect("it is polled");
                }
                // Only the tasks are left to own the wakers.
                drop(owned);
                if from_within {
                    drop(opener);
                    give.send(pool).expect("the task waits for it");
                    for (task, _) in tasks {
                        assert!(block_on(task).is_err(), "it was cancelled");
                    }
                    return;
                }
                let opening = opener.open_once_asleep();
                drop(pool);
                opening.join().expect("opening does not panic");
                assert_ended(tasks, when);
            });
        }
    });
}

/// What comes from another thread as the pool ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comes {
    WakeUps,
    Spawn,
    /// The end of a poll that has woken all tasks, its own among them.
    EndOfPoll,
}

/// Clause 11: the pool has ended for one thread, and not yet for another.
#[test]
fn what_comes_at_any_moment_of_the_end_ends_with_the_pool() {
    let lesson = Lesson {
        clause: "11. Shutdown",
        promise: "Tasks are woken or spawned, or a poll ends, at any moment at which a pool is being \
                  dropped. All tasks are cancelled, and none of their memory is left.",
        usual_cause: "The queue is emptied in one step and closed in another, and a task comes in \
                      between. Or the queue is emptied last instead of being closed: a thread \
                      that had a task to put into it comes even later. Set the flag that the \
                      pool has ended and take the queue and the list in one critical section, and \
                      check the flag in the one in which a task is put into either.",
        read: "scheduler/one-queue.html#the-end-of-the-pool",
    };
    check(lesson, || {
        drop(Scene::new(false));
        for comes in [Comes::WakeUps, Comes::Spawn, Comes::EndOfPoll] {
            let what = match comes {
                Comes::WakeUps => "another thread woke the tasks",
                Comes::Spawn => "another thread spawned",
                Comes::EndOfPoll => "a poll that had woken all tasks ended",
            };
            for moment in 0..MOST {
                let when =
                    format!("before step {moment} of a pool's drop, {what}");
                let mut is_reached = false;
                end_all(&when, || {
                    is_reached = come_during_drop(moment, comes, &when)
                });
                if !is_reached {
                    break;
                }
            }
        }
        for spawns in [false, true] {
            let what = if spawns { "spawn" } else { "wake-up" };
            for moment in 0..MOST {
                let when = format!(
                    "a pool was dropped before step {moment} of a {what}"
                );
                let mut is_reached = false;
                end_all(&when, || {
                    is_reached = drop_during_call(moment, spawns, &when)
                });
                if !is_reached {
                    break;
                }
            }
        }
    });
}

/// Returns whether the drop has so many operations.
fn come_during_drop(moment: usize, comes: Comes, when: &str) -> bool {
    let Scene {
        pool,
        owned,
        mut tasks,
    } = Scene::new(false);
    let (opener, progress) = (Opener::new(), Arc::new(AtomicUsize::new(0)));
    let (gate, (begin, begun)) = (opener.gate(), mpsc::channel());
    let wakers = owned.wakers.clone();
    // The worker is in a poll, so it takes nothing from the queue before the end.
    tasks.push(owned.spawn(move |_| {
        let _ = begin.send(ThreadProbe::here());
        gate.wait();
        if comes == Comes::EndOfPoll {
            wake_all(&wakers);
        }
    }));
    let worker = begun.recv().expect("it is polled");
    let (gate, happening) = (opener.gate(), progress.clone());
    let opening = open_at_the_end(opener, progress);
    let (send, others) = mpsc::channel();
    let happens = move || {
        happening.store(HAPPENS, SeqCst);
        match comes {
            Comes::WakeUps => {
                let wake = move || {
                    wake_all(&owned.wakers);
                    None
                };
                let _ = send.send(start_elsewhere(wake));
            }
            Comes::Spawn => {
                let spawn = move || Some(owned.spawn(|_| ()));
                let _ = send.send(start_elsewhere(spawn));
            }
            Comes::EndOfPoll => {
                gate.open();
                worker.wait_until_asleep();
            }
        }
        happening.store(HAS_HAPPENED, SeqCst);
    };
    let ((), is_reached) = at_moment(moment, happens, || drop(pool));
    for thread in others.try_iter() {
        tasks.extend(thread.join().expect("waking and spawning don't panic"));
    }
    opening.join().expect("opening doesn't panic");
    assert_ended(tasks, when);
    is_reached
}

const HAPPENS: usize = 1;
const HAS_HAPPENED: usize = 2;

/// Opens the gate once the calling thread sleeps, but not because of what happens meanwhile: then
/// it waits for the worker's poll.
fn open_at_the_end(
    opener: Opener,
    progress: Arc<AtomicUsize>,
) -> thread::JoinHandle<()> {
    let sleeper = ThreadProbe::here();
    thread::spawn(move || {
        loop {
            let before = progress.load(SeqCst);
            sleeper.wait_until_asleep();
            if before != HAPPENS && progress.load(SeqCst) == before {
                return drop(opener);
            }
        }
    })
}

/// Returns whether the call has so many operations.
fn drop_during_call(moment: usize, spawns: bool, when: &str) -> bool {
    let Scene {
        pool,
        owned,
        mut tasks,
    } = Scene::new(false);
    let (send, others) = mpsc::channel();
    let happens = move || {
        let _ = send.send(start_elsewhere(move || drop(pool)));
    };
    let call = || match spawns {
        true => tasks.push(owned.spawn(|_| ())),
        false => wake_all(&owned.wakers),
    };
    let ((), is_reached) = at_moment(moment, happens, call);
    for thread in others.try_iter() {
        thread.join().expect("dropping a pool doesn't panic");
    }
    drop(owned);
    assert_ended(tasks, when);
    is_reached
}
