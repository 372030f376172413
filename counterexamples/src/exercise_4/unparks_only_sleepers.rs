//! Breaks clause 3: No lost wake-up.
//! Caught by: a_wake_during_poll_is_not_lost
//! Also fails: another_thread_wakes_by_a_borrowed_waker
//! Also fails: a_thread_that_ends_wakes_another
//! Also fails: a_recursive_call_leaves_the_outer_one_able_to_finish
//! Also fails: a_wake_up_causes_one_poll
//! Also fails: a_wake_up_survives_a_future_that_parks
//! Also fails: a_waker_wakes_its_thread_from_within_another_block_on
//! Also fails: calls_after_the_first_allocate_nothing
//! Also fails: stale_wake_ups_cost_the_next_call_one_poll_at_most
//! Also fails: thousands_of_wakes_between_two_threads_all_arrive
//! Also fails: two_waiting_threads_do_not_take_each_others_wake_ups
//! Also fails: waiting_is_idle
//! Also fails: wakes_by_both_ways_at_once_are_not_lost
//! Also fails: models::a_stale_wake_up_does_not_disturb_a_later_call
//! Also fails: models::a_wake_from_another_thread_counts_in_every_order
//! Also fails: models::a_wake_here_and_one_from_elsewhere_both_count
//! Also fails: models::what_each_of_two_threads_wrote_is_seen
//!
//! Who does not sleep need not be roused: that saves the swap of an `unpark`.
//! But the swap also leaves the token. A thread that polls is not asleep yet,
//! and will be soon.

use std::cell::Cell;
use std::pin::pin;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parker::{Parker, Unparker};
use sync::atomic::{AtomicBool, Ordering};

use Ordering::SeqCst;

/// Runs `future` on this thread until it is ready and returns its output.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let call = Call::start();
    let mut cx = Context::from_waker(&call.kept.waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        if !IS_WOKEN.with(|is_woken| is_woken.replace(false)) {
            call.kept.sleep();
        }
    }
}

/// What a thread keeps from call to call.
struct Kept {
    parker: Parker,
    waker: Waker,
    signal: Arc<Signal>,
}

sync::thread_local! {
    /// Empty before the first call and while a call runs.
    static KEPT: Cell<Option<Rc<Kept>>> = const { Cell::new(None) };
    /// The target of the running call's waker; null if no call runs.
    static RUNNING: Cell<*const Signal> = const { Cell::new(ptr::null()) };
    /// Whether the running call was woken on its own thread.
    static IS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// A call that runs. Its end puts back what it has taken.
struct Call {
    kept: Rc<Kept>,
}

impl Call {
    fn start() -> Self {
        let is_running = RUNNING.with(|running| !running.get().is_null());
        assert!(!is_running, "recursive `block_on`");
        // Fails when the thread ends and its cache is gone.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let kept = kept.unwrap_or_else(Kept::new);
        RUNNING.with(|running| running.set(Arc::as_ptr(&kept.signal)));
        Self { kept }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        RUNNING.with(|running| running.set(ptr::null()));
        let _ = KEPT.try_with(|kept| kept.set(Some(self.kept.clone())));
    }
}

impl Kept {
    fn new() -> Rc<Self> {
        let parker = Parker::new();
        let signal = Arc::new(Signal {
            unparker: parker.unparker(),
            is_asleep: AtomicBool::new(false),
        });
        Rc::new(Self {
            parker,
            waker: Waker::from(signal.clone()),
            signal,
        })
    }

    fn sleep(&self) {
        self.signal.is_asleep.store(true, SeqCst);
        self.parker.park();
        self.signal.is_asleep.store(false, SeqCst);
    }
}

struct Signal {
    unparker: Unparker,
    is_asleep: AtomicBool,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let running = RUNNING.try_with(Cell::get).unwrap_or(ptr::null());
        if ptr::eq(running, &**self) {
            IS_WOKEN.with(|is_woken| is_woken.set(true));
        } else if self.is_asleep.load(SeqCst) {
            self.unparker.unpark();
        }
    }
}

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/04-cached-block-on/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/04-cached-block-on/src/tests/mod.rs"]
mod tests;
