//! Each short sequence of polls and drops, compared with what the contract says of each.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use testkit::WakeCounts;

use super::*;

/// A call, for one of two yields or for the ticks of one of two counters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    PollYield(usize),
    /// Drops it, and creates another one.
    DropYield(usize),
    PollTick(usize),
    /// Drops it, and creates the next one.
    DropTick(usize),
}

use Call::*;

const CALLS: [Call; 8] = [
    PollYield(0),
    DropYield(0),
    PollYield(1),
    DropYield(1),
    PollTick(0),
    DropTick(0),
    PollTick(1),
    DropTick(1),
];

/// The names of calls, with the periods of the counters.
struct Named<'a>(&'a [Call], [u32; 2]);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(calls, periods) = self;
        let a = |it: usize| ["yield A", "yield B"][it];
        let tick =
            |it: usize| format!("the tick of an `EveryNth` of {}", periods[it]);
        let names: Vec<_> = calls
            .iter()
            .map(|call| match *call {
                PollYield(it) => format!("poll {}", a(it)),
                DropYield(it) => format!("take another {}", a(it)),
                PollTick(it) => format!("poll {}", tick(it)),
                DropTick(it) => format!("drop {}", tick(it)),
            })
            .collect();
        f.write_str(&names.join(", "))
    }
}

/// Whether a poll was ready; `None` if it panicked.
type Found = Option<bool>;

