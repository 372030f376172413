//! The checks of exercise 6, one or more for each clause of the contract.
#![allow(
    clippy::drop_non_drop,
    reason = "the types of the stub own nothing yet"
)]

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use parker::block_on;
use sync::chaos::with_chaos;
use testkit::{
    DropProbe, Gate, HostileWaker, Lesson, Opener, PanicOnDrop, ThreadProbe,
    check, idle_cost, log_of_this_threads_end, without_new_threads,
};

use super::{JoinHandle, Pool, spawn_rayon};

/// Decides what happens under chaos.
const SEED: u64 = 6;
/// Longer than any check may last.
const HOUR: Duration = Duration::from_secs(3_600);
/// Long enough for threads to do what they must not.
const MOMENT: Duration = Duration::from_millis(30);
/// For so long a check repeats what only luck can show. On a machine that is
/// busy with other things it is content with fewer rounds.
const LUCK: Duration = Duration::from_secs(2);
/// How often a check looks, a millisecond apart, for what must come. Looks
/// are counted and not time: a check that gets no CPU looks no more either.
const LOOKS: u32 = 2_000;

/// A job that waits until the gate is open.
fn waiting_job(opener: &Opener) -> impl FnOnce() + Send + 'static {
    let gate = opener.gate();
    move || gate.wait()
}

/// Keeps one thread of the pool busy until the gate opens. Returns once it is.
fn hold(pool: &Pool, opener: &Opener) -> JoinHandle<()> {
    let begun = Arc::new(Gate::new());
    let (tell, wait) = (begun.clone(), waiting_job(opener));
    let held = pool.spawn_blocking(move || {
        tell.open();
        wait();
    });
    begun.wait();
    held
}

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..LOOKS {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("after {LOOKS} looks, 1 ms apart, {what}");
}

/// Runs so many jobs that all wait for each other.
fn run_together<T: Send + 'static>(
    pool: &Pool,
    count: usize,
    last: fn() -> T,
) -> Vec<T> {
    let meeting = Arc::new(Barrier::new(count));
    let jobs = (0..count).map(|_| {
        let meeting = meeting.clone();
        pool.spawn_blocking(move || {
            meeting.wait();
            last()
        })
    });
    results(jobs.collect())
}

fn results<T>(jobs: Vec<JoinHandle<T>>) -> Vec<T> {
    let result = |job: JoinHandle<T>| block_on(job).expect("the job returns");
    jobs.into_iter().map(result).collect()
}

/// Clause 1: the thread that submits runs other tasks, too.
#[test]
fn spawning_and_polling_wait_for_no_job() {
    let lesson = Lesson {
        clause: "1. Never blocks",
        promise: "While a job runs, `spawn_blocking` and a poll of a handle return at once.",
        usual_cause: "The queue has a fixed length, the lock is held while a job runs, or `poll` \
                      waits for the result instead of storing the waker.",
        read: "blocking/spawn-blocking.html#what-the-async-side-may-do",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let held = hold(&pool, &opener);
        let mut jobs: Vec<_> =
            (0..300).map(|n| pool.spawn_blocking(move || n)).collect();
        let mut nobody = Context::from_waker(Waker::noop());
        for job in &mut jobs {
            let poll = Pin::new(job).poll(&mut nobody);
            assert!(poll.is_pending(), "a job ended before the one before it");
        }
        drop(opener);
        block_on(held).expect("the job returns");
        assert!(results(jobs).into_iter().eq(0..300), "results got mixed up");
    });
}

/// Clause 1: a pool that is full may be tempted to let its caller do the work.
#[test]
fn no_job_runs_on_the_thread_that_submits_it() {
    let lesson = Lesson {
        clause: "1. Never blocks",
        promise: "All jobs run on threads of the pool, also when all of those are busy.",
        usual_cause: "Where the pool is full, or has no thread yet, the job is run at once by the \
                      caller.",
        read: "blocking/spawn-blocking.html#what-the-async-side-may-do",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let held = hold(&pool, &opener);
        let here = || thread::current().id();
        let jobs = (0..20).map(|_| pool.spawn_blocking(here)).collect();
        drop(opener);
        block_on(held).expect("the job returns");
        let own = results(jobs).into_iter().filter(|id| *id == here());
        let own_count = own.count();
        assert!(own_count == 0, "the submitter ran {own_count} of 20 jobs");
    });
}

