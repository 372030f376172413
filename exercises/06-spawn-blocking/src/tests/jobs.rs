//! Jobs, from the queue to their results.

use super::*;

/// Clause 4: otherwise a job may wait forever while later jobs pass it.
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

/// Clause 5: the thread wakes up because its time is over, as the job comes.
#[test]
fn no_job_is_lost_as_a_thread_leaves() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "A job that comes as a thread leaves runs, on that thread or on another.",
        usual_cause: "A thread that leaves takes its job along. At a hang: the thread leaves when \
                      its time is over, without checking the queue again; or it still counts as \
                      one that can be woken; or it checks first and then removes itself from the \
                      list, and leaves although it was chosen for a job in between.",
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

/// Clause 5: the thread was chosen for a job, and another thread took the job.
#[test]
fn a_thread_that_left_is_counted_on_by_no_job() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "If a job comes when a thread's keep-alive is over, that job runs, and so does a \
                  job that comes when all threads have left.",
        usual_cause: "A thread was chosen for a job when its time was already over. Another thread \
                      took the job, so it found none and left, but still counts as one that is \
                      coming. After a timeout, check whether the thread was chosen, not only \
                      whether there's a job.",
        read: "blocking/spawn-blocking.html#the-moment-a-thread-leaves",
    };
    check(lesson, || {
        for has_other in [false, true] {
            for moment in 0.. {
                if !submit_when_the_time_is_over(moment, has_other) {
                    break;
                }
            }
        }
    });
}

/// Submits a job at a moment after an idle thread's time was up, perhaps while
/// there's another thread. Returns `false` if there's no such moment.
fn submit_when_the_time_is_over(moment: usize, has_other: bool) -> bool {
    let pool = Pool::new(2, Duration::from_millis(1));
    let opener = Opener::new();
    let other = has_other.then(|| {
        let (begun, wait) = (Arc::new(Gate::new()), waiting_job(&opener));
        let begins = begun.clone();
        let job = pool.spawn_blocking(move || {
            begins.open();
            wait();
            hold_after_timeout(usize::MAX)
        });
        begun.wait();
        job
    });
    let leaving = pool.spawn_blocking(move || hold_after_timeout(moment));
    let leaving = block_on(leaving).expect("the job returns");
    let is_reached = leaving.is_reached();
    let job = is_reached.then(|| pool.spawn_blocking(|| ()));
    drop(opener);
    if !has_other {
        // There may be no other thread for the job.
        leaving.release();
    }
    if let Some(job) = job {
        block_on(job).expect("the job returns");
    }
    leaving.release();
    leaving.wait_for_end();
    if let Some(other) = other {
        block_on(other).expect("the job returns").wait_for_end();
    }
    let last = block_on(pool.spawn_blocking(|| 7));
    let came_late = "the job that came when all threads had left didn't run";
    assert!(last.is_ok_and(|n| n == 7), "{came_late}");
    is_reached
}

/// Clause 5: a job that another job needs is a job of its own.
#[test]
fn a_job_may_submit_another() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "A job submits another and continues; the other runs, even with one thread.",
        usual_cause: "The lock is held while a job runs, or a job that was submitted on a thread \
                      of the pool runs on that thread at once.",
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

/// Clause 5: a job that only logs something needs no handle.
#[test]
fn a_job_without_a_handle_runs() {
    let lesson = Lesson {
        clause: "5. Every job runs",
        promise: "A job whose handle is dropped still runs, and its result is dropped once.",
        usual_cause: "Dropping the handle cancels the job, or the thread panics when its result \
                      isn't wanted, or the result stays in a cell that is never freed.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let held = hold(&pool, &opener);
        let (sender, receiver) = mpsc::channel();
        let (early, early_log) = DropProbe::new();
        drop(pool.spawn_blocking(move || {
            let _ = sender.send(());
            early
        }));
        drop(opener);
        block_on(held).expect("the job returns");
        assert!(
            receiver.recv().is_ok(),
            "the job was dropped and has not run"
        );
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

/// Clause 6: any result, polled at any time.
#[test]
fn a_handle_gives_what_the_job_returned() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A handle is ready with the result, even if the job ended before the first poll.",
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
        usual_cause: "A waker is stored only if there is none yet.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let mut no_task = Context::from_waker(Waker::noop());
        let poll = Pin::new(&mut held).poll(&mut no_task);
        assert!(
            poll.is_pending(),
            "the handle is ready, but its job is still waiting"
        );
        let opening = opener.open_once_asleep();
        block_on(held).expect("the job returns");
        opening.join().expect("opening does not panic");
    });
}

