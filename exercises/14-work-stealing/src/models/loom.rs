//! One or two workers with as little to do as possible. loom tries every
//! interleaving of the threads' steps, and every value that an atomic load may
//! return. What it finds here is a part whose promise is weaker than the runtime
//! needs.
//!
//! Each step of a runtime is many steps of its parts, so these models allow few
//! preemptions.

use primitives::thread;
use testkit::{Lesson, check_model};

use super::super::yield_now;
use super::runtime;

/// Clause 1: the worker looks at the queue, announces that it parks, and looks
/// again; the spawning thread pushes the task, and then looks for parked workers.
#[test]
fn a_task_from_outside_runs_in_every_order() {
    let lesson = Lesson {
        clause: "1. Every task runs",
        promise: "A task that is spawned while the worker parks runs, in every order.",
        usual_cause: "The worker doesn't look at the queues again after it has announced that it \
                      parks. Or there is no `SeqCst` fence between the announcement and that look, \
                      or between the push and the look at the parked workers: both may read what \
                      was there before.",
        read: "scheduler/work-stealing.html#where-a-task-goes",
    };
    check_model(lesson, || {
        // ANCHOR: from_outside
        primitives::model_within(2, || {
            let runtime = runtime(1);
            let task = runtime.spawn(async { 42 });
            assert_eq!(runtime.block_on(task).expect("it returns"), 42);
        });
        // ANCHOR_END: from_outside
    });
}

/// Clause 1: what the second push does to the global queue comes after its look for
/// parked workers, or the worker looks while tasks are moved.
#[test]
fn two_tasks_from_outside_run_in_every_order() {
    let lesson = Lesson {
        clause: "1. Every task runs",
        promise: "Two tasks that are spawned while the worker parks run, in every order.",
        usual_cause: "The global queue seems empty while a thread moves tasks within it: the \
                      worker parks, and the thread has looked for parked workers before. Or a \
                      length that is read without the lock isn't ordered with what says that the \
                      tasks were moved. Or a thread that pushes notifies only if the queue was \
                      empty before.",
        read: "scheduler/work-stealing.html#where-a-task-goes",
    };
    check_model(lesson, || {
        primitives::model_within(1, || {
            let runtime = runtime(1);
            let tasks =
                [1, 2].map(|number| runtime.spawn(async move { number }));
            for (task, number) in tasks.into_iter().zip(1..) {
                let output = runtime.block_on(task).expect("it returns");
                assert_eq!(output, number);
            }
        });
    });
}

/// Clause 15: the shutdown comes as the workers start, or as they park.
#[test]
fn two_workers_end_in_every_order() {
    let lesson = Lesson {
        clause: "15. Shutdown",
        promise: "Both workers see the shutdown, in every order.",
        usual_cause: "Only the workers that seem to be parked are unparked, or all are unparked \
                      before the flag is set.",
        read: "scheduler/runtime.html#shutdown",
    };
    check_model(lesson, || {
        primitives::model_within(1, || drop(runtime(2)));
    });
}

/// Clause 16: the last worker looks at the queue, and the spawning thread checks
/// the shutdown flag.
#[test]
fn a_task_that_comes_at_the_end_ends_in_every_order() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "A task that is spawned as the runtime ends runs or is dropped, in every order.",
        usual_cause: "The spawning thread checks whether the runtime has ended, and then pushes; \
                      the last worker looked at the queue in between.",
        read: "scheduler/runtime.html#shutdown",
    };
    check_model(lesson, || {
        primitives::model_within(1, || {
            let runtime = runtime(1);
            let handle = runtime.handle();
            let spawning = thread::spawn(move || {
                let task = handle.spawn(async { yield_now().await });
                (handle, task)
            });
            drop(runtime);
            // While the handle exists, what's left in a queue stays there.
            let (_handle, task) = spawning.join().expect("it doesn't panic");
            assert!(task.is_finished(), "the task was neither run nor dropped");
        });
    });
}
