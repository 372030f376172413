//! Shows a check in the terminal: a line for each clause, and the first that
//! doesn't hold explained.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use super::catalogue::Exercise;
use super::milestones::{self, Milestone, Stands};
use super::order::document::Document;
use super::{onward, order, source};
use crate::events::{Event, Exit, FailureLine, Outcome, Reason};
use crate::terminal::{
    self, BOLD, CLEAR_LINE, DIM, GREEN, RED, StatusLine, bar, columns, harmless, is_live,
};
use crate::workshop::Workshop;

/// The report of one check.
pub struct Report<'a, W> {
    out: W,
    exercise: &'a Exercise,
    colors: bool,
    names: BTreeMap<u32, String>,
    milestones: Vec<Milestone>,
    /// The tests as their file has them: the simplest come first.
    order: Vec<String>,
    tests: BTreeMap<String, Test>,
    told: Vec<Line>,
    telling: Option<Telling>,
    /// The order in which the model fails that is told of.
    failing: Option<Document>,
    /// Whether only some tests were asked for, and each is told in full.
    in_full: bool,
    /// Where to look for what comes after a solved exercise, if it's to be told.
    onward: Option<&'a Workshop>,
    compiler_spoke: bool,
    disk_is_full: bool,
    network_is_missing: bool,
    status: StatusLine,
}

/// How cargo and the system say what is missing, in the midst of other words.
const NO_NETWORK: [&str; 3] = ["resolve host", "download", "offline mode"];
const FULL_DISK: [&str; 2] = ["No space left on device", "File too large"];

/// What to write where loom's `Arc` can't stand. The page that says so comes after the first
/// exercises that need it.
const ARC_HELP: &str = "help: if `self: &Arc<Self>` is rejected, write a function, `fn run(this: \
                        &Arc<Self>)`; but a type that implements `Wake` keeps its `self`, and \
                        needs `std::sync::Arc` everywhere";
const LIST_HELP: &str = "help: for what else `primitives` lacks, and what to write instead, see \
                         the table in scheduler/models.html#what-primitives-lacks";

/// Which failure to explain, and what to say of the others.
struct Telling {
    first: String,
    message: String,
    others: Vec<FailureLine>,
    models_may_show: bool,
}

struct Test {
    clause: Option<u32>,
    outcome: Outcome,
    message: String,
}

impl Test {
    /// Returns `true` if it failed, or never ended.
    fn counts_against(&self) -> bool {
        self.outcome == Outcome::Failed || !self.outcome.is_over()
    }

    fn is_unwritten(&self) -> bool {
        self.outcome == Outcome::Unwritten
    }

    fn is_unjudged(&self) -> bool {
        self.outcome == Outcome::Unjudged
    }
}

/// What stands in a line of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    Clause(u32),
    /// The tests that belong to no clause: the reader's own.
    Own,
    Models,
    /// Those that are too large for loom.
    ShuttlesModels,
}

impl Line {
    fn is_of_models(self) -> bool {
        matches!(self, Self::Models | Self::ShuttlesModels)
    }
}

impl<'a, W: io::Write> Report<'a, W> {
    /// Starts the report.
    pub fn new(out: W, exercise: &'a Exercise, colors: bool, live: bool) -> Self {
        let sources = sources(exercise);
        Self {
            out,
            exercise,
            colors,
            names: names(&sources),
            milestones: exercise.milestones(),
            order: order(&sources),
            tests: BTreeMap::new(),
            told: Vec::new(),
            telling: None,
            failing: None,
            in_full: false,
            onward: None,
            compiler_spoke: false,
            disk_is_full: false,
            network_is_missing: false,
            status: StatusLine::new(live),
        }
    }

    /// Tells each test in full, and nothing of the clauses.
    pub fn in_full(mut self) -> Self {
        self.in_full = true;
        self
    }

    /// Says what comes next if the exercise is solved.
    pub fn with_onward(mut self, workshop: &'a Workshop) -> Self {
        self.onward = Some(workshop);
        self
    }

    /// Prints the heading.
    pub fn begin(&mut self) -> io::Result<()> {
        let (number, title) = (self.exercise.number, self.exercise.title());
        let heading = self.paint(BOLD, &format!("Exercise {number}: {title}"));
        writeln!(self.out, "{heading}")
    }

