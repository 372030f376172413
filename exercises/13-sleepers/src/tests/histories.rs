//! Clauses 1 to 9: every short history of calls, one after the other and within
//! one another, beside what the contract says of it; and what many of the same
//! calls allocate.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use primitives::chaos::at_moment;
use testkit::{Lesson, Partner, allocations, check};

use super::super::{Activity, Sleepers};

use Activity::{Busy, Searching};

/// What a worker does, as far as the caller of its next call knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Up(Activity),
    Parked,
    /// It was parked, and was chosen.
    Chosen,
}

use Doing::{Chosen, Parked, Up};

impl Doing {
    fn searches(self) -> bool {
        matches!(self, Up(Searching) | Chosen)
    }
}

/// These of the workers take part. The others are busy.
#[derive(Clone, Copy, Debug)]
struct World {
    /// How many workers there are.
    count: usize,
    workers: &'static [usize],
}

/// One call, by a worker with this place in the world, or by any other thread.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Notify,
    /// The worker has no work, and asks whether it may search.
    Ask(usize),
    /// The worker finds work in its search.
    Find(usize),
    Park(usize),
    GetUp(usize),
}

use Call::{Ask, Find, GetUp, Notify, Park};

impl Call {
    /// All calls of these workers, and of a thread that publishes work.
    fn all(workers: usize) -> Vec<Self> {
        let of = |worker| [Ask, Find, Park, GetUp].map(|call| call(worker));
        let of_all = (0..workers).flat_map(of);
        std::iter::once(Notify).chain(of_all).collect()
    }

    fn worker(self) -> Option<usize> {
        match self {
            Notify => None,
            Ask(worker) | Find(worker) | Park(worker) | GetUp(worker) => {
                Some(worker)
            }
        }
    }

    fn is_possible(self, doing: &[Doing]) -> bool {
        match self {
            Notify => true,
            Ask(worker) => doing[worker] == Up(Busy),
            Find(worker) => doing[worker].searches(),
            Park(worker) => doing[worker] != Parked,
            GetUp(worker) => matches!(doing[worker], Parked | Chosen),
        }
    }
}

/// One step of a history: a call, or one end of a call.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A `notify` begins, and this is what it's going to return.
    Begun(Option<usize>),
    /// It chooses this worker, which searches from then on.
    Chose(usize),
    Notified(Option<usize>),
    Asked(usize, bool),
    Found(usize, bool),
    /// A worker parks, and is parked, but its call hasn't returned.
    Lain(usize, Activity),
    Slept(usize, Activity, bool),
    GotUp(usize, Activity),
}

use Step::{Asked, Begun, Chose, Found, GotUp, Lain, Notified, Slept};

/// Workers that make calls, and what has come of these.
#[derive(Clone)]
struct Scene {
    world: World,
    sleepers: Arc<Sleepers>,
    doing: Vec<Doing>,
    steps: Vec<Step>,
}

impl Scene {
    fn new(world: World) -> Self {
        Self {
            world,
            sleepers: Arc::new(Sleepers::new(world.count)),
            doing: vec![Up(Busy); world.workers.len()],
            steps: Vec::new(),
        }
    }

    /// Brings this about, if it's possible.
    fn begin_with(world: World, doing: &[Doing]) -> Option<Self> {
        let mut scene = Self::new(world);
        let all = || doing.iter().enumerate();
        for (worker, doing) in all() {
            if *doing == Chosen {
                scene.make(Park(worker));
                scene.make(Notify);
            }
        }
        for (worker, doing) in all() {
            if *doing == Up(Searching) {
                scene.make(Ask(worker));
            }
        }
        for (worker, doing) in all() {
            if *doing == Parked {
                scene.make(Park(worker));
            }
        }
        scene.steps.clear();
        (scene.doing == doing).then_some(scene)
    }

    /// Makes the call, if it's possible, and the `notify` that clause 5 then asks
    /// for.
    fn make(&mut self, call: Call) {
        if !call.is_possible(&self.doing) {
            return;
        }
        self.make_alone(call);
        if let Some(Found(_, true)) = self.steps.last() {
            self.notify();
        }
    }