/// Clause 2: each thread costs memory, and disks and CPUs are swamped soon.
#[test]
fn no_more_jobs_run_than_the_cap_allows() {
    let lesson = Lesson {
        clause: "2. Cap",
        promise: "Of many jobs that wait, only as many have begun as the cap says.",
        usual_cause: "A thread is started for each job for which none is idle, without a look at \
                      how many there are.",
        read: "blocking/spawn-blocking.html#how-many-threads",
    };
    const CAP: usize = 3;
    check(lesson, || {
        let pool = Pool::new(CAP, HOUR);
        let opener = Opener::new();
        let begun = Arc::new(AtomicUsize::new(0));
        let jobs = (0..4 * CAP).map(|_| {
            let (begun, wait) = (begun.clone(), waiting_job(&opener));
            pool.spawn_blocking(move || {
                begun.fetch_add(1, SeqCst);
                wait();
            })
        });
        let jobs = jobs.collect();
        thread::sleep(MOMENT);
        let begun = begun.load(SeqCst);
        assert!(
            begun <= CAP,
            "the cap is {CAP}, and {begun} jobs have begun"
        );
        drop(opener);
        results(jobs);
    });
}

/// Clause 2: two submitters may each see room for one more thread.
#[test]
fn several_submitters_keep_to_the_cap() {
    let lesson = Lesson {
        clause: "2. Cap",
        promise: "However many threads submit at once, the cap holds.",
        usual_cause: "The look at the number of threads and the change of it are two steps: both \
                      belong under one lock.",
        read: "blocking/spawn-blocking.html#how-many-threads",
    };
    const CAP: usize = 1;
    const SUBMITTERS: usize = 4;
    // So long a job takes that a thread too many comes to run another one.
    const HOLD: Duration = Duration::from_micros(500);
    check(lesson, || {
        let begun = Instant::now();
        for _ in (0..50).take_while(|_| begun.elapsed() < LUCK) {
            let pool = Arc::new(Pool::new(CAP, HOUR));
            let start = Arc::new(Barrier::new(SUBMITTERS));
            let submit = || {
                let (pool, start) = (pool.clone(), start.clone());
                thread::spawn(move || {
                    start.wait();
                    let job = pool.spawn_blocking(|| {
                        thread::sleep(HOLD);
                        thread::current().id()
                    });
                    block_on(job).expect("the job returns")
                })
            };
            let ids = with_chaos(SEED, || {
                let threads = [(); SUBMITTERS].map(|()| submit());
                threads.map(|thread| thread.join().expect("it ends"))
            });
            // As long as none has left, so many jobs run at most.
            let count = HashSet::from(ids).len();
            assert!(
                count <= CAP,
                "the cap is {CAP}, and {count} threads have run jobs"
            );
        }
    });
}

/// Clause 3: jobs that wait do not use the CPU, so more of them should run.
#[test]
fn as_many_jobs_as_the_cap_run_together() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "As many jobs as the cap allows run at once, first and later.",
        usual_cause: "Only one thread is started or woken; or whoever was woken for many jobs does \
                      not send for the next; or the lock is held while a job runs.",
        read: "blocking/spawn-blocking.html#how-many-threads",
    };
    const CAP: usize = 4;
    check(lesson, || {
        let pool = Pool::new(CAP, HOUR);
        for _ in 0..10 {
            let probes = run_together(&pool, CAP, ThreadProbe::here);
            run_together(&pool, CAP, || ());
            probes.iter().for_each(ThreadProbe::wait_until_asleep);
        }
    });
}

