//! Every short history of calls, compared with a plain list of sleeps.

use super::*;

/// What can happen to two sleeps and to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    BeginX,
    BeginY,
    PollX,
    PollY,
    DropX,
    DropY,
    FireInTime,
    FireLate,
    /// Perhaps as the first poll, of a sleep that is created for it.
    PanicX,
    PanicY,
}

use Step::*;

const STEPS: [Step; 8] = [
    BeginX, BeginY, PollX, PollY, DropX, DropY, FireInTime, FireLate,
];
const PANICS: [Step; 2] = [PanicX, PanicY];

impl Step {
    fn in_words(self) -> &'static str {
        match self {
            BeginX => "begin sleep x for 10 ms",
            BeginY => "begin sleep y for 30 ms",
            PollX => "poll x with another waker",
            PollY => "poll y with another waker",
            DropX => "drop x",
            DropY => "drop y",
            FireInTime => "fire at the time that `fire` returned",
            FireLate => "fire 20 ms later",
            PanicX => "poll x, of 10 ms, with a waker whose clone panics",
            PanicY => "poll y, of 30 ms, with a waker whose clone panics",
        }
    }
}

/// How much later than its deadline a sleep may be woken.
const SLACK: Duration = MS;

/// Clause 2: what a sleep has left behind shows when the next one begins,
/// or when the driver fires for the next time.
#[test]
fn any_history_agrees_with_a_plain_list() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "After sleeps have begun, and were polled, woken and dropped, in any order, \
                  each that is left is woken in time, by its newest waker, and `unpark` is called \
                  when it must be, and no more.",
        usual_cause: "What a sleep has left behind is taken for another's: its entry, its waker, or \
                      the time that the driver was told. In particular, compare a new deadline \
                      with the time that `fire` has returned, and not with what waits now.",
        read: "blocking/sleep.html#a-list-of-deadlines",
    };
    const LONGEST: u32 = 6;
    check(lesson, || {
        for length in 1..=LONGEST {
            let mut steps = Vec::new();
            extend(&mut steps, length as usize, [false; 2], &STEPS, &|steps| {
                History::new(true)
                    .run(steps)
                    .unwrap_or_else(|difference| panic!("{difference}"));
            });
        }
    });
}

