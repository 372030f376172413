//! Breaks clause 2: One poll.
//! Caught by: a_wake_up_during_a_poll_is_not_lost
//! Also fails: a_handle_gives_the_output_to_any_thread
//! Also fails: a_task_is_polled_by_one_worker_at_a_time
//! Also fails: a_task_runs_wherever_it_was_spawned
//! Also fails: any_interval_will_do
//! Also fails: each_of_many_tasks_runs_once
//! Also fails: a_panic_harms_nobody_else
//! Also fails: a_task_runs_though_all_workers_fall_asleep
//! Also fails: a_task_stays_with_its_runtime
//! Also fails: as_many_woken_tasks_run_as_there_are_workers
//! Also fails: free_functions_find_their_runtime
//! Also fails: sleeps_end_though_all_workers_are_busy
//! Also fails: sleeps_end_though_all_workers_sleep
//!
//! A task that is being polled is awake: whoever wakes it then need not do so, as
//! the poll sees what was written. Unless it has looked there already, and is
//! about to say that it is pending.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread::{self, ThreadId};

use ::{run_queue, sleepers};

super::parts! {
    builder context end handle injector owner runtime search shared slot
    start worker futures as polled all others
}

struct Polled {
    /// The thread that polls the task just now.
    by: Mutex<Option<ThreadId>>,
    task: Mutex<Waker>,
}

impl Wake for Polled {
    fn wake(self: Arc<Self>) {
        let by = *self.by.lock().unwrap();
        if by.is_none_or(|thread| thread == thread::current().id()) {
            self.task.lock().unwrap().wake_by_ref();
        }
    }
}

async fn polled<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    let state = Arc::new(Polled {
        by: Mutex::new(None),
        task: Mutex::new(Waker::noop().clone()),
    });
    let waker = Waker::from(state.clone());
    poll_fn(|cx| {
        state.task.lock().unwrap().clone_from(cx.waker());
        *state.by.lock().unwrap() = Some(thread::current().id());
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        *state.by.lock().unwrap() = None;
        polled
    })
    .await
}