/// Clause 6: no single run can hit the moment between looking for the result
/// and storing the waker. Many runs may; the model does.
#[test]
fn thousands_of_results_reach_those_who_await_them() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "No matter how a job's end and a poll of its handle interleave, the result arrives.",
        usual_cause: "Looking for the result and storing the waker are two steps: do both in one \
                      critical section. Or a thread is woken before the job is in the queue, finds \
                      nothing and sleeps.",
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

/// Clause 7: the task that awaits the job must learn that it failed.
#[test]
fn a_panic_reaches_the_handle() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A job that panics makes its handle ready, with an error that carries the panic. \
                  Errors that `JoinError::panicked` and `JoinError::cancelled` create are no \
                  different.",
        usual_cause: "The panic unwinds past the line that hands over the result: use \
                      `catch_unwind`. Or the closure's panic is reported as a cancelled job. Or \
                      the payload, which is a `Box` already, is put into another one.",
        read: "blocking/spawn-blocking.html#a-job-that-panics",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        assert_is_boom(pool.spawn_blocking(|| -> u32 { panic!("boom") }));

        // Exercises 9 and 12 create errors, too.
        assert_says_boom(JoinError::panicked(Box::new("boom")));
        let error = JoinError::cancelled();
        let is = (error.is_panic(), error.is_cancelled());
        assert!(is == (false, true), "(is_panic, is_cancelled) is {is:?}");
    });
}

/// Clause 7: otherwise each panic makes the pool smaller, until nothing is
/// left.
#[test]
fn panics_cost_no_thread() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "After many jobs have panicked, as many run together as before.",
        usual_cause: "A panic ends the thread without changing the count of threads, or it poisons \
                      the lock.",
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

/// Clause 7: the job has ended, but its thread isn't done with it.
#[test]
fn what_panics_after_the_job_costs_no_thread() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A thread survives a waker that panics, and a result that panics when it's dropped.",
        usual_cause: "Only the job itself is in `catch_unwind`, and not what comes after it. At \
                      a hang: what panics after the job, the handle's waker or a result that \
                      nothing takes, ends a thread that still counts as one.",
        read: "blocking/spawn-blocking.html#a-job-that-panics",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let waker = HostileWaker::panicking();
        let mut hostile = Context::from_waker(&waker);
        let poll = Pin::new(&mut held).poll(&mut hostile);
        assert!(
            poll.is_pending(),
            "the handle is ready, but its job is still waiting"
        );
        drop(pool.spawn_blocking(|| PanicOnDrop));
        drop(opener);
        block_on(pool.spawn_blocking(|| ())).expect("the job returns");
    });
}

/// Clause 6: the handle keeps a clone, and a clone may have a different
/// address.
#[test]
fn a_waker_is_compared_with_the_clone_that_is_kept() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A handle that is polled by two wakers that had the same address wakes the second.",
        usual_cause: "The next waker is compared with the address of the previous one. Only its \
                      clone is alive, which may have a different address: ask the clone, with \
                      `will_wake`.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let mut place = StackWakers::new();
        let counts = [(); 3].map(|()| {
            let poll = |waker: &Waker| poll_once(&mut held, waker);
            let (is_ready, counts) = place.lend(poll);
            assert!(
                !is_ready,
                "the handle is ready, but its job is still waiting"
            );
            counts
        });
        drop(opener);
        // With one thread this job runs when the other has ended.
        block_on(pool.spawn_blocking(|| ())).expect("the job returns");
        let wakes = counts.map(|counts| counts.wakes());
        assert!(
            wakes == [0, 0, 1],
            "three wakers, one after the other, were called this often: {wakes:?}"
        );
    });
}

