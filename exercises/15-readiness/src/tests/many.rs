//! Clause 8: all that wait when an event comes are woken, no matter how many they
//! are, what their wakers do meanwhile, and whether some of their wakers are equal.

use std::iter;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use testkit::HostileWaker;

use super::*;

/// What a task does within `wake`, as an executor may run it at once.
#[derive(Clone, Copy, Debug)]
enum Act {
    Clear,
    /// It clears. Then its future waits again, and another one begins to wait.
    WaitAgain,
    /// It drops the future of its neighbor.
    DropNeighbor,
    /// It clears, and polls the future of its neighbor with another waker.
    MoveNeighbor,
    /// It clears, and then the same event comes again.
    Report,
    /// The same event comes again, and then it clears.
    ReportAndClear,
}

use Act::*;

const EACH_ACT: [Act; 6] = [
    Clear,
    WaitAgain,
    DropNeighbor,
    MoveNeighbor,
    Report,
    ReportAndClear,
];

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Clear => "cleared",
            WaitAgain => "cleared and waited again",
            DropNeighbor => "dropped another future",
            MoveNeighbor => "cleared and polled another future",
            Report => "cleared and reported another event",
            ReportAndClear => "reported another event and cleared",
        })
    }
}

/// Which of the tasks that are woken acts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    First,
    Middle,
    Each,
}

use Who::*;

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            First => "the first task that was woken",
            Middle => "a task in the middle",
            Each => "each task that was woken",
        })
    }
}

/// How many events the acts of one scene report, so that they come to an end.
const MOST_REPORTS: usize = 4;

/// What happens in a scene.
#[derive(Clone, Copy)]
struct Plot {
    /// How many futures wait for each of the directions.
    count: usize,
    directions: &'static [Direction],
    /// `None` is `shut_down`.
    event: Option<Event>,
    who: Who,
    act: Act,
}

/// Many futures, which all wait.
struct Crowd {
    readiness: Arc<Readiness>,
    plot: Plot,
    members: Mutex<Vec<Member>>,
    /// Those that began to wait within a `wake`.
    newcomers: Mutex<Vec<(Waiting<'static>, Arc<WakeCounts>)>>,
    wake_count: AtomicUsize,
    report_count: AtomicUsize,
}

struct Member {
    direction: Direction,
    /// `None` if it was dropped, or has ended.
    future: Option<Waiting<'static>>,
    wakes: Arc<AtomicUsize>,
    /// Whether another task has dropped or polled it, so that its first waker
    /// need not be woken.
    is_excused: bool,
    /// The counts of its newer waker, if it was polled again.
    newer: Option<Arc<WakeCounts>>,
}

impl Crowd {
    /// Has the plot's futures wait.
    fn new(plot: Plot) -> Arc<Self> {
        let crowd = Arc::new(Self {
            readiness: Arc::new(Readiness::new()),
            plot,
            members: Mutex::default(),
            newcomers: Mutex::default(),
            wake_count: AtomicUsize::new(0),
            report_count: AtomicUsize::new(0),
        });
        for number in 0..plot.count * plot.directions.len() {
            // Neighbors wait for the same direction.
            let direction = plot.directions[number / 2 % plot.directions.len()];
            let wakes = Arc::new(AtomicUsize::new(0));
            let waker = HostileWaker::new({
                // One that's stored doesn't keep the crowd.
                let (crowd, wakes) = (Arc::downgrade(&crowd), wakes.clone());
                move || {
                    wakes.fetch_add(1, SeqCst);
                    if let Some(crowd) = crowd.upgrade() {
                        crowd.is_woken(number);
                    }
                }
            });
            let mut future = crowd.future(direction);
            let outcome = poll_future(&mut future, &waker);
            assert!(
                outcome.is_pending(),
                "`{direction:?}` isn't ready, and the future of `ready` returned `{outcome:?}`"
            );
            crowd.members.lock().unwrap().push(Member {
                direction,
                future: Some(future),
                wakes,
                is_excused: false,
                newer: None,
            });
        }
        crowd
    }

    fn future(&self, direction: Direction) -> Waiting<'static> {
        let readiness = self.readiness.clone();
        Box::pin(async move { readiness.ready(direction).await })
    }