/// Clause 7: the sleep may be polled again, with another waker.
#[test]
fn a_poll_whose_clone_panics_changes_nothing() {
    let lesson = Lesson {
        clause: "7. Free wakers",
        promise: "When a poll panics because it can't clone its waker, the sleep is what it was: \
                  a new one can still begin, and one that waits is woken in time, by the waker of \
                  the poll before.",
        usual_cause: "The poll changes something before it clones the waker: the sleep's own \
                      stage, its entry, the waker that is kept, or the time at which the driver \
                      looks again. Clone the waker first, and then change all of them.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    const LONGEST: usize = 4;
    check(lesson, || {
        let all = [STEPS.as_slice(), &PANICS].concat();
        for length in 1..=LONGEST {
            extend(&mut Vec::new(), length, [false; 2], &all, &|steps| {
                if !steps.iter().any(|step| PANICS.contains(step)) {
                    return;
                }
                let Err(difference) = History::new(true).run(steps) else {
                    return;
                };
                // What goes wrong without these polls, too, isn't due to them.
                let without = History::new(false).run(steps);
                assert!(without.is_err(), "{difference}");
            });
        }
    });
}

/// Runs all histories of `length` that begin with these steps, and go on with
/// some of `all`, without steps that have no effect. A sleep is begun before
/// it's polled or dropped.
fn extend(
    steps: &mut Vec<Step>,
    length: usize,
    exist: [bool; 2],
    all: &[Step],
    run: &dyn Fn(&[Step]),
) {
    if steps.len() == length {
        run(steps);
        return;
    }
    for step in all.iter().copied() {
        let mut exist = exist;
        match step {
            BeginX | BeginY => {
                let place = &mut exist[usize::from(step == BeginY)];
                if std::mem::replace(place, true) {
                    continue;
                }
            }
            PollX | PollY if !exist[usize::from(step == PollY)] => continue,
            DropX | DropY => {
                let place = &mut exist[usize::from(step == DropY)];
                if !std::mem::replace(place, false) {
                    continue;
                }
            }
            FireInTime | FireLate if steps.is_empty() => continue,
            PanicX | PanicY => exist[usize::from(step == PanicY)] = true,
            _ => {}
        }
        steps.push(step);
        extend(steps, length, exist, all, run);
        steps.pop();
    }
}

/// A sleep, and what is known of it.
struct Waiting {
    sleep: Sleep,
    deadline: Instant,
    /// The wake-ups of the wakers that it was polled with, the newest last.
    /// Before the first poll that doesn't panic, there are none.
    wakers: Vec<Arc<WakeCounts>>,
    was_woken: bool,
    is_over: bool,
}

struct History {
    driven: Driven,
    /// Otherwise, the sleeps of polls that are to panic are only created.
    has_panics: bool,
    /// When the driver fires again, if it isn't unparked.
    promise: Option<Instant>,
    unparked: bool,
    sleeps: [Option<Waiting>; 2],
    /// The wakers of sleeps that were dropped, each with its wake-ups so far.
    dropped: Vec<(Arc<WakeCounts>, usize)>,
}

impl History {
    fn new(has_panics: bool) -> Self {
        Self {
            driven: Driven::new(),
            has_panics,
            promise: None,
            unparked: false,
            sleeps: [None, None],
            dropped: Vec::new(),
        }
    }

    /// Returns what differs from the list, if anything does, and after which
    /// steps.
    fn run(mut self, steps: &[Step]) -> Result<(), String> {
        // In the end, what is left is woken, too.
        for (index, step) in steps.iter().chain(&[FireLate; 2]).enumerate() {
            if let Err(difference) = self.make(*step) {
                let made = steps.iter().chain(&[FireLate; 2]).take(index + 1);
                let made: Vec<_> = made.map(|step| step.in_words()).collect();
                return Err(format!(
                    "{difference}, after: {}",
                    made.join("; ")
                ));
            }
        }
        Ok(())
    }

    fn make(&mut self, step: Step) -> Result<(), String> {
        let unparks_before = self.driven.unparks.load(SeqCst);
        let index =
            usize::from(matches!(step, BeginY | PollY | PanicY | DropY));
        let was_begun = self.has_begun(index);
        let mut fired = None;
        match step {
            BeginX | BeginY => {
                self.create(index);
                self.poll(index)?;
            }
            PollX | PollY => self.poll(index)?,
            PanicX | PanicY => {
                if self.sleeps[index].is_none() {
                    self.create(index);
                }
                if self.has_panics {
                    self.poll_with_panic(index)?;
                }
            }
            DropX | DropY => {
                let dropped = self.sleeps[index].take();
                let wakers = dropped.into_iter().flat_map(|it| it.wakers);
                self.dropped.extend(wakers.map(|counts| {
                    let wakes = counts.wakes();
                    (counts, wakes)
                }));
            }
            FireInTime | FireLate => {
                let next = match self.promise {
                    Some(next) if step == FireInTime => next,
                    _ => self.driven.now + 20 * MS,
                };
                self.driven.now = self.driven.now.max(next);
                self.promise = self.driven.fire();
                self.unparked = false;
                fired = Some(self.driven.now);
            }
        }
        let unparks = self.driven.unparks.load(SeqCst) - unparks_before;
        if unparks > 0 && PANICS.contains(&step) {
            return Err("a poll that panicked unparked the driver".into());
        }
        let begins = !was_begun && self.has_begun(index);
        self.compare_unparks(begins, index, unparks)?;
        self.compare_wakes(fired)
    }

    fn create(&mut self, index: usize) {
        let duration = MS * [10, 30][index];
        self.sleeps[index] = Some(Waiting {
            deadline: self.driven.now + duration,
            sleep: self.driven.after(duration),
            wakers: Vec::new(),
            was_woken: false,
            is_over: false,
        });
    }

    /// Returns `true` if the sleep has been polled without a panic.
    fn has_begun(&self, index: usize) -> bool {
        let sleep = self.sleeps[index].as_ref();
        sleep.is_some_and(|it| !it.wakers.is_empty())
    }

    /// Polls with a waker whose clone panics.
    fn poll_with_panic(&mut self, index: usize) -> Result<(), String> {
        let now = self.driven.now;
        let it = self.sleeps[index].as_mut().expect("it exists");
        if it.is_over {
            return Ok(());
        }
        let waker = HostileClone::new(|| panic!("no clone of this waker"));
        let mut is_ready = None;
        let _ = panic_message(|| {
            is_ready = Some(poll(&mut it.sleep, &waker));
        });
        match is_ready {
            // A sleep that is ready needs no clone.
            Some(true) if now >= it.deadline => it.is_over = true,
            Some(true) => {
                return Err("a sleep was ready before its deadline".into());
            }
            Some(false) => {
                return Err(
                    "a poll was pending, and has no clone of its waker".into(),
                );
            }
            None => {}
        }
        Ok(())
    }

    /// Polls with a new waker.
    fn poll(&mut self, index: usize) -> Result<(), String> {
        let now = self.driven.now;
        let Some(it) = &mut self.sleeps[index] else {
            return Ok(());
        };
        if it.is_over {
            return Ok(());
        }
        let (waker, counts) = CountingWaker::new();
        let is_ready = poll(&mut it.sleep, &waker);
        if is_ready && now < it.deadline {
            return Err("a sleep was ready before its deadline".into());
        }
        if !is_ready && it.was_woken {
            return Err("a sleep that was woken wasn't ready".into());
        }
        it.is_over = is_ready;
        it.wakers.push(counts);
        Ok(())
    }

    fn compare_unparks(
        &mut self,
        begins: bool,
        index: usize,
        unparks: usize,
    ) -> Result<(), String> {
        let sleep = self.sleeps[index].as_ref();
        let deadline = sleep.map(|it| it.deadline);
        // A sleep that was due at once is ready, and needs no `fire`.
        let begins = begins && sleep.is_some_and(|it| !it.is_over);
        let is_earlier = |deadline| match self.promise {
            Some(promise) => deadline + SLACK < promise,
            None => true,
        };
        let must = begins && !self.unparked && deadline.is_some_and(is_earlier);
        if must && unparks == 0 {
            return Err(
                "the driver wasn't unparked for an earlier deadline".into()
            );
        }
        let is_later = |deadline| self.promise.is_some_and(|it| deadline > it);
        if unparks > 0 && deadline.is_none_or(is_later) {
            return Err(
                "the driver was unparked, although it will fire in time".into(),
            );
        }
        self.unparked |= unparks > 0;
        Ok(())
    }

    /// Compares who was woken with who should have been.
    fn compare_wakes(&mut self, fired: Option<Instant>) -> Result<(), String> {
        for (counts, wakes) in &self.dropped {
            if counts.wakes() != *wakes {
                return Err("a sleep was woken that had been dropped".into());
            }
        }
        let mut earliest: Option<Instant> = None;
        for it in self.sleeps.iter_mut().flatten() {
            let wakes = |counts: &Arc<WakeCounts>| counts.wakes();
            let total: usize = it.wakers.iter().map(wakes).sum();
            let newest = it.wakers.last().map_or(0, wakes);
            let is_woken_now = total > usize::from(it.was_woken);
            if is_woken_now && fired.is_none_or(|now| now < it.deadline) {
                return Err("a sleep was woken before its deadline".into());
            }
            if is_woken_now && (total, newest) != (1, 1) {
                return Err("not only the newest waker was woken, once".into());
            }
            it.was_woken |= is_woken_now;
            let has_begun = !it.wakers.is_empty();
            let waits = has_begun && !it.was_woken && !it.is_over;
            let is_late = fired.is_some_and(|now| now > it.deadline + SLACK);
            if waits && is_late {
                return Err("a sleep wasn't woken in time".into());
            }
            if waits {
                let least =
                    earliest.map_or(it.deadline, |e| e.min(it.deadline));
                earliest = Some(least);
            }
        }
        let Some(now) = fired else {
            return Ok(());
        };
        match (self.promise, earliest) {
            (None, None) => Ok(()),
            (Some(_), None) => {
                Err("nothing waits, and `fire` asks to be called again".into())
            }
            (Some(next), Some(it)) if next <= it.max(now) + SLACK => Ok(()),
            _ => Err("`fire` returned a later time than a deadline".into()),
        }
    }
}
