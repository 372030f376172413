//! Checks that fail, each run as the child of another test.

use super::*;
use crate::panics::allow_unwritten;
#[cfg(target_os = "linux")]
use crate::subject;
use crate::{Gate, panic_message};

/// For checks that are only run as the child of another test.
const LESSON: Lesson = Lesson {
    clause: "1. Example",
    promise: "the example passes",
    usual_cause: "it is meant to fail",
    read: "example.html",
};

/// Runs `body` as a check and returns the report; in the child, runs it.
fn report_of<F: FnOnce() + Send + 'static>(limits: Limits, body: F) -> child::Report {
    if child::is_child() {
        child::run(limits, "", Box::new(body));
    }
    child::start(test_name(type_name::<F>()), limits)
}

fn seen_by<F: FnOnce() + Send + 'static>(body: F) -> String {
    seen_within(Limits::CHECK, body)
}

fn seen_within<F: FnOnce() + Send + 'static>(limits: Limits, body: F) -> String {
    match report_of(limits, body).verdict {
        Verdict::Failed(failure) => format!("{}\n{}", failure.seen, failure.threads.join("\n")),
        Verdict::Passed => panic!("the body must fail"),
    }
}

/// On a loaded machine it gets this much long before its time on the clock is up.
#[cfg(target_os = "linux")]
const BRIEF: Limits = Limits {
    cpu: std::time::Duration::from_millis(200),
    ..Limits::CHECK
};

fn assert_seen(seen: &str, expected: &str) {
    assert!(
        seen.contains(expected),
        "`{expected}` is missing in: {seen}"
    );
}

#[test]
fn what_a_terminal_would_obey_is_shown() {
    let text = shown("a\u{1b}]0;title\u{7}b\u{9b}2J\nc\td\r");
    assert_eq!(text, "a\\u{1b}]0;title\\u{7}b\\u{9b}2J\nc\td\\r");
}

#[test]
fn a_body_that_returns_passes() {
    check(LESSON, || ());
}

#[test]
fn what_the_body_printed_is_passed_on() {
    let report = report_of(Limits::CHECK, || println!("hello from the body"));
    assert_eq!(report.output, "hello from the body\n");
}

#[test]
fn a_failed_assertion_is_what_was_seen() {
    let seen = seen_by(|| assert!(gate_key_fits(), "one was not above two"));
    assert_seen(&seen, "one was not above two");
}

#[test]
fn an_unwritten_part_is_said_to_be_unwritten() {
    let seen = seen_by(|| todo!("your turn"));
    assert_seen(&seen, "not written yet");
    assert_seen(&seen, "check/tests.rs:");
}

#[test]
fn an_assertion_that_fails_because_of_a_todo_is_said_to_be_unwritten() {
    let seen = seen_by(|| {
        let result = std::thread::spawn(|| todo!("your turn")).join();
        assert!(result.is_ok(), "the thread panicked");
    });
    assert_seen(&seen, "not written yet");
}

#[cfg(unix)]
#[test]
fn a_process_that_aborts_because_of_a_todo_is_said_to_be_unwritten() {
    struct Unwritten;
    impl Drop for Unwritten {
        fn drop(&mut self) {
            todo!("your turn")
        }
    }
    let seen = seen_by(|| {
        let _unwritten = Unwritten;
        todo!("your turn, too")
    });
    assert_seen(&seen, "not written yet");
}

#[test]
fn what_may_be_unwritten_is_no_reason_to_fail() {
    check(LESSON, || {
        allow_unwritten(|| todo!("your turn"));
        let other = panic_message(|| allow_unwritten(|| panic!("mine")));
        assert_eq!(other.as_deref(), Some("mine"));
    });
}

#[test]
fn what_may_be_unwritten_is_no_excuse_for_another_failure() {
    let seen = seen_by(|| {
        allow_unwritten(|| todo!("your turn"));
        assert!(gate_key_fits(), "the key does not fit");
    });
    assert_seen(&seen, "the key does not fit");
}

#[test]
fn a_panic_of_another_thread_is_told_with_the_hang_that_it_caused() {
    let seen = seen_by(|| {
        let gate = std::sync::Arc::new(Gate::new());
        let opener = std::thread::Builder::new().name("opener".into());
        let _ = opener.spawn({
            let gate = gate.clone();
            move || {
                assert!(gate_key_fits(), "the key does not fit");
                gate.open();
            }
        });
        gate.wait();
    });
    assert_seen(&seen, "it hangs");
    assert_seen(&seen, "opener");
    assert_seen(&seen, "the key does not fit");
}

fn gate_key_fits() -> bool {
    std::hint::black_box(false)
}

#[cfg(target_os = "linux")]
#[test]
fn a_body_that_sleeps_for_ever_is_said_to_hang() {
    let seen = seen_by(|| Gate::new().wait());
    assert_seen(&seen, "it hangs");
    assert_seen(&seen, "check: in a condvar ← ");
}

#[cfg(target_os = "linux")]
#[test]
fn a_body_that_spins_is_said_to_never_end() {
    let seen = seen_within(BRIEF, || {
        while std::hint::black_box(true) {
            std::hint::spin_loop();
        }
    });
    assert_seen(&seen, "it never ends");
    assert_seen(&seen, "check: running ← ");
}

