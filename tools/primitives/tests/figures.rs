//! The programs of the book's figures that no exercise's model contains: loom has to find the
//! failures that the figures show. Each test runs itself again, in a process of its own: after a
//! failure loom may abort.

#![cfg(feature = "loom")]

use std::env;
use std::process::Command;

use primitives::atomic::AtomicUsize;
use primitives::atomic::Ordering::AcqRel;
use primitives::{Arc, Condvar, Mutex, model, thread};

/// Tells a process that it is to explore the model.
const CHILD: &str = "PRIMITIVES_TESTS_CHILD";

/// Explores `program` in a process of its own, and returns what that printed of its end.
fn explored(test: &str, program: impl Fn() + Sync + Send + 'static) -> String {
    if env::var_os(CHILD).is_some() {
        model(program);
        return String::new();
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    let output = command.env(CHILD, "1").output().unwrap();
    let ended_well = output.status.success();
    assert!(!ended_well, "loom found no failure");
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

/// `steps-block-on-gap`.
#[test]
fn a_look_that_lets_go_before_the_sleep_can_hang() {
    let printed = explored("a_look_that_lets_go_before_the_sleep_can_hang", || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = shared.clone();
        let waking = thread::spawn(move || {
            *other.0.lock().unwrap() = true;
            other.1.notify_one();
        });
        let is_woken = *shared.0.lock().unwrap();
        if !is_woken {
            let guard = shared.0.lock().unwrap();
            drop(shared.1.wait(guard));
        }
        waking.join().unwrap();
    });
    if env::var_os(CHILD).is_none() {
        assert!(printed.contains("deadlock"), "{printed}");
    }
}

/// `steps-raw-waker-count`.
#[test]
fn a_wake_up_by_reference_that_gives_a_count_back_frees_too_early() {
    let test = "a_wake_up_by_reference_that_gives_a_count_back_frees_too_early";
    let printed = explored(test, || {
        let count = Arc::new(AtomicUsize::new(2));
        // AcqRel: as `Arc` does it; a freed target's count is 0.
        let give_back =
            |count: &AtomicUsize| assert_ne!(count.fetch_sub(1, AcqRel), 0, "used after the end");
        let other = count.clone();
        let timer = thread::spawn(move || {
            // `wake_by_ref`, and then the drop of the waker.
            give_back(&other);
            give_back(&other);
        });
        give_back(&count);
        timer.join().unwrap();
    });
    if env::var_os(CHILD).is_none() {
        assert!(printed.contains("used after the end"), "{printed}");
    }
}
