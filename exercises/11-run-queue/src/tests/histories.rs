//! Clauses 1 to 8 and 11: every short history of calls on two queues beside two
//! plain lists, and the calls of a thief at each moment of an owner's.

use std::collections::VecDeque;
use std::fmt;

use super::*;

/// The most calls of a history.
const LONGEST: usize = 3;
/// The names of the queues.
const NAMES: [&str; 2] = ["A", "B"];

/// An item that counts how many are left.
struct Item(u32, #[allow(dead_code, reason = "it counts")] Rc<()>);

/// What `overflow` does when it's called for the first time.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Nothing,
    Push,
    Pop,
    /// Another queue steals from the one that overflows.
    Stolen,
    /// The queue that overflows steals from the other one.
    Steal,
    Panic,
}

use Within::{Nothing, Panic, Stolen};

/// A call on one of the queues.
#[derive(Clone, Copy)]
enum Call {
    Push(usize),
    PushOrOverflow(usize, Within),
    Pop(usize),
    /// The other queue steals from this one.
    StealFrom(usize),
}

use Call::{Pop, Push, PushOrOverflow, StealFrom};

const WITHIN: [Within; 6] = [
    Nothing,
    Within::Push,
    Within::Pop,
    Stolen,
    Within::Steal,
    Panic,
];

/// All calls, with what `overflow` may do.
fn all_calls(within: &[Within]) -> Vec<Call> {
    let mut calls = Vec::new();
    for of in [0, 1] {
        calls.extend([Push(of), Pop(of), StealFrom(of)]);
        calls.extend(within.iter().map(|it| PushOrOverflow(of, *it)));
    }
    calls
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Push(of) => write!(f, "a push to {}", NAMES[of]),
            Pop(of) => write!(f, "a pop of {}", NAMES[of]),
            StealFrom(of) => write!(f, "{} steals", NAMES[1 - of]),
            PushOrOverflow(of, within) => {
                write!(f, "a `push_or_overflow` to {}", NAMES[of])?;
                f.write_str(match within {
                    Nothing => "",
                    Within::Push => " that pushes in `overflow`",
                    Within::Pop => " that pops in `overflow`",
                    Stolen => " that is stolen from in `overflow`",
                    Within::Steal => " that steals in `overflow`",
                    Panic => " that panics in `overflow`",
                })
            }
        }
    }
}

/// Two queues, and what has to be in them.
struct Scene<const N: usize> {
    queues: [(Local<Item, N>, Stealer<Item, N>); 2],
    lists: [VecDeque<u32>; 2],
    next: u32,
    left: Rc<()>,
}

/// Says what's wrong.
type Checked = Result<(), String>;

fn ensure(is_right: bool, wrong: impl FnOnce() -> String) -> Checked {
    match is_right {
        true => Ok(()),
        false => Err(wrong()),
    }
}

impl<const N: usize> Scene<N> {
    fn new(position: u32, counts: [usize; 2]) -> Self {
        let mut scene = Self {
            queues: [(); 2].map(|()| run_queue_at(position)),
            lists: Default::default(),
            next: 0,
            left: Rc::new(()),
        };
        for of in [0, 1] {
            for _ in 0..counts[of] {
                scene.push(of).expect("there is room");
            }
        }
        scene
    }

    fn item(&mut self) -> Item {
        self.next += 1;
        Item(self.next, self.left.clone())
    }

    fn make(&mut self, call: Call) -> Checked {
        match call {
            Push(of) => self.push(of)?,
            Pop(of) => self.pop(of)?,
            StealFrom(of) => self.steal(of)?,
            PushOrOverflow(of, within) => self.overflow(of, within)?,
        }
        for of in [0, 1] {
            let (queue, stealer) = &self.queues[of];
            let len = self.lists[of].len();
            let is_empty = [queue.is_empty(), stealer.is_empty()];
            let counts = (queue.len(), queue.free());
            let name = NAMES[of];
            ensure(counts == (len, N - len), || {
                format!(
                    "{name} has {len} items, and `len` and `free` are {counts:?}"
                )
            })?;
            ensure(is_empty == [len == 0; 2], || {
                format!(
                    "{name} has {len} items, and `is_empty` of the owner and of the stealer is \
                     {is_empty:?}"
                )
            })?;
        }
        Ok(())
    }

    fn push(&mut self, of: usize) -> Checked {
        let item = self.item();
        let number = item.0;
        let pushed = self.queues[of].0.push(item);
        let has_room = self.lists[of].len() < N;
        ensure(pushed.is_ok() == has_room, || {
            format!(
                "with {} of {N} items, {} took {}",
                self.lists[of].len(),
                NAMES[of],
                if has_room { "no other" } else { "another" }
            )
        })?;
        match pushed {
            Ok(()) => self.lists[of].push_back(number),
            Err(item) => ensure(item.0 == number, || {
                format!("`push` gave {} back, not {number}", item.0)
            })?,
        }
        Ok(())
    }