/// Clause 3: a thread that was woken for one job is not there for the next.
#[test]
fn an_idle_thread_is_counted_on_once() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "Of two jobs that come quickly one gets the idle thread, and the other a new one.",
        usual_cause: "A thread that was notified still counts as idle until it has woken up.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    check(lesson, || {
        let start = Instant::now();
        for _ in (0..20).take_while(|_| start.elapsed() < LUCK) {
            let pool = Pool::new(2, HOUR);
            let [probe] = &run_together(&pool, 1, ThreadProbe::here)[..] else {
                unreachable!("one job has one result")
            };
            probe.wait_until_asleep();
            run_together(&pool, 2, || ());
        }
    });
}

/// Clause 4: else a job may wait for ever while younger ones pass it.
#[test]
fn jobs_are_begun_in_the_order_of_submission() {
    let lesson = Lesson {
        clause: "4. Order",
        promise: "With one thread, jobs run in the order in which they were submitted.",
        usual_cause: "The queue is a stack: the job that came last is taken first.",
        read: "blocking/spawn-blocking.html#what-the-async-side-may-do",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        drop(hold(&pool, &opener));
        let order = Arc::new(Mutex::new(Vec::new()));
        let jobs = (0..100).map(|number| {
            let order = order.clone();
            pool.spawn_blocking(move || order.lock().unwrap().push(number))
        });
        let jobs = jobs.collect();
        drop(opener);
        results(jobs);
        let order = order.lock().unwrap();
        assert!(order.iter().copied().eq(0..100), "the order was {order:?}");
    });
}

/// Clause 5: the thread wakes up by the clock as the job comes.
#[test]
fn no_job_is_lost_as_a_thread_leaves() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "A job that comes as a thread leaves is run, by that thread or by another.",
        usual_cause: "The thread leaves when its time is up, without another look at the queue; or \
                      it still counts as one that can be woken.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    const KEEP_ALIVE: Duration = Duration::from_micros(60);
    check(lesson, || {
        submit_as_the_thread_leaves(Duration::ZERO, 150);
        submit_as_the_thread_leaves(KEEP_ALIVE, 300);
        with_chaos(SEED, || {
            submit_as_the_thread_leaves(Duration::ZERO, 150);
            submit_as_the_thread_leaves(KEEP_ALIVE, 300);
        });
    });
}

/// Submits a job each time the only thread is about to leave.
fn submit_as_the_thread_leaves(keep_alive: Duration, count: u32) {
    const STEP: Duration = Duration::from_micros(1);
    let pool = Pool::new(1, keep_alive);
    let mut pause = keep_alive;
    let mut last: Option<ThreadId> = None;
    let begun = Instant::now();
    for _ in (0..count).take_while(|_| begun.elapsed() < LUCK) {
        let job = pool.spawn_blocking(|| thread::current().id());
        let id = block_on(job).expect("the job returns");
        // Closes in on the moment at which the thread gives up.
        pause = match last.replace(id) == Some(id) {
            true => pause + STEP,
            false => pause.saturating_sub(STEP),
        };
        let start = Instant::now();
        while start.elapsed() < pause {}
    }
}

/// Clause 5: a job that needs another one is a job of its own.
#[test]
fn a_job_may_submit_another() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "A job submits another one and goes on; the other one runs, even with one thread.",
        usual_cause: "The lock is held while a job runs, or a job that was submitted on a thread of \
                      the pool is run on the spot.",
        read: "blocking/spawn-blocking.html#what-the-async-side-may-do",
    };
    check(lesson, || {
        let pool = Arc::new(Pool::new(1, HOUR));
        let submitter = pool.clone();
        let outer = pool.spawn_blocking(move || {
            let opener = Opener::new();
            submitter.spawn_blocking(waiting_job(&opener))
        });
        let inner = block_on(outer).expect("the outer job returns");
        block_on(inner).expect("the inner job returns");
    });
}

