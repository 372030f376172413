//! Clauses 2, 3 and 9 to 11: two threads use the readiness at once. What the second
//! does happens at each moment of the first one's call in turn. A moment is what
//! lies between two of the call's operations on the types of `primitives`.

use std::sync::mpsc;

use primitives::chaos::at_moment;
use testkit::{ActingWaker, start_elsewhere};

use super::strangers::use_all;
use super::*;

#[derive(Clone, Copy, Debug)]
enum Call {
    Report(Event),
    End,
    /// Clears what the thread has seen last.
    Clear,
    /// A task that waits for `Read` by `poll_ready` is polled.
    Look,
    /// A task that waits for `Read` by a future of `ready` is polled.
    Await,
    Leave,
}

use Call::*;

const EACH_CALL: [Call; 11] = [
    Report(NOTHING),
    Report(READABLE),
    Report(WRITABLE),
    Report(READ_CLOSED),
    Report(WRITE_CLOSED),
    Report(ERROR),
    End,
    Clear,
    Look,
    Await,
    Leave,
];

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report(event) => write!(f, "`set_ready` with {}", Named(*event)),
            End => f.write_str("`shut_down`"),
            Clear => f.write_str("`clear`"),
            Look => f.write_str("`poll_ready`"),
            Await => f.write_str("a poll of a future of `ready`"),
            Leave => f.write_str("the drop of a future of `ready`"),
        }
    }
}

/// Names calls that one thread makes in turn.
fn named(calls: &[Call]) -> String {
    let names: Vec<_> = calls.iter().map(Call::to_string).collect();
    names.join(", then ")
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    NotReady,
    IsReady,
    IsShutDown,
}

use Found::*;

impl Found {
    fn new(outcome: &Poll<Outcome>) -> Self {
        match outcome {
            Poll::Pending => NotReady,
            Poll::Ready(Ok(_)) => IsReady,
            Poll::Ready(Err(_)) => IsShutDown,
        }
    }
}

/// A task that waits, or did: what its last poll found, and its wakers.
#[derive(Default)]
struct Task {
    found: Option<Found>,
    wakers: Vec<Arc<WakeCounts>>,
}

impl Task {
    fn add(&mut self, outcome: &Poll<Outcome>, counts: Arc<WakeCounts>) {
        self.found = Some(Found::new(outcome));
        self.wakers.push(counts);
    }

    /// Whether the task knows that it has something to do, if there is one: its
    /// last poll wasn't pending, or the waker of that poll was woken.
    fn is_told(&self) -> bool {
        self.found != Some(NotReady)
            || self.wakers.last().is_none_or(|counts| counts.wakes() > 0)
    }

    /// How many of its wakers are still there.
    fn left(&self) -> usize {
        let left = |it: &Arc<WakeCounts>| it.clones() + 1 - it.drops();
        self.wakers.iter().map(left).sum()
    }
}

/// A thread with what belongs to it.
struct Party {
    readiness: Arc<Readiness>,
    direction: Direction,
    seen: Option<Ready>,
    polled: Task,
    future: Option<Waiting<'static>>,
    waiting: Task,
    /// Whether its wakers use the readiness, whatever is done with them.
    has_acting_wakers: bool,
}

impl Party {
    fn new(readiness: &Arc<Readiness>, direction: Direction) -> Self {
        Self {
            readiness: readiness.clone(),
            direction,
            seen: None,
            polled: Task::default(),
            future: None,
            waiting: Task::default(),
            has_acting_wakers: false,
        }
    }

    fn waker(&self) -> (Waker, Arc<WakeCounts>) {
        let (counting, counts) = CountingWaker::new();
        if !self.has_acting_wakers {
            return (counting, counts);
        }
        // One that's stored doesn't keep it.
        let readiness = Arc::downgrade(&self.readiness);
        let acting = ActingWaker::new(move |_| {
            if let Some(readiness) = readiness.upgrade() {
                use_all(&readiness);
            }
        });
        (acting, counts)
    }

    fn make(&mut self, call: Call) {
        let (waker, counts) = self.waker();
        match call {
            Report(event) => self.readiness.set_ready(event),
            End => self.readiness.shut_down(),
            Clear => {
                if let Some(seen) = self.seen {
                    self.readiness.clear(seen);
                }
            }
            Look => {
                let outcome = poll(&self.readiness, &waker, self.direction);
                drop(waker);
                self.polled.add(&outcome, counts);
                if let Poll::Ready(Ok(seen)) = outcome {
                    self.seen = Some(seen);
                }
            }
            Await => {
                let (readiness, direction) =
                    (self.readiness.clone(), self.direction);
                let future = self.future.get_or_insert_with(|| {
                    Box::pin(async move { readiness.ready(direction).await })
                });
                let outcome = poll_future(future, &waker);
                drop(waker);
                self.waiting.add(&outcome, counts);
                if outcome.is_ready() {
                    self.future = None;
                }
            }
            Leave => self.future = None,
        }
    }
}

