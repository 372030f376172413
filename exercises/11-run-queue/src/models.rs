//! The models of exercise 11: what no run on this machine can be relied on to
//! show. loom tries every order of the threads' steps, and every value that
//! an atomic load may return. A queue of four slots is large enough to fill,
//! to wrap and to overflow.

use std::collections::BTreeSet;

use sync::thread;
use testkit::{Lesson, check_model};

use super::{Local, Stealer, run_queue_at};

/// The slots of each queue.
const N: usize = 4;
/// The last positions before they wrap.
const START: u32 = u32::MAX - 1;

/// An item that the heap holds, so that a slot which is read twice, or while
/// it is written, cannot pass for another.
type Item = Box<u32>;
type Owner = Local<Item, N>;
type Thief = Stealer<Item, N>;

/// What has come out, each item once.
#[derive(Default)]
struct Seen(BTreeSet<u32>);

impl Seen {
    #[track_caller]
    fn add(&mut self, item: Item) {
        let is_new = self.0.insert(*item);
        assert!(is_new, "item {item} came out twice");
    }

    fn drain(&mut self, queue: &Owner) {
        while let Some(item) = queue.pop() {
            self.add(item);
        }
    }

    #[track_caller]
    fn add_all(&mut self, others: Self) {
        for item in others.0 {
            self.add(Box::new(item));
        }
    }

    #[track_caller]
    fn assert_all(&self, count: u32) {
        let all: BTreeSet<_> = (0..count).collect();
        assert!(
            self.0 == all,
            "of the items 0 to {} came out: {:?}",
            count - 1,
            self.0
        );
    }
}

/// Steals once, and pops all that it stole.
fn steal(stealer: &Thief) -> Seen {
    let (queue, _) = run_queue_at(START);
    let mut seen = Seen::default();
    if let Some(item) = stealer.steal_into(&queue) {
        seen.add(item);
    }
    seen.drain(&queue);
    seen
}

/// Clause 1: the last item is wanted by both.
#[test]
fn owner_and_thief_share_the_items_in_every_order() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "In every order of the steps of pops and a steal each item comes out once.",
        usual_cause: "`pop` or the thief takes an item by a load and a store, or uses what it has \
                      copied although its compare-and-swap has failed.",
        read: "scheduler/run-queue.html#who-takes-the-last-item",
    };
    check_model(lesson, || {
        sync::model(|| {
            let (queue, stealer) = run_queue_at(START);
            for item in 0..3 {
                assert!(queue.push(Box::new(item)).is_ok(), "there is room");
            }
            let thief = thread::spawn(move || steal(&stealer));
            let mut seen = Seen::default();
            seen.drain(&queue);
            seen.add_all(thief.join().expect("stealing does not panic"));
            seen.assert_all(3);
        });
    });
}
