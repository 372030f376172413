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

/// Which wakers the polls of both sleeps have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wakers {
    /// Each poll has one of its own.
    New,
    /// All polls have the same.
    One,
    /// Each sleep begins with the first of two, and then they take turns.
    Two,
}

/// How many milliseconds x and y last.
type Durations = [u32; 2];

const UNLIKE: Durations = [10, 30];
/// So that the deadlines are equal if both begin between two calls of `fire`.
const EQUAL: Durations = [30; 2];

/// How much later than its deadline a sleep may be woken.
const SLACK: Duration = MS;

/// The number of steps of the histories in which deadlines may be equal.
const LONGEST_EQUAL: usize = 5;

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
    const LONGEST: usize = 6;
    check(lesson, || {
        for (durations, longest) in [(UNLIKE, LONGEST), (EQUAL, LONGEST_EQUAL)]
        {
            let compare = |steps: &[Step]| {
                History::new(durations, Instant::now())
                    .run(steps)
                    .unwrap_or_else(|difference| panic!("{difference}"));
            };
            for length in 1..=longest {
                let mut steps = Vec::new();
                extend(&mut steps, length, [false; 2], &STEPS, &compare);
            }
        }
    });
}

/// Clause 2: a task may wait for two sleeps, as in a `join` or a `select`.
#[test]
fn two_sleeps_with_the_same_waker_are_told_apart() {
    let lesson = Lesson {
        clause: "2. In time",
        promise: "When one task waits for two sleeps, each of them is woken in time, even if the \
                  other has the same deadline, and has been polled again, moved to another task, \
                  woken or dropped.",
        usual_cause: "A sleep is told from others by its deadline and its waker (`will_wake`, or \
                      the data pointer), and both may be equal. Such sleeps share an entry, or \
                      dropping or polling one of them takes out the other's entry, too. Give each \
                      sleep a number, and search for that.",
        read: "blocking/sleep.html#a-list-of-deadlines",
    };
    check(lesson, || {
        for wakers in [Wakers::One, Wakers::Two] {
            for length in 1..=LONGEST_EQUAL {
                let mut steps = Vec::new();
                extend(&mut steps, length, [false; 2], &STEPS, &|steps| {
                    let now = Instant::now();
                    let shared = History {
                        wakers,
                        ..History::new(EQUAL, now)
                    };
                    let Err(difference) = shared.run(steps) else {
                        return;
                    };
                    // What goes wrong with other wakers, too, isn't due to these.
                    let with_new = History::new(EQUAL, now).run(steps);
                    assert!(with_new.is_err(), "{difference}");
                });
            }
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
                let now = Instant::now();
                let Err(difference) = History::new(UNLIKE, now).run(steps)
                else {
                    return;
                };
                // What goes wrong without these polls, too, isn't due to them.
                let without = History {
                    has_panics: false,
                    ..History::new(UNLIKE, now)
                };
                assert!(without.run(steps).is_err(), "{difference}");
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
    durations: Durations,
    wakers: Wakers,
    /// The wakers a and b, if several polls have the same one. Each is here with
    /// the number of its wake-ups that have been compared.
    shared: [(Waker, Arc<WakeCounts>, usize); 2],
    /// Otherwise, the sleeps of polls that are to panic are only created.
    has_panics: bool,
    /// When the driver fires again, if it isn't unparked.
    promise: Option<Instant>,
    unparked: bool,
    sleeps: [Option<Waiting>; 2],
    /// Which of the sleeps with the same waker was woken isn't known, so there's
    /// nothing more to compare.
    is_unclear: bool,
    /// The wakers of sleeps that were dropped, each with its wake-ups so far.
    dropped: Vec<(Arc<WakeCounts>, usize)>,
}

impl History {
    /// With the same `now`, timers that round deadlines do so alike.
    fn new(durations: Durations, now: Instant) -> Self {
        Self {
            driven: Driven::starting_at(now + HOUR),
            durations,
            wakers: Wakers::New,
            shared: [(); 2].map(|()| {
                let (waker, counts) = CountingWaker::new();
                (waker, counts, 0)
            }),
            has_panics: true,
            promise: None,
            unparked: false,
            sleeps: [None, None],
            is_unclear: false,
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
                let made: Vec<_> =
                    made.map(|step| self.in_words(*step)).collect();
                return Err(format!(
                    "{difference}, after: {}",
                    made.join("; ")
                ));
            }
            if self.is_unclear {
                break;
            }
        }
        Ok(())
    }

    fn in_words(&self, step: Step) -> String {
        let (name, duration) = match step {
            BeginX | PollX | DropX | PanicX => ("x", self.durations[0]),
            _ => ("y", self.durations[1]),
        };
        let (first, next) = match self.wakers {
            Wakers::New => ("", "another waker"),
            Wakers::One => (", with waker a", "waker a"),
            Wakers::Two => (", with waker a", "the other of wakers a and b"),
        };
        match step {
            BeginX | BeginY => {
                format!("begin sleep {name} for {duration} ms{first}")
            }
            PollX | PollY => format!("poll {name} with {next}"),
            DropX | DropY => format!("drop {name}"),
            FireInTime => "fire at the time that `fire` returned".into(),
            FireLate => "fire 20 ms later".into(),
            PanicX | PanicY => format!(
                "poll {name}, of {duration} ms, with a waker whose clone panics"
            ),
        }
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
        let duration = MS * self.durations[index];
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

    /// Polls a sleep at an address where the others are polled, too.
    fn poll(&mut self, index: usize) -> Result<(), String> {
        let Some(mut it) = self.sleeps[index].take() else {
            return Ok(());
        };
        let polled = self.poll_here(&mut it);
        self.sleeps[index] = Some(it);
        polled
    }

    fn poll_here(&self, it: &mut Waiting) -> Result<(), String> {
        let now = self.driven.now;
        if it.is_over {
            return Ok(());
        }
        let (waker, counts) = match self.wakers {
            Wakers::New => CountingWaker::new(),
            Wakers::One => self.shared_waker(0),
            Wakers::Two => self.shared_waker(it.wakers.len() % 2),
        };
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

    fn shared_waker(&self, index: usize) -> (Waker, Arc<WakeCounts>) {
        let (waker, counts, _) = &self.shared[index];
        (waker.clone(), counts.clone())
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
        if self.wakers == Wakers::New {
            self.note_wakes(fired)?;
        } else {
            self.note_shared_wakes(fired)?;
        }
        if self.is_unclear {
            return Ok(());
        }
        let mut earliest: Option<Instant> = None;
        for it in self.sleeps.iter().flatten() {
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
            (Some(_), _) => {
                Err("`fire` returned a later time than a deadline".into())
            }
            (None, _) => {
                Err("a sleep waits, but `fire` returned `None`".into())
            }
        }
    }

    /// Notes who was woken, if each poll has a waker of its own.
    fn note_wakes(&mut self, fired: Option<Instant>) -> Result<(), String> {
        for (counts, wakes) in &self.dropped {
            if counts.wakes() != *wakes {
                return Err("a sleep was woken that had been dropped".into());
            }
        }
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
        }
        Ok(())
    }

    /// Notes who was woken, if several sleeps may have a waker in common.
    fn note_shared_wakes(
        &mut self,
        fired: Option<Instant>,
    ) -> Result<(), String> {
        for (name, shared) in ["a", "b"].iter().zip(&mut self.shared) {
            let (_, counts, compared) = shared;
            let wakes = counts.wakes() - *compared;
            *compared += wakes;
            // Those that this may have been for.
            let is_due = |it: &&mut Waiting| {
                let newest = it.wakers.last();
                !it.was_woken
                    && fired.is_some_and(|now| now >= it.deadline)
                    && newest.is_some_and(|it| Arc::ptr_eq(it, counts))
            };
            let sleeps = self.sleeps.iter_mut().flatten();
            let due: Vec<_> = sleeps.filter(is_due).collect();
            if wakes > 0 && fired.is_none() {
                return Err("a sleep was woken before its deadline".into());
            }
            if wakes > due.len() {
                let due = due.len();
                return Err(format!(
                    "waker {name} was woken {wakes} times by one `fire`, for {due} sleeps that \
                     were due"
                ));
            }
            // One wake-up is enough for all sleeps of a task that have to be
            // woken by now.
            let is_late = |it: &&mut Waiting| {
                fired.is_some_and(|now| now > it.deadline + SLACK)
            };
            let are_all = wakes == due.len() || due.iter().all(is_late);
            if wakes > 0 && are_all {
                due.into_iter().for_each(|it| it.was_woken = true);
            } else if wakes > 0 {
                self.is_unclear = true;
            }
        }
        Ok(())
    }
}