/// Clause 5: to log something, nobody waits for it.
#[test]
fn a_job_without_a_handle_runs() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "A job whose handle is dropped runs all the same, and its result is dropped once.",
        usual_cause: "Dropping the handle cancels the job, or the thread panics when nobody wants \
                      the result.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let held = hold(&pool, &opener);
        let (tell, told) = mpsc::channel();
        let (early, early_log) = DropProbe::new();
        drop(pool.spawn_blocking(move || {
            let _ = tell.send(());
            early
        }));
        drop(opener);
        block_on(held).expect("the job returns");
        assert!(told.recv().is_ok(), "the job was dropped and has not run");
        let (late, late_log) = DropProbe::new();
        let ended = pool.spawn_blocking(move || late);
        block_on(pool.spawn_blocking(|| ())).expect("the job returns");
        assert!(late_log.count() == 0, "its handle may still want it");
        drop(ended);
        drop(pool);
        let counts = (early_log.count(), late_log.count());
        assert!(
            counts == (1, 1),
            "the results were dropped {counts:?} times"
        );
    });
}

/// Clause 6: whatever the result is, and whenever the handle is polled.
#[test]
fn a_handle_gives_what_the_job_returned() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A handle is ready with the result, also if the job ended before the first poll.",
        usual_cause: "The result is given only to a waker that is already there.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(2, HOUR);
        let text = "text".to_owned();
        let text = pool.spawn_blocking(move || text + " and more");
        let cell = pool.spawn_blocking(|| Cell::new([7_u8; 500]));
        run_together(&pool, 2, || ());
        let moved = thread::spawn(move || block_on(text).expect("it returns"));
        let text = moved.join().expect("awaiting does not panic");
        assert!(text == "text and more", "the result was {text:?}");
        let cell = block_on(cell).expect("the job returns");
        assert!(cell.get() == [7; 500], "the result was {:?}", cell.get());
    });
}

/// Clause 6: between two polls a future may have moved to another task.
#[test]
fn the_waker_of_the_last_poll_is_woken() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A handle that is polled by two tasks, one after the other, wakes the second.",
        usual_cause: "A waker is stored only where there is none yet.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let mut nobody = Context::from_waker(Waker::noop());
        let poll = Pin::new(&mut held).poll(&mut nobody);
        assert!(poll.is_pending(), "it is ready, and its job waits still");
        let opening = opener.open_once_asleep();
        block_on(held).expect("the job returns");
        opening.join().expect("opening does not panic");
    });
}

/// Clause 6: no single run can hit the moment between the look for the result
/// and the storing of the waker. Many runs may; the model does.
#[test]
fn thousands_of_results_reach_those_who_await_them() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "However a job's end and a poll of its handle meet, the result arrives.",
        usual_cause: "The look for the result and the storing of the waker are two steps: do both \
                      under one lock.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(2, HOUR);
        let run = |count| {
            let begun = Instant::now();
            for number in (0..count).take_while(|_| begun.elapsed() < LUCK) {
                let job = pool.spawn_blocking(move || number);
                let result = block_on(job).expect("the job returns");
                assert!(result == number, "job {number} gave {result}");
            }
        };
        run(1_500);
        with_chaos(SEED, || run(1_000));
    });
}

/// Clause 7: whoever awaits the job must learn that it failed.
#[test]
fn a_panic_reaches_the_handle() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A job that panics makes its handle ready, with an error that carries the panic.",
        usual_cause: "The panic unwinds past the line that hands over the result: `catch_unwind`.",
        read: "blocking/spawn-blocking.html#a-job-that-panics",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        assert_is_boom(pool.spawn_blocking(|| -> u32 { panic!("boom") }));
    });
}

#[track_caller]
fn assert_is_boom(job: JoinHandle<u32>) {
    let error = block_on(job).expect_err("a job that panicked has no result");
    let is = (error.is_panic(), error.is_cancelled());
    assert!(is == (true, false), "(is_panic, is_cancelled) is {is:?}");
    assert!(!error.to_string().is_empty(), "the error says nothing");
    let payload = error.into_panic();
    let text = payload.downcast_ref::<&str>();
    assert!(text == Some(&"boom"), "the panic is another: {text:?}");
}