    /// Shows an event.
    pub fn show(&mut self, event: Event) -> io::Result<()> {
        self.status.clear(&mut self.out)?;
        match event {
            Event::Diagnostic {
                level, rendered, ..
            } => {
                self.compiler_spoke |= level == "error";
                self.disk_is_full |= any_of(&FULL_DISK, &rendered);
                // Cargo's bar may stand there.
                let clear = if is_live(&io::stderr()) {
                    CLEAR_LINE
                } else {
                    ""
                };
                eprint!("{clear}{rendered}");
            }
            Event::Stdout { text } => write!(self.out, "{}", harmless(&text))?,
            Event::Stderr { text } => {
                self.disk_is_full |= any_of(&FULL_DISK, &text);
                self.network_is_missing |= any_of(&NO_NETWORK, &text);
                eprint!("{text}");
            }
            Event::Test {
                name,
                clause,
                outcome,
                message,
            } => {
                let message = message.unwrap_or_default();
                let test = Test {
                    clause,
                    outcome,
                    message,
                };
                self.tests.insert(name, test);
                if !self.in_full {
                    self.tell_what_is_decided()?;
                }
                self.tell_progress()?;
            }
            Event::Telling {
                first,
                message,
                others,
                models_may_show,
            } => {
                self.telling = Some(Telling {
                    first,
                    message,
                    others,
                    models_may_show,
                });
            }
            Event::Order { document, .. } => self.failing = Some(*document),
            Event::Exit(exit) => self.end(&exit)?,
            _ => {}
        }
        self.out.flush()
    }

    fn tell_progress(&mut self) -> io::Result<()> {
        let total = self.tests.len();
        let is_over = |test: &&Test| test.outcome.is_over();
        let done = self.tests.values().filter(is_over).count();
        if done < total {
            let text = format!("  {} tests", bar(done, total));
            self.status.show(&mut self.out, &text)?;
        }
        Ok(())
    }

    /// Prints the lines whose tests are all done, in order.
    fn tell_what_is_decided(&mut self) -> io::Result<()> {
        for line in self.lines() {
            let is_open = |(_, test): (_, &Test)| !test.outcome.is_over();
            if self.tests_in(line).any(is_open) {
                break;
            }
            self.tell(line)?;
        }
        Ok(())
    }

    fn lines(&self) -> Vec<Line> {
        let tests = self.tests.iter();
        let mut lines: Vec<_> = tests.map(|(name, test)| line_of(name, test)).collect();
        lines.sort_by_key(|line| self.place_of(*line));
        lines.dedup();
        lines
    }

    /// Lines stand below their milestones, and what belongs to none stands last.
    fn place_of(&self, line: Line) -> (u32, Line) {
        let milestone = self.milestone_of(line);
        (milestone.map_or(u32::MAX, |one| one.number), line)
    }

    fn milestone_of(&self, line: Line) -> Option<&Milestone> {
        let Line::Clause(clause) = line else {
            return None;
        };
        milestones::of_clause(&self.milestones, clause)
    }

    fn tests_in(&self, line: Line) -> impl Iterator<Item = (&String, &Test)> {
        let tests = self.tests.iter();
        tests.filter(move |(name, test)| line_of(name, test) == line)
    }

    fn count_in(&self, line: Line, is_counted: fn(&Test) -> bool) -> usize {
        let tests = self.tests_in(line);
        tests.filter(|(_, test)| is_counted(test)).count()
    }

    fn tell(&mut self, line: Line) -> io::Result<()> {
        if self.told.contains(&line) {
            return Ok(());
        }
        self.tell_milestone(line)?;
        self.told.push(line);
        let failed = self.count_in(line, Test::counts_against);
        let unwritten = self.count_in(line, Test::is_unwritten);
        let unjudged = self.count_in(line, Test::is_unjudged);
        let mark = match (failed, unwritten + unjudged) {
            (0, 0) => self.paint(GREEN, "✓"),
            (0, _) => self.paint(DIM, "·"),
            _ => self.paint(RED, "✗"),
        };
        let name = match line {
            Line::Clause(number) => {
                let name = self.names.get(&number).cloned().unwrap_or_default();
                format!("{number}. {name}")
            }
            Line::Own => "your own tests".to_owned(),
            Line::Models => "models".to_owned(),
            Line::ShuttlesModels => "larger models".to_owned(),
        };
        let count = match (failed, unwritten, self.tests_in(line).count()) {
            (0, 0, of) if unjudged > 0 => format!("  {unjudged} of {of} can't judge your code"),
            (0, 0, _) => String::new(),
            (0, unwritten, of) if unwritten == of => "  not written yet".to_owned(),
            (0, unwritten, of) => format!("  not written yet: {unwritten} of {of} tests"),
            (_, _, 1) => "  its test fails".to_owned(),
            (failed, _, of) => format!("  {failed} of {of} tests fail"),
        };
        writeln!(self.out, "  {mark} {name}{}", self.paint(DIM, &count))?;
        if line.is_of_models() {
            self.tell_explored(line)?;
        }
        Ok(())
    }