/// The directions that two threads and a bystander use.
const ALL_READ: [Direction; 3] = [Read; 3];
const ONE_WRITES: [Direction; 3] = [Read, Write, Read];

/// Two threads and a bystander.
struct Scene([Party; 3]);

impl Scene {
    /// Each has seen an event. If `is_ready` is false, both directions have been
    /// cleared, and all wait again.
    fn new(directions: [Direction; 3], is_ready: bool) -> Self {
        let readiness = Arc::new(Readiness::new());
        let mut parties = directions.map(|it| Party::new(&readiness, it));
        readiness.set_ready(BOTH);
        for party in &mut parties {
            party.make(Look);
            party.polled = Task::default();
        }
        if !is_ready {
            readiness.clear(see(&readiness, Read));
            readiness.clear(see(&readiness, Write));
            parties[2].make(Look);
            for party in &mut parties {
                party.make(Await);
            }
        }
        Self(parties)
    }

    /// Looks at everything that a task could notice from now on.
    fn end(mut self) -> Outlook {
        let Self(parties) = &mut self;
        let readiness = parties[0].readiness.clone();
        let look = || {
            [Read, Write].map(|direction| {
                let mut future: Waiting<'_> =
                    Box::pin(readiness.ready(direction));
                Found::new(&poll_future(&mut future, Waker::noop()))
            })
        };
        let found = [0, 1].map(|it: usize| {
            [parties[it].polled.found, parties[it].waiting.found]
        });
        let told = |parties: &[Party; 3]| {
            let of = |it: &Party| {
                let is_gone = it.future.is_none();
                [it.polled.is_told(), is_gone || it.waiting.is_told()]
            };
            parties.each_ref().map(of)
        };
        let told_by_then = told(parties);
        let state = look();
        parties[0].make(Clear);
        parties[1].make(Clear);
        let cleared = look();
        readiness.set_ready(BOTH);
        let told_at_last = told(parties);
        let dropped = parties.iter().filter(|it| it.future.is_none());
        let left = dropped.map(|it| it.waiting.left()).sum();
        Outlook {
            found,
            told: told_by_then,
            state,
            cleared,
            told_at_last,
            left,
        }
    }
}

/// What the tasks noticed, and what they'll notice.
struct Outlook {
    /// What the polls of the two threads found: by `poll_ready`, and by a future.
    found: [[Option<Found>; 2]; 2],
    /// Whether the tasks of each of the three know that they have something to
    /// do: the one that waits by `poll_ready`, and the one that waits by a future.
    told: [[bool; 2]; 3],
    /// What a poll for `Read` and one for `Write` find.
    state: [Found; 2],
    /// What they find when both threads have cleared what they saw.
    cleared: [Found; 2],
    /// As `told`, after another event.
    told_at_last: [[bool; 2]; 3],
    /// How many wakers the dropped futures left.
    left: usize,
}

impl Outlook {
    /// Says what's worse here than in `other`, where the calls come one after
    /// the other. A poll that's pending and then woken is as good as one that's
    /// ready at once, and a wake-up too many does no harm.
    fn worse_than(&self, other: &Self) -> Option<String> {
        let polls = self.found.as_flattened().iter();
        let mut polls = polls.zip(other.found.as_flattened());
        let same = |it: &Option<Found>| it.filter(|found| *found != NotReady);
        // A poll may replace the bystander's waker, and then find the direction
        // ready.
        let may_replace = self.found.iter().any(|it| it[0].is_some());
        let covers = |mut these: [[bool; 2]; 3], others: [[bool; 2]; 3]| {
            these[2][0] |= may_replace;
            let (these, others) = (these.as_flattened(), others.as_flattened());
            these.iter().zip(others).all(|(this, other)| this >= other)
        };
        if self.state != other.state {
            let (found, expected) = (self.state, other.state);
            return Some(format!(
                "polls for `Read` and `Write` find {found:?} afterward, not {expected:?}"
            ));
        }
        if self.cleared != other.cleared {
            let (found, expected) = (self.cleared, other.cleared);
            return Some(format!(
                "when both threads have cleared what they saw, polls for `Read` and `Write` find \
                 {found:?}, not {expected:?}"
            ));
        }
        if !covers(self.told, other.told) {
            return Some("a task waits, and isn't woken".into());
        }
        if !covers(self.told_at_last, other.told_at_last) {
            return Some(
                "a task waits, and isn't woken by another event".into(),
            );
        }
        if self.left != other.left {
            return Some(format!("{} wakers are left behind", self.left));
        }
        if !polls.all(|(a, b)| a == b || same(a).is_none() || same(b).is_none())
        {
            let (found, expected) = (self.found, other.found);
            return Some(format!(
                "the polls of the two threads, by `poll_ready` and by a future, have found \
                 {found:?}, not {expected:?}"
            ));
        }
        None
    }
}

