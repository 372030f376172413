//! The bridge to rayon.

use super::*;

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
