//! What is recorded of a model that fails under shuttle. Each test runs itself again, in a process
//! of its own that records.

#![cfg(all(feature = "shuttle", not(feature = "loom")))]

mod recorded;

use primitives::atomic::AtomicU8;
use primitives::atomic::Ordering::SeqCst;
use primitives::{Arc, Condvar, Mutex, UnsafeCell, model, mpsc, thread};
use recorded::{explored, is_child, recorded, rows};

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
        let exchanged = self.state.compare_exchange(EMPTY, PARKED, SeqCst, SeqCst);
        if exchanged.is_ok() {
            while self.state.load(SeqCst) == PARKED {
                guard = self.woken.wait(guard).unwrap();
            }
        }
    }

    fn unpark(&self) {
        if self.state.swap(NOTIFIED, SeqCst) == PARKED {
            self.woken.notify_one();
        }
    }
}

fn lose_a_wake_up() {
    model(|| {
        let parker = Arc::new(Parker::default());
        let other = parker.clone();
        let unparking = thread::spawn(move || other.unpark());
        parker.park();
        unparking.join().unwrap();
    });
}

#[test]
fn a_lost_wake_up_is_recorded_in_few_steps_and_the_one_that_decides_is_named() {
    if is_child() {
        return lose_a_wake_up();
    }
    let recorded =
        recorded("a_lost_wake_up_is_recorded_in_few_steps_and_the_one_that_decides_is_named");
    assert_eq!(recorded["checker"], "shuttle");
    let expected = [
        "0 .spawn",
        "0 Mutex.lock",
        "0 AtomicU8.compare_exchange read 0 wrote 1",
        "0 AtomicU8.load read 1",
        "1 AtomicU8.swap read 1 wrote 2",
        "each of 60 orders fails after:",
        "1 Condvar.notify_one",
        "0 Condvar.wait: sleeps",
        "0 panics: deadlock! blocked tasks: [main-thread (task main-thread(0))]",
        "0 Condvar.wait: not done",
    ];
    assert_eq!(rows(&recorded), expected);
    let wait = recorded["steps"].as_array().unwrap().last().unwrap();
    let file = wait["file"].as_str().unwrap();
    assert!(file.ends_with("tests/order_of_shuttle.rs"), "{file}");
}

#[test]
fn without_the_variable_nothing_is_recorded() {
    if is_child() {
        return lose_a_wake_up();
    }
    let (printed, nothing) = explored("without_the_variable_nothing_is_recorded", false);
    assert!(nothing.is_none());
    assert!(printed.contains("FAILED"), "{printed}");
}

#[test]
fn a_notification_says_whom_it_wakes_and_a_panic_ends_the_order() {
    if is_child() {
        return model(|| {
            let shared = Arc::new((Mutex::new(0), Condvar::new()));
            let waits = || {
                let other = shared.clone();
                thread::spawn(move || {
                    let count = other.0.lock().unwrap();
                    let count = other.1.wait_while(count, |count| *count == 0).unwrap();
                    drop(count);
                    thread::park();
                })
            };
            let waiting = [waits(), waits()];
            *shared.0.lock().unwrap() = 1;
            shared.1.notify_all();
            for thread in &waiting {
                thread.thread().unpark();
            }
            for thread in waiting {
                thread.join().unwrap();
            }
            panic!("both have ended");
        });
    }
    let recorded = recorded("a_notification_says_whom_it_wakes_and_a_panic_ends_the_order");
    let rows = rows(&recorded);
    let ends = rows.iter().filter(|row| row.contains("panics"));
    assert_eq!(ends.collect::<Vec<_>>(), ["0 panics: both have ended"]);
    for (sleeps, wakes) in [
        ("Condvar.wait: sleeps", "Condvar.notify_all wakes"),
        (".park: sleeps", ".unpark wakes"),
    ] {
        let has_slept = |number: usize| rows.contains(&format!("{number} {sleeps}"));
        let sleepers: Vec<_> = [1, 2].into_iter().filter(|it| has_slept(*it)).collect();
        let woken = rows.iter().filter_map(|row| row.split_once(wakes));
        let woken: String = woken.map(|(_, threads)| threads).collect();
        for number in sleepers {
            assert!(woken.contains(&number.to_string()), "{rows:?}");
        }
    }
}

#[test]
fn values_go_through_a_channel_and_a_thread_that_ends_leaves_its_stack_to_another() {
    if is_child() {
        return model(|| {
            let (sender, receiver) = mpsc::channel();
            for number in 0..3 {
                let sender = sender.clone();
                let sending = thread::spawn(move || sender.send(number).unwrap());
                sending.join().unwrap();
            }
            assert_eq!(receiver.recv().unwrap(), 1, "the second came first");
        });
    }
    let name = "values_go_through_a_channel_and_a_thread_that_ends_leaves_its_stack_to_another";
    let rows = rows(&recorded(name));
    let sends: Vec<_> = rows.iter().filter(|row| row.contains(".send")).collect();
    assert_eq!(
        sends,
        ["1 channel.send", "2 channel.send", "3 channel.send"]
    );
    let last = rows.iter().rfind(|row| !row.contains("not done")).unwrap();
    assert!(last.starts_with("0 panics: assertion"), "{rows:?}");
}

#[test]
fn an_access_that_clashes_is_the_last_of_the_order() {
    if is_child() {
        return model(|| {
            let shared = Arc::new(Shared(UnsafeCell::new(0)));
            let other = shared.clone();
            let writing = thread::spawn(move || other.0.with_mut(|_| thread::yield_now()));
            shared.0.with_mut(|_| thread::yield_now());
            writing.join().unwrap();
        });
    }
    let rows = rows(&recorded("an_access_that_clashes_is_the_last_of_the_order"));
    let clash = "panics: a cell is written while it is used elsewhere";
    let panics = rows.iter().filter(|row| row.contains(clash));
    assert_eq!(panics.count(), 1, "{rows:?}");
    let open = rows
        .iter()
        .any(|row| row.ends_with("UnsafeCell.write: not done"));
    assert!(open, "{rows:?}");
}

struct Shared(UnsafeCell<u32>);

// SAFETY: wrong on purpose: the model finds that two threads are in it at once.
unsafe impl Sync for Shared {}
// SAFETY: a number may go to any thread.
unsafe impl Send for Shared {}