/// What the contract says about calls that come one after the other.
struct Spec {
    directions: [Direction; 3],
    /// Of `Read` and of `Write`.
    is_ready: [bool; 2],
    is_closed: [bool; 2],
    events: [u32; 2],
    is_shut_down: bool,
    parties: [SpecParty; 3],
}

#[derive(Clone, Copy, Default)]
struct SpecParty {
    /// The number of events in its direction when it last saw one.
    seen: u32,
    polled: SpecTask,
    waiting: SpecTask,
}

#[derive(Clone, Copy, Default)]
struct SpecTask {
    found: Option<Found>,
    /// Whether its waker is stored.
    waits: bool,
    is_woken: bool,
}

impl SpecTask {
    fn tell(&mut self) {
        self.is_woken |= self.waits;
        self.waits = false;
    }

    fn is_told(self) -> bool {
        self.found != Some(NotReady) || self.is_woken
    }
}

impl Spec {
    fn new(directions: [Direction; 3], is_ready: bool) -> Self {
        let party = SpecParty {
            seen: 1,
            ..SpecParty::default()
        };
        let mut spec = Self {
            directions,
            is_ready: [is_ready; 2],
            is_closed: [false; 2],
            events: [1; 2],
            is_shut_down: false,
            parties: [party; 3],
        };
        if !is_ready {
            spec.make(2, Look);
            (0..3).for_each(|party| spec.make(party, Await));
        }
        spec
    }

    fn find(&self, side: usize) -> Found {
        match (self.is_shut_down, self.is_ready[side]) {
            (true, _) => IsShutDown,
            (false, true) => IsReady,
            (false, false) => NotReady,
        }
    }

    fn tell(&mut self, side: usize) {
        for (party, direction) in self.parties.iter_mut().zip(self.directions) {
            if direction as usize == side {
                party.polled.tell();
                party.waiting.tell();
            }
        }
    }

    fn make(&mut self, party: usize, call: Call) {
        let side = self.directions[party] as usize;
        let found = self.find(side);
        let task = SpecTask {
            found: Some(found),
            waits: found == NotReady,
            is_woken: false,
        };
        match call {
            Report(event) => {
                let closed = [event.read_closed, event.write_closed];
                let ready = [event.readable, event.writable];
                for side in 0..2 {
                    if ready[side] || closed[side] || event.error {
                        self.is_ready[side] = true;
                        self.is_closed[side] |= closed[side];
                        self.events[side] += 1;
                        self.tell(side);
                    }
                }
            }
            End => {
                self.is_shut_down = true;
                self.tell(0);
                self.tell(1);
            }
            Clear => {
                let is_last = self.parties[party].seen == self.events[side];
                if is_last && !self.is_closed[side] {
                    self.is_ready[side] = false;
                }
            }
            Look => {
                if found == IsReady {
                    self.parties[party].seen = self.events[side];
                }
                if found == NotReady {
                    // It replaces the waker of the task that waited before.
                    for other in 0..3 {
                        if self.directions[other] as usize == side {
                            self.parties[other].polled.waits = false;
                        }
                    }
                }
                self.parties[party].polled = task;
            }
            Await => self.parties[party].waiting = task,
            Leave => self.parties[party].waiting.is_woken = true,
        }
    }

    fn end(mut self) -> Outlook {
        let look = |it: &Self| [it.find(0), it.find(1)];
        let told = |it: &Self| {
            let of =
                |it: SpecParty| [it.polled, it.waiting].map(SpecTask::is_told);
            it.parties.map(of)
        };
        let of = |it: SpecParty| [it.polled.found, it.waiting.found];
        let found = [of(self.parties[0]), of(self.parties[1])];
        let (told_by_then, state) = (told(&self), look(&self));
        self.make(0, Clear);
        self.make(1, Clear);
        let cleared = look(&self);
        self.make(0, Report(BOTH));
        Outlook {
            found,
            told: told_by_then,
            state,
            cleared,
            told_at_last: told(&self),
            left: 0,
        }
    }
}