/// Clause 7: else the pool shrinks to nothing, one panic at a time.
#[test]
fn panics_cost_no_thread() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "After many jobs have panicked, as many run together as before.",
        usual_cause: "A panic ends the thread and nobody counts it off, or it poisons the lock.",
        read: "blocking/spawn-blocking.html#a-job-that-panics",
    };
    const CAP: usize = 3;
    check(lesson, || {
        let pool = Pool::new(CAP, HOUR);
        for _ in 0..CAP * 4 {
            drop(pool.spawn_blocking(|| panic!("boom")));
        }
        run_together(&pool, CAP, || ());
    });
}

/// Clause 7: the job is over, but not all that its thread does for it.
#[test]
fn what_panics_after_the_job_costs_no_thread() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A thread survives a waker that panics, and a result that panics when dropped.",
        usual_cause: "Only the job itself is in `catch_unwind`, and not what comes after it.",
        read: "blocking/spawn-blocking.html#a-job-that-panics",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let waker = HostileWaker::panicking();
        let mut hostile = Context::from_waker(&waker);
        let poll = Pin::new(&mut held).poll(&mut hostile);
        assert!(poll.is_pending(), "it is ready, and its job waits still");
        drop(pool.spawn_blocking(|| PanicOnDrop));
        drop(opener);
        block_on(pool.spawn_blocking(|| ())).expect("the job returns");
    });
}

/// How long the idle check watches, and what a sleeping thread may cost in
/// that time.
const IDLE_WINDOW: Duration = Duration::from_millis(200);
const IDLE_CPU: Duration = Duration::from_millis(5);
const IDLE_SLEEPS: u64 = 20;

/// Clause 8: a pool is idle most of its life.
#[test]
fn an_idle_thread_sleeps() {
    let lesson = Lesson {
        clause: "8. Idle",
        promise: "A thread without a job costs no CPU time.",
        usual_cause: "It looks for jobs again and again, by a short time-out or in a loop.",
        read: "blocking/spawn-blocking.html#looking-around-before-the-sleep",
    };
    check(lesson, || {
        let pool = Pool::new(2, HOUR);
        for probe in run_together(&pool, 2, ThreadProbe::here) {
            probe.wait_until_asleep();
            let Some(cost) = idle_cost(&probe, IDLE_WINDOW / 2) else {
                return;
            };
            let (cpu, sleeps) = (cost.cpu, cost.sleeps);
            assert!(
                cpu < IDLE_CPU && sleeps < IDLE_SLEEPS,
                "in {:?} without a job the thread woke up {sleeps} times and \
                 used {cpu:.0?} of CPU time",
                IDLE_WINDOW / 2
            );
        }
    });
}

