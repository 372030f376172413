//! What is recorded of a model that fails. Each test runs itself again, in a process of its own
//! that records: after a failure loom may abort.

#![cfg(feature = "loom")]

mod recorded;

use primitives::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use primitives::atomic::{AtomicU8, AtomicU32, fence};
use primitives::{Arc, Condvar, Mutex, UnsafeCell, model, thread};
use recorded::{explored, is_child, recorded, recorded_from, rows};

const EMPTY: u8 = 0;
const PARKED: u8 = 1;
const NOTIFIED: u8 = 2;

/// A parker that notifies without the lock.
#[derive(Default)]
struct Parker {
    state: AtomicU8,
    lock: Mutex<()>,
    woken: Condvar,
}

impl Parker {
    fn park(&self) {
        let mut guard = self.lock.lock().unwrap();
        if self
            .state
            .compare_exchange(EMPTY, PARKED, Relaxed, Relaxed)
            .is_ok()
        {
            while self.state.load(Relaxed) == PARKED {
                guard = self.woken.wait(guard).unwrap();
            }
        }
    }

    fn unpark(&self) {
        if self.state.swap(NOTIFIED, Release) == PARKED {
            self.woken.notify_one();
        }
    }
}

#[test]
fn a_lost_wake_up_is_recorded_step_by_step() {
    if is_child() {
        return model(|| {
            let parker = Arc::new(Parker::default());
            let other = parker.clone();
            let unparking = thread::spawn(move || other.unpark());
            parker.park();
            unparking.join().unwrap();
        });
    }
    let recorded = recorded("a_lost_wake_up_is_recorded_step_by_step");
    assert_eq!(recorded["values"], "newest", "no old value is needed");
    let expected = [
        "0 .spawn",
        "0 Mutex.lock",
        "0 AtomicU8.compare_exchange read 0 wrote 1",
        "0 AtomicU8.load read 1",
        "1 AtomicU8.swap read 1 wrote 2",
        "1 Condvar.notify_one",
        "0 Condvar.wait: sleeps",
        "0 panics: deadlock",
        "0 Condvar.wait: not done",
    ];
    assert_eq!(rows(&recorded), expected);
    let wait = recorded["steps"].as_array().unwrap().last().unwrap();
    assert!(wait["file"].as_str().unwrap().ends_with("tests/order.rs"));
    assert_eq!(recorded["threads"].as_array().unwrap().len(), 2);
}

#[test]
fn a_wake_up_says_whom_it_wakes() {
    if is_child() {
        return model(|| {
            let shared = Arc::new((Mutex::new(false), Condvar::new()));
            let other = shared.clone();
            let waiting = thread::spawn(move || {
                let is_set = other.0.lock().unwrap();
                if !*is_set {
                    drop(other.1.wait(is_set).unwrap());
                    panic!("it was woken");
                }
            });
            *shared.0.lock().unwrap() = true;
            shared.1.notify_all();
            waiting.join().unwrap();
        });
    }
    let expected = [
        "0 .spawn",
        "1 Mutex.lock",
        "1 Condvar.wait: sleeps",
        "0 Mutex.lock",
        "0 Mutex.unlock",
        "0 Condvar.notify_all wakes [1]",
        "1 Condvar.wait",
        "1 Mutex.unlock",
        "1 panics: it was woken",
        "0 .join: not done",
    ];
    assert_eq!(rows(&recorded("a_wake_up_says_whom_it_wakes")), expected);
}

#[test]
fn an_old_value_is_recorded_with_the_newest() {
    if is_child() {
        return model(|| {
            let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let other = shared.clone();
            let writing = thread::spawn(move || {
                other.0.store(7, Relaxed);
                other.1.store(1, Relaxed);
            });
            if shared.1.load(Acquire) == 1 {
                assert_eq!(shared.0.load(Relaxed), 7, "the data is there");
            }
            writing.join().unwrap();
        });
    }
    let recorded = recorded("an_old_value_is_recorded_with_the_newest");
    assert_eq!(recorded["values"], "plain");
    assert_eq!(recorded["newest_passed"], true);
    let expected = [
        "0 .spawn",
        "1 AtomicU32.store wrote 7",
        "1 AtomicU32.store wrote 1",
        "0 AtomicU32.load read 1",
        "0 AtomicU32.load read 0 newest 7",
        "0 panics: assertion `left == right` failed: the data is there\n  left: 0\n right: 7",
    ];
    assert_eq!(rows(&recorded), expected);
}