/// Clause 6: a waker is its data and its vtable.
#[test]
fn wakers_without_data_are_told_apart() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A handle that is polled by two wakers that have no data wakes the second.",
        usual_cause: "Wakers are compared by their data pointers only. `will_wake` compares the \
                      vtables, too.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let wakers = wakers_without_data();
        for (waker, _) in &wakers {
            let is_ready = poll_once(&mut held, waker);
            assert!(
                !is_ready,
                "the handle is ready, but its job is still waiting"
            );
        }
        drop(opener);
        // With one thread this job runs when the other has ended.
        block_on(pool.spawn_blocking(|| ())).expect("the job returns");
        let wakes = wakers.map(|(_, wakes)| wakes.load(SeqCst));
        assert!(
            wakes == [0, 1],
            "the two wakers were called {wakes:?} times"
        );
    });
}

/// Clause 6: dropping the last waker of a task drops all that the task owns.
#[test]
fn a_waker_may_drop_the_pool_when_it_is_dropped() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A waker that is replaced may own the pool, and so wait for the job when it's dropped.",
        usual_cause: "A poll drops the older waker under the lock of the job's cell. The drop \
                      waits for the job, and the job's end for the lock. Swap, unlock, then drop.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Arc::new(Pool::new(1, HOUR));
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let owner = HostileWaker::new(move || _ = &pool);
        let is_ready = poll_once(&mut held, &owner);
        assert!(
            !is_ready,
            "the handle is ready, but its job is still waiting"
        );
        drop(owner);
        let opening = opener.open_once_asleep();
        poll_once(&mut held, Waker::noop());
        opening.join().expect("opening does not panic");
    });
}

/// Clause 6: a clone may run arbitrary code, too.
#[test]
fn a_waker_may_drop_the_pool_when_it_is_cloned() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A waker that is cloned by a poll may wait for the job.",
        usual_cause: "A poll clones the waker under the lock of the job's cell. The clone waits \
                      for the job, and the job's end for the lock. Clone it first, then lock.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let pool = Mutex::new(Some(pool));
        let waker = HostileClone::new(move || {
            let pool = pool.lock().expect("nothing panics here").take();
            drop(pool);
        });
        let opening = opener.open_once_asleep();
        let is_ready = poll_once(&mut held, &waker);
        let is_ready = is_ready || poll_once(&mut held, Waker::noop());
        assert!(
            is_ready,
            "the pool is gone, but its job's handle isn't ready"
        );
        opening.join().expect("opening does not panic");
    });
}

/// Clause 6: a task that stops waiting drops the handle, and the waker with it.
#[test]
fn a_waker_may_drop_the_pool_when_its_handle_is_dropped() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A waker that is dropped with its handle may own the pool, and so wait for the job.",
        usual_cause: "The handle's `Drop` clears the waker under the lock of the job's cell. The \
                      drop waits for the job, and the job's end for the lock. Take it out, unlock, \
                      then drop it.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Arc::new(Pool::new(1, HOUR));
        let opener = Opener::new();
        let mut held = hold(&pool, &opener);
        let owner = HostileWaker::new(move || _ = &pool);
        let is_ready = poll_once(&mut held, &owner);
        assert!(
            !is_ready,
            "the handle is ready, but its job is still waiting"
        );
        drop(owner);
        let opening = opener.open_once_asleep();
        drop(held);
        opening.join().expect("opening does not panic");
    });
}

/// What a waker belongs to: it owns the handle, as a task does.
struct OwnsTheHandle {
    handle: Mutex<Option<JoinHandle<()>>>,
    sender: mpsc::Sender<bool>,
}

impl Wake for OwnsTheHandle {
    fn wake(self: Arc<Self>) {}
}

impl Drop for OwnsTheHandle {
    fn drop(&mut self) {
        let mut handle = self.handle.lock().unwrap().take();
        let handle = handle.as_mut().expect("it is dropped once");
        let _ = self.sender.send(poll_once(handle, Waker::noop()));
    }
}