    /// Where a test fails there are no models, and some clauses have nothing else.
    fn tell_what_was_not_judged(&mut self) -> io::Result<()> {
        if self.tests.is_empty() {
            return Ok(());
        }
        let why = match self.lacks_only_models() {
            true => "  only the models judge it",
            false => "  the models judge it, once the tests pass",
        };
        let judged: BTreeSet<_> = self.tests.values().filter_map(|test| test.clause).collect();
        for (number, name) in self.names.iter().filter(|(it, _)| !judged.contains(it)) {
            let why = self.paint(DIM, why);
            writeln!(self.out, "  {} {number}. {name}{why}", self.paint(DIM, "·"))?;
        }
        Ok(())
    }

    /// Heads the lines of a milestone with its name.
    fn tell_milestone(&mut self, line: Line) -> io::Result<()> {
        let last = self.told.last().and_then(|last| self.milestone_of(*last));
        let Some(milestone) = self.milestone_of(line).filter(|one| Some(*one) != last) else {
            return Ok(());
        };
        let Milestone { number, name, .. } = milestone;
        let heading = self.paint(BOLD, &format!("Milestone {number}: {name}"));
        writeln!(self.out, "  {heading}")
    }

    /// Says of each model how much of it was explored, or, if one fails, only how
    /// many passed.
    fn tell_explored(&mut self, line: Line) -> io::Result<()> {
        if self.count_in(line, Test::counts_against) > 0 {
            let passed = self.count_in(line, |test| test.outcome == Outcome::Passed);
            let text = match passed {
                0 => return Ok(()),
                1 => "    1 model passed".to_owned(),
                _ => format!("    {passed} models passed"),
            };
            return writeln!(self.out, "{}", self.paint(DIM, &text));
        }
        let tests = self.tests_in(line);
        let passed = tests.filter(|(_, test)| test.outcome == Outcome::Passed);
        let lines: Vec<_> = passed
            .map(|(name, test)| {
                let clause = test
                    .clause
                    .map_or(String::new(), |number| format!("{number}. "));
                // A check may explore several models.
                let explored = test.message.trim().replace('\n', "; ");
                format!("    {clause}{}: {explored}", function(name))
            })
            .collect();
        for line in lines {
            writeln!(self.out, "{}", self.paint(DIM, &line))?;
        }
        Ok(())
    }

    fn end(&mut self, exit: &Exit) -> io::Result<()> {
        let number = self.exercise.number;
        if exit.reason == Reason::CompileError {
            let what = match self.compiler_spoke {
                true => "does not compile",
                false => "cannot be built",
            };
            let (what, remedy) = match (self.disk_is_full, self.network_is_missing) {
                (true, _) => ("cannot be built: the disk is full", "make room"),
                (_, true) => (what, "connect to the network"),
                _ => (what, "fix what is said above"),
            };
            // Of the models there is more to say.
            if let Some(message) = &exit.message {
                eprintln!("error: {message}");
                eprintln!("help: {remedy}, and check again");
                if message.contains("models") {
                    eprintln!("{ARC_HELP}");
                    eprintln!("{LIST_HELP}");
                }
                return Ok(());
            }
            eprintln!("error: exercise {number} {what}");
            eprintln!("help: {remedy}, and check again");
            return Ok(());
        }
        if self.in_full {
            return self.tell_each();
        }
        for line in self.lines() {
            self.tell(line)?;
        }
        self.tell_what_was_not_judged()?;
        self.explain_first_failure()?;
        if let Some(message) = &exit.message {
            let message = self.paint(RED, message);
            writeln!(self.out, "\n{message}")?;
        }
        self.conclude(exit)
    }

