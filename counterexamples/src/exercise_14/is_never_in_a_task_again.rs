//! Breaks clause 9: Panics.
//! Caught by: a_panic_harms_nobody_else
//!
//! A check, for the author's peace of mind: no task is polled within another
//! one. A task that panics leaves the mark behind, and the next one on that
//! worker panics, too.

use std::cell::Cell;
use std::future::poll_fn;

use ::{run_queue, sleepers};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker futures as alone all others
}

thread_local! {
    static IS_IN_A_TASK: Cell<bool> = const { Cell::new(false) };
}

/// Polls `future`, and nothing else within its polls.
async fn alone<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    poll_fn(|cx| {
        assert!(!IS_IN_A_TASK.replace(true), "a task within a task");
        let poll = future.as_mut().poll(cx);
        IS_IN_A_TASK.set(false);
        poll
    })
    .await
}