/// Clause 9: after a burst a pool should become small again.
#[test]
fn idle_threads_leave() {
    let lesson = Lesson {
        clause: "9. Keep-alive",
        promise: "All threads that have had no job for the keep-alive end.",
        usual_cause: "The thread waits without a time-out, or looks at the time-out but sleeps on.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    const CAP: usize = 3;
    const KEEP_ALIVE: Duration = Duration::from_millis(10);
    check(lesson, || {
        let pool = Pool::new(CAP, KEEP_ALIVE);
        let ends = run_together(&pool, CAP, log_of_this_threads_end);
        let what =
            format!("not all threads have left, idle for {KEEP_ALIVE:?}");
        wait_until(&what, || ends.iter().all(|end| end.count() == 1));
        drop(pool);
    });
}

/// Clause 9: a pool that has become small must be able to grow.
#[test]
fn a_job_after_the_last_thread_left_starts_one() {
    let lesson = Lesson {
        clause: "9. Keep-alive",
        promise: "When all threads have left, the next jobs start as many as they need.",
        usual_cause: "The thread that leaves is not counted off, so the pool looks full.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    const CAP: usize = 2;
    check(lesson, || {
        let pool = Pool::new(CAP, Duration::from_millis(1));
        for _ in 0..3 {
            let ends = run_together(&pool, CAP, log_of_this_threads_end);
            wait_until("the threads have not left, idle for 1 ms", || {
                ends.iter().all(|end| end.count() == 1)
            });
        }
    });
}

/// Clause 9: to start a thread costs more than most jobs.
#[test]
fn a_thread_serves_many_jobs() {
    let lesson = Lesson {
        clause: "9. Keep-alive",
        promise: "Before its keep-alive is over an idle thread takes the next job.",
        usual_cause: "Each job has a thread of its own, or a thread ends as soon as there is no job.",
        read: "blocking/spawn-blocking.html#how-many-threads",
    };
    const CAP: usize = 2;
    check(lesson, || {
        let pool = Pool::new(CAP, HOUR);
        let ids = (0..30).map(|_| {
            let job = pool.spawn_blocking(|| thread::current().id());
            block_on(job).expect("the job returns")
        });
        let count = ids.collect::<HashSet<_>>().len();
        assert!(
            count <= CAP,
            "{count} threads ran 30 jobs, one after the other"
        );
    });
}

/// Clause 9: nobody should need to know which durations are too long.
#[test]
fn any_keep_alive_will_do() {
    let lesson = Lesson {
        clause: "9. Keep-alive",
        promise: "`Duration::ZERO` and `Duration::MAX` are keep-alives like any other.",
        usual_cause: "`Instant::now() + keep_alive` overflows, and the thread dies of it.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    check(lesson, || {
        for keep_alive in [Duration::ZERO, Duration::MAX] {
            let pool = Pool::new(1, keep_alive);
            for _ in 0..3 {
                let probe = block_on(pool.spawn_blocking(ThreadProbe::here));
                probe.expect("the job returns").wait_until_asleep();
            }
        }
    });
}

/// Clause 10: what was submitted has been promised.
#[test]
fn dropping_the_pool_runs_what_is_in_the_queue() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "When the pool has been dropped, all its jobs have run, and their handles are ready.",
        usual_cause: "A thread that sees the pool shut down ends before the queue is empty, or the \
                      queue is cleared.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    const JOBS: usize = 20;
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        drop(hold(&pool, &opener));
        let ran = Arc::new(AtomicUsize::new(0));
        let jobs = (0..JOBS).map(|_| {
            let ran = ran.clone();
            pool.spawn_blocking(move || ran.fetch_add(1, SeqCst))
        });
        let jobs: Vec<_> = jobs.collect();
        let opening = opener.open_once_asleep();
        drop(pool);
        let ran = ran.load(SeqCst);
        assert!(ran == JOBS, "of {JOBS} jobs {ran} have run");
        results(jobs);
        opening.join().expect("opening does not panic");
    });
}

/// Clause 10: what a thread keeps must not outlive the pool.
#[test]
fn dropping_the_pool_waits_for_its_threads() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "When the pool has been dropped, its threads have ended.",
        usual_cause: "The threads are told to end, and nobody joins them.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    const CAP: usize = 3;
    check(lesson, || {
        for _ in 0..15 {
            let pool = Pool::new(CAP, HOUR);
            let ends = run_together(&pool, CAP, log_of_this_threads_end);
            drop(pool);
            let count = ends.iter().filter(|end| end.count() == 1).count();
            assert!(count == CAP, "of {CAP} threads {count} have ended");
        }
    });
}

/// Is dropped as its thread ends, and holds it up until a gate opens.
struct HeldEnd {
    begun: Arc<Gate>,
    hold: Arc<Gate>,
    _probe: DropProbe,
}

impl Drop for HeldEnd {
    fn drop(&mut self) {
        self.begun.open();
        self.hold.wait();
    }
}

thread_local! {
    static HELD_END: RefCell<Option<HeldEnd>> = const { RefCell::new(None) };
}

