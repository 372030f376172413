//! Clauses 1, 2, 5 to 7 and 11: what another thread does happens at each moment
//! of a call in turn. A moment is what lies between two of the call's operations
//! on the types of `primitives`.

use primitives::chaos::at_moment;
use testkit::Partner;

use super::*;

const N: usize = 4;
type Own = Local<u32, N>;

/// What a thread does with a queue of its own and a stealer of the other one.
#[derive(Clone, Copy, Debug)]
enum Call {
    Pop,
    /// As many items as `free` says.
    Fill,
    PushOrOverflow,
    /// Pops an item and pushes another.
    Turn,
    /// Steals from the other queue.
    Steal,
    /// Looks whether the other queue is empty.
    Look,
}

use Call::{Fill, Look, Pop, PushOrOverflow, Steal, Turn};

/// One of two threads, with what has come of its calls.
struct Party {
    own: Own,
    other: Stealer<u32, N>,
    next: u32,
    popped: Vec<u32>,
    out: Vec<u32>,
    pushed: Vec<u32>,
    seen_empty: bool,
    wrong: Option<String>,
}

impl Party {
    fn two(counts: [usize; 2]) -> [Self; 2] {
        let [a, b] = counts.map(|count| {
            let (queue, stealer) = run_queue_at(u32::MAX - 2);
            fill(&queue, 0..count as u32);
            (queue, stealer)
        });
        // Nothing says whose item it is but its number.
        let (own, stealer) = b;
        let b_items: Vec<_> = drain(&own).iter().map(|it| it + 100).collect();
        fill(&own, b_items.iter().copied());
        let party = |own, other, first: u32, pushed| Self {
            own,
            other,
            next: first + 50,
            popped: Vec::new(),
            out: Vec::new(),
            pushed,
            seen_empty: false,
            wrong: None,
        };
        let a_items = (0..counts[0] as u32).collect();
        [
            party(a.0, stealer, 0, a_items),
            party(own, a.1, 100, b_items),
        ]
    }

    fn item(&mut self) -> u32 {
        self.next += 1;
        self.pushed.push(self.next);
        self.next
    }

    fn make(&mut self, call: Call) {
        match call {
            Pop => self.popped.extend(self.own.pop()),
            Fill => {
                for left in (0..self.own.free()).rev() {
                    let item = self.item();
                    if self.own.push(item).is_err() {
                        self.out.push(item);
                        self.wrong = Some(format!(
                            "`free` had said that there was room for {} more, and `push` gave an \
                             item back",
                            left + 1
                        ));
                    }
                }
            }
            PushOrOverflow => {
                let item = self.item();
                let out = &mut self.out;
                self.own.push_or_overflow(item, |item| out.push(item));
            }
            Turn => {
                self.make(Pop);
                let item = self.item();
                if self.own.push(item).is_err() {
                    self.out.push(item);
                }
            }
            Steal => self.out.extend(self.other.steal_into(&self.own)),
            Look => self.seen_empty |= self.other.is_empty(),
        }
        let len = self.own.len();
        if len > N {
            self.wrong = Some(format!("`len` is {len}"));
        }
    }
}

/// Has one thread make `call`, and another make `others` at each moment of it.
/// Once both are done, `judge` looks at what they have.
#[track_caller]
fn make_at_each_moment(
    partner: &Rc<Partner>,
    counts: [usize; 2],
    call: Call,
    others: &'static [Call],
    judge: impl Fn([Party; 2], &dyn Fn() -> String),
) {
    for moment in 0.. {
        if !partner.may_go_on() {
            return;
        }
        let [mut one, mut other] = Party::two(counts);
        let (sender, thread) = std::sync::mpsc::channel();
        let partner = partner.clone();
        let happens = move || {
            let make = move || {
                others.iter().for_each(|call| other.make(*call));
                other
            };
            sender.send(partner.call(make)).expect("it's received");
        };
        let ((), has_happened) = at_moment(moment, happens, || one.make(call));
        if !has_happened {
            return;
        }
        let other = thread.recv().expect("it has been sent");
        let other = other.recv().expect("it doesn't panic");
        let told = || {
            format!(
                "with {counts:?} of {N} items in two queues, the other thread came with \
                 {others:?} at moment {moment} of {call:?}"
            )
        };
        for party in [&one, &other] {
            if let Some(wrong) = &party.wrong {
                panic!("{}; {wrong}", told());
            }
        }
        let keeps_some = |it: &Call| matches!(it, Turn | Fill);
        let seen_empty = match call {
            Look => {
                counts[1] > 1 && others.iter().all(keeps_some) && one.seen_empty
            }
            _ => counts[0] > 1 && other.seen_empty,
        };
        assert!(
            !seen_empty,
            "{}; the queue has had an item all along, and a stealer's `is_empty` was `true`",
            told()
        );
        judge([one, other], &told);
    }
}

