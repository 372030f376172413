//! The end of a pool.

use super::*;

/// Submits jobs that count how many of them have run.
fn counted_jobs(
    pool: &Pool,
    count: usize,
) -> (Arc<AtomicUsize>, Vec<JoinHandle<usize>>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let submit = |_| {
        let ran = ran.clone();
        pool.spawn_blocking(move || ran.fetch_add(1, SeqCst))
    };
    let jobs = (0..count).map(submit).collect();
    (ran, jobs)
}

/// Clause 10: what was submitted has been promised.
#[test]
fn dropping_the_pool_runs_what_is_in_the_queue() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "When the pool has been dropped, all its jobs have run, and their handles are ready.",
        usual_cause: "A thread that sees that the pool is shut down ends before the queue is \
                      empty, or the queue is cleared.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    const JOBS: usize = 20;
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        drop(hold(&pool, &opener));
        let (ran, jobs) = counted_jobs(&pool, JOBS);
        let opening = opener.open_once_asleep();
        drop(pool);
        let ran = ran.load(SeqCst);
        assert!(ran == JOBS, "of {JOBS} jobs {ran} have run");
        results(jobs);
        opening.join().expect("opening does not panic");
    });
}

/// Clause 10: a pool can be shut down through a reference, and used afterward.
#[test]
fn shutting_down_by_reference_waits_and_cancels_what_comes_later() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "`shut_down` waits until all jobs have run and all threads have ended. A job that \
                  is submitted later is cancelled: its handle says so, and it doesn't run.",
        usual_cause: "`spawn_blocking` doesn't look whether the pool is shut down, so that it \
                      starts another thread, or puts the job into a queue that no thread takes \
                      it from. Or `shut_down` returns without waiting.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    const JOBS: usize = 20;
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        drop(hold(&pool, &opener));
        let (ran, jobs) = counted_jobs(&pool, JOBS);
        let end = pool.spawn_blocking(log_of_this_threads_end);
        let opening = opener.open_once_asleep();
        pool.shut_down();
        let ran = ran.load(SeqCst);
        assert!(ran == JOBS, "of {JOBS} jobs {ran} have run");
        opening.join().expect("opening does not panic");
        results(jobs);
        let end = block_on(end).expect("the job does not panic");
        assert!(end.count() == 1, "the thread of the pool has not ended");

        let (ran_late, late) = counted_jobs(&pool, 1);
        late.into_iter().for_each(assert_is_cancelled);
        // Dropping it is a second end.
        drop(pool);
        assert!(
            ran_late.load(SeqCst) == 0,
            "a job that came after the shutdown has run"
        );
    });
}

/// Clause 10: what a late job owns is dropped with it, and may run arbitrary
/// code.
#[test]
fn a_job_that_comes_late_may_use_the_pool_as_it_is_dropped() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A job that is cancelled because it comes after the shutdown may own what submits \
                  another job, or shuts down the pool, when it's dropped.",
        usual_cause: "A late job is accepted if a thread of the pool submits it. At a hang: the \
                      late job is dropped under the lock of the queue, and what it owns needs that \
                      lock as it uses the pool. Unlock, then drop the job.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        for how in [PoolUse::Submit, PoolUse::ShutDown] {
            for is_pool_thread in [false, true] {
                let pool = Arc::new(Pool::new(1, HOUR));
                run_together(&pool, 1, || ());
                let (owned, receiver) = UsesThePool::new(&pool, how);
                let own = pool.clone();
                let submit = move || {
                    own.shut_down();
                    own.spawn_blocking(move || drop(owned))
                };
                let late = if is_pool_thread {
                    let job = pool.spawn_blocking(submit);
                    block_on(job).expect("the job returns")
                } else {
                    submit()
                };
                assert_is_cancelled(late);
                let other = receiver.recv().expect("the late job is dropped");
                other.into_iter().for_each(assert_is_cancelled);
            }
        }
    });
}

#[track_caller]
fn assert_is_cancelled<T: std::fmt::Debug>(late: JoinHandle<T>) {
    let late = block_on(late);
    assert!(
        late.as_ref().is_err_and(JoinError::is_cancelled),
        "a job that came after the shutdown gave {late:?}"
    );
}