    fn pop(&mut self, of: usize) -> Checked {
        let popped = self.queues[of].0.pop().map(|item| item.0);
        let expected = self.lists[of].pop_front();
        ensure(popped == expected, || {
            format!(
                "the pop returned {popped:?}, and the oldest was {expected:?}"
            )
        })
    }

    fn steal(&mut self, of: usize) -> Checked {
        let to = 1 - of;
        let found = self.lists[of].len();
        let room = N - self.lists[to].len();
        let stolen = self.queues[of].1.steal_into(&self.queues[to].0);
        let Some(Item(stolen, _)) = stolen else {
            let may_fail = found == 0 || self.lists[to].len() > N / 2;
            return ensure(may_fail, || {
                format!("{} had {found} items, and the steal failed", NAMES[of])
            });
        };
        let count = found.saturating_sub(self.queues[of].0.len());
        let least = found.div_ceil(4).min(room + 1);
        let most = found.div_ceil(2).min(room + 1);
        ensure((least..=most).contains(&count), || {
            format!(
                "of {found} items {count} were stolen, by a queue with room for {room}"
            )
        })?;
        let mut taken: Vec<_> = self.lists[of].drain(..count).collect();
        let place = taken.iter().position(|item| *item == stolen);
        let place = place.ok_or_else(|| {
            format!("the oldest were {taken:?}, and {stolen} was returned")
        })?;
        taken.remove(place);
        self.lists[to].extend(taken);
        Ok(())
    }

    fn overflow(&mut self, of: usize, within: Within) -> Checked {
        let item = self.item();
        let number = item.0;
        let before = self.lists.clone();
        let mut overflowed = Vec::new();
        // What came out and went in within it.
        let (mut out, mut inside) = (Vec::new(), None);
        let more = self.item();
        let mut more = Some(more);
        let mut was_called = false;
        let call = || {
            self.queues[of].0.push_or_overflow(item, |item: Item| {
                overflowed.push(item.0);
                if std::mem::replace(&mut was_called, true) {
                    return;
                }
                let (queue, stealer) = &self.queues[of];
                let (other, others_stealer) = &self.queues[1 - of];
                match within {
                    Nothing => {}
                    Within::Push => {
                        let more = more.take().expect("it's called once");
                        let number = more.0;
                        let has_room = queue.free() > 0;
                        let is_pushed = queue.push(more).is_ok();
                        inside = Some((number, has_room, is_pushed));
                    }
                    Within::Pop => out.extend(queue.pop().map(|it| it.0)),
                    Stolen => {
                        out.extend(stealer.steal_into(other).map(|it| it.0));
                    }
                    Within::Steal => out.extend(
                        others_stealer.steal_into(queue).map(|it| it.0),
                    ),
                    // Unlike `panic!`, it prints nothing.
                    Panic => std::panic::resume_unwind(Box::new(())),
                }
            });
        };
        let result = catch_unwind(AssertUnwindSafe(call));
        drop(more);
        let is_full = before[of].len() == N;
        if !is_full {
            self.lists[of].push_back(number);
            return ensure(overflowed.is_empty() && result.is_ok(), || {
                format!("there was room, and {overflowed:?} overflowed")
            });
        }
        if let Some((_, has_room, is_pushed)) = inside {
            ensure(has_room == is_pushed, || {
                format!(
                    "within `overflow`, `free` said that there was {} room, and a push {}",
                    if has_room { "some" } else { "no" },
                    if is_pushed { "succeeded" } else { "failed" }
                )
            })?;
        }
        if within == Panic {
            ensure(result.is_err(), || "the panic was lost".to_owned())?;
        }
        // The youngest overflow.
        let went: BTreeSet<_> = overflowed.iter().copied().collect();
        let is_panic = within == Panic;
        let queued = self.contents()?;
        let stays = |item: &&u32| queued[of].contains(item);
        let stayed = before[of].iter().filter(stays).count();
        let gone =
            N - stayed - usize::from(!is_panic) * out_of(&before[of], &out);
        let moved = match within {
            Stolen => before[of]
                .iter()
                .filter(|it| queued[1 - of].contains(it))
                .count(),
            _ => 0,
        };
        let gone = gone - moved;
        ensure((N / 4..=N / 2).contains(&gone), || {
            format!("of {N} items {gone} overflowed")
        })?;
        let youngest = before[of].iter().rev().take(gone).chain([&number]);
        let youngest: BTreeSet<_> = youngest.copied().collect();
        let is_right = match is_panic {
            true => went.is_subset(&youngest),
            false => went == youngest && overflowed.len() == went.len(),
        };
        ensure(is_right, || {
            format!(
                "{youngest:?} were the youngest, and {overflowed:?} overflowed"
            )
        })?;
        // What's left, in its order.
        let oldest = before[of].iter().take(N - gone).copied();
        let mut rest: Vec<_> = oldest.collect();
        if within == Within::Pop {
            ensure(out.first() == rest.first(), || {
                format!("within `overflow`, {out:?} was popped of {rest:?}")
            })?;
        }
        rest.retain(|item| {
            !out.contains(item) && !queued[1 - of].contains(item)
        });
        if let Some((number, _, true)) = inside {
            rest.push(number);
        }
        let mut other: Vec<_> = before[1 - of].iter().copied().collect();
        if within == Within::Steal {
            let stolen = other.iter().filter(|it| queued[of].contains(it));
            rest.extend(stolen.copied());
            other.retain(|it| !queued[of].contains(it) && !out.contains(it));
        }
        if within == Stolen {
            let moved =
                before[of].iter().filter(|it| queued[1 - of].contains(it));
            other.extend(moved.copied());
        }
        let expected = [rest, other];
        let found =
            [&queued[of], &queued[1 - of]].map(|it| Vec::from(it.clone()));
        ensure(found == expected, || {
            format!("{expected:?} should be left, and {found:?} are")
        })?;
        self.lists = queued;
        Ok(())
    }

