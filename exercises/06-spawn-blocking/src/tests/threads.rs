//! How many threads there are, and when.

use super::*;

#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..LOOKS {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("after {LOOKS} polls, 1 ms apart, {what}");
}

/// Clause 1: the submitting thread runs other tasks, too.
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
        let mut no_task = Context::from_waker(Waker::noop());
        for job in &mut jobs {
            let poll = Pin::new(job).poll(&mut no_task);
            assert!(poll.is_pending(), "a job ended before an earlier one");
        }
        drop(opener);
        block_on(held).expect("the job returns");
        assert!(results(jobs).into_iter().eq(0..300), "results got mixed up");
    });
}

/// Clause 1: it's tempting for a full pool to let its caller do the work.
#[test]
fn no_job_runs_on_the_thread_that_submits_it() {
    let lesson = Lesson {
        clause: "1. Never blocks",
        promise: "All jobs run on threads of the pool, even when all of those are busy.",
        usual_cause: "If the pool is full, or has no thread yet, the caller runs the job at once.",
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

/// Clause 2: each thread costs memory, and disks and CPUs are soon overloaded.
#[test]
fn no_more_jobs_run_than_the_cap_allows() {
    let lesson = Lesson {
        clause: "2. Cap",
        promise: "Of many jobs that wait, only as many have begun as the cap allows.",
        usual_cause: "A thread is started for each job for which none is idle, without checking \
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
        promise: "No matter how many threads submit at once, the cap holds.",
        usual_cause: "Checking the number of threads and changing it are two steps: do both in one \
                      critical section.",
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

/// Clause 3: waiting jobs don't use the CPU, so more of them should run.
#[test]
fn as_many_jobs_as_the_cap_run_together() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "As many jobs as the cap allows run at once, at first and later.",
        usual_cause: "Only one thread is started or woken; or a thread that was woken for several \
                      jobs doesn't start or wake the next; or the lock is held while a job runs.",
        read: "blocking/spawn-blocking.html#a-tree-of-threads",
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

/// Clause 3: a hundred requests may come at once, and each may wait for a disk.
#[test]
fn each_job_of_a_burst_gets_a_thread() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "Of a burst of jobs that wait for one another, all run, no matter how many \
                  threads are parked, and how many short jobs come in between.",
        usual_cause: "A thread starts or wakes the next one only when its own job has ended; or a \
                      thread that finds no job still counts as one that will take a job.",
        read: "blocking/spawn-blocking.html#a-tree-of-threads",
    };
    const BURST: usize = 64;
    check(lesson, || {
        let pool = Pool::new(BURST, HOUR);
        run_together(&pool, BURST / 8, ThreadProbe::here)
            .iter()
            .for_each(ThreadProbe::wait_until_asleep);
        // Some of the threads are parked, and the others aren't there yet.
        run_together(&pool, BURST, || ());

        let pool = Pool::new(BURST, HOUR);
        let meeting = Arc::new(Barrier::new(BURST));
        let pairs = (0..BURST).map(|_| {
            let meeting = meeting.clone();
            let waiting = pool.spawn_blocking(move || {
                meeting.wait();
            });
            [waiting, pool.spawn_blocking(|| ())]
        });
        results(pairs.flatten().collect());
    });
}

/// Clause 3: a thread that was woken for one job isn't free for the next.
#[test]
fn an_idle_thread_is_counted_on_once() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "Of two jobs that come quickly, one gets the idle thread, and the other a new one.",
        usual_cause: "A thread that was notified still counts as idle until it has woken up, and \
                      the submitter asks only whether any is idle. Take a thread off the count when \
                      you choose it, or compare the number of idle threads with the number of jobs \
                      in the queue.",
        read: "blocking/spawn-blocking.html#whom-to-wake",
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

/// Clause 3: a waker may run arbitrary code, and may take its time.
#[test]
fn a_thread_that_calls_a_waker_is_not_idle() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "While the waker of an ended job is called, another thread takes up the next job.",
        usual_cause: "The thread counts as idle before it has called the waker, so no other thread \
                      is started, or woken, for the next job. Count it as idle when it looks for a \
                      job.",
        read: "blocking/spawn-blocking.html#whom-to-wake",
    };
    check(lesson, || {
        let pool = Pool::new(2, HOUR);
        let first_may_end = Opener::new();
        let mut first = hold(&pool, &first_may_end);
        let (entered, may_return) = (Arc::new(Gate::new()), Opener::new());
        let (enter, wait) = (entered.clone(), waiting_job(&may_return));
        let wait = Mutex::new(Some(wait));
        let waker = HostileWaker::new(move || {
            enter.open();
            let wait = wait.lock().unwrap().take();
            wait.into_iter().for_each(|wait| wait());
        });
        assert!(!poll_once(&mut first, &waker), "the job has not ended");
        drop(first_may_end);
        entered.wait();
        block_on(pool.spawn_blocking(|| ())).expect("the job returns");
        drop(may_return);
    });
}

/// The time that the idle check watches, and the most that a sleeping thread
/// may cost in that time.
const IDLE_WINDOW: Duration = Duration::from_millis(200);
const IDLE_CPU: Duration = Duration::from_millis(5);
const IDLE_SLEEPS: u64 = 20;