/// Clause 10: the end has come only when all threads have ended, for each caller.
#[test]
fn two_that_shut_down_a_pool_both_wait() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "If two threads shut down the same pool, both wait until its threads have ended.",
        usual_cause: "The first one takes the threads out of the list, to join them. The second \
                      finds none, and waits for nothing. Hold a lock while you join, but not the \
                      one that the jobs need.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Arc::new(Pool::new(1, HOUR));
        let opener = Opener::new();
        drop(hold(&pool, &opener));
        let ended = Arc::new(AtomicUsize::new(0));
        let end = ended.clone();
        let last = pool.spawn_blocking(move || end.fetch_add(1, SeqCst));
        let (tell, told) = mpsc::channel();
        let first = thread::spawn({
            let (pool, ended) = (pool.clone(), ended.clone());
            move || {
                tell.send(ThreadProbe::here()).expect("it's awaited");
                pool.shut_down();
                ended.load(SeqCst)
            }
        });
        let probe = told.recv().expect("the other thread begins");
        probe.wait_until_asleep();
        let opening = opener.open_once_asleep();
        pool.shut_down();
        let second = ended.load(SeqCst);
        assert!(second == 1, "the second to shut down waited for no job");
        opening.join().expect("opening does not panic");
        let first = first.join().expect("shutting down does not panic");
        assert!(first == 1, "the first to shut down waited for no job");
        block_on(last).expect("the job does not panic");
    });
}

/// Clause 10: a job may know the pool that runs it.
#[test]
fn a_job_may_shut_down_its_own_pool_as_another_thread_does() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A job that shuts down its own pool waits for nothing, even while another thread \
                  waits for this job.",
        usual_cause: "`shut_down` takes the lock that is held during the joins before it looks \
                      whether it runs on a thread of the pool. The job waits for that lock, and \
                      the thread that holds it waits for the job.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        let pool = Arc::new(Pool::new(1, HOUR));
        let opener = Opener::new();
        let (gate, own) = (opener.gate(), pool.clone());
        let begun = Arc::new(Gate::new());
        let begin = begun.clone();
        let job = pool.spawn_blocking(move || {
            begin.open();
            gate.wait();
            own.shut_down();
        });
        begun.wait();
        let opening = opener.open_once_asleep();
        pool.shut_down();
        opening.join().expect("opening does not panic");
        block_on(job).expect("the job does not panic");
    });
}

/// What ends a pool that has two threads, each with a job.
#[derive(Clone, Copy)]
enum Ender {
    FirstJob,
    SecondJob,
    OtherThread,
}

const ENDERS: [Ender; 3] =
    [Ender::FirstJob, Ender::SecondJob, Ender::OtherThread];

impl Ender {
    fn in_words(self) -> &'static str {
        match self {
            Ender::FirstJob => "the first job",
            Ender::SecondJob => "the second job",
            Ender::OtherThread => "a thread outside",
        }
    }
}

/// Clause 10: only a job that ends its own pool waits for nothing.
#[test]
fn other_callers_wait_even_if_a_job_ends_its_own_pool() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "Each thread outside the pool that shuts it down or drops it waits until all jobs \
                  have run and all threads have ended, even if a job of the pool shuts it down, \
                  too, before that or meanwhile.",
        usual_cause: "A job that shuts down its own pool takes the handles of the threads with it, \
                      so that others find nothing to join. Or a pool that's already shut down is \
                      taken for one that has ended. The job must leave the handles where they are, \
                      and each caller outside must wait for the joins.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        for enders in histories::sequences(&ENDERS, 2) {
            if enders.iter().all(|it| matches!(it, Ender::OtherThread)) {
                continue;
            }
            for is_reversed in [false, true] {
                end_by(&enders, is_reversed);
            }
        }
    });
}