/// The ticks of a counter, one after the other. At each of its polls, the tick
/// is polled or, if `is_dropped`, replaced by the next one.
async fn ticks(
    mut counter: EveryNth,
    is_dropped: Rc<Cell<bool>>,
    found: Rc<Cell<Found>>,
) {
    loop {
        let mut tick = pin!(counter.tick());
        poll_fn(|cx| {
            if is_dropped.get() {
                return Poll::Ready(());
            }
            let polled = AssertUnwindSafe(|| tick.as_mut().poll(cx).is_ready());
            found.set(catch_unwind(polled).ok());
            Poll::Pending
        })
        .await;
        is_dropped.set(false);
        // The next one isn't polled yet.
        let mut was_polled = false;
        poll_fn(|_| match std::mem::replace(&mut was_polled, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }
}

/// What was seen of a yield or a tick.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    IsPending,
    IsReady,
}

/// Makes the calls.
#[track_caller]
fn make_all(calls: &[Call], periods: [u32; 2]) {
    let wakers: [(Waker, Arc<WakeCounts>); 2] =
        [(); 2].map(|()| CountingWaker::new());
    let mut yields = [(); 2].map(|()| Box::pin(yield_now()));
    let mut seen_yields = [Seen::Nothing; 2];
    let counter = |n| EveryNth::new(NonZeroU32::new(n).expect("not zero"));
    let cells = [(); 2]
        .map(|()| (Rc::<Cell<bool>>::default(), Rc::<Cell<Found>>::default()));
    let mut counters = [0, 1].map(|it: usize| {
        let (is_dropped, found) = cells[it].clone();
        Box::pin(ticks(counter(periods[it]), is_dropped, found))
    });
    let mut seen_ticks = [Seen::Nothing; 2];
    // How many ticks have counted since the last that yielded: each number
    // that the contract allows.
    let counted = RefCell::new([vec![0], vec![0]]);
    for (index, call) in calls.iter().enumerate() {
        let so_far = || Named(&calls[..=index], periods).to_string();
        let (waker, counts) = &wakers[index % 2];
        let mut cx = Context::from_waker(waker);
        let before = (counts.wakes(), counts.clones() - counts.drops());
        let (found, seen) = match *call {
            PollYield(it) => {
                let poll = || yields[it].as_mut().poll(&mut cx).is_ready();
                let found = catch_unwind(AssertUnwindSafe(poll)).ok();
                (found, &mut seen_yields[it])
            }
            PollTick(it) => {
                assert!(counters[it].as_mut().poll(&mut cx).is_pending());
                (cells[it].1.take(), &mut seen_ticks[it])
            }
            DropYield(it) => {
                yields[it] = Box::pin(yield_now());
                seen_yields[it] = Seen::Nothing;
                continue;
            }
            DropTick(it) => {
                cells[it].0.set(true);
                assert!(counters[it].as_mut().poll(&mut cx).is_pending());
                let n = periods[it];
                let counted = &mut counted.borrow_mut()[it];
                match std::mem::replace(&mut seen_ticks[it], Seen::Nothing) {
                    // Whether it has counted is left open.
                    Seen::Nothing => {
                        let more: Vec<_> =
                            counted.iter().map(|it| (it + 1) % n).collect();
                        counted.extend(more);
                        counted.sort_unstable();
                        counted.dedup();
                    }
                    // One of the next n yields.
                    Seen::IsPending => *counted = (0..n).collect(),
                    Seen::IsReady => {}
                }
                continue;
            }
        };
        let may_be: Vec<bool> = match (*seen, *call) {
            (Seen::Nothing, PollTick(it)) => counted.borrow()[it]
                .iter()
                .map(|counted| counted + 1 < periods[it])
                .collect(),
            (Seen::Nothing, _) => vec![false],
            _ => vec![true],
        };
        let is_right = match found {
            None => *seen == Seen::IsReady,
            Some(found) => may_be.contains(&found),
        };
        assert!(
            is_right,
            "after {}: whether it's ready is {found:?}, and not {:?}",
            so_far(),
            may_be[0]
        );
        if let (Seen::Nothing, PollTick(it), Some(found)) =
            (*seen, *call, found)
        {
            let counted = &mut counted.borrow_mut()[it];
            counted.retain(|counted| (counted + 1 < periods[it]) == found);
            let next = |it: &mut u32| *it = if found { *it + 1 } else { 0 };
            counted.iter_mut().for_each(next);
        }
        let wakes = counts.wakes() - before.0;
        let right = usize::from(found == Some(false));
        assert!(
            wakes == right,
            "after {}: its waker was called {wakes} times, and not {right} times",
            so_far()
        );
        let kept = counts.clones() - counts.drops();
        assert!(kept == before.1, "after {}: a waker is kept", so_far());
        *seen = match found {
            Some(false) => Seen::IsPending,
            _ => Seen::IsReady,
        };
    }
}

/// Clause 7: what a tick does depends only on the ticks before it.
#[test]
fn each_short_history_of_ticks_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "7. Every n-th",
        promise: "Whichever ticks are polled, once or more, and dropped, before a poll or after \
                  it: the n-th yields. One that's dropped without a poll may count or not.",
        usual_cause: "A tick that's dropped without a poll does something else than to count: it \
                      begins the count again, or takes it past n, where a comparison with `==` \
                      never finds it. Or a tick counts at each of its polls, or where it's \
                      dropped. Count in `tick`, and begin again there, too. Or the counter, instead \
                      of the tick, remembers that a tick has yielded, and takes the next one for \
                      it.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        const TICKS: [Call; 2] = [PollTick(0), DropTick(0)];
        for length in 1..=9_u32 {
            for number in 0..TICKS.len().pow(length) {
                let call = |place| TICKS[number >> place & 1];
                let calls: Vec<_> = (0..length).map(call).collect();
                for n in 1..=3 {
                    make_all(&calls, [n, 1]);
                }
            }
        }
    });
}

/// Clause 9: what a poll does depends only on its own yield or counter.
#[test]
fn each_short_history_of_yields_and_ticks_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "9. Its own count",
        promise: "Whatever is polled and dropped in turn, of two yields and the ticks of two \
                  counters, each is pending and ready as if the others weren't there.",
        usual_cause: "Something that belongs to one yield or tick is kept elsewhere: in a static, \
                      in a thread-local, or in the counter. The other checks that fail name the \
                      mistake.",
        read: "yielding/yield-now.html#every-n-th",
    };
    check(lesson, || {
        for length in 1..=4_u32 {
            for number in 0..CALLS.len().pow(length) {
                let call = |place| {
                    CALLS[number / CALLS.len().pow(place) % CALLS.len()]
                };
                let calls: Vec<_> = (0..length).map(call).collect();
                make_all(&calls, [1, 2]);
            }
        }
        // xorshift32.
        let mut random = 0x9E37_79B9_u32;
        for _ in 0..100 {
            let calls = [(); 24].map(|()| {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                CALLS[(random >> 8) as usize % CALLS.len()]
            });
            for periods in [[1, 2], [2, 3], [3, 3]] {
                make_all(&calls, periods);
            }
        }
    });
}
