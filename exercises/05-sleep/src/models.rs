//! The models of exercise 5: what no run on this machine can be relied on to
//! show. loom tries every order of the threads' steps.
//!
//! No time passes in a model: the driver tells the timers what time it is, and
//! sleeps until it is roused if that is the only way to go on.

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

/// The same in each execution, and too late for std's clock to come there.
static START: LazyLock<Instant> = LazyLock::new(|| Instant::now() + HOUR);

fn begin(sleep: &mut Sleep) {
    let mut cx = Context::from_waker(Waker::noop());
    let poll = Pin::new(sleep).poll(&mut cx);
    assert!(poll.is_pending(), "it is ready before its deadline");
}

/// Timers, the parker on which their driver sleeps, and its unparker.
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
        promise: "In every order of steps a driver that is about to sleep for an hour hears of a \
                  sleep of a second.",
        usual_cause: "What `fire` returns is noted after the lock is given back, so that a sleep \
                      that comes in between compares with an older note.",
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
            driver.join().expect("driving does not panic");
        });
    });
}

/// Clause 3: the note of the last time is earlier than the new deadline.
#[test]
fn a_sleep_that_begins_as_fire_ends_is_not_overslept_in_any_order() {
    let lesson = Lesson {
        clause: "3. Earlier ones interrupt",
        promise: "In every order of steps a driver that has just woken one sleep, and is about to \
                  sleep for an hour, hears of another one of two seconds.",
        usual_cause: "`fire` takes out what is due, unlocks, and then notes when it looks next. A \
                      sleep that comes in between compares with the note of the last time.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check_model(lesson, || {
        primitives::model(|| {
            let (timers, parker, stop) = timers_and_parker();
            let mut long = timers.sleep_until(*START + HOUR);
            begin(&mut long);
            let mut first = timers.sleep_until(*START + SECOND);
            begin(&mut first);
            // From here on the note says "in a second".
            timers.fire(*START);
            // The driver has heard of these two: no token is left.
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
            driver.join().expect("driving does not panic");
        });
    });
}

/// Fires until it is over. An answer within the next minutes is a time that
/// comes by itself; until a later one somebody has to rouse.
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

/// Clause 5: between the look whether it has fired and the keeping of the
/// waker.
#[test]
fn a_poll_that_races_with_fire_is_woken_in_every_order() {
    let lesson = Lesson {
        clause: "5. No lost wake-up",
        promise: "In every order of steps a sleep that is polled again while it fires ends.",
        usual_cause: "The poll looks whether it has fired, and then keeps the new waker, in two \
                      steps. The old waker is woken in between.",
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
            firing.join().expect("firing does not panic");
        });
    });
}