    /// Makes the call, which is possible, as a caller that looks at all queues and
    /// sees no work.
    fn make_alone(&mut self, call: Call) {
        let sleepers = self.sleepers.clone();
        let of = |worker: usize| self.world.workers[worker];
        let (step, now) = match call {
            Notify => return self.notify(),
            Ask(worker) => {
                let may_search = sleepers.transition_to_searching();
                let now = if may_search { Searching } else { Busy };
                (Asked(worker, may_search), (worker, Up(now)))
            }
            Find(worker) => {
                let is_last = sleepers.transition_from_searching();
                (Found(worker, is_last), (worker, Up(Busy)))
            }
            Park(worker) => {
                let searches = self.doing[worker].searches();
                let was = if searches { Searching } else { Busy };
                let is_last = sleepers.transition_to_parked(of(worker), was);
                (Slept(worker, was, is_last), (worker, Parked))
            }
            GetUp(worker) => {
                let now = sleepers.transition_from_parked(of(worker));
                (GotUp(worker, now), (worker, Up(now)))
            }
        };
        if let Slept(worker, was, _) = step {
            self.steps.push(Lain(worker, was));
        }
        self.steps.push(step);
        self.doing[now.0] = now.1;
    }

    fn notify(&mut self) {
        let named = self.sleepers.notify();
        let place = named.map(|named| {
            let place = self.world.workers.iter().position(|it| *it == named);
            let place = place.unwrap_or_else(|| {
                panic!("{named} has never been parked, and is chosen")
            });
            // If it isn't parked, it's in the middle of a call.
            if self.doing[place] == Parked {
                self.doing[place] = Chosen;
            }
            place
        });
        self.steps.push(Begun(place));
        self.steps.extend(place.map(Chose));
        self.steps.push(Notified(place));
    }

    fn told(&self, step: Step) -> Told<'_> {
        Told(self, step)
    }

    fn tell(&self, steps: &[Step]) -> String {
        let told = steps
            .iter()
            .filter(|it| !matches!(it, Begun(_) | Chose(_) | Lain(..)));
        let told: Vec<_> = told.map(|it| self.told(*it).to_string()).collect();
        told.join("; ")
    }

    fn tell_start(&self, doing: &[Doing]) -> String {
        let each = self.world.workers.iter().zip(doing);
        let each = each.map(|(worker, doing)| {
            let doing = match doing {
                Up(Busy) => "busy",
                Up(Searching) => "searching",
                Parked => "parked",
                Chosen => "parked and chosen",
            };
            format!("{worker} was {doing}")
        });
        let each: Vec<_> = each.collect();
        format!("of {} workers {}", self.world.count, each.join(", "))
    }
}

/// A step, in words.
struct Told<'a>(&'a Scene, Step);

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |worker: usize| self.0.world.workers[worker];
        match self.1 {
            Begun(_) | Chose(_) | Lain(..) => Ok(()),
            Notified(named) => {
                write!(f, "`notify` returned {:?}", named.map(of))
            }
            Asked(worker, may) => write!(
                f,
                "`transition_to_searching` of {} returned {may}",
                of(worker)
            ),
            Found(worker, is_last) => write!(
                f,
                "`transition_from_searching` of {} returned {is_last}",
                of(worker)
            ),
            Slept(worker, was, is_last) => write!(
                f,
                "`transition_to_parked({}, {was:?})` returned {is_last}",
                of(worker)
            ),
            GotUp(worker, now) => write!(
                f,
                "`transition_from_parked({})` returned {now:?}",
                of(worker)
            ),
        }
    }
}

/// What the contract says of the calls so far.
#[derive(Clone)]
struct Spec {
    count: usize,
    doing: Vec<Doing>,
    /// One for each `notify` that is under way.
    notifying: Vec<Notifying>,
    /// How many searched when this worker parked.
    were_searching: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Notifying {
    /// Which thread calls it.
    by: usize,
    returns: Option<usize>,
    /// Since it began, one searched or none was parked, or one parked and has
    /// to look.
    need_not_choose: bool,
}

impl Spec {
    fn new(count: usize, doing: &[Doing]) -> Self {
        Self {
            count,
            doing: doing.to_vec(),
            notifying: Vec::new(),
            were_searching: vec![0; doing.len()],
        }
    }

    fn searching(&self) -> usize {
        self.doing.iter().filter(|it| it.searches()).count()
    }

    /// Whether a `notify` may choose none now.
    fn needs_no_choice(&self) -> bool {
        // The worker that another one is going to choose may already count,
        // even if it then gets up by itself.
        let chooses =
            |it: &Notifying| it.returns.is_some() || !it.need_not_choose;
        self.searching() > 0
            || !self.doing.contains(&Parked)
            || self.notifying.iter().any(chooses)
    }