/// Has one thread make `call`, and another make `others` at each moment of it.
/// Asserts that it ends as if `call` had come before, after, or between the
/// others.
#[track_caller]
fn assert_as_in_turn(call: Call, others: &'static [Call]) {
    for directions in [ALL_READ, ONE_WRITES] {
        for is_ready in [false, true] {
            let in_turn = |place: usize| {
                let mut spec = Spec::new(directions, is_ready);
                let (before, after) = others.split_at(place);
                before.iter().for_each(|other| spec.make(1, *other));
                spec.make(0, call);
                after.iter().for_each(|other| spec.make(1, *other));
                spec.end()
            };
            let in_turn: Vec<_> = (0..=others.len()).map(in_turn).collect();
            for moment in 0.. {
                let scene = Scene::new(directions, is_ready);
                let Some(outlook) = meanwhile(moment, scene, call, others)
                else {
                    break;
                };
                let worse: Option<Vec<_>> =
                    in_turn.iter().map(|it| outlook.worse_than(it)).collect();
                if let Some(worse) = worse {
                    panic!(
                        "{} came at a moment of {call}, and {}",
                        named(others),
                        worse.join("; or, if they'd come in another order, ")
                    );
                }
            }
        }
    }
}

/// Has one thread make `call`, and another make `others` at this moment of it.
/// Returns `None` if the call was over before that moment.
fn meanwhile(
    moment: usize,
    scene: Scene,
    call: Call,
    others: &'static [Call],
) -> Option<Outlook> {
    let Scene([mut party, mut other, bystander]) = scene;
    let (sender, thread) = mpsc::channel();
    let happens = move || {
        let make = move || {
            others.iter().for_each(|call| other.make(*call));
            other
        };
        sender.send(start_elsewhere(make)).expect("it's received");
    };
    let ((), has_happened) = at_moment(moment, happens, || party.make(call));
    if !has_happened {
        return None;
    }
    let thread = thread.recv().expect("it has been sent");
    let other = thread.join().expect("it doesn't panic");
    Some(Scene([party, other, bystander]).end())
}

/// Clause 1: what each call does depends on the calls before it.
#[test]
fn calls_in_any_order_do_what_the_contract_says() {
    let lesson = Lesson {
        clause: "1. Ready or not",
        promise: "Whatever calls come one after the other, each poll finds what the contract says, \
                  and the tasks that have to be woken are woken.",
        usual_cause: "One call changes more than it should. For example, `clear` resets more than \
                      the readiness, or an event resets what a hang-up or the shutdown has set. \
                      The other checks that fail name the mistake.",
        read: "io/readiness.html#what-readiness-is",
    };
    check(lesson, || {
        let all = || {
            let by = |party| EACH_CALL.map(|call| (party, call));
            [0, 1].into_iter().flat_map(by)
        };
        for directions in [ALL_READ, ONE_WRITES] {
            for first in all() {
                for second in all() {
                    assert_as_specified(directions, &[first, second]);
                }
            }
        }
        // xorshift32.
        let mut random = 0x9E37_79B9_u32;
        for _ in 0..1_000 {
            let calls = [(); 12].map(|()| {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                let call = EACH_CALL[(random >> 8) as usize % EACH_CALL.len()];
                ((random & 1) as usize, call)
            });
            assert_as_specified(ALL_READ, &calls);
            assert_as_specified(ONE_WRITES, &calls);
        }
    });
}

/// Asserts that these calls of the two parties end as the contract says.
#[track_caller]
fn assert_as_specified(directions: [Direction; 3], calls: &[(usize, Call)]) {
    for is_ready in [false, true] {
        let mut spec = Spec::new(directions, is_ready);
        let mut scene = Scene::new(directions, is_ready);
        for (party, call) in calls {
            spec.make(*party, *call);
            scene.0[*party].make(*call);
        }
        if let Some(worse) = scene.end().worse_than(&spec.end()) {
            let calls: Vec<_> = calls.iter().map(|(_, call)| *call).collect();
            let start = if is_ready { "ready" } else { "not ready" };
            panic!(
                "both directions were {start}; after {}, {worse}",
                named(&calls)
            );
        }
    }
}

