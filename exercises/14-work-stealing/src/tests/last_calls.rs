//! Clause 16: a runtime ends at each moment of a call of another thread, and another
//! thread makes a call at each moment of a worker's end.

use std::fmt;

use primitives::chaos::at_moment;
use testkit::{CountingWaker, Partner, WakeCounts};

use super::*;

/// What a thread that isn't the runtime's does as the runtime ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Spawns,
    SpawnsAJob,
    Wakes,
    DropsTheWaker,
    Aborts,
    DropsTheHandle,
    PollsTheHandle,
}

use Call::*;

const CALLS: [Call; 7] = [
    Spawns,
    SpawnsAJob,
    Wakes,
    DropsTheWaker,
    Aborts,
    DropsTheHandle,
    PollsTheHandle,
];

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Spawns => "spawned a task",
            SpawnsAJob => "spawned a blocking job",
            Wakes => "woke a task",
            DropsTheWaker => "dropped a task's only waker",
            Aborts => "aborted a task",
            DropsTheHandle => "dropped a task's handle",
            PollsTheHandle => "polled a task's handle",
        })
    }
}

/// A runtime that's about to end, and a task that waits.
struct Ending {
    runtime: Runtime,
    guest: Guest,
}

/// What a thread needs that isn't the runtime's, and what it has made.
struct Guest {
    handle: Handle,
    task: Option<JoinHandle<()>>,
    waker: Option<Waker>,
    wakes: Option<Arc<WakeCounts>>,
    spawned: Option<JoinHandle<()>>,
    job: Option<JobIsRight>,
    made: usize,
    dropped: Arc<AtomicUsize>,
}

impl Ending {
    fn new() -> Self {
        let builder = &mut Runtime::builder();
        let builder = builder.worker_threads(1).max_blocking_threads(1);
        let runtime = endless(builder.build()).into_inner();
        let dropped = Arc::new(AtomicUsize::new(0));
        let probe = Dropped(dropped.clone());
        let (polled, is_polled) = mpsc::channel();
        let task = runtime.spawn(async move {
            let _probe = probe;
            poll_fn(|cx| {
                let _ = polled.send(cx.waker().clone());
                Poll::<()>::Pending
            })
            .await;
        });
        let waker = is_polled.recv().ok();
        // Afterward, the poll is over.
        drop(BusyWorker::new(&runtime.handle()));
        let guest = Guest {
            handle: runtime.handle(),
            task: Some(task),
            waker,
            wakes: None,
            spawned: None,
            job: None,
            made: 1,
            dropped,
        };
        Self { runtime, guest }
    }
}

impl Guest {
    fn make(&mut self, call: Call) {
        match call {
            Spawns => {
                let probe = Dropped(self.dropped.clone());
                self.made += 1;
                self.spawned = Some(self.handle.spawn(async move {
                    let _probe = probe;
                    pending::<()>().await;
                }));
            }
            SpawnsAJob => {
                let probe = Dropped(self.dropped.clone());
                self.made += 1;
                let job = self.handle.spawn_blocking(|| drop(probe));
                self.job = Some(Box::pin(async {
                    job.await.err().is_none_or(|it| it.is_cancelled())
                }));
            }
            Wakes => self.waker.take().expect("there is one").wake(),
            DropsTheWaker => drop(self.waker.take()),
            Aborts => self.task.as_ref().expect("there is one").abort(),
            DropsTheHandle => drop(self.task.take()),
            PollsTheHandle => {
                let (waker, wakes) = CountingWaker::new();
                let mut cx = Context::from_waker(&waker);
                let task = self.task.as_mut().expect("there is one");
                match Pin::new(task).poll(&mut cx) {
                    Poll::Ready(_) => self.task = None,
                    Poll::Pending => self.wakes = Some(wakes),
                }
            }
        }
    }