    /// A call may take a `notify` that is under way for a searcher, which then
    /// has to look whom to choose after that. Returns `false` if none is.
    fn is_left_to_a_notify(&mut self) -> bool {
        for it in &mut self.notifying {
            it.need_not_choose = false;
        }
        !self.notifying.is_empty()
    }

    /// Does the step. Returns `false` if the contract doesn't allow it now.
    fn admits(&mut self, by: usize, step: Step) -> bool {
        let searching = self.searching();
        match step {
            Begun(returns) => {
                self.notifying.push(Notifying {
                    by,
                    returns,
                    need_not_choose: self.needs_no_choice(),
                });
                true
            }
            Chose(named) => {
                let is_parked = self.doing[named] == Parked;
                self.doing[named] = Chosen;
                is_parked && searching == 0
            }
            Notified(named) => {
                let at = self.notifying.iter().position(|it| it.by == by);
                let it = self.notifying.remove(at.expect("it has begun"));
                named.is_some() || it.need_not_choose || self.needs_no_choice()
            }
            Asked(worker, true) => {
                self.doing[worker] = Up(Searching);
                searching < self.count.div_ceil(2)
            }
            Asked(_, false) => searching > 0 || !self.notifying.is_empty(),
            Found(worker, is_last) => {
                let searched = self.doing[worker].searches();
                self.doing[worker] = Up(Busy);
                let is_right = is_last == (searching == 1);
                searched && (is_right || !is_last && self.is_left_to_a_notify())
            }
            Lain(worker, was) => {
                let fits = match was {
                    Busy => self.doing[worker] == Up(Busy),
                    Searching => self.doing[worker].searches(),
                };
                self.doing[worker] = Parked;
                self.were_searching[worker] = self.searching();
                fits
            }
            Slept(worker, _, true) => {
                // It sees the work of these.
                for it in &mut self.notifying {
                    it.need_not_choose = true;
                }
                searching == 0 || self.were_searching[worker] == 0
            }
            Slept(worker, _, false) => {
                searching > 0
                    || self.were_searching[worker] > 0
                    || self.is_left_to_a_notify()
            }
            GotUp(worker, now) => {
                let before = self.doing[worker];
                self.doing[worker] = Up(now);
                before == if now == Busy { Parked } else { Chosen }
            }
        }
    }