    /// Clears what's ready, and leaves the waker of `poll_ready`.
    fn clear(&self) {
        for direction in self.plot.directions {
            let mut future = self.future(*direction);
            let outcome = poll_future(&mut future, Waker::noop());
            if let Poll::Ready(Ok(seen)) = outcome {
                self.readiness.clear(seen);
            }
        }
    }

    fn report(&self) {
        match self.plot.event {
            Some(event) => self.readiness.set_ready(event),
            None => self.readiness.shut_down(),
        }
    }

    /// Called within the `wake` of a member's first waker.
    fn is_woken(&self, number: usize) {
        let nth = self.wake_count.fetch_add(1, SeqCst);
        let Plot {
            count, who, act, ..
        } = self.plot;
        let acts = match who {
            First => nth == 0,
            Middle => nth == count / 2,
            Each => true,
        };
        if !acts {
            return;
        }
        if matches!(act, Clear | WaitAgain | MoveNeighbor | Report) {
            self.clear();
        }
        match act {
            Clear => {}
            WaitAgain => {
                self.poll_again(number);
                let direction = self.members.lock().unwrap()[number].direction;
                let mut future = self.future(direction);
                let (waker, counts) = CountingWaker::new();
                if poll_future(&mut future, &waker).is_pending() {
                    self.newcomers.lock().unwrap().push((future, counts));
                }
            }
            DropNeighbor => drop(self.excuse(number ^ 1)),
            MoveNeighbor => {
                if let Some(future) = self.excuse(number ^ 1) {
                    self.members.lock().unwrap()[number ^ 1].future =
                        Some(future);
                    self.poll_again(number ^ 1);
                }
            }
            Report | ReportAndClear => {
                if self.report_count.fetch_add(1, SeqCst) < MOST_REPORTS {
                    self.report();
                }
            }
        }
        if matches!(act, ReportAndClear) {
            self.clear();
        }
    }

    /// Takes the future of a member, which nothing has to wake from now on.
    fn excuse(&self, number: usize) -> Option<Waiting<'static>> {
        let mut members = self.members.lock().unwrap();
        let member = members.get_mut(number)?;
        member.is_excused = true;
        member.future.take()
    }

    /// Polls a member with another waker.
    fn poll_again(&self, number: usize) {
        let future = self.members.lock().unwrap()[number].future.take();
        let Some(mut future) = future else { return };
        let (waker, counts) = CountingWaker::new();
        if poll_future(&mut future, &waker).is_pending() {
            let member = &mut self.members.lock().unwrap()[number];
            member.future = Some(future);
            member.newer = Some(counts);
        }
    }

    /// How many of those that waited when the event came it hasn't woken.
    fn deaf(&self) -> usize {
        let members = self.members.lock().unwrap();
        let deaf = |it: &&Member| !it.is_excused && it.wakes.load(SeqCst) == 0;
        members.iter().filter(deaf).count()
    }

    /// Has all that are left wait, and one more event come. Returns how many it
    /// hasn't woken, of how many.
    fn deaf_to_the_next(&self) -> (usize, usize) {
        self.clear();
        let count = self.members.lock().unwrap().len();
        for number in 0..count {
            // The others wait already.
            if self.members.lock().unwrap()[number].newer.is_none() {
                self.poll_again(number);
            }
        }
        self.report();
        let members = self.members.lock().unwrap();
        let members = members.iter().filter_map(|it| it.newer.as_ref());
        let newcomers = self.newcomers.lock().unwrap();
        let newcomers = newcomers.iter().map(|(_, counts)| counts);
        let wakes = members.chain(newcomers).map(|it| it.wakes());
        let wakes: Vec<_> = wakes.collect();
        let deaf = wakes.iter().filter(|it| **it == 0).count();
        (deaf, wakes.len())
    }
}