    fn tell_each(&mut self) -> io::Result<()> {
        for (name, test) in &self.tests {
            let (mark, message) = match test.outcome {
                Outcome::Passed => (self.paint(GREEN, "✓"), "it passes"),
                Outcome::Waiting | Outcome::Running => (
                    self.paint(RED, "✗"),
                    "it was not done when the check was ended",
                ),
                _ => (self.paint(RED, "✗"), test.message.trim_end()),
            };
            let name = self.paint(BOLD, short(name));
            writeln!(self.out, "\n{mark} {name}\n{}", harmless(message))?;
        }
        let order = self.failing_order();
        write!(self.out, "{order}")
    }

    /// The steps in which the model fails, as many as fit below its words.
    fn failing_order(&self) -> String {
        let Some(document) = &self.failing else {
            return String::new();
        };
        let number = self.exercise.number;
        let heading = self.paint(BOLD, &format!("How {} fails", short(&document.title)));
        let text = order::text(document, usize::from(columns()), Some(order::ROWS));
        let more = format!("`cargo workshop order {number} --every-step` shows every step.");
        format!(
            "\n{heading}\n{}  {}\n",
            harmless(&text),
            self.paint(DIM, &more)
        )
    }

    fn explain_first_failure(&mut self) -> io::Result<()> {
        let mut text = String::new();
        if let Some(Telling {
            first,
            message,
            others,
            ..
        }) = &self.telling
        {
            text += &format!(
                "\n{}\n{}\n",
                self.paint(BOLD, short(first)),
                harmless(message.trim_end())
            );
            text += &self.failing_order();
            text += &self.others(others);
        }
        // What was still running when the check was ended can explain nothing.
        let tests = self
            .tests
            .iter()
            .filter(|(_, test)| !test.outcome.is_over());
        let open: Vec<_> = tests.map(|(name, _)| short(name)).collect();
        if !open.is_empty() {
            text += &format!(
                "\nNot done when the check was ended:\n  {}\n",
                open.join("\n  ")
            );
        }
        if text.is_empty() {
            self.explain_unjudged()?;
            return self.explain_next();
        }
        write!(self.out, "{text}")
    }

    /// Nothing is wrong, but a model may not be able to say so: says why, once.
    fn explain_unjudged(&mut self) -> io::Result<()> {
        let unjudged = self.tests.iter().find(|(_, test)| test.is_unjudged());
        let Some((name, test)) = unjudged else {
            return Ok(());
        };
        let heading = self.paint(BOLD, &format!("Not judged: {}", short(name)));
        let message = harmless(test.message.trim_end());
        writeln!(self.out, "\n{heading}\n{message}")
    }

    /// Nothing is wrong, but something may not be written yet: says what to begin
    /// with.
    fn explain_next(&mut self) -> io::Result<()> {
        let tests = self.tests.iter();
        let unwritten = tests.filter(|(_, test)| test.is_unwritten());
        let next = unwritten.min_by_key(|(name, test)| {
            let place = self.order.iter().position(|known| known == function(name));
            (self.place_of(line_of(name, test)), place)
        });
        let Some((name, test)) = next else {
            return Ok(());
        };
        let heading = self.paint(BOLD, &format!("Next: {}", short(name)));
        let message = harmless(test.message.trim_end());
        writeln!(self.out, "\n{heading}\n{message}")
    }

    fn others(&self, others: &[FailureLine]) -> String {
        if others.is_empty() {
            return String::new();
        }
        let number = self.exercise.number;
        let mut text =
            format!("\nAlso failing (`cargo workshop check {number} NAME` tells one in full):\n");
        for other in others.iter().filter(|other| !other.is_repeated) {
            let line = self.paint(DIM, &harmless(&other.line));
            text += &format!("  {}\n      {line}\n", short(&other.name));
        }
        let repeated = others.iter().filter(|other| other.is_repeated);
        let repeated: Vec<_> = repeated.map(|other| short(&other.name)).collect();
        if !repeated.is_empty() {
            let line = self.paint(
                DIM,
                "these saw what another did, so perhaps the cause is the same:",
            );
            text += &format!("  {line}\n      {}\n", repeated.join("\n      "));
        }
        text
    }