    /// What comes of two lists of steps in some order, if the contract allows
    /// one of the orders.
    fn after(&self, one: &[Step], other: &[Step]) -> Option<Self> {
        if one.is_empty() && other.is_empty() {
            return Some(self.clone());
        }
        for (by, first) in [one, other].into_iter().enumerate() {
            let Some((step, rest)) = first.split_first() else {
                continue;
            };
            let mut spec = self.clone();
            if !spec.admits(by, *step) {
                continue;
            }
            let found = match by {
                0 => spec.after(rest, other),
                _ => spec.after(one, rest),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Has all searches end, and all that are parked be chosen. Returns what is
    /// wrong with that.
    fn end(self, scene: &Scene) -> Option<String> {
        let sleepers = &scene.sleepers;
        let parked = scene.world.workers.iter().zip(&self.doing);
        let parked = parked.filter(|(_, doing)| **doing == Parked);
        let mut parked: Vec<_> = parked.map(|(worker, _)| *worker).collect();
        parked.sort_unstable();
        for left in (0..self.searching()).rev() {
            let named = sleepers.notify();
            if named.is_some() {
                return Some(format!(
                    "{} searched, and `notify` chose {named:?}",
                    left + 1
                ));
            }
            let is_last = sleepers.transition_from_searching();
            if is_last != (left == 0) {
                return Some(format!(
                    "one of {} that searched found work, and `transition_from_searching` returned \
                     {is_last}",
                    left + 1
                ));
            }
        }
        let mut named = Vec::new();
        while let Some(one) = sleepers.notify() {
            named.push(one);
            if !sleepers.transition_from_searching() {
                return Some("a worker searched that doesn't exist".to_owned());
            }
            if named.len() > parked.len() {
                break;
            }
        }
        named.sort_unstable();
        let wrong =
            format!("{parked:?} were parked, and {named:?} were chosen");
        (named != parked).then_some(wrong)
    }
}

/// Calls `each` with every start that is possible in this world.
fn each_start(world: World, mut each: impl FnMut(&[Doing])) {
    const ALL: [Doing; 4] = [Up(Busy), Up(Searching), Parked, Chosen];
    let workers = world.workers.len();
    for number in 0..ALL.len().pow(workers as u32) {
        let of = |worker| ALL[number / ALL.len().pow(worker) % ALL.len()];
        let doing: Vec<_> = (0..workers as u32).map(of).collect();
        if Scene::begin_with(world, &doing).is_some() {
            each(&doing);
        }
    }
}

/// Makes every history of this many calls, one after the other.
fn make_each_history(world: World, length: usize) {
    let calls = Call::all(world.workers.len());
    // Which of the possible calls is made, for each place in the history.
    let mut choices = vec![0; length];
    loop {
        let mut scene = Scene::new(world);
        let mut spec = Spec::new(world.count, &scene.doing);
        let mut possible = Vec::new();
        for choice in &mut choices {
            let is_possible = |call: &&Call| call.is_possible(&scene.doing);
            let now: Vec<_> = calls.iter().filter(is_possible).collect();
            *choice = (*choice).min(now.len() - 1);
            possible.push(now.len());
            let seen = scene.steps.len();
            scene.make(*now[*choice]);
            for at in seen..scene.steps.len() {
                let step = scene.steps[at];
                assert!(
                    spec.admits(0, step),
                    "{}",
                    scene.tell(&scene.steps[..=at])
                );
            }
        }
        if let Some(wrong) = spec.end(&scene) {
            panic!("{}; then {wrong}", scene.tell(&scene.steps));
        }
        while choices
            .last()
            .is_some_and(|it| it + 1 == possible[choices.len() - 1])
        {
            choices.pop();
        }
        match choices.last_mut() {
            Some(choice) => *choice += 1,
            None => return,
        }
        choices.resize(length, 0);
    }
}

/// Clause 2: one thread makes all calls.
#[test]
fn every_history_of_calls_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "2. Whom to wake",
        promise: "Whatever calls come one after the other, each returns what the contract says, and \
                  in the end each worker that is parked is chosen once.",
        usual_cause: "A call leaves something behind that only another call takes away: a mark, a \
                      count, or a place in a list. The other checks that fail name the mistake.",
        read: "scheduler/sleepers.html#busy-searching-parked",
    };
    check(lesson, || {
        for (count, workers, length) in [
            (1, &[0][..], 8),
            (2, &[0, 1], 5),
            (3, &[0, 1, 2], 4),
            (4, &[1, 2, 3], 4),
            (70, &[64, 3], 5),
        ] {
            // The shortest history that goes wrong is the one to show.
            for length in 1..=length {
                make_each_history(World { count, workers }, length);
            }
        }
    });
}

/// How often a cycle of calls is made.
const ROUNDS: usize = 300;

/// Makes every cycle of this many calls again and again. Asserts that the calls
/// allocate nothing.
fn make_each_cycle(world: World, length: usize) {
    let calls = Call::all(world.workers.len());
    let (base, length) = (calls.len(), length as u32);
    // The digits of a number are the calls of a cycle.
    let turned = |it: usize| it / base + it % base * base.pow(length - 1);
    let is_least = |number: &usize| {
        let mut turns = (0..length).scan(*number, |it, _| {
            *it = turned(*it);
            Some(*it)
        });
        turns.all(|it| *number <= it)
    };
    // A cycle may begin with any of its calls. One of these cycles is enough.
    for number in (0..base.pow(length)).filter(is_least) {
        let call = |at| calls[number / base.pow(at) % base];
        let cycle: Vec<_> = (0..length).map(call).collect();
        make_cycle(world, &cycle);
    }
}

fn make_cycle(world: World, cycle: &[Call]) {
    let mut scene = Scene::new(world);
    // A call takes three steps at most.
    scene.steps.reserve(3 * cycle.len());
    let mut were_made = vec![false; cycle.len()];
    for round in 1..=ROUNDS {
        scene.steps.clear();
        let ((), made) = allocations(|| {
            for (call, was_made) in cycle.iter().zip(&mut were_made) {
                if call.is_possible(&scene.doing) {
                    scene.make_alone(*call);
                    *was_made = true;
                }
            }
        });
        assert!(
            made.count == 0,
            "of {} workers, {:?} made these calls again and again, and round {round} allocated \
             memory: {}",
            world.count,
            world.workers,
            scene.tell(&scene.steps)
        );
        match round {
            // The first round may begin within the cycle.
            1 => were_made.fill(false),
            // Without the calls that aren't made, this is a shorter cycle.
            4 if were_made.contains(&false) => return,
            _ => {}
        }
    }
}

/// Clause 9: a worker that parks shouldn't wait for the allocator, even if it has
/// parked a million times.
#[test]
fn calls_made_again_and_again_allocate_nothing() {
    let lesson = Lesson {
        clause: "9. Made once",
        promise: "Whatever calls are made again and again, in any order, none of them allocates.",
        usual_cause: "A call adds an entry that only another call removes. For example, a worker \
                      that is unparked without having been chosen leaves its entry in the list \
                      until a `notify` skips it. If the worker parks again before that, the list \
                      has two entries for it. Take the entry out in `transition_from_parked`, or \
                      don't add a worker that is still listed.",
        read: "scheduler/sleepers.html#how-many-workers",
    };
    check(lesson, || {
        for (count, workers, length) in
            [(1, &[0][..], 5), (2, &[0, 1], 4), (70, &[64, 3], 3)]
        {
            // The shortest cycle that allocates is the one to show.
            for length in 1..=length {
                make_each_cycle(World { count, workers }, length);
            }
        }
    });
}

/// Has one thread make `call`, and another make `others` at each moment of it.
fn make_at_each_moment(
    partner: &Rc<Partner>,
    world: World,
    start: &[Doing],
    call: Call,
    others: &[Call],
) {
    for moment in 0.. {
        let scene = Scene::begin_with(world, start);
        let mut scene = scene.expect("it was possible before");
        let mut other = scene.clone();
        let (sender, others_end) = std::sync::mpsc::channel();
        let (partner, others) = (partner.clone(), others.to_vec());
        let happens = move || {
            let make = move || {
                others.iter().for_each(|call| other.make(*call));
                other.steps
            };
            sender.send(partner.call(make)).expect("it's received");
        };
        let ((), has_happened) =
            at_moment(moment, happens, || scene.make(call));
        if !has_happened {
            return;
        }
        let others = others_end.recv().expect("it has been sent");
        let others = others.recv().expect("it doesn't panic");
        let told = || {
            format!(
                "{}; at a moment of a call: {}; and of that call: {}",
                scene.tell_start(start),
                scene.tell(&others),
                scene.tell(&scene.steps)
            )
        };
        let spec = Spec::new(world.count, start).after(&scene.steps, &others);
        let Some(spec) = spec else {
            panic!("{}: that's right in no order", told());
        };
        if let Some(wrong) = spec.end(&scene) {
            panic!("{}; then {wrong}", told());
        }
    }
}

/// Has one thread make each call that is possible, and another each call, or each
/// two of `most` within it.
fn make_each_within(
    partner: &Rc<Partner>,
    world: World,
    start: &[Doing],
    most: usize,
) {
    let calls = Call::all(world.workers.len());
    let is_possible = |call: &Call| call.is_possible(start);
    for call in calls.iter().copied().filter(is_possible) {
        let is_other =
            |it: &Call| *it == Notify || it.worker() != call.worker();
        let others: Vec<_> = calls.iter().copied().filter(is_other).collect();
        for first in others.iter().copied().filter(is_possible) {
            make_at_each_moment(partner, world, start, call, &[first]);
            let is_next = |it: &Call| most == 2 && *it != first;
            for second in others.iter().copied().filter(is_next) {
                let both = [first, second];
                make_at_each_moment(partner, world, start, call, &both);
            }
        }
    }
}

/// Clause 1: a thread may be preempted anywhere.
#[test]
fn calls_at_any_moment_of_another_go_as_the_contract_says() {
    let lesson = Lesson {
        clause: "1. No task waits",
        promise: "If other threads make one or two calls at any moment of a call, all calls return \
                  what they would in some order, and in the end each worker that is parked is \
                  chosen once.",
        usual_cause: "A call looks at the counts or at the list and changes them in a second step, \
                      or calculates a count under the lock and stores it after that. Or it tries a \
                      compare-exchange only once, and takes a failure for an answer. Or `notify` goes through the list once and misses a worker that comes to an \
                      earlier place as another leaves a later one: look again. Or `notify` takes \
                      back a searcher that it has counted, since those that were parked are awake, \
                      and doesn't look for a worker that has parked meanwhile. Or a worker that \
                      gets up concludes from the counts that a `notify` under way is choosing it, \
                      and goes on before that `notify` has taken it off the list.",
        read: "scheduler/sleepers.html#whether-to-unpark-and-which-worker",
    };
    check(lesson, || {
        let partner = Rc::new(Partner::new());
        for (count, workers, most) in [
            (1, &[0][..], 1),
            (2, &[0, 1], 1),
            (4, &[0, 1], 1),
            (70, &[3, 64], 2),
        ] {
            let world = World { count, workers };
            each_start(world, |start| {
                make_each_within(&partner, world, start, most);
            });
        }
    });
}
