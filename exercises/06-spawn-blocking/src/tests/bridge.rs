//! The bridge to rayon.

use super::*;

/// Clause 12: a job that uses rayon should already be there.
#[test]
fn a_job_for_rayon_runs_there_while_the_submitter_goes_on() {
    let lesson = Lesson {
        clause: "12. On rayon",
        promise: "`spawn_rayon` returns at once, and the job runs on one of rayon's threads.",
        usual_cause: "`rayon::join`, `scope` and `ThreadPool::install` wait; `rayon::spawn` doesn't.",
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

/// Clause 12: the job has ended, but rayon's thread isn't done with it.
#[test]
fn what_panics_after_the_job_on_rayon_ends_no_process() {
    let lesson = Lesson {
        clause: "12. On rayon",
        promise: "A result that panics when it's dropped, and a waker that panics, don't affect rayon.",
        usual_cause: "Only the closure is in `catch_unwind`, and not what comes after it: the \
                      pool's threads have a second one around the whole job, and rayon's don't. If \
                      the process was aborted, rayon aborted it.",
        read: "blocking/spawn-blocking.html#a-bridge-to-rayon",
    };
    check(lesson, || {
        let run_detached =
            |waker: &Waker, last: fn() -> Box<dyn Any + Send>| {
                let opener = Opener::new();
                let wait = waiting_job(&opener);
                let mut handle = spawn_rayon(move || {
                    wait();
                    last()
                });
                poll_once(&mut handle, waker);
                drop(handle);
                drop(opener);
            };
        run_detached(Waker::noop(), || Box::new(PanicOnDrop));
        run_detached(Waker::noop(), || panic_any(PanicOnDrop));
        run_detached(&HostileWaker::panicking(), || Box::new(()));
        let jobs = (0..50).map(|n| spawn_rayon(move || n)).collect();
        assert!(results(jobs).into_iter().eq(0..50), "a job got lost");
    });
}

/// Clause 12: rayon aborts the process when a spawned closure panics.
#[test]
fn a_panic_on_rayon_reaches_the_handle() {
    let lesson = Lesson {
        clause: "12. On rayon",
        promise: "A job that panics on rayon makes its handle ready, and the process continues.",
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
