//! The models of exercise 5, for faults that no run on this machine can be
//! relied on to show. loom tries every interleaving.
//!
//! No time passes in a model: the driver passes the time to the timers, and if
//! only an unpark can let it go on, it sleeps until it's unparked.

use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use parker::{Parker, Unparker, block_on};
use primitives::atomic::{AtomicBool, Ordering::SeqCst};
use primitives::{Arc, thread};
use testkit::{Lesson, check_model};

use super::{Sleep, Timers};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// The same in each execution, and so late that std's clock doesn't get there.
static START: LazyLock<Instant> = LazyLock::new(|| Instant::now() + HOUR);

fn begin(sleep: &mut Sleep) {
    let mut cx = Context::from_waker(Waker::noop());
    let poll = Pin::new(sleep).poll(&mut cx);
    assert!(poll.is_pending(), "a sleep is ready before its deadline");
}

/// Timers, the parker that their driver sleeps on, and its unparker.
fn timers_and_parker() -> (Arc<Timers>, Parker, Unparker) {
    let parker = Parker::new();
    let (unparker, stop) = (parker.unparker(), parker.unparker());
    let timers = Timers::new(move || unparker.unpark());
    (Arc::new(timers), parker, stop)
}

/// Clause 3: between the driver's look and its sleep.
#[test]
fn an_earlier_deadline_interrupts_in_every_order() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "In every interleaving, a driver that is about to sleep for an hour learns of a \
                  sleep of a second.",
        usual_cause: "`fire` stores what it returns after it has released the lock, so that a \
                      sleep that comes in between compares with an older value.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (timers, parker, stop) = timers_and_parker();
            let mut long = timers.sleep_until(*START + HOUR);
            begin(&mut long);
            let is_over = Arc::new(AtomicBool::new(false));
            let driver = thread::spawn({
                let (timers, is_over) = (timers.clone(), is_over.clone());
                move || drive(&timers, &parker, &is_over, *START)
            });
            block_on(timers.sleep_until(*START + SECOND));
            is_over.store(true, SeqCst);
            stop.unpark();
            driver.join().expect("driving doesn't panic");
        });
    });
}

/// Clause 3: the time that was stored before is earlier than the new deadline.
#[test]
fn a_sleep_that_begins_as_fire_ends_is_not_overslept_in_any_order() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "In every interleaving, a driver that has just woken one sleep, and is about to \
                  sleep for an hour, learns of another sleep of two seconds.",
        usual_cause: "`fire` takes out what is due, unlocks, and then stores when it will look \
                      next. A sleep that comes in between compares with the time that was stored \
                      before.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (timers, parker, stop) = timers_and_parker();
            let mut long = timers.sleep_until(*START + HOUR);
            begin(&mut long);
            let mut first = timers.sleep_until(*START + SECOND);
            begin(&mut first);
            // From here on, the stored time is "in a second".
            timers.fire(*START);
            // The driver has learned of these two: no token is left.
            stop.unpark();
            parker.park();
            let is_over = Arc::new(AtomicBool::new(false));
            let driver = thread::spawn({
                let (timers, is_over) = (timers.clone(), is_over.clone());
                move || drive(&timers, &parker, &is_over, *START + SECOND + MS)
            });
            block_on(timers.sleep_until(*START + 2 * SECOND));
            is_over.store(true, SeqCst);
            stop.unpark();
            driver.join().expect("driving doesn't panic");
        });
    });
}

/// Fires until the sleep is over. If `fire` returns a time within the next
/// minutes, that time simply comes; if it returns a later one, a sleep has to
/// unpark.
fn drive(
    timers: &Timers,
    parker: &Parker,
    is_over: &AtomicBool,
    mut now: Instant,
) {
    while !is_over.load(SeqCst) {
        match timers.fire(now) {
            Some(next) if next < *START + HOUR / 2 => now = next,
            _ => parker.park(),
        }
    }
}

/// Clause 5: between the check whether the sleep has fired and the storing of
/// the waker.
#[test]
fn a_poll_that_races_with_fire_is_woken_in_every_order() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "In every interleaving, a sleep that is polled again while it fires comes to its \
                  end.",
        usual_cause: "The poll checks whether the sleep has fired, and then stores the new waker, \
                      in two steps. The old waker is woken in between.",
        read: "blocking/sleep.html#between-the-check-and-the-waker",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (timers, _parker, _stop) = timers_and_parker();
            let mut sleep = timers.sleep_until(*START + SECOND);
            begin(&mut sleep);
            let firing = thread::spawn(move || {
                timers.fire(*START + SECOND + MS);
            });
            block_on(sleep);
            firing.join().expect("firing doesn't panic");
        });
    });
}