/// Clause 6: the last owner of the waker may be the thread that calls it.
#[test]
fn a_waker_that_is_dropped_as_the_job_ends_may_poll_the_handle() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A waker that is called, and then dropped, finds the handle ready.",
        usual_cause: "The job's end calls the waker under the lock of the job's cell, or before \
                      the result is there. What the waker owns asks for the result, and waits for \
                      that lock. Store the result, take the waker out, unlock, then call it.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let opener = Opener::new();
        let held = hold(&pool, &opener);
        let (sender, receiver) = mpsc::channel();
        let owner = Arc::new(OwnsTheHandle {
            handle: Mutex::new(Some(held)),
            sender,
        });
        let waker = Waker::from(owner.clone());
        let mut handle = owner.handle.lock().unwrap();
        let is_ready = poll_once(handle.as_mut().unwrap(), &waker);
        assert!(
            !is_ready,
            "the handle is ready, but its job is still waiting"
        );
        drop(handle);
        drop((waker, owner));
        drop(opener);
        let is_ready = receiver.recv().expect("the waker is dropped");
        assert!(is_ready, "the waker was called, and the handle isn't ready");
    });
}

/// A job whose result, or panic, may itself panic when it's dropped.
type Job = fn() -> Box<dyn Any + Send>;

/// Panics when it's dropped, with a payload that panics when it's dropped.
struct ThrowOnDrop;

impl Drop for ThrowOnDrop {
    fn drop(&mut self) {
        panic_any(PanicOnDrop);
    }
}

/// Clause 7: dropping what was thrown may run arbitrary code, too.
#[test]
fn a_waker_that_panics_when_it_is_dropped_ends_no_thread() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A thread survives a waker whose destructor panics, as it survives one that \
                  panics when it's called.",
        usual_cause: "The waker is called by reference where panics are caught, and dropped where \
                      they aren't. Call it by value, or drop it there, too.",
        read: "blocking/spawn-blocking.html#a-job-that-panics",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let thread_of = || block_on(pool.spawn_blocking(here));
        let before = thread_of().expect("the job returns");
        let opener = Opener::new();
        let mut handle = pool.spawn_blocking(waiting_job(&opener));
        let owned = PanicOnDrop;
        let waker = HostileWaker::new(move || _ = &owned);
        assert!(!poll_once(&mut handle, &waker), "the job has not ended");
        // The last one is the pool's.
        drop(waker);
        drop(opener);
        let after = thread_of().expect("the job returns");
        assert!(
            after == before,
            "a waker panicked when it was dropped, and the thread that dropped it is gone"
        );
    });
}

/// Clause 7: neither does the payload of a panic end a thread.
#[test]
fn what_is_thrown_may_panic_in_turn() {
    let lesson = Lesson {
        clause: "7. Panics",
        promise: "A thread survives a job, a result and a waker whose panic's payload panics when \
                  it's dropped.",
        usual_cause: "What `catch_unwind` returns is dropped outside of any other: with the error \
                      that nothing awaits, or where it is ignored by `let _ =`.",
        read: "blocking/spawn-blocking.html#a-job-that-panics",
    };
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        let thread_of = || block_on(pool.spawn_blocking(here));
        let before = thread_of().expect("the job returns");
        // The handle is dropped first: what the job leaves is the thread's.
        let run_detached = |waker: &Waker, job: Job| {
            let opener = Opener::new();
            let wait = waiting_job(&opener);
            let mut handle = pool.spawn_blocking(move || {
                wait();
                job()
            });
            poll_once(&mut handle, waker);
            drop(handle);
            drop(opener);
        };
        let silent = Waker::noop();
        let throwing = HostileWaker::new(|| panic_any(PanicOnDrop));
        let attempts: [(&str, &Waker, Job); 4] = [
            ("a job threw it", silent, || panic_any(PanicOnDrop)),
            ("a result threw it", silent, || Box::new(ThrowOnDrop)),
            ("a waker threw it", &throwing, || Box::new(())),
            ("a waker threw it, and then a result", &throwing, || {
                Box::new(ThrowOnDrop)
            }),
        ];
        for (what, waker, job) in attempts {
            run_detached(waker, job);
            let after = thread_of().expect("the job returns");
            assert!(
                after == before,
                "a value panicked when it was dropped ({what}), and the \
                 thread that dropped it is gone"
            );
        }
    });
}

fn here() -> ThreadId {
    thread::current().id()
}