/// Clause 10: the driver may end on another thread than the one that reports the
/// last event.
#[test]
fn a_shutdown_at_any_moment_of_a_call_is_final() {
    let lesson = Lesson {
        clause: "10. Shut down",
        promise: "If `shut_down` comes at any moment of another call, or another call at any \
                  moment of `shut_down`, all tasks that wait are woken, and later polls return \
                  `ShutDown`.",
        usual_cause: "`set_ready` or `clear` loads the state, changes it and stores it. If \
                      `shut_down` comes in between, the store erases it. Change the state in one \
                      step, or under a lock that `shut_down` takes, too.",
        read: "io/readiness.html#when-the-driver-ends",
    };
    check(lesson, || {
        for call in EACH_CALL {
            assert_as_in_turn(call, &[End]);
        }
        for other in &EACH_CALL {
            assert_as_in_turn(End, std::slice::from_ref(other));
        }
    });
}

/// Clause 2: the driver's thread waits for no task.
#[test]
fn an_event_at_any_moment_of_a_call_counts() {
    let lesson = Lesson {
        clause: "2. No lost wake-up",
        promise: "If an event comes at any moment of another call, the direction is ready \
                  afterward, and the tasks that wait are woken.",
        usual_cause: "A call loads the state, changes it and stores it, and the event comes in \
                      between. Or a poll looks at the readiness and stores its waker in two steps. \
                      Or the event only tries to lock the waiters, and the thread that holds the \
                      lock doesn't look for it after each unlock.",
        read: "io/readiness.html#between-wouldblock-and-the-waker",
    };
    check(lesson, || {
        for call in EACH_CALL {
            for other in &EACH_CALL[1..6] {
                assert_as_in_turn(call, std::slice::from_ref(other));
            }
        }
    });
}

/// Clause 3: a thread may be preempted within `clear`, or within `set_ready`.
#[test]
fn what_is_seen_and_cleared_at_any_moment_is_kept_apart() {
    let lesson = Lesson {
        clause: "3. Clear only what was seen",
        promise: "If another thread reports events, sees them and clears at any moment of a call, \
                  exactly what was seen is cleared.",
        usual_cause: "A call loads the tick, and uses or stores it later. Other events come in \
                      between, so that an old tick returns. Load, compare and store in one step.",
        read: "io/readiness.html#clear-only-what-you-saw",
    };
    check(lesson, || {
        for call in EACH_CALL {
            assert_as_in_turn(call, &[Clear]);
            assert_as_in_turn(call, &[Report(READABLE), Look, Clear]);
            assert_as_in_turn(
                call,
                &[Report(READABLE), Look, Report(READABLE)],
            );
            assert_as_in_turn(call, &[Clear, Report(READABLE), Look]);
        }
    });
}

/// Clause 9: each task has its own thread.
#[test]
fn a_task_that_comes_or_leaves_at_any_moment_disturbs_no_other() {
    let lesson = Lesson {
        clause: "9. Dropped futures",
        promise: "If a task is polled or a future is dropped at any moment of another call, the \
                  next event wakes all others, and the dropped future leaves no waker.",
        usual_cause: "The list of wakers is taken out, changed, and put back while the lock isn't \
                      held, or an id is chosen in one step and used in another.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for call in EACH_CALL {
            assert_as_in_turn(call, &[Look]);
            assert_as_in_turn(call, &[Await]);
            assert_as_in_turn(call, &[Leave]);
            assert_as_in_turn(call, &[Leave, Await]);
        }
    });
}

/// Clause 11: what is found at a second look has a waker to drop, too.
#[test]
fn a_waker_may_use_the_readiness_at_any_moment_of_a_call() {
    let lesson = Lesson {
        clause: "11. Free wakers",
        promise: "Whatever another thread does at any moment of a call, the wakers that the call \
                  clones, wakes or drops may poll, clear, report events, and drop futures.",
        usual_cause: "A waker is dropped under the lock on a path that's seldom taken. For \
                      example, an event comes while a poll clones its waker, so the poll returns \
                      `Ready` and drops the clone, and a closure that owns the clone ends before \
                      the guard does.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        for call in [Look, Await, Leave, Report(READABLE), End] {
            for other in &[Look, Await, Leave, Report(READABLE), End] {
                act_at_each_moment(call, other);
            }
        }
    });
}

/// Has one thread make `call`, and another make `other` at each moment of it, both with wakers that
/// use the readiness.
fn act_at_each_moment(call: Call, other: &'static Call) {
    for moment in 0.. {
        let mut scene = Scene::new(ALL_READ, false);
        for party in &mut scene.0 {
            party.has_acting_wakers = true;
            party.make(Look);
            party.make(Await);
        }
        let others = std::slice::from_ref(other);
        if meanwhile(moment, scene, call, others).is_none() {
            return;
        }
    }
}