fn check_items(parties: [Party; 2], told: &dyn Fn() -> String) {
    let mut pushed = Vec::new();
    let mut found = Vec::new();
    for party in parties {
        let left = drain(&party.own);
        let of = |items: &[u32]| -> Vec<u32> {
            let first = party.pushed.first().map_or(0, |item| item / 100);
            items
                .iter()
                .copied()
                .filter(|it| it / 100 == first)
                .collect()
        };
        // What one thread pushed comes out in its order, to its owner.
        let own = of(&[&party.popped[..], &left].concat());
        assert!(
            own.is_sorted(),
            "{}; the owner got its items in the order {own:?}",
            told()
        );
        pushed.extend(party.pushed);
        found.extend(party.popped);
        found.extend(party.out);
        found.extend(left);
    }
    pushed.sort_unstable();
    found.sort_unstable();
    assert!(
        pushed == found,
        "{}; {pushed:?} went in, and {found:?} came out",
        told()
    );
}

/// Clause 1: a thread may be preempted anywhere.
#[test]
fn calls_at_any_moment_of_another_move_each_item_once() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "If another thread makes calls at any moment of a call, each item comes out once, \
                  and in its owner's order. There's room for as many items as `free` says, and a \
                  queue that always has an item doesn't seem empty.",
        usual_cause: "A call loads a position, changes it and stores it: use a read-modify-write. \
                      Or a thief gives its claim back by storing what it found before. Or an \
                      overflow takes its items in an order in which the queue is empty for a \
                      moment.",
        read: "scheduler/run-queue.html#slots-that-are-still-being-read",
    };
    const OTHERS: [&[Call]; 10] = [
        &[Look],
        &[Pop],
        &[Pop, Pop],
        &[Fill],
        &[Turn; 2],
        &[Turn; 5],
        &[PushOrOverflow],
        &[Steal],
        &[Steal, Steal],
        &[Fill, Steal],
    ];
    check(lesson, || {
        let partner = Rc::new(Partner::new());
        for counts in [[4, 0], [4, 4], [3, 1], [1, 2]] {
            for call in [Pop, Fill, PushOrOverflow, Turn, Steal, Look] {
                for others in OTHERS {
                    make_at_each_moment(
                        &partner,
                        counts,
                        call,
                        others,
                        check_items,
                    );
                }
            }
        }
    });
}

/// Clause 11: a count that is stored apart from the items may be stored late.
#[test]
fn counts_are_exact_after_calls_at_any_moment_of_another() {
    let lesson = Lesson {
        clause: "11. Counts",
        promise: "If another thread makes calls at any moment of a call, `len`, `is_empty` and \
                  `free` are exact as soon as both are done.",
        usual_cause: "The number of items is kept beside the items, and stored after they have \
                      been moved, without the lock. The other thread moves items in between, and \
                      the older number overwrites the newer one. Store it while you hold the \
                      lock, or calculate it from the positions.",
        read: "scheduler/run-queue.html#full-or-empty",
    };
    check(lesson, || {
        let partner = Rc::new(Partner::new());
        for counts in [[4, 0], [1, 1], [2, 3]] {
            for call in [Pop, Fill, PushOrOverflow, Turn, Steal] {
                for others in [&[Pop][..], &[Fill], &[PushOrOverflow], &[Steal]]
                {
                    make_at_each_moment(
                        &partner,
                        counts,
                        call,
                        others,
                        check_counts,
                    );
                }
            }
        }
    });
}

fn check_counts([one, other]: [Party; 2], told: &dyn Fn() -> String) {
    for (queue, stealer) in [(&one.own, &other.other), (&other.own, &one.other)]
    {
        let (len, free) = (queue.len(), queue.free());
        let empty = [queue.is_empty(), stealer.is_empty()];
        let left = drain(queue).len();
        let seen = format!(
            "{}; then {left} items were left, `len` was {len}, `free` {free}, and `is_empty` \
             {empty:?} (the owner's and a stealer's)",
            told()
        );
        let is_exact = len == left && free == N - left;
        assert!(is_exact && empty == [left == 0; 2], "{seen}");
    }
}