/// Clause 10: a thread that has left may still be at its end.
#[test]
fn dropping_the_pool_waits_for_a_thread_that_leaves() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A thread that has left after its keep-alive has ended, too, when the pool has been \
                  dropped.",
        usual_cause: "A thread that leaves takes its handle along, and then nobody can join it.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    const CAP: usize = 3;
    check(lesson, || {
        let pool = Pool::new(1, Duration::ZERO);
        let (begun, opener) = (Arc::new(Gate::new()), Opener::new());
        let (probe, log) = DropProbe::new();
        let end = HeldEnd {
            begun: begun.clone(),
            hold: opener.gate(),
            _probe: probe,
        };
        drop(pool.spawn_blocking(move || HELD_END.set(Some(end))));
        begun.wait();
        let opening = opener.open_once_asleep();
        drop(pool);
        assert!(log.count() == 1, "the thread that left has not ended");
        opening.join().expect("opening does not panic");
        for _ in 0..10 {
            let pool = Pool::new(CAP, Duration::ZERO);
            let ends = run_together(&pool, CAP, log_of_this_threads_end);
            drop(pool);
            let count = ends.iter().filter(|end| end.count() == 1).count();
            assert!(count == CAP, "of {CAP} threads {count} have ended");
        }
    });
}

/// Clause 10: a thread that sleeps must hear of it, and so must each other.
#[test]
fn dropping_the_pool_ends_idle_threads() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A pool with no thread, one or several idle ones can be dropped at any time.",
        usual_cause: "Only one thread is notified; or the flag is set without the lock, and a thread \
                      that is just falling asleep misses it.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        drop(Pool::new(3, HOUR));
        for count in [1, 2, 3] {
            let pool = Pool::new(3, HOUR);
            let probes = run_together(&pool, count, ThreadProbe::here);
            probes.iter().for_each(ThreadProbe::wait_until_asleep);
            drop(pool);
        }
        let start = Instant::now();
        for round in (0..100).take_while(|_| start.elapsed() < LUCK) {
            let pool = Pool::new(3, HOUR);
            run_together(&pool, 1 + round % 3, || ());
        }
    });
}

/// Clause 10: jobs often hold what holds the pool.
#[test]
fn a_job_may_drop_its_own_pool() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A job that drops the last owner of its pool goes on, and the other jobs run.",
        usual_cause: "The thread waits for all threads of the pool, itself among them.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Arc::new(Pool::new(2, HOUR));
        let opener = Opener::new();
        let owner = Arc::new(Mutex::new(None));
        let last = owner.clone();
        let wait = waiting_job(&opener);
        let dropping = pool.spawn_blocking(move || {
            wait();
            let pool: Option<Arc<Pool>> = last.lock().unwrap().take();
            drop(pool.expect("the pool was left here"));
            "went on"
        });
        let other = pool.spawn_blocking(waiting_job(&opener));
        let queued = (0..5).map(|n| pool.spawn_blocking(move || n)).collect();
        *owner.lock().unwrap() = Some(pool);
        drop(opener);
        let result = block_on(dropping).expect("the job returns");
        assert!(result == "went on", "it returned {result:?}");
        block_on(other).expect("the job returns");
        assert!(results(queued).into_iter().eq(0..5), "a job got lost");
    });
}

/// Clause 10: a thread of one pool is nobody's thread elsewhere.
#[test]
fn a_job_that_drops_another_pool_waits_for_it() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A job that drops a pool it does not work for waits like anybody else.",
        usual_cause: "A thread knows that it belongs to some pool, but not to which one.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let outer = Pool::new(1, HOUR);
        let dropping = outer.spawn_blocking(|| {
            let inner = Pool::new(1, HOUR);
            let opener = Opener::new();
            let wait = waiting_job(&opener);
            let mut end = inner.spawn_blocking(wait);
            let opening = opener.open_once_asleep();
            drop(inner);
            let mut nobody = Context::from_waker(Waker::noop());
            let is_ready = Pin::new(&mut end).poll(&mut nobody).is_ready();
            opening.join().expect("opening does not panic");
            is_ready
        });
        let is_ready = block_on(dropping).expect("the job returns");
        assert!(is_ready, "the other pool's job was still running");
    });
}