#[test]
fn a_check_that_got_no_cpu_says_nothing_of_the_code() {
    const BRIEF: Limits = Limits {
        at_most: std::time::Duration::from_millis(100),
        ..Limits::CHECK
    };
    let seen = seen_within(BRIEF, || {
        std::thread::sleep(std::time::Duration::from_secs(5));
    });
    assert_seen(&seen, "too busy to tell");
    let report = LESSON.report(&seen, None, "tests.rs:7", &[]);
    assert_seen(&report, "It says nothing about your");
    assert!(!report.contains(LESSON.usual_cause), "{report}");
}

/// What loom does when it gives up: it panics, and again while it unwinds.
#[test]
fn a_model_that_aborts_is_told_by_its_first_panic() {
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            assert!(gate_key_fits(), "the second panic");
        }
    }
    let seen = seen_within(Limits::MODEL, || {
        let _panics = PanicsInDrop;
        assert!(gate_key_fits(), "deadlock; threads = all");
    });
    assert_seen(&seen, "every thread sleeps");
}

#[cfg(target_os = "linux")]
#[test]
fn a_deadlock_is_told_with_the_place_of_the_lock() {
    let seen = seen_by(|| subject::lock_twice(&std::sync::Mutex::new(0), 1));
    assert_seen(
        &seen,
        "a deadlock: thread `check` waits in `lock_twice` (subject.rs:",
    );
    assert_seen(&seen, "check: in a lock ← lock_twice subject.rs:");
}

#[cfg(target_os = "linux")]
#[test]
fn a_hang_in_a_destructor_is_told_with_what_it_waits_for() {
    let seen = seen_by(|| drop(subject::Joins::new()));
    assert_seen(&seen, "it hangs in a destructor: `drop` (subject.rs:");
    assert_seen(&seen, "`worker` waits in a park in `work` (subject.rs:");
    assert_seen(&seen, "check: in a join ← drop subject.rs:");
}

#[cfg(target_os = "linux")]
#[test]
fn a_panic_of_std_is_told_with_the_code_that_called_it() {
    let seen = seen_by(|| {
        subject::overflow_the_clock();
    });
    assert_seen(&seen, "a panic in what `overflow_the_clock` (subject.rs:");
    assert_seen(&seen, "overflow when adding duration to instant");
}

#[cfg(target_os = "linux")]
#[test]
fn a_loop_is_reported_with_its_place() {
    let seen = seen_within(BRIEF, || {
        subject::spin();
    });
    assert_seen(&seen, "it never ends");
    assert_seen(&seen, "`spin` (subject.rs:");
}

#[cfg(unix)]
#[test]
fn a_panic_that_cannot_unwind_is_told_with_the_one_before() {
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            assert!(gate_key_fits(), "the second panic");
        }
    }
    let seen = seen_by(|| {
        let _panics = PanicsInDrop;
        assert!(gate_key_fits(), "the first panic");
    });
    assert_seen(&seen, "SIGABRT");
    assert_seen(&seen, "the second panic");
}

#[test]
fn a_consequence_is_reported_by_what_came_before() {
    let seen = seen_by(|| {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let teller = std::thread::Builder::new().name("teller".into());
        let teller = teller.spawn(move || {
            let _sender = sender;
            assert!(gate_key_fits(), "the teller fails");
        });
        let _ = teller.map(|teller| teller.join());
        receiver.recv().expect("the teller tells");
    });
    assert_seen(&seen, "thread `teller` ended early: the teller fails");
}

#[test]
fn what_cannot_come_any_more_is_reported_as_such() {
    let seen = seen_by(|| {
        let (_, receiver) = std::sync::mpsc::channel::<()>();
        receiver.recv().expect("the waker is there");
    });
    assert_seen(&seen, "can't come anymore");
}

#[cfg(unix)]
#[test]
fn a_process_that_dies_is_reported_as_dead() {
    let seen = seen_by(|| std::process::abort());
    assert_seen(&seen, "SIGABRT");
}

#[test]
fn a_process_that_exits_early_has_not_passed() {
    let seen = seen_by(|| std::process::exit(0));
    assert_seen(&seen, "ended by itself");
}

#[test]
fn a_block_freed_with_another_layout_is_told() {
    let seen = seen_by(|| {
        let block = Box::into_raw(Box::new(7_u64));
        // SAFETY: wrong on purpose (the layout differs); the allocator ends the process before it matters.
        drop(unsafe { Box::from_raw(block.cast::<[u8; 8]>()) });
    });
    assert_seen(
        &seen,
        "size 8 and alignment 8, and freed with size 8 and alignment 1",
    );
}

#[cfg(not(feature = "no-quarantine"))]
#[test]
fn a_block_freed_twice_is_told() {
    let seen = seen_by(|| {
        let block = Box::into_raw(Box::new(7_u64));
        for _ in 0..2 {
            // SAFETY: wrong on purpose the second time; the allocator ends the process at that
            // point.
            drop(unsafe { Box::from_raw(block) });
        }
    });
    assert_seen(&seen, "memory was freed twice");
}

#[cfg(not(feature = "no-quarantine"))]
#[test]
fn a_freed_block_reads_as_poison() {
    check(LESSON, || {
        let block = Box::into_raw(Box::new(7_u8));
        // SAFETY: the block is ours and freed once.
        drop(unsafe { Box::from_raw(block) });
        // SAFETY: wrong on purpose: the block is freed, but the allocator's quarantine keeps its memory mapped.
        let byte = unsafe { block.read_volatile() };
        assert!(byte == 0xDE, "the freed byte reads {byte:#x}");
    });
}