    fn conclude(&mut self, exit: &Exit) -> io::Result<()> {
        let number = self.exercise.number;
        let tests = self.tests.values();
        let mut clauses = milestones::clauses(tests.map(|test| (test.clause, test.outcome)));
        for clause in self.names.keys() {
            clauses.entry(*clause).or_insert(Stands::Failed);
        }
        let count = |wanted| clauses.values().filter(|stands| **stands == wanted).count();
        let mut sum = format!("{} of {} clauses hold", count(Stands::Held), clauses.len());
        match count(Stands::Unwritten) {
            0 => {}
            1 => sum += ", 1 isn't written yet",
            unwritten => sum += &format!(", {unwritten} aren't written yet"),
        }
        let holds = |clause| clauses.get(&clause) == Some(&Stands::Held);
        let reached = milestones::reached(&self.milestones, holds);
        if let Some(Milestone { number, name, .. }) = self.milestones[..reached].last() {
            sum = format!("Milestone {number}, {name}, is reached: {sum}");
        }
        if exit.reason == Reason::Exited && exit.code == Some(0) {
            let done = self.paint(GREEN, &format!("Exercise {number} is solved: {sum}."));
            writeln!(self.out, "\n{done}")?;
            let lines = self
                .onward
                .map(|workshop| onward::lines(workshop, self.exercise));
            for line in lines.iter().flatten() {
                writeln!(self.out, "{line}")?;
            }
            return Ok(());
        }
        if self.lacks_only_models() {
            return writeln!(self.out, "\n{sum} in the tests; the models haven't run.");
        }
        if self.telling.as_ref().is_some_and(|it| it.models_may_show) {
            let command = format!("cargo workshop check {number} models::");
            writeln!(
                self.out,
                "\nThe models may show in which order it fails: `{command}`."
            )?;
        }
        let help = format!("Stuck? `cargo workshop hint {number}`.");
        writeln!(self.out, "\n{sum}. {help}")
    }

    /// Whether all tests pass and no model has run, although there are some.
    fn lacks_only_models(&self) -> bool {
        let passes = |(_, test): (_, &Test)| test.outcome == Outcome::Passed;
        let is_model = |name: &String| name.starts_with("models::");
        !self.exercise.models().is_empty()
            && self.tests.iter().all(passes)
            && !self.tests.keys().any(is_model)
    }

    fn paint(&self, color: &str, text: &str) -> String {
        terminal::paint(color, text, self.colors)
    }
}

fn any_of(signs: &[&str], words: &str) -> bool {
    signs.iter().any(|sign| words.contains(sign))
}

fn line_of(name: &str, test: &Test) -> Line {
    if name.starts_with("models::shuttle::") {
        return Line::ShuttlesModels;
    }
    if name.starts_with("models::") {
        return Line::Models;
    }
    test.clause.map_or(Line::Own, Line::Clause)
}

/// A test's name without its module: `cargo test` finds it by that too.
fn short(name: &str) -> &str {
    name.strip_prefix("tests::").unwrap_or(name)
}

