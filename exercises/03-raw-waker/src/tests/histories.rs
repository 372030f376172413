//! Every short history of calls.

use std::sync::atomic::AtomicBool;

use super::*;

/// What can happen to the wakers of two targets, which are in a list: at first,
/// one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    CloneTheFirst,
    CloneTheLast,
    MakeAnother,
    DropTheFirst,
    DropTheLast,
    WakeTheFirst,
    WakeTheLastByReference,
    WakeTheFirstWithAPanic,
    WakeTheLastByReferenceWithAPanic,
    CloneTheFirstIntoTheLast,
}

use Call::*;

const CALLS: [Call; 10] = [
    CloneTheFirst,
    CloneTheLast,
    MakeAnother,
    DropTheFirst,
    DropTheLast,
    WakeTheFirst,
    WakeTheLastByReference,
    WakeTheFirstWithAPanic,
    WakeTheLastByReferenceWithAPanic,
    CloneTheFirstIntoTheLast,
];

impl Call {
    fn in_words(self) -> &'static str {
        match self {
            CloneTheFirst => "clone the first waker",
            CloneTheLast => "clone the last waker",
            MakeAnother => "make another waker of the first target",
            DropTheFirst => "drop the first waker",
            DropTheLast => "drop the last waker",
            WakeTheFirst => "wake the first waker by value",
            WakeTheLastByReference => "wake the last waker by reference",
            WakeTheFirstWithAPanic => {
                "wake the first waker by value, and the target panics"
            }
            WakeTheLastByReferenceWithAPanic => {
                "wake the last waker by reference, and the target panics"
            }
            CloneTheFirstIntoTheLast => "`clone_from` the first into the last",
        }
    }
}

/// What a target sees.
#[derive(Default)]
struct Seen {
    by_value: AtomicUsize,
    by_reference: AtomicUsize,
    drops: AtomicUsize,
    panics: AtomicBool,
}

struct Target(Arc<Seen>);

impl Wake for Target {
    fn wake(self: Arc<Self>) {
        self.0.by_value.fetch_add(1, SeqCst);
        self.0.panic_if_told();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.by_reference.fetch_add(1, SeqCst);
        self.0.panic_if_told();
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.0.drops.fetch_add(1, SeqCst);
    }
}

impl Seen {
    fn panic_if_told(&self) {
        if self.panics.swap(false, SeqCst) {
            // Skips the panic hook, which would print.
            resume_unwind(Box::new("the target panics"));
        }
    }
}

/// A waker, the index of its target, and which call of `waker` it comes from.
type Held = (Waker, usize, usize);

/// Clause 1: a count that's one too high or too low shows only
/// some calls later.
#[test]
fn after_any_calls_the_counts_are_right() {
    let lesson = Lesson {
        clause: "1. Kept alive",
        promise: "After any calls, in any order, a target has been woken as often as its wakers \
                  were, and it lives exactly as long as it has a waker.",
        usual_cause: "One of the vtable's four functions gives back one count too many, or one too \
                      few, perhaps only if the target panics, or if it's the only waker.",
        read: "one-future/raw-waker.html#four-functions-and-one-count",
    };
    const LONGEST: u32 = 4;
    check(lesson, || {
        for length in 1..=LONGEST {
            for number in 0..CALLS.len().pow(length) {
                let calls = (0..length).map(|index| {
                    CALLS[number / CALLS.len().pow(index) % CALLS.len()]
                });
                make(calls);
            }
        }
    });
}

