//! How the order of a recording ends, and what that says.

use super::document::{End, EndKind, Step};
use super::picture::{Phase, Picture, Row, file_name};
use super::recording::{Entry, Place, Step as Recorded};
use super::sources::without_detours;

impl Picture<'_> {
    /// How it ended. Adds a row for each thread that stands in an operation, if that is
    /// what the end is about.
    pub fn end(&self, rows: &mut Vec<Row>) -> End {
        let message = self.message();
        let stands = |thread: usize| self.standing(thread, rows);
        let mut panics = self.recording.order.iter().filter_map(|entry| match entry {
            Entry::Panics {
                panics,
                message: it,
                place,
            } if it == message => Some((*panics, place)),
            _ => None,
        });
        let panic = panics.next_back();
        if message.starts_with("deadlock") {
            let threads = 0..self.recording.threads.len();
            let standing: Vec<_> = threads.filter_map(|it| Some((it, stands(it)?))).collect();
            let words = standing
                .iter()
                .map(|&(thread, step)| self.waits(thread, step, rows));
            let words: Vec<_> = words.collect();
            let text = format!("{}: a deadlock", words.join("; "));
            let threads = standing.iter().map(|(thread, _)| *thread).collect();
            for (_, step) in standing {
                let sleeps = |row: &Row| row.operation == step && row.phase == Phase::Sleeps;
                if !rows.iter().any(sleeps) {
                    let mut row = self.row(step, Phase::Stands);
                    row.step.text += " waits";
                    row.step.blocks = true;
                    rows.push(row);
                }
            }
            return End {
                kind: EndKind::Deadlock,
                text,
                threads,
            };
        }
        if message.contains("Causality violation") {
            return self.race(rows, panic.map(|(thread, _)| thread));
        }
        let thread = panic.map(|(thread, _)| thread);
        let at = panic.map_or(String::new(), |(_, place)| self.at(place));
        // It counts a thread's steps in 16 bits.
        let is_in_loom = |file: &str| panic.is_some_and(|(_, place)| place.file.ends_with(file));
        let is_loom_at_its_limit =
            message == "attempt to add with overflow" && is_in_loom("/rt/vv.rs");
        // What it keeps of a thing comes from memory that has something else in it.
        let is_in_shuttle = panic.is_some_and(|(_, place)| place.file.contains("/shuttle-engine"));
        let is_freed = message.starts_with("index out of bounds") && is_in_loom("/rt/object.rs")
            || message.starts_with("RefCell already") && is_in_shuttle;
        let text = match message {
            it if it.contains("exceeded") || is_loom_at_its_limit => {
                "a loop goes on forever".to_owned()
            }
            _ if is_freed => {
                let who = thread.map_or("a thread", |thread| self.thread(thread));
                format!("{who} uses something that was freed")
            }
            it if it.contains("leaked") => "something was never freed".to_owned(),
            it => {
                let who = thread.map_or("it", |thread| self.thread(thread));
                format!("{who} fails{at}: {}", in_one_line(it))
            }
        };
        let threads = thread.into_iter().collect();
        End {
            kind: EndKind::Failure,
            text,
            threads,
        }
    }

    /// What it failed with. While a panic unwinds, loom may panic again and say nothing of
    /// the cause.
    fn message(&self) -> &str {
        self.first_panic()
            .map_or(&self.recording.message, |(_, message)| message)
    }

    /// Where in the order, and with what, the execution has failed, if loom's own words
    /// came only afterward.
    pub fn first_panic(&self) -> Option<(usize, &str)> {
        let mut order = self.recording.order.iter().enumerate();
        order
            .find_map(|(at, entry)| match entry {
                Entry::Panics { message, .. } => Some((at, message.as_str())),
                _ => None,
            })
            .filter(|_| self.recording.message == "not in exploring state")
    }

    /// ` (lib.rs:12)`, if a reader has that file.
    fn at(&self, place: &Place) -> String {
        match self.is_told(place) {
            true => format!(" ({}:{})", file_name(&place.file), place.line),
            false => String::new(),
        }
    }

    /// The last operation of a thread, if it isn't done.
    fn standing(&self, thread: usize, rows: &[Row]) -> Option<usize> {
        let steps = self.recording.steps.iter().enumerate();
        let last = steps.rev().find(|(_, step)| step.thread == thread)?.0;
        let is_done = |row: &Row| row.operation == last && row.phase == Phase::Done;
        (!rows.iter().any(is_done)).then_some(last)
    }

    /// In what a thread waits that goes no further.
    fn waits(&self, thread: usize, step: usize, rows: &[Row]) -> String {
        let recorded = &self.recording.steps[step];
        let subject = self.text(recorded, Phase::Stands);
        let sleeps = |row: &Row| row.operation == step && row.phase == Phase::Sleeps;
        let name = self.thread(thread);
        match recorded.operation.as_str() {
            _ if rows.iter().any(sleeps) => format!("{name} sleeps in {subject}"),
            "join" => format!("{name} waits for the end of {}", &subject["join ".len()..]),
            _ => format!("{name} waits in {subject}"),
        }
    }

    /// The access that failed stands in an operation; the other one is the last that
    /// another thread made to the same cell.
    fn race(&self, rows: &mut Vec<Row>, thread: Option<usize>) -> End {
        let failed = thread.and_then(|thread| self.standing(thread, rows));
        let object = failed.and_then(|step| self.recording.steps[step].object);
        let (Some(failed), Some(object)) = (failed, object) else {
            let text = "nothing orders two accesses to the same data: a data race".to_owned();
            return End {
                kind: EndKind::Race,
                text,
                threads: thread.into_iter().collect(),
            };
        };
        let steps = &self.recording.steps;
        let writes = |step: &Recorded| step.operation != "read";
        let clashes = |row: &Row| {
            let step = &steps[row.operation];
            step.object == Some(object)
                && step.thread != steps[failed].thread
                && (writes(step) || writes(&steps[failed]))
        };
        let named = self.named_in_message(steps[failed].thread);
        let is_named = |row: &Row| {
            let Recorded { thread, place, .. } = &steps[row.operation];
            let place = format!("{}:{}:{}", place.file, place.line, place.column);
            clashes(row) && named.contains(&(*thread, place))
        };
        let at = rows.iter().rposition(is_named);
        let at = at.or_else(|| rows.iter().rposition(clashes));
        let other = at.map(|at| {
            rows[at].step.note = Some("clashes with the last step".to_owned());
            rows[at].operation
        });
        let mut row = self.row(failed, Phase::Stands);
        row.step.note = other.map(|_| "nothing orders it after the other access".to_owned());
        rows.push(row);
        let access = |step: usize| {
            let Recorded {
                thread,
                operation,
                place,
                ..
            } = &steps[step];
            let does = match operation.as_str() {
                "drop" => "drops",
                "read" => "reads",
                _ => "writes",
            };
            format!("{} {does} it{}", self.thread(*thread), self.at(place))
        };
        let cell = &self.cells[object];
        let both = match other {
            Some(other) => format!("{}, and {}", access(other), access(failed)),
            None => access(failed),
        };
        let text = format!("{cell}: {both}, and nothing orders the two: a data race");
        let threads = other
            .into_iter()
            .chain([failed])
            .map(|step| steps[step].thread);
        End {
            kind: EndKind::Race,
            text,
            threads: threads.collect(),
        }
    }

    /// The accesses that loom names of other threads:
    /// `  write one: thread #0 @ exercises/x/src/lib.rs:17:9`.
    fn named_in_message(&self, failed: usize) -> Vec<(usize, String)> {
        let read = |line: &str| {
            let (_, access) = line.split_once("thread #")?;
            let (thread, place) = access.split_once(" @ ")?;
            Some((thread.parse().ok()?, place.trim().to_owned()))
        };
        let named = self.recording.message.lines().filter_map(read);
        named.filter(|(thread, _)| *thread != failed).collect()
    }

    /// Which step decides, if that is known.
    fn decisive(&self, steps: &[Step]) -> Option<String> {
        let mut order = self.recording.order.iter();
        let orders = order.find_map(|entry| match entry {
            Entry::Lost { lost } => Some(*lost),
            _ => None,
        })?;
        let note = no_return(orders);
        let step = steps
            .iter()
            .position(|it| it.note.as_ref() == Some(&note))?;
        Some(format!(
            "Step {} decides: {}.",
            step + 1,
            &note[DECIDES.len()..]
        ))
    }

    /// The point of it, in a sentence or two, and how to see more.
    pub fn description(&self, steps: &[Step], end: &End) -> String {
        let point = self.point(steps, end);
        match self.helper_that_locks() {
            Some(helper) => format!("{point} {helper}"),
            None => point,
        }
    }

    fn point(&self, steps: &[Step], end: &End) -> String {
        let is_old = self.recording.steps.iter().any(|it| it.newest.is_some());
        let place = steps.iter().position(|step| step.stale.is_some());
        let step = place.map_or("A load".to_owned(), |place| format!("Step {}", place + 1));
        let race = "Nothing orders two accesses to the same data: after the first, a Release is \
                    missing, or before the second, an Acquire, or the second comes too early.";
        match (end.kind, is_old) {
            (EndKind::Race, false) => race.to_owned(),
            (EndKind::Race, true) => format!("{race} {step} reads an old value."),
            (_, false) => {
                let alone =
                    "The order of the steps alone does it: each load reads the newest value.";
                match self.decisive(steps) {
                    Some(decisive) => format!("{alone} {decisive}"),
                    None => alone.to_owned(),
                }
            }
            (_, true) => {
                let others = match self.recording.newest_passed {
                    true => " No order was found to fail in which every load reads the newest one.",
                    false => "",
                };
                format!(
                    "{step} reads an old value: one of the threads lacks an ordering or a fence, \
                     or its load and its store should be one step.{others}"
                )
            }
        }
    }

    /// How to see what several steps lock for that all stand in one function of the reader's,
    /// which only locks.
    fn helper_that_locks(&self) -> Option<String> {
        let locks = self.recording.steps.iter();
        let places: Vec<_> = locks
            .filter(|it| it.operation == "lock")
            .map(|it| &it.place)
            .collect();
        let count = |place: &Place| {
            let same = |it: &&&Place| (&it.file, it.line) == (&place.file, place.line);
            places.iter().filter(same).count()
        };
        let place = places.iter().find(|place| {
            self.is_own(place) && self.returns_a_guard(place) && count(place) >= MANY_LOCKS
        })?;
        let name = self.sources.function(place)?;
        let file = without_detours(&place.file);
        let file = file.rsplit('/').next().unwrap_or(&file);
        Some(format!(
            "Put #[track_caller] before “fn {name}” ({file}:{}), and each of its steps shows the \
             line that calls it.",
            place.line
        ))
    }

    /// Whether the function that the place is in says so.
    fn returns_a_guard(&self, place: &Place) -> bool {
        let (before, _) = self.sources.around(place);
        let head = before.rfind("fn ").map_or("", |start| &before[start..]);
        head.contains("Guard")
    }
}

/// So many locks in one function hide what happens.
const MANY_LOCKS: usize = 3;

/// What is said about the step after which all `orders` that were tried fail.
pub fn no_return(orders: usize) -> String {
    format!("{DECIDES}all of the {orders} ways to go on from there that were tried fail")
}

/// How the note begins of the step that decides.
pub const DECIDES: &str = "it decides: ";

fn in_one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