#[test]
fn of_a_race_both_accesses_are_recorded() {
    if is_child() {
        return model(|| {
            let cell = Arc::new(UnsafeCell::new(0));
            let other = cell.clone();
            let writing = thread::spawn(move || {
                // SAFETY: wrong on purpose: the other thread may be there, too.
                other.with_mut(|value| unsafe { *value = 1 });
            });
            // SAFETY: as above.
            cell.with_mut(|value| unsafe { *value = 2 });
            writing.join().unwrap();
        });
    }
    let expected = [
        "0 .spawn",
        "0 UnsafeCell.write",
        "1 panics: Causality violation: Concurrent write accesses to `UnsafeCell`",
        "0 .join: not done",
        "1 UnsafeCell.write: not done",
    ];
    assert_eq!(
        rows(&recorded("of_a_race_both_accesses_are_recorded")),
        expected
    );
}

struct AtEnd(Arc<AtomicU32>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.store(2, Relaxed);
    }
}

primitives::thread_local! {
    static AT_END: std::cell::RefCell<Option<AtEnd>> = const { std::cell::RefCell::new(None) };
}

#[test]
fn what_a_thread_does_at_its_end_is_its_own() {
    if is_child() {
        return model(|| {
            let value = Arc::new(AtomicU32::new(0));
            let other = value.clone();
            let ending = thread::spawn(move || {
                AT_END.with(|at_end| at_end.replace(Some(AtEnd(other))));
            });
            while value.load(Acquire) != 2 {
                thread::yield_now();
            }
            ending.join().unwrap();
            panic!("it has ended");
        });
    }
    let rows = rows(&recorded("what_a_thread_does_at_its_end_is_its_own"));
    let stores: Vec<_> = rows.iter().filter(|row| row.contains("store")).collect();
    assert_eq!(stores, ["1 AtomicU32.store wrote 2"], "{rows:?}");
}

/// The number in `explored 12 executions` or `failed in execution 12`.
fn count(printed: &str, words: &str) -> Option<u64> {
    let rest = printed.split_once(words)?.1.trim_start();
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    number.parse().ok()
}

#[test]
fn a_recording_changes_no_exploration() {
    if is_child() {
        return model(|| {
            let shared = Arc::new((AtomicU32::new(0), Mutex::new(0)));
            let other = shared.clone();
            let counting = thread::spawn(move || {
                other.0.fetch_add(1, Relaxed);
                *other.1.lock().unwrap() += 1;
                other.0.load(Relaxed)
            });
            shared.0.store(5, Release);
            *shared.1.lock().unwrap() += shared.0.load(Acquire);
            counting.join().unwrap();
        });
    }
    let (plain, nothing) = explored("a_recording_changes_no_exploration", false);
    let (recorded, also_nothing) = explored("a_recording_changes_no_exploration", true);
    let [plain, recorded] = [plain, recorded].map(|printed| count(&printed, "explored"));
    assert!(plain > Some(10), "{plain:?}");
    assert_eq!(plain, recorded);
    assert!(nothing.is_none() && also_nothing.is_none(), "nothing fails");
}

#[test]
fn what_is_recorded_is_the_execution_that_failed() {
    let test = "an_old_value_is_recorded_with_the_newest";
    let (plain, _) = explored(test, false);
    let recorded = recorded(test);
    assert_eq!(
        count(&plain, "failed in execution"),
        recorded["execution"].as_u64()
    );
}

#[test]
fn what_comes_before_the_execution_that_failed_is_not_recorded() {
    let test = "an_old_value_is_recorded_with_the_newest";
    let (plain, _) = explored(test, false);
    let failed = count(&plain, "failed in execution").unwrap();
    assert_eq!(recorded_from(test, failed), Some(recorded(test)));
    assert_eq!(recorded_from(test, failed + 1), None);
}