/// Clause 8: a pool is idle most of its life.
#[test]
fn an_idle_thread_sleeps() {
    let lesson = Lesson {
        clause: "8. Idle",
        promise: "A thread without a job costs no CPU time.",
        usual_cause: "It looks for jobs again and again, with a short timeout or in a loop.",
        read: "blocking/spawn-blocking.html#looking-around-before-parking",
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
        usual_cause: "The thread waits without a timeout, or notices the timeout but continues \
                      to sleep.",
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
        usual_cause: "A thread that leaves is still counted, so the pool looks full.",
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

/// Clause 9: starting a thread costs more than most jobs.
#[test]
fn a_thread_serves_many_jobs() {
    let lesson = Lesson {
        clause: "9. Keep-alive",
        promise: "Before its keep-alive is over, an idle thread takes the next job.",
        usual_cause: "Each job has a thread of its own, or a thread ends as soon as there is no job.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
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

/// Clause 9: the time in a job isn't idle time.
#[test]
fn a_thread_stays_after_a_job_that_takes_longer_than_the_keep_alive() {
    let lesson = Lesson {
        clause: "9. Keep-alive",
        promise: "The keep-alive runs from the moment at which the thread runs out of jobs, no matter how \
                  long its last job took.",
        usual_cause: "The deadline is computed when the thread starts, or when it takes a job, so that \
                      the time in jobs counts as idle time. Compute it each time the thread begins \
                      to wait.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    /// The first one that the machine is quick enough for counts.
    const KEEP_ALIVES_MS: [u64; 6] = [50, 100, 200, 400, 1_600, 6_400];
    check(lesson, || {
        for keep_alive in KEEP_ALIVES_MS.map(Duration::from_millis) {
            let pool = Pool::new(1, keep_alive);
            let run = |time: Duration| {
                pool.spawn_blocking(move || {
                    thread::sleep(time);
                    (thread::current().id(), Instant::now())
                })
            };
            let job = block_on(run(keep_alive * 3 / 2));
            let (first, end) = job.expect("the job returns");
            thread::sleep(keep_alive / 4);
            let job = run(Duration::ZERO);
            let idle = end.elapsed();
            let (second, _) = block_on(job).expect("the job returns");
            if second == first {
                return;
            }
            assert!(
                idle >= keep_alive,
                "a thread left {idle:?} after its last job; the keep-alive is {keep_alive:?}"
            );
        }
    });
}

/// Clause 9: callers shouldn't have to know which durations are too long.
#[test]
fn any_keep_alive_will_do() {
    let lesson = Lesson {
        clause: "9. Keep-alive",
        promise: "`Duration::ZERO` and `Duration::MAX` are keep-alives like any other.",
        usual_cause: "`Instant::now() + keep_alive` overflows, and the thread panics.",
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

/// Clause 9: 584 years are 2^64 nanoseconds.
#[test]
fn a_long_keep_alive_is_not_cut_to_a_short_one() {
    let lesson = Lesson {
        clause: "9. Keep-alive",
        promise: "With a keep-alive of 2^32 or 2^64 units, from nanoseconds to seconds, a thread doesn't \
                  leave at once.",
        usual_cause: "The time is kept as a number of nanoseconds or milliseconds, and `as` \
                      truncates it to the bits of its type. Keep it as a `Duration`.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    check(lesson, || {
        for keep_alive in durations_that_wrap() {
            let pool = Pool::new(1, keep_alive);
            let run = || {
                let job = pool.spawn_blocking(|| {
                    (thread::current().id(), ThreadProbe::here())
                });
                block_on(job).expect("the job returns")
            };
            let (first, probe) = run();
            probe.wait_until_asleep();
            let (second, _) = run();
            assert!(
                second == first,
                "with a keep-alive of {keep_alive:?} the thread left at once"
            );
        }
    });
}

/// Clause 11: a busy system is no reason to lose a job.
#[test]
fn a_job_waits_where_no_thread_can_be_started() {
    let lesson = Lesson {
        clause: "11. No thread to be had",
        promise: "If no thread can be started, an existing one runs the job.",
        usual_cause: "The error of starting a thread is unwrapped, perhaps under the lock, or a \
                      thread is counted that was never started. If the queued jobs run but a later \
                      one hangs, the pool has given up starting threads: it has to try again.",
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
        usual_cause: "The job stays in a queue that nothing looks at, the error is unwrapped, or a \
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

/// Clause 11: the handle must learn that the job won't run.
#[test]
fn a_cancelled_job_that_panics_in_its_destructor_ends_its_handle() {
    let lesson = Lesson {
        clause: "11. No thread to be had",
        promise: "A cancelled job may own what panics when it's dropped: its handle still ends.",
        usual_cause: "The closure is dropped before the handle is completed, and its panic unwinds \
                      past the line that completes it, out of `spawn_blocking`. Put the drop into \
                      `catch_unwind`.",
        read: "blocking/spawn-blocking.html#no-thread-to-be-had",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let refused = without_new_threads(|| {
            let (owned, mut handle) = (PanicOnDrop, None);
            let thrown = panic_message(|| {
                handle = Some(pool.spawn_blocking(move || drop(owned)));
            });
            (handle, thrown)
        });
        let Some((handle, thrown)) = refused else {
            return;
        };
        assert!(
            thrown.is_none(),
            "the panic of the job's destructor came out of `spawn_blocking`"
        );
        let result = block_on(handle.expect("it was returned"));
        let is_cancelled = result.is_err_and(|error| error.is_cancelled());
        assert!(
            is_cancelled,
            "the handle does not say that it was cancelled"
        );
        let later = block_on(pool.spawn_blocking(|| 7));
        assert!(later.is_ok_and(|n| n == 7), "a later job does not run");
    });
}

/// Clause 11: the job's destructor may run arbitrary code, too.
#[test]
fn a_cancelled_job_may_use_the_pool_as_it_is_dropped() {
    let lesson = Lesson {
        clause: "11. No thread to be had",
        promise: "A cancelled job may own what submits another job, or shuts down the pool, when \
                  it's dropped.",
        usual_cause: "The cancelled job is dropped under the lock of the queue, and submitting \
                      another needs that lock. Take it out, unlock, then drop it.",
        read: "blocking/spawn-blocking.html#no-thread-to-be-had",
    };
    check(lesson, || {
        for how in [PoolUse::Submit, PoolUse::ShutDown] {
            let pool = Arc::new(Pool::new(1, HOUR));
            let (owned, receiver) = UsesThePool::new(&pool, how);
            let refused = without_new_threads(|| {
                pool.spawn_blocking(move || drop(owned))
            });
            // Each of the two is cancelled, or has found a thread after all.
            let _ = refused.map(block_on);
            let other =
                receiver.recv().expect("the first job is run or dropped");
            let Some(other) = other else { continue };
            let _ = block_on(other);
            let later = block_on(pool.spawn_blocking(|| 7));
            assert!(later.is_ok_and(|n| n == 7), "a later job does not run");
        }
    });
}

/// Clause 11: another submitter may count on the thread that is being started.
#[test]
fn a_job_that_comes_as_a_thread_is_refused_is_cancelled_too() {
    let lesson = Lesson {
        clause: "11. No thread to be had",
        promise: "If two threads submit a job each while the system has no thread for either, both \
                  jobs are cancelled, no matter how the two calls interleave.",
        usual_cause: "A thread is counted first, and then started without the lock. Meanwhile, \
                      another submitter leaves its job to that thread. When the start has failed, \
                      the first submitter takes only one job out of the queue: its own, or the \
                      last. If there's no thread by then, cancel all jobs in the queue. Or start \
                      threads under the lock.",
        read: "blocking/spawn-blocking.html#no-thread-to-be-had",
    };
    check(lesson, || {
        let partner = Rc::new(Partner::new());
        let pairs = without_new_threads(|| {
            [1, 2].map(|cap| {
                let submit = |moment| submit_two(cap, moment, &partner);
                (0..).map_while(submit).collect::<Vec<_>>()
            })
        });
        for pair in pairs.into_iter().flatten().flatten() {
            pair.assert_is_over();
        }
    });
}

/// Two jobs of one pool. Another thread submitted the second while this thread
/// was submitting the first.
struct Pair {
    pool: Arc<Pool>,
    cap: usize,
    moment: usize,
    jobs: [JoinHandle<()>; 2],
}

/// Submits a job, and has the partner submit another just before the operation
/// with the index `moment`. Returns `None` if there are fewer operations.
fn submit_two(
    cap: usize,
    moment: usize,
    partner: &Rc<Partner>,
) -> Option<Pair> {
    let pool = Arc::new(Pool::new(cap, HOUR));
    let second = Rc::new(RefCell::new(None));
    let (other, place, partner) =
        (pool.clone(), second.clone(), partner.clone());
    let submit = move || {
        let submitted = partner.call(move || other.spawn_blocking(|| ()));
        place.replace(Some(submitted));
    };
    let (first, _) = at_moment(moment, submit, || pool.spawn_blocking(|| ()));
    let second = second.take()?.recv().expect("submitting doesn't panic");
    Some(Pair {
        pool,
        cap,
        moment,
        jobs: [first, second],
    })
}

impl Pair {
    /// Asserts that both handles are ready although nothing else is submitted,
    /// and that the pool still runs jobs.
    #[track_caller]
    fn assert_is_over(self) {
        let Self { cap, moment, .. } = self;
        for (mut job, which) in self.jobs.into_iter().zip(["first", "second"]) {
            let is_ready = (0..LOOKS).any(|_| {
                let is_ready = poll_once(&mut job, Waker::noop());
                if !is_ready {
                    thread::sleep(Duration::from_millis(1));
                }
                is_ready
            });
            assert!(
                is_ready,
                "with a cap of {cap} and no thread to be had, a job was submitted, and another \
                 just before operation {moment} of that call; the handle of the {which} job is \
                 never ready"
            );
        }
        let later = block_on(self.pool.spawn_blocking(|| 7));
        assert!(later.is_ok_and(|n| n == 7), "a later job does not run");
    }
}