/// Has one event come while many wait, and then another.
fn play(plot: Plot) {
    let Plot {
        count,
        directions,
        event,
        who,
        act,
    } = plot;
    let crowd = Crowd::new(plot);
    let polled: Vec<_> = directions
        .iter()
        .map(|it| (*it, wait(&crowd.readiness, *it)))
        .collect();
    crowd.report();
    let what = event.map_or("`shut_down`".into(), |it| Named(it).to_string());
    let told = format!(
        "{count} futures waited for {} when {what} came, and {who} {act} within `wake`",
        match directions {
            [one] => format!("`{one:?}`"),
            _ => "each direction".into(),
        }
    );
    let deaf = crowd.deaf();
    assert!(deaf == 0, "{told}; {deaf} futures weren't woken");
    for (direction, counts) in polled {
        assert!(
            counts.wakes() > 0,
            "{told}; the task that waits for `{direction:?}` by `poll_ready` wasn't woken"
        );
    }
    if event.is_some() {
        let (deaf, of) = crowd.deaf_to_the_next();
        assert!(
            deaf == 0,
            "{told}; then {of} waited, and the next event didn't wake {deaf} of them"
        );
    }
}

/// Clause 8: an event has to wake those that waited when it came, even if there's
/// nothing left for them.
#[test]
fn an_event_wakes_all_that_wait_whatever_their_wakers_do() {
    let lesson = Lesson {
        clause: "8. Any number",
        promise: "An event wakes each task that waits when it comes, no matter how many wait, and \
                  no matter whether a task that's woken clears at once, waits again, drops or \
                  polls other futures, or reports another event.",
        usual_cause: "`set_ready` wakes the tasks in batches, and decides between two batches \
                      whether to go on: it stops if the direction was cleared meanwhile, or if \
                      another event has come. Or it continues at a place in its list that has \
                      changed since. Which tasks an event wakes is settled under the lock that \
                      makes the direction ready, and only the drop or the next poll of a future \
                      changes it. At a hang: The wakers are woken under the lock.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let events: [(&[Direction], Option<Event>); 4] = [
            (&[Read], Some(READABLE)),
            (&[Write], Some(WRITABLE)),
            (&[Read, Write], Some(BOTH)),
            (&[Read, Write], None),
        ];
        for (directions, event) in events {
            for act in EACH_ACT {
                let play = |count, who| {
                    play(Plot {
                        count,
                        directions,
                        event,
                        who,
                        act,
                    });
                };
                // Around the sizes of usual batches.
                for who in [First, Middle, Each] {
                    for count in [2, 33, 65] {
                        play(count, who);
                    }
                }
                if directions.len() == 1 {
                    for count in [1, 31, 32, 64, 300] {
                        play(count, First);
                    }
                }
            }
        }
    });
}

/// One step of a history of tasks that poll with equal wakers. A place is that of
/// a future, or `POLLED`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// The task polls what's in the place. If there's no future, it's made first.
    Poll {
        place: usize,
        task: usize,
    },
    Leave(usize),
    /// An event comes, and a task clears.
    Event,
}

/// The places of futures come first.
const PLACES: usize = 4;
/// The place of the waker that `poll_ready` stores.
const POLLED: usize = PLACES - 1;
const TASKS: usize = 2;

/// Whether the step is possible, and no other step does the same.
fn admits(history: &[Step], next: Step) -> bool {
    let is_there = |place: usize| {
        let of_place = |it: &&Step| match it {
            Step::Poll { place: its, .. } | Step::Leave(its) => *its == place,
            Step::Event => false,
        };
        let newest = history.iter().rev().find(of_place);
        newest.is_some_and(|it| matches!(it, Step::Poll { .. }))
    };
    let has_polled = |task: usize| {
        let by_task = |it: &Step| matches!(it, Step::Poll { task: its, .. } if *its == task);
        history.iter().any(by_task)
    };
    match next {
        Step::Poll { place, task } => {
            let is_first_free =
                place == POLLED || is_there(place) || (0..place).all(is_there);
            is_first_free && (0..task).all(has_polled)
        }
        Step::Leave(place) => place != POLLED && is_there(place),
        Step::Event => history.last().is_some_and(|it| *it != Step::Event),
    }
}