/// Clause 11: a busy system is no reason to lose a job.
#[test]
fn a_job_waits_where_no_thread_can_be_started() {
    let lesson = Lesson {
        clause: "11. No thread to be had",
        promise: "If no thread can be started, the job is run by one that there is.",
        usual_cause: "The error of the thread's start is unwrapped, maybe under the lock, or the \
                      thread is counted that was never started.",
        read: "blocking/spawn-blocking.html#no-thread-to-be-had",
    };
    check(lesson, || {
        let pool = Pool::new(3, HOUR);
        let opener = Opener::new();
        let held = hold(&pool, &opener);
        let jobs = without_new_threads(|| {
            (0..5).map(|n| pool.spawn_blocking(move || n)).collect()
        });
        drop(opener);
        block_on(held).expect("the job returns");
        if let Some(jobs) = jobs {
            assert!(results(jobs).into_iter().eq(0..5), "a job got lost");
        }
        run_together(&pool, 3, || ());
    });
}

/// Clause 11: a handle that is never ready is worse than an error.
#[test]
fn without_any_thread_the_job_is_cancelled() {
    let lesson = Lesson {
        clause: "11. No thread to be had",
        promise: "If there is no thread at all, the handle says so, and later jobs run.",
        usual_cause: "The job stays in a queue that nobody looks at, the error is unwrapped, or the \
                      thread is counted that was never started.",
        read: "blocking/spawn-blocking.html#no-thread-to-be-had",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let refused = without_new_threads(|| pool.spawn_blocking(|| ()));
        if let Some(refused) = refused
            && let Err(error) = block_on(refused)
        {
            let is = (error.is_panic(), error.is_cancelled());
            assert!(is == (false, true), "(is_panic, is_cancelled) is {is:?}");
            assert!(!error.to_string().is_empty(), "the error says nothing");
        }
        let later = block_on(pool.spawn_blocking(|| 7));
        assert!(later.is_ok_and(|n| n == 7), "a later job does not run");
    });
}

/// Clause 12: the job may want to use rayon, and then should be there already.
#[test]
fn a_job_for_rayon_runs_there_while_the_submitter_goes_on() {
    let lesson = Lesson {
        clause: "12. On rayon",
        promise: "`spawn_rayon` returns at once, and the job runs on a thread of rayon's.",
        usual_cause: "`rayon::join`, `scope` and `ThreadPool::install` wait; `rayon::spawn` does not.",
        read: "blocking/spawn-blocking.html#a-bridge-to-rayon",
    };
    check(lesson, || {
        let opener = Opener::new();
        let wait = waiting_job(&opener);
        let job = spawn_rayon(move || {
            wait();
            rayon::current_thread_index()
        });
        let opening = opener.open_once_asleep();
        let index = block_on(job).expect("the job returns");
        assert!(index.is_some(), "the job's thread is not rayon's");
        opening.join().expect("opening does not panic");
    });
}

/// Clause 12: rayon ends the process when a spawned closure panics.
#[test]
fn a_panic_on_rayon_reaches_the_handle() {
    let lesson = Lesson {
        clause: "12. On rayon",
        promise: "A job that panics on rayon makes its handle ready, and the process goes on.",
        usual_cause: "The closure is given to `rayon::spawn` without `catch_unwind`.",
        read: "blocking/spawn-blocking.html#a-bridge-to-rayon",
    };
    check(lesson, || {
        assert_is_boom(spawn_rayon(|| panic!("boom")));
        drop(spawn_rayon(|| panic!("boom")));
        let jobs = (0..50).map(|n| spawn_rayon(move || n)).collect();
        assert!(results(jobs).into_iter().eq(0..50), "a job got lost");
    });
}