/// Has each of `enders` end a pool, and then a thread outside, while two jobs
/// run and a third waits. Then lets the two end, one after the other.
#[track_caller]
fn end_by(enders: &[Ender], is_reversed: bool) {
    let pool = Arc::new(Pool::new(2, HOUR));
    let [first, second] = [(); 2].map(|()| TalkingJob::submit(&pool));
    let last = pool.spawn_blocking(|| ());
    let ends = [first.end.clone(), second.end.clone()];
    let mut callers = Vec::new();
    for ender in enders {
        match ender {
            Ender::FirstJob => first.shut_down(&pool),
            Ender::SecondJob => second.shut_down(&pool),
            Ender::OtherThread => {
                let pool = pool.clone();
                callers.push(Caller::start(&ends, move || pool.shut_down()));
            }
        }
    }
    let is_shared = !callers.is_empty();
    callers.push(Caller::start(&ends, move || match is_shared {
        true => pool.shut_down(),
        false => drop(pool),
    }));
    let jobs = match is_reversed {
        true => [second, first],
        false => [first, second],
    };
    for job in jobs {
        job.end();
        // One that joined this job's thread goes on, and finds the next.
        callers.iter().for_each(|it| it.probe.wait_until_asleep());
    }
    for caller in callers {
        let ended = caller.thread.join().expect("ending does not panic");
        let enders = enders.iter().map(|ender| ender.in_words());
        let enders: Vec<_> = enders.chain(["a thread outside"]).collect();
        assert!(
            ended == 2,
            "a thread outside ended the pool, and went on when {ended} of 2 threads had ended; \
             these ended the pool, one after the other: {}",
            enders.join("; ")
        );
    }
    block_on(last).expect("the job in the queue runs");
}

/// A job that shuts down its pool whenever it's told to.
struct TalkingJob {
    orders: mpsc::Sender<Arc<Pool>>,
    done: mpsc::Receiver<()>,
    handle: JoinHandle<()>,
    probe: ThreadProbe,
    /// Whether its thread has ended.
    end: DropLog,
}

impl TalkingJob {
    /// Returns once the job runs.
    fn submit(pool: &Pool) -> Self {
        let (orders, to_do) = mpsc::channel::<Arc<Pool>>();
        let (tell, done) = mpsc::channel();
        let (begin, begun) = mpsc::channel();
        let handle = pool.spawn_blocking(move || {
            let (probe, log) = DropProbe::new();
            QUICK_END.set(Some(probe));
            let _ = begin.send((ThreadProbe::here(), log));
            for pool in to_do {
                pool.shut_down();
                drop(pool);
                let _ = tell.send(());
            }
        });
        let (probe, end) = begun.recv().expect("the job runs");
        Self {
            orders,
            done,
            handle,
            probe,
            end,
        }
    }

    /// Returns once the job has shut down its pool.
    fn shut_down(&self, pool: &Arc<Pool>) {
        self.orders.send(pool.clone()).expect("the job runs");
        self.done.recv().expect("shutting down does not panic");
    }

    /// Returns once the job's thread has ended, or waits for something.
    fn end(self) {
        drop(self.orders);
        block_on(self.handle).expect("shutting down does not panic");
        self.probe.wait_until_asleep();
    }
}

/// A thread outside a pool that ends it.
struct Caller {
    /// Returns how many of the pool's threads had ended as the call returned.
    thread: thread::JoinHandle<usize>,
    probe: ThreadProbe,
}

impl Caller {
    /// Returns once the thread waits, or has ended.
    fn start(ends: &[DropLog; 2], end: impl FnOnce() + Send + 'static) -> Self {
        let ends = ends.clone();
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            tell.send(ThreadProbe::here()).expect("it's awaited");
            end();
            ends.iter().filter(|end| end.count() == 1).count()
        });
        let probe = told.recv().expect("the thread begins");
        probe.wait_until_asleep();
        Self { thread, probe }
    }
}

/// Clause 10: what belongs to a thread must not outlive the pool.
#[test]
fn dropping_the_pool_waits_for_its_threads() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "When the pool has been dropped, its threads have ended.",
        usual_cause: "The threads are told to end, but nothing joins them. Or a thread that ends \
                      leaves its handle for the next one to join, and overwrites a handle that \
                      hasn't been joined yet. Or the pool waits until a count of the threads is \
                      zero: a thread that decrements it is about to end, but hasn't ended.",
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

/// Clause 3: the end of the pool is not the end of what its jobs may rely on.
#[test]
fn jobs_in_the_queue_run_together_though_the_pool_is_dropped() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "If a pool is dropped when two jobs that wait for each other are in its queue, \
                  both run, no matter whether its threads are still to be started, on their way, \
                  parked or busy.",
        usual_cause: "At a hang: once the pool is shut down, no thread is started or woken for a \
                      job in the queue, or a thread leaves although jobs wait. The first job waits \
                      for the second, which no thread takes. Until the queue is empty, send for \
                      threads as before, and let none leave.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        drop_as_a_thread_comes();
        for (busy, parked) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)] {
            for _ in 0..5 {
                drop_with_two_in_the_queue(busy, parked);
            }
        }
    });
}