/// The name of the test's function.
fn function(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn sources(exercise: &Exercise) -> Vec<String> {
    let stub = [exercise.stub()].into_iter();
    let files = stub.chain(exercise.tests()).chain(exercise.models());
    files
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect()
}

/// The clauses' names, as the lessons have them where they do: the reader may
/// have changed the contract's text.
fn names(sources: &[String]) -> BTreeMap<u32, String> {
    let mut names = BTreeMap::new();
    for source in sources {
        for clause in source::contract(source).clauses {
            names.insert(clause.number, clause.name);
        }
        let lessons = source::tests(source).into_iter();
        for lesson in lessons.filter_map(|test| test.lesson) {
            if let Some((number, name)) = lesson.split_once(". ")
                && let Ok(number) = number.parse()
            {
                names.insert(number, name.to_owned());
            }
        }
    }
    names
}

fn order(sources: &[String]) -> Vec<String> {
    let tests = sources.iter().flat_map(|source| source::tests(source));
    tests.map(|test| test.name).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Event, Exercise, Exit, FailureLine, Outcome, Reason, Report};

    fn test(name: &str, clause: u32, outcome: Outcome, message: &str) -> Event {
        Event::Test {
            name: name.into(),
            clause: Some(clause),
            outcome,
            message: Some(message.into()),
        }
    }

    fn exit(code: i32) -> Event {
        Event::Exit(Exit {
            reason: Reason::Exited,
            code: Some(code),
            compile_ms: None,
            run_ms: None,
            message: None,
        })
    }

    fn shown(events: Vec<Event>) -> String {
        shown_in(Path::new("/does/not/exist"), events)
    }

    fn shown_in(folder: &Path, events: Vec<Event>) -> String {
        shown_by(folder, events, false)
    }

    fn shown_by(folder: &Path, events: Vec<Event>, in_full: bool) -> String {
        let exercise = Exercise {
            number: 7,
            topic: "x".into(),
            folder: folder.into(),
        };
        let mut text = Vec::new();
        let mut report = Report::new(&mut text, &exercise, false, false);
        if in_full {
            report = report.in_full();
        }
        for event in events {
            report.show(event).unwrap();
        }
        drop(report);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn clauses_are_told_in_order_and_the_most_telling_failure_is_explained() {
        let text = shown(vec![
            test("tests::b", 2, Outcome::Running, ""),
            test("tests::a", 1, Outcome::Running, ""),
            test("tests::c", 2, Outcome::Running, ""),
            test("tests::c", 2, Outcome::Failed, "clause 2: seen c"),
            test("tests::b", 2, Outcome::Failed, "clause 2: seen b"),
            test("tests::a", 1, Outcome::Passed, ""),
            Event::Telling {
                first: "tests::b".into(),
                message: "clause 2: seen b".into(),
                others: vec![line("tests::c", "seen c", false)],
                models_may_show: true,
            },
            exit(101),
        ]);
        let expected = "  ✓ 1. \n  ✗ 2.   2 of 2 tests fail\n\nb\nclause 2: seen b\n\n\
                        Also failing (`cargo workshop check 7 NAME` tells one in full):\n  c\n      seen c\n\n\
                        The models may show in which order it fails: `cargo workshop check 7 models::`.\n\n\
                        1 of 2 clauses hold. Stuck? `cargo workshop hint 7`.\n";
        assert_eq!(text, expected);
    }

    fn line(name: &str, line: &str, is_repeated: bool) -> FailureLine {
        FailureLine {
            name: name.into(),
            line: line.into(),
            is_repeated,
        }
    }

    #[test]
    fn what_several_saw_is_told_once_and_a_terminal_obeys_none_of_it() {
        let text = shown(vec![
            test("tests::a", 1, Outcome::Failed, "a"),
            Event::Telling {
                first: "tests::a".into(),
                message: "a\u{1b}]0;x\u{7}".into(),
                others: vec![
                    line("tests::b", "it hangs\u{1b}[2J", false),
                    line("tests::c", "the same was seen", true),
                    line("tests::d", "the same was seen", true),
                ],
                models_may_show: false,
            },
            exit(101),
        ]);
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{7}'),
            "{text}"
        );
        let expected = "  b\n      it hangs\\u{1b}[2J\n  these saw what another did, so perhaps the cause is the \
                        same:\n      c\n      d\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn a_test_that_was_asked_for_is_told_in_full() {
        let events = vec![
            test("tests::a", 1, Outcome::Failed, "clause 1: seen a\n"),
            test("tests::b", 2, Outcome::Passed, ""),
            exit(101),
        ];
        let text = shown_by(Path::new("/does/not/exist"), events, true);
        assert_eq!(text, "\n✗ a\nclause 1: seen a\n\n✓ b\nit passes\n");
    }

    #[test]
    fn a_model_says_how_much_was_explored() {
        let text = shown(vec![
            test("tests::a", 1, Outcome::Passed, ""),
            test(
                "models::m",
                3,
                Outcome::Passed,
                "explored 12 executions\nexplored 1\n",
            ),
            exit(0),
        ]);
        let expected = "  ✓ 1. \n  ✓ models\n    3. m: explored 12 executions; explored 1\n\n\
                        Exercise 7 is solved: 2 of 2 clauses hold.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn models_that_passed_are_counted_if_one_fails() {
        let passed = |name| test(name, 3, Outcome::Passed, "explored 12 executions\n");
        let running = |name| test(name, 3, Outcome::Running, "");
        let text = shown(vec![
            running("models::m"),
            running("models::n"),
            running("models::o"),
            passed("models::m"),
            test("models::n", 3, Outcome::Failed, "clause 3: seen n"),
            passed("models::o"),
            exit(101),
        ]);
        let expected = "  ✗ models  1 of 3 tests fail\n    2 models passed\n";
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn what_is_not_written_yet_is_no_failure() {
        let text = shown(vec![
            test("tests::c", 2, Outcome::Running, ""),
            test("tests::a", 1, Outcome::Passed, ""),
            test("tests::b", 2, Outcome::Unwritten, "clause 2: seen b"),
            test("tests::c", 2, Outcome::Passed, ""),
            test("tests::d", 3, Outcome::Unwritten, "clause 3: seen d"),
            exit(101),
        ]);
        let expected = "  ✓ 1. \n  · 2.   not written yet: 1 of 2 tests\n  · 3.   not written yet\n\n\
                        Next: b\nclause 2: seen b\n\n\
                        1 of 3 clauses hold, 2 aren't written yet. Stuck? `cargo workshop hint 7`.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn clauses_stand_below_their_milestones() {
        let folder = tempfile::tempdir().unwrap();
        let milestones = "//! # Milestones\n//!\n//! 1. **A shell.** Clauses 1 and 3.\n\
                          //! 2. **Its end.** Clause 2.\n";
        std::fs::write(folder.path().join("stub.rs"), milestones).unwrap();
        let events = vec![
            test("tests::a", 1, Outcome::Running, ""),
            test("tests::c", 3, Outcome::Running, ""),
            test("tests::b", 2, Outcome::Unwritten, "clause 2: seen b"),
            test("tests::a", 1, Outcome::Passed, ""),
            test("tests::c", 3, Outcome::Passed, ""),
            exit(101),
        ];
        let text = shown_in(folder.path(), events);
        let expected = "  Milestone 1: A shell\n  ✓ 1. \n  ✓ 3. \n  Milestone 2: Its end\n  \
                        · 2.   not written yet\n\nNext: b\nclause 2: seen b\n\n\
                        Milestone 1, A shell, is reached: 2 of 3 clauses hold, 1 isn't written yet. \
                        Stuck? `cargo workshop hint 7`.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_clause_that_only_models_judge_has_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let contract = "/// # Contract\n///\n/// 1. **Prompt.** It returns.\n\
                        /// 2. **Published.** It is seen.\nfn f() {}\n";
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/lib.rs"), contract).unwrap();
        let failed = test("tests::a", 1, Outcome::Failed, "clause 1: seen a");
        let text = shown_in(folder.path(), vec![failed, exit(101)]);
        let line = "  · 2. Published  the models judge it, once the tests pass\n";
        assert!(text.contains(line), "{text}");
        let passed = test("tests::a", 1, Outcome::Passed, "");
        let model = test("models::m", 2, Outcome::Passed, "explored 12 executions\n");
        let text = shown_in(folder.path(), vec![passed, model, exit(0)]);
        assert!(!text.contains("once the tests pass"), "{text}");
    }

    #[test]
    fn tests_without_models_are_not_all_that_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let last_line = || {
            let stopped = Event::Exit(Exit {
                reason: Reason::Killed,
                code: None,
                compile_ms: None,
                run_ms: None,
                message: Some("it takes nothing from `primitives`".into()),
            });
            let passed = test("tests::a", 1, Outcome::Passed, "");
            let text = shown_in(folder.path(), vec![passed, stopped]);
            text.lines().last().unwrap().to_owned()
        };
        let stuck = "1 of 1 clauses hold. Stuck? `cargo workshop hint 7`.";
        assert_eq!(last_line(), stuck);
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/models.rs"), "").unwrap();
        let without = "1 of 1 clauses hold in the tests; the models haven't run.";
        assert_eq!(last_line(), without);
    }

    #[test]
    fn a_test_that_never_ended_counts_against_its_clause() {
        let text = shown(vec![test("tests::a", 1, Outcome::Running, ""), exit(101)]);
        assert!(text.contains("✗ 1.   its test fails"), "{text}");
        assert!(
            text.contains("Not done when the check was ended:\n  a"),
            "{text}"
        );
    }
}