/// The program of the figure `steps-block-on-gap`.
#[test]
fn a_look_that_lets_go_before_the_sleep_can_hang() {
    if is_child() {
        return model(|| {
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
    }
    let recorded = recorded("a_look_that_lets_go_before_the_sleep_can_hang");
    let message = recorded["message"].as_str().unwrap();
    assert!(message.contains("deadlock"), "{message}");
}

/// The program of the figure `steps-block-on-mutex`.
#[test]
fn a_look_under_the_lock_that_the_sleep_gives_back_cannot_hang() {
    let test = "a_look_under_the_lock_that_the_sleep_gives_back_cannot_hang";
    if is_child() {
        return model(|| {
            let shared = Arc::new((Mutex::new(false), Condvar::new()));
            let other = shared.clone();
            let waking = thread::spawn(move || {
                let mut guard = other.0.lock().unwrap();
                *guard = true;
                drop(guard);
                other.1.notify_one();
            });
            let mut guard = shared.0.lock().unwrap();
            while !*guard {
                guard = shared.1.wait(guard).unwrap();
            }
            drop(guard);
            waking.join().unwrap();
        });
    }
    let (printed, recorded) = explored(test, true);
    assert!(count(&printed, "explored") > Some(1), "{printed}");
    assert_eq!(recorded, None, "nothing fails");
}

/// The program of the figure `steps-raw-waker-count`.
#[test]
fn a_wake_up_by_reference_that_gives_a_count_back_frees_too_early() {
    if is_child() {
        return model(|| {
            let count = Arc::new(AtomicU32::new(2));
            // AcqRel: as `Arc` does it. A target that was freed has a count of 0.
            let give_back =
                |count: &AtomicU32| assert_ne!(count.fetch_sub(1, AcqRel), 0, "it was freed");
            let other = count.clone();
            let timer = thread::spawn(move || {
                // `wake_by_ref`, and then the drop of the waker.
                give_back(&other);
                give_back(&other);
            });
            give_back(&count);
            timer.join().unwrap();
        });
    }
    let recorded = recorded("a_wake_up_by_reference_that_gives_a_count_back_frees_too_early");
    let message = recorded["message"].as_str().unwrap();
    assert!(message.contains("it was freed"), "{message}");
}

/// The two ends of Chase and Lev's deque, in which the items 6 and 7 are left.
struct Deque {
    front: AtomicU32,
    back: AtomicU32,
}

impl Deque {
    /// Takes the newest item, as the owner.
    fn pop(&self, fence_between: fn()) -> Option<u32> {
        // Relaxed: the owner's own.
        let newest = self.back.load(Relaxed) - 1;
        // Relaxed: the fence below orders it before the load, if there is one.
        self.back.store(newest, Relaxed);
        // Pairs with the fence in `steal`.
        fence_between();
        // Relaxed: after the fence, it's no older than what a thief read before its own.
        let front = self.front.load(Relaxed);
        if front < newest {
            return Some(newest);
        }
        let is_taken = front == newest && self.advance(front);
        // Relaxed: no item is announced.
        self.back.store(newest + 1, Relaxed);
        is_taken.then_some(newest)
    }

    /// Takes the oldest item, as a thief.
    fn steal(&self) -> Option<u32> {
        // Acquire: pairs with the Release in `advance`.
        let front = self.front.load(Acquire);
        // Pairs with the fence in `pop`.
        fence(SeqCst);
        // Acquire: as in the deque, where it pairs with the Release of a push.
        let back = self.back.load(Acquire);
        (front < back && self.advance(front)).then_some(front)
    }

    fn advance(&self, front: u32) -> bool {
        // SeqCst: as in the deque; its Release pairs with the Acquire in `steal`.
        self.front
            .compare_exchange(front, front + 1, SeqCst, Relaxed)
            .is_ok()
    }
}

/// A pop meets two steals. Fails unless the two items are taken once each.
fn pop_while_a_thief_steals_twice(fence_between: fn()) {
    model(move || {
        let deque = Arc::new(Deque {
            front: AtomicU32::new(6),
            back: AtomicU32::new(8),
        });
        let victim = deque.clone();
        let thief = thread::spawn(move || [victim.steal(), victim.steal()]);
        let popped = deque.pop(fence_between);
        let stolen = thief.join().unwrap();
        let mut items: Vec<_> = stolen.into_iter().chain([popped]).flatten().collect();
        items.sort_unstable();
        assert_eq!(items, [6, 7]);
    });
}

/// The program of the figure `steps-deque-no-fence`.
#[test]
fn a_pop_from_a_deque_without_a_fence_takes_what_a_thief_takes() {
    if is_child() {
        return pop_while_a_thief_steals_twice(|| ());
    }
    let recorded = recorded("a_pop_from_a_deque_without_a_fence_takes_what_a_thief_takes");
    let message = recorded["message"].as_str().unwrap();
    assert!(message.contains("left: [6, 7, 7]"), "{message}");
}

/// The program of the figure `steps-deque-fence`.
#[test]
fn a_pop_from_a_deque_with_a_fence_shares_its_items() {
    let test = "a_pop_from_a_deque_with_a_fence_shares_its_items";
    if is_child() {
        return pop_while_a_thief_steals_twice(|| fence(SeqCst));
    }
    let (printed, recorded) = explored(test, true);
    assert!(count(&printed, "explored") > Some(1), "{printed}");
    assert_eq!(recorded, None, "nothing fails");
}
