//! Wrong versions of the parker, and of `block_on` on top of it.

pub mod anybody_may_park;
pub mod believes_any_wake_up;
pub mod borrows_the_threads_token;
pub mod c02_lets_go_between_look_and_wait;
pub mod c04_stores_the_token;
pub mod c05_waits_the_whole_time_again;
pub mod c10_sleeps_beside_the_parker;
pub mod counts_its_unparkers;
pub mod counts_tokens;
pub mod drains_before_it_parks;
pub mod drops_a_late_token;
pub mod gives_up_early;
pub mod leaks_its_state;
pub mod leaves_parked_behind;
pub mod leaves_the_token;
pub mod looks_again_by_a_timer;
pub mod looks_every_millisecond;
pub mod notifies_without_the_lock;
pub mod overflows_the_clock;
pub mod points_at_its_parker;
pub mod polls_twice_to_be_sure;
pub mod publishes_only_the_first;
pub mod relaxed_token;
pub mod remembers_its_first_thread;
pub mod returns_for_any_reason;
pub mod rouses_only_sleepers;
pub mod says_what_it_found_first;
pub mod shares_a_condition_variable;
pub mod sleeps_before_it_looks;
pub mod spins_on_the_clock;
pub mod starts_its_time_anew;
pub mod starts_with_a_token;
pub mod stores_over_a_late_token;
pub mod takes_any_unpark;
pub mod takes_parked_for_notified;
pub mod waits_on_the_thread;
pub mod waker_dies_with_the_call;

// Those that are written as edits of right versions.
include!(concat!(env!("OUT_DIR"), "/exercise_2.rs"));

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// The right loop, for parkers that are wrong: runs `future` on this thread,
/// sleeps by `park`, and wakes by `unpark`.
fn poll_and_park<F: Future>(
    future: F,
    park: impl Fn(),
    unpark: impl Fn() + Send + Sync + 'static,
) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(CallOnWake(unpark)));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        park();
    }
}

struct CallOnWake<U>(U);

impl<U: Fn() + Send + Sync + 'static> Wake for CallOnWake<U> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        (self.0)();
    }
}

/// How long it is until the deadline. Where there is none, for ever.
fn time_left(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| {
        deadline.saturating_duration_since(Instant::now())
    })
}