/// The pool ends while a thread has been chosen, and hasn't come yet.
fn drop_as_a_thread_comes() {
    let pool = Pool::new(2, Duration::from_millis(1));
    let chosen = pool.spawn_blocking(|| hold_after_timeout(0));
    let chosen = block_on(chosen).expect("the job returns");
    chosen.is_reached();
    let jobs = submit_together(&pool, 2, || ());
    let dropper = ThreadProbe::here();
    let releasing = thread::spawn(move || {
        dropper.wait_until_asleep();
        chosen.release();
    });
    drop(pool);
    results(jobs);
    releasing.join().expect("releasing does not panic");
}

/// The pool ends while so many threads are busy, and so many others parked.
fn drop_with_two_in_the_queue(busy: usize, parked: usize) {
    let pool = Pool::new(2, HOUR);
    run_together(&pool, busy + parked, ThreadProbe::here)
        .iter()
        .for_each(ThreadProbe::wait_until_asleep);
    let opener = Opener::new();
    (0..busy).for_each(|_| drop(hold(&pool, &opener)));
    let jobs = submit_together(&pool, 2, || ());
    let opening = opener.open_once_asleep();
    drop(pool);
    results(jobs);
    opening.join().expect("opening does not panic");
}

/// Clause 10: a thread that runs a job may start another thread.
#[test]
fn dropping_the_pool_waits_for_a_thread_that_starts_meanwhile() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A thread that is started while the pool is dropped has ended when the drop returns.",
        usual_cause: "The handles of all threads are taken out at once, and nothing joins a thread \
                      that starts later. Take one, join it, and check again. Or a job is cancelled \
                      where no thread can be started, although running threads could take it.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    /// The most polls, 1 ms apart, for another thread to take a job.
    const PATIENCE: u32 = 100;
    check(lesson, || {
        let pool = Pool::new(2, HOUR);
        let opener = Opener::new();
        let held = hold(&pool, &opener);
        let begun = Arc::new(AtomicUsize::new(0));
        let ends = Arc::new(Mutex::new(Vec::new()));
        // The jobs find no second thread as they are submitted. Where the first
        // sends for one as it takes the next job, the pool is being dropped.
        let submitted = without_new_threads(|| {
            for _ in 0..2 {
                let (begun, ends) = (begun.clone(), ends.clone());
                drop(pool.spawn_blocking(move || {
                    let is_second = begun.fetch_add(1, SeqCst) == 1;
                    let end = if is_second {
                        log_of_a_slow_end()
                    } else {
                        log_of_this_threads_end()
                    };
                    ends.lock().expect("nothing panics here").push(end);
                    for _ in 0..PATIENCE {
                        if begun.load(SeqCst) == 2 {
                            break;
                        }
                        thread::sleep(Duration::from_millis(1));
                    }
                }));
            }
        });
        drop(held);
        let opening = opener.open_once_asleep();
        drop(pool);
        opening.join().expect("opening does not panic");
        if submitted.is_some() {
            let ran = begun.load(SeqCst);
            assert!(ran == 2, "of two jobs {ran} have run");
        }
        let ends = ends.lock().expect("nothing panics here");
        let left = ends.iter().filter(|end| end.count() == 0).count();
        assert!(left == 0, "{left} of the pool's threads have not ended");
    });
}

/// Is dropped as its thread ends, and takes its time: the dropping thread, if it
/// doesn't wait, is done long before.
struct SlowEnd {
    _probe: DropProbe,
}

impl Drop for SlowEnd {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(50));
    }
}

/// The log of a probe that is dropped a while after this thread begins to end.
fn log_of_a_slow_end() -> DropLog {
    let (probe, log) = DropProbe::new();
    SLOW_END.set(Some(SlowEnd { _probe: probe }));
    log
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
    static SLOW_END: RefCell<Option<SlowEnd>> = const { RefCell::new(None) };
    static HELD_END: RefCell<Option<HeldEnd>> = const { RefCell::new(None) };
    static QUICK_END: Cell<Option<DropProbe>> = const { Cell::new(None) };
}