#[track_caller]
fn make(calls: impl Iterator<Item = Call>) {
    let seen = [(); 2].map(|()| Arc::<Seen>::default());
    // For each target, how often it should have been woken, by value and by
    // reference.
    let mut wakes = [(0, 0); 2];
    let targets = seen.each_ref().map(|seen| Arc::new(Target(seen.clone())));
    let weak = Arc::downgrade(&targets[0]);
    let mut origins = 2;
    let mut held: Vec<Held> = targets
        .into_iter()
        .enumerate()
        .map(|(index, target)| (waker(target), index, index))
        .collect();
    let mut made = Vec::new();
    let rest = [DropTheLast; 8];
    for call in calls.chain(rest) {
        if held.is_empty() {
            break;
        }
        made.push(call);
        let last = held.len() - 1;
        match call {
            CloneTheFirst | CloneTheLast => {
                let index = if call == CloneTheFirst { 0 } else { last };
                let (waker, target, origin) = &held[index];
                held.push((waker.clone(), *target, *origin));
            }
            MakeAnother => {
                if let Some(target) = weak.upgrade() {
                    held.push((waker(target), 0, origins));
                    origins += 1;
                }
            }
            DropTheFirst => drop(held.remove(0)),
            DropTheLast => drop(held.pop()),
            WakeTheFirst | WakeTheFirstWithAPanic => {
                let (waker, target, _) = held.remove(0);
                wakes[target].0 += 1;
                let panics = call == WakeTheFirstWithAPanic;
                wake(panics, &seen[target], || waker.wake(), &made);
            }
            WakeTheLastByReference | WakeTheLastByReferenceWithAPanic => {
                let (waker, target, _) = &held[last];
                wakes[*target].1 += 1;
                let panics = call == WakeTheLastByReferenceWithAPanic;
                wake(panics, &seen[*target], || waker.wake_by_ref(), &made);
            }
            CloneTheFirstIntoTheLast => {
                let (first, rest) = held.split_at_mut(1);
                let (Some(first), Some(last)) =
                    (first.first(), rest.last_mut())
                else {
                    continue;
                };
                // If the two wake the same target, it may stay as it is.
                let stays = last.0.will_wake(&first.0);
                last.0.clone_from(&first.0);
                if !stays {
                    (last.1, last.2) = (first.1, first.2);
                }
            }
        }
        assert_counts(&held, &seen, wakes, &made);
    }
}

/// Wakes, and tells the target whether to panic.
#[track_caller]
fn wake(panics: bool, seen: &Seen, wake: impl FnOnce(), made: &[Call]) {
    seen.panics.store(panics, SeqCst);
    let caught = catch_unwind(AssertUnwindSafe(wake));
    assert!(
        caught.is_err() == panics,
        "the target's panic didn't come out of the last of these calls: {}",
        in_words(made)
    );
}

#[track_caller]
fn assert_counts(
    held: &[Held],
    seen: &[Arc<Seen>; 2],
    wakes: [(usize, usize); 2],
    made: &[Call],
) {
    for (index, name) in ["first", "second"].into_iter().enumerate() {
        let count = held.iter().filter(|(_, target, _)| *target == index);
        let (count, it) = (count.count(), &seen[index]);
        let drops = it.drops.load(SeqCst);
        assert!(
            drops == usize::from(count == 0),
            "the {name} target has {count} wakers and was dropped {drops} times after these \
             calls: {}",
            in_words(made)
        );
        let woken = (it.by_value.load(SeqCst), it.by_reference.load(SeqCst));
        assert!(
            woken == wakes[index],
            "the {name} target was woken (by value, by reference) {woken:?} times, not {:?}, after \
             these calls: {}",
            wakes[index],
            in_words(made)
        );
    }
    for (waker, target, origin) in held {
        for (other, other_target, other_origin) in held {
            let is_same = waker.will_wake(other);
            let is_right =
                match (target == other_target, origin == other_origin) {
                    (true, true) => is_same,
                    (true, false) => true,
                    (false, _) => !is_same,
                };
            assert!(
                is_right,
                "`will_wake` is {is_same} for two wakers of the targets {target} and \
                 {other_target} after these calls: {}",
                in_words(made)
            );
        }
    }
}

fn in_words(made: &[Call]) -> String {
    let words: Vec<_> = made.iter().map(|call| call.in_words()).collect();
    words.join("; ")
}