    /// Asserts that all is over: the drop has returned, and so has the call.
    fn assert_over(self, when: &str) {
        let dropped = self.dropped.load(SeqCst);
        assert!(
            dropped == self.made,
            "{when}: {dropped} of {} futures and jobs were dropped",
            self.made
        );
        if let Some(wakes) = self.wakes {
            assert!(wakes.wakes() > 0, "{when}: its waker wasn't woken");
        }
        let mut cx = Context::from_waker(Waker::noop());
        for mut task in self.task.into_iter().chain(self.spawned) {
            let is_right = match Pin::new(&mut task).poll(&mut cx) {
                Poll::Ready(Err(error)) => error.is_cancelled(),
                _ => false,
            };
            assert!(
                is_right,
                "{when}: the task's handle doesn't say that it was cancelled"
            );
        }
        if let Some(mut job) = self.job {
            let is_right = job.as_mut().poll(&mut cx) == Poll::Ready(true);
            assert!(
                is_right,
                "{when}: the job's handle doesn't say that it's over"
            );
        }
    }
}

/// Clause 16: a call that's interrupted goes on when all is over.
#[test]
fn a_runtime_may_end_at_any_moment_of_a_call() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "Another thread drops the runtime at any moment of a call: a spawn, a wake-up, an \
                  abort, or a poll or the drop of a handle. Once both are over, all futures are \
                  dropped, and all handles say so.",
        usual_cause: "A task is queued after the last look into the queue: look again whether the \
                      runtime has ended, after the push. At a hang: the drop waits for a task \
                      that is in no queue.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        let partner = Arc::new(Partner::new());
        for call in CALLS {
            let mut moment = 0;
            while partner.may_go_on() && end_at(moment, call, &partner) {
                moment += 1;
            }
        }
    });
}

/// Has the runtime end at this moment of the call. Returns `false` if the call
/// was over before.
fn end_at(moment: usize, call: Call, partner: &Arc<Partner>) -> bool {
    let Ending { runtime, mut guest } = Ending::new();
    let (give, given) = mpsc::channel();
    let partner = partner.clone();
    let happens = move || {
        let ended = partner.call(move || drop(runtime));
        give.send(ended).expect("it's received");
    };
    let ((), is_reached) = at_moment(moment, happens, || guest.make(call));
    if is_reached {
        let ended = given.recv().expect("it's sent");
        ended.recv().expect("the drop doesn't panic");
        guest.assert_over(&format!(
            "a thread {call}, and meanwhile another one dropped the runtime"
        ));
    }
    is_reached
}

/// Clause 16: what comes between two steps of the end.
#[test]
fn a_call_may_come_at_any_moment_of_the_end() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "At any moment between a worker's last poll and its end, another thread makes a \
                  call: a spawn, a wake-up, an abort, or a poll or the drop of a handle. When the \
                  runtime has been dropped, so have been all futures, and all handles say so.",
        usual_cause: "The worker looks into the queue for the last time, and after that a task comes \
                      that no thread will look for: the thread that queues a task has to look \
                      whether the runtime has ended, after the push, and the list of tasks must be \
                      closed before the last look. At a hang: the drop waits for that task.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        let partner = Arc::new(Partner::new());
        for call in CALLS {
            let mut moment = 0;
            while partner.may_go_on() && call_at(moment, call, &partner) {
                moment += 1;
            }
        }
    });
}

/// Has another thread make the call at this moment of the worker's end. Returns
/// `false` if the worker had ended before.
fn call_at(moment: usize, call: Call, partner: &Arc<Partner>) -> bool {
    let Ending { runtime, mut guest } = Ending::new();
    let (give, given) = mpsc::channel();
    let (partner, waiting) = (partner.clone(), ThreadProbe::here());
    let worker = BusyWorker::new(&guest.handle);
    worker.begin(move || {
        // The poll ends once the drop waits for that.
        while waiting.is_asleep() == Some(false) {
            thread::sleep(Duration::from_micros(20));
        }
        plan_moment(moment, move || {
            let make = move || {
                guest.make(call);
                guest
            };
            give.send(partner.call(make)).expect("it's received");
        });
    });
    drop(worker);
    drop(runtime);
    let Ok(made) = given.recv() else {
        return false;
    };
    let guest = made.recv().expect("the call doesn't panic");
    guest.assert_over(&format!(
        "a runtime was dropped, and meanwhile another thread {call}"
    ));
    true
}