    /// What's in the queues: all is popped and pushed again.
    fn contents(&self) -> Result<[VecDeque<u32>; 2], String> {
        let mut contents = [const { VecDeque::new() }; 2];
        for (of, found) in contents.iter_mut().enumerate() {
            let items = drain(&self.queues[of].0);
            for item in items {
                found.push_back(item.0);
                let pushed = self.queues[of].0.push(item);
                ensure(pushed.is_ok(), || {
                    format!("{} had an item, and has no room for it", NAMES[of])
                })?;
            }
        }
        Ok(contents)
    }

    /// Takes all out, in its order, but for what is dropped with the queues.
    fn end(mut self, takes: bool) -> Checked {
        if takes {
            for of in [0, 1] {
                for _ in 0..=self.lists[of].len() {
                    self.pop(of)?;
                }
            }
        }
        let Self { queues, left, .. } = self;
        drop(queues);
        let count = Rc::strong_count(&left) - 1;
        ensure(count == 0, || format!("{count} items were never dropped"))
    }
}

/// How many of these are among those.
fn out_of(those: &VecDeque<u32>, these: &[u32]) -> usize {
    these.iter().filter(|it| those.contains(it)).count()
}

/// Makes every history of this many calls, from each of these starts.
#[track_caller]
fn make_each_history<const N: usize>(length: usize, starts: &[[usize; 2]]) {
    let within = if length < LONGEST {
        &WITHIN[..]
    } else {
        &WITHIN[..3]
    };
    let calls = all_calls(within);
    for start in starts {
        for number in 0..calls.len().pow(length as u32) {
            let at = |place| number / calls.len().pow(place) % calls.len();
            let history: Vec<_> =
                (0..length as u32).map(|place| calls[at(place)]).collect();
            let position = u32::MAX - (number % 3) as u32;
            let mut scene = Scene::<N>::new(position, *start);
            let made = history.iter().try_for_each(|call| scene.make(*call));
            let made = made.and_then(|()| scene.end(number % 2 == 0));
            if let Err(wrong) = made {
                let told: Vec<_> =
                    history.iter().map(Call::to_string).collect();
                panic!(
                    "{} and {} of {N} items in A and B; {}: {wrong}",
                    start[0],
                    start[1],
                    told.join(", ")
                );
            }
        }
    }
}

/// Clause 1: one thread makes all calls.
#[test]
fn every_history_of_calls_moves_the_right_items() {
    let lesson = Lesson {
        clause: "1. Exactly once",
        promise: "Whatever calls come one after the other, on two queues that steal from each \
                  other, each moves the right items in their order, and the counts are exact.",
        usual_cause: "A call leaves something behind that only another call takes away, such as a \
                      claim, or it's right only for a queue that nothing was stolen from. The \
                      other checks that fail name the mistake.",
        read: "scheduler/run-queue.html#full-or-empty",
    };
    check(lesson, || {
        // The shortest history that goes wrong is the one to show.
        for length in 1..=LONGEST {
            let starts: &[_] = match length {
                LONGEST => &[[4, 1], [4, 4]],
                _ => &[[0, 0], [1, 2], [3, 0], [4, 1], [4, 3], [4, 4]],
            };
            make_each_history::<4>(length, starts);
            if length < LONGEST {
                make_each_history::<2>(length, &[[0, 2], [1, 1], [2, 1]]);
                make_each_history::<8>(length, &[[8, 3], [5, 8], [8, 8]]);
            }
        }
    });
}
