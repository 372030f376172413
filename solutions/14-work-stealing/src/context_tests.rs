//! Whether anything keeps a runtime alive that has ended. No clause asks for
//! that, so the checks of the exercise don't look at it.

use std::sync::Arc;

use testkit::{Lesson, check};

use super::{Runtime, spawn, spawn_blocking};

#[test]
fn nothing_keeps_a_runtime_that_has_ended() {
    let lesson = Lesson {
        clause: "16. After the end",
        promise: "Once a runtime is dropped, in which no guard of `enter` was forgotten, its \
                  memory is free.",
        usual_cause: "See `context.rs`: a scope around user code, or the worker after a poll, \
                      keeps the runtime for a guard that isn't there.",
        read: "scheduler/work-stealing.html",
    };
    check(lesson, || {
        let runtime = Runtime::new().expect("there are threads left");
        let parts = Arc::downgrade(runtime.handle().shared());
        runtime.block_on(async {
            let job = spawn_blocking(|| spawn(async {}));
            let task = job.await.expect("the job runs");
            task.await.expect("the task runs");
        });
        drop(runtime);
        assert_eq!(parts.strong_count(), 0, "references to the runtime");
    });
}
