//! Blocking jobs that come while the runtime ends.

use super::*;

const ROUNDS: usize = 20;

fn runtime_of_two_jobs() -> Runtime {
    let mut builder = Runtime::builder();
    let builder = builder.worker_threads(1).max_blocking_threads(2);
    builder.build().expect("the system has threads left")
}

/// Spawns a job that spawns its successor, until the runtime takes no more, and
/// counts the jobs that run.
fn spawn_chain(handle: &Handle, running: &Arc<AtomicUsize>) {
    let (next, counted) = (handle.clone(), running.clone());
    drop(handle.spawn_blocking(move || {
        counted.fetch_add(1, SeqCst);
        spawn_chain(&next, &counted);
        thread::sleep(Duration::from_micros(200));
        counted.fetch_sub(1, SeqCst);
    }));
}

/// Clause 15: the runtime may not own the last `Arc` of the pool.
#[test]
fn shutdown_waits_for_jobs_that_spawn_jobs() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "When the runtime has been dropped no blocking job runs, even if jobs were being \
                  spawned meanwhile.",
        usual_cause: "A thread that spawns a job clones an `Arc` of the pool. The runtime drops \
                      its own `Arc`, which isn't the last then, so it waits for nothing. Let the \
                      runtime shut the pool down, no matter which threads still have an `Arc` of \
                      it.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for round in 1..=ROUNDS {
            let runtime = runtime_of_two_jobs();
            let running = Arc::new(AtomicUsize::new(0));
            spawn_chain(&runtime.handle(), &running);
            spawn_chain(&runtime.handle(), &running);
            while running.load(SeqCst) == 0 {
                thread::yield_now();
            }
            drop(runtime);
            let left = running.load(SeqCst);
            assert!(
                left == 0,
                "in round {round}, {left} jobs were still running after the runtime was dropped"
            );
        }
    });
}

/// Clause 15: a thread that spawns may have locked what jobs wait for.
#[test]
fn a_thread_that_spawns_a_job_waits_for_none() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "While the runtime is dropped, a thread that spawns a job doesn't wait for other \
                  jobs.",
        usual_cause: "The spawning thread has an `Arc` of the pool for that long, and the runtime \
                      drops its own, so the last `Arc` is dropped on the spawning thread: it joins \
                      the jobs, which want a lock that this thread has locked.",
        read: "scheduler/runtime.html#shutdown",
    };
    check(lesson, || {
        for _ in 0..ROUNDS {
            let runtime = runtime_of_two_jobs();
            let (handle, begun) = (runtime.handle(), Arc::new(Gate::new()));
            let signal = begun.clone();
            let spawning = thread::spawn(move || {
                let wanted = Arc::new(Mutex::new(()));
                let guard = wanted.lock().expect("nothing panics here");
                loop {
                    let wanted = wanted.clone();
                    let job = move || drop(wanted.lock());
                    let mut job = handle.spawn_blocking(job);
                    signal.open();
                    let mut cx = Context::from_waker(Waker::noop());
                    // Once the runtime has ended, the job is cancelled.
                    if Pin::new(&mut job).poll(&mut cx).is_ready() {
                        break;
                    }
                }
                drop(guard);
            });
            begun.wait();
            drop(runtime);
            spawning.join().expect("spawning doesn't panic");
        }
    });
}