/// Makes the steps, and then one more event.
fn make(history: &[Step]) {
    let readiness = Readiness::new();
    let tasks: [_; TASKS] = std::array::from_fn(|_| CountingWaker::new());
    let mut futures: [Option<Waiting<'_>>; POLLED] =
        std::array::from_fn(|_| None);
    // The task that polled last in each place, and whether it still waits there.
    let mut newest = [None::<usize>; PLACES];
    let mut waits = [false; PLACES];
    let mut deaf = None;
    let steps = history.iter().chain(iter::once(&Step::Event));
    for (index, step) in steps.enumerate() {
        match *step {
            Step::Poll { place, task } => {
                let (waker, _) = &tasks[task];
                let outcome = match place {
                    POLLED => poll(&readiness, waker, Read),
                    _ => {
                        let future = futures[place].get_or_insert_with(|| {
                            Box::pin(readiness.ready(Read))
                        });
                        poll_future(future, waker)
                    }
                };
                assert!(
                    outcome.is_pending(),
                    "`Read` isn't ready, and a poll returned `{outcome:?}`"
                );
                newest[place] = Some(task);
                waits[place] = true;
            }
            Step::Leave(place) => {
                futures[place] = None;
                newest[place] = None;
                waits[place] = false;
            }
            Step::Event => {
                let before = tasks.each_ref().map(|(_, it)| it.wakes());
                readiness.set_ready(READABLE);
                deaf = (0..TASKS).find(|task| {
                    let waits_in =
                        |it: usize| waits[it] && newest[it] == Some(*task);
                    (0..PLACES).any(waits_in)
                        && tasks[*task].1.wakes() == before[*task]
                });
                waits = [false; PLACES];
                readiness.clear(see(&readiness, Read));
            }
        }
        let left = (0..TASKS).find(|task| {
            let counts = &tasks[*task].1;
            !newest.contains(&Some(*task)) && counts.clones() != counts.drops()
        });
        if deaf.is_some() || left.is_some() {
            let told = || told(&history[..index.min(history.len())], step);
            if let Some(task) = deaf {
                panic!("{}; task {} waits, and wasn't woken", told(), task + 1);
            }
            if let Some(task) = left {
                panic!(
                    "{}; task {} waits nowhere, and a waker of it is still there",
                    told(),
                    task + 1
                );
            }
        }
    }
}

/// Says what was done.
fn told(history: &[Step], last: &Step) -> String {
    let steps = history.iter().chain(iter::once(last));
    let told = steps.map(|step| match *step {
        Step::Poll {
            place: POLLED,
            task,
        } => format!("task {} called `poll_ready`", task + 1),
        Step::Poll { place, task } => {
            format!("task {} polled future {}", task + 1, place + 1)
        }
        Step::Leave(place) => format!("future {} was dropped", place + 1),
        Step::Event => "an event came and was cleared".into(),
    });
    told.collect::<Vec<_>>().join("; ")
}

/// Makes each history that has this beginning and this many steps more.
fn make_each(history: &mut Vec<Step>, more: usize) {
    if more == 0 {
        make(history);
        return;
    }
    let polls = (0..PLACES).flat_map(|place| {
        (0..TASKS).map(move |task| Step::Poll { place, task })
    });
    let leaves = (0..POLLED).map(Step::Leave);
    for step in polls.chain(leaves).chain([Step::Event]) {
        if admits(history, step) {
            history.push(step);
            make_each(history, more - 1);
            history.pop();
        }
    }
}

/// Clause 8: one task may wait in several futures, as `select` and `join` do.
#[test]
fn futures_with_equal_wakers_are_told_apart() {
    let lesson = Lesson {
        clause: "8. Any number",
        promise: "A task polls several futures with equal wakers, as `select` does. If one of them \
                  is dropped, or is polled by another task, the next event still wakes the task \
                  for those that are left.",
        usual_cause: "A poll that finds a stored waker that would wake the same task stores \
                      nothing. Its future then relies on a waker that belongs to another future, \
                      and that goes when the other future is dropped or gets a new waker. Give \
                      each future an entry of its own. If several share one, it has to count \
                      them.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        // The shortest history that goes wrong is the one to show.
        for length in 1..=5 {
            make_each(&mut Vec::new(), length);
        }
    });
}