/// Clause 10: a thread that has left may still be at its end.
#[test]
fn dropping_the_pool_waits_for_a_thread_that_leaves() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A thread that has left after its keep-alive has also ended when the pool has \
                  been dropped.",
        usual_cause: "A thread that leaves takes its handle along, and then nothing can join it. \
                      Or it first joins the one that left before it, and leaves its own handle \
                      only then.",
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

/// Clause 10: every sleeping thread must learn of the end.
#[test]
fn dropping_the_pool_ends_idle_threads() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A pool with no thread, one or several idle ones can be dropped at any time.",
        usual_cause: "At a hang: only one thread is notified; or the flag is set, or all are notified, \
                      without the lock, and a thread that has looked and doesn't sleep yet misses it.",
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

/// Clause 10: a job may own what owns the pool.
#[test]
fn a_job_may_drop_its_own_pool() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A job that drops the last owner of its pool continues, and the other jobs run.",
        usual_cause: "The thread waits for all threads of the pool, including itself.",
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

/// Clause 10: the job has ended, but its thread isn't done with it.
#[test]
fn what_a_job_leaves_may_drop_its_own_pool() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "If a result or a panic that nothing awaits, or a waker, is the last owner of the \
                  pool, the thread that drops it waits for nothing.",
        usual_cause: "A thread counts as the pool's only while a job runs. After that, the thread \
                      drops what the job leaves, and waits for all threads, including itself. Mark \
                      the thread once, when it starts.",
        read: "blocking/spawn-blocking.html#the-end-of-the-pool",
    };
    check(lesson, || {
        for left in [Left::Result, Left::Panic, Left::Waker] {
            let pool = Pool::new(2, HOUR);
            let opener = Opener::new();
            let other = hold(&pool, &opener);
            let (begun, may_end) = (Arc::new(Gate::new()), Opener::new());
            let (begin, wait) = (begun.clone(), waiting_job(&may_end));
            let owner = Arc::new(Mutex::new(None));
            let (sender, receiver) = mpsc::channel();
            let last = DropsThePool {
                owner: owner.clone(),
                sender: Mutex::new(sender),
            };
            let (waker, result) = match left {
                Left::Waker => (HostileWaker::new(move || _ = &last), None),
                _ => (Waker::noop().clone(), Some(last)),
            };
            let mut job = pool.spawn_blocking(move || {
                begin.open();
                wait();
                match left {
                    Left::Panic => panic_any(result),
                    _ => result,
                }
            });
            begun.wait();
            let is_ready = poll_once(&mut job, &waker);
            assert!(
                !is_ready,
                "the handle is ready, but its job is still waiting"
            );
            *owner.lock().unwrap() = Some(pool);
            drop(waker);
            if !matches!(left, Left::Waker) {
                drop(job);
            }
            drop(may_end);
            // The other job hasn't ended.
            let is_told = receiver.recv().is_ok();
            assert!(is_told, "dropping the pool panicked");
            drop(opener);
            block_on(other).expect("the job returns");
        }
    });
}

/// What a job leaves for its thread to drop.
#[derive(Clone, Copy)]
enum Left {
    Result,
    Panic,
    Waker,
}

/// Drops a pool when it is dropped, and then says so.
struct DropsThePool {
    owner: Arc<Mutex<Option<Pool>>>,
    sender: Mutex<mpsc::Sender<()>>,
}

impl Drop for DropsThePool {
    fn drop(&mut self) {
        let pool = self.owner.lock().unwrap().take();
        drop(pool);
        let _ = self.sender.lock().unwrap().send(());
    }
}

/// Clause 10: a thread of one pool is an ordinary thread for another.
#[test]
fn a_job_that_drops_another_pool_waits_for_it() {
    let lesson = Lesson {
        clause: "10. Shutdown",
        promise: "A job that drops a pool that it doesn't work for waits like any other caller.",
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
            let mut no_task = Context::from_waker(Waker::noop());
            let is_ready = Pin::new(&mut end).poll(&mut no_task).is_ready();
            opening.join().expect("opening does not panic");
            is_ready
        });
        let is_ready = block_on(dropping).expect("the job returns");
        assert!(is_ready, "the other pool's job was still running");
    });
}
