//! Which failure of several a reader is shown first, and with which advice.
//!
//! One mistake makes many checks fail, and the first by clause order is seldom
//! the one whose words name the mistake. What is known of mistakes are the wrong
//! versions in `counterexamples`: their headers say which check catches each,
//! and which others fail, too. The rule, measured on 127 wrong programs that are
//! none of them:
//!
//! 1. A panic in the code under test: its place is the cause's, or near it. But a count that
//!    overflows has been wrong for some time.
//! 2. A deadlock, as the threads' places show it.
//! 3. A pattern that no single check can tell: a waker that does nothing.
//! 4. Otherwise near, rare and early: the check that catches the known version
//!    whose failures are most like these, that few versions fail at all, and
//!    that comes early in the contract.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::catalogue::Exercise;
use super::header::Header;
use super::milestones::{Milestone, of_clause};
use super::source;
use super::verdict::{Verdict, Verdicts};
use crate::events::{Event, FailureLine, Outcome};

pub use super::verdict::{Cause, Kind};

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The test's path.
    pub name: String,
    /// Why.
    pub cause: Cause,
    /// The whole report of the kit.
    pub message: String,
}

impl Failure {
    /// `tests::ends::it_ends` is `tests::it_ends`: headers don't name files.
    fn claim(&self) -> String {
        without_files(&self.name)
    }
}

/// A header names a test, and not which of several files it is in:
/// `tests::ends::it_ends` is `tests::it_ends`.
pub fn without_files(test: &str) -> String {
    match (test.split_once("::"), test.rsplit_once("::")) {
        (Some((module, _)), Some((_, name))) => format!("{module}::{name}"),
        _ => test.to_owned(),
    }
}

/// What a known wrong version fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The module's name.
    pub name: String,
    /// The check that catches it.
    pub caught_by: String,
    /// All checks that it fails, that one among them.
    pub fails: BTreeSet<String>,
}

/// The known wrong versions of an exercise, by their headers. None where a
/// checkout has no such folder.
pub fn known(root: &Path, number: u32) -> Vec<Known> {
    let folder = root.join(format!("counterexamples/src/exercise_{number}"));
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let read = |file: fs::DirEntry| {
        let header = Header::of(&file.path()).ok()?;
        Some(Known {
            name: file.path().file_stem()?.to_str()?.to_owned(),
            caught_by: header.caught_by.test.clone(),
            fails: header.claims().map(|claim| claim.test.clone()).collect(),
        })
    };
    let mut known: Vec<_> = files.filter_map(read).collect();
    known.sort_by(|a, b| a.name.cmp(&b.name));
    known
}

/// The three checks of an exercise that tell a waker that does nothing from one
/// that comes too early or too late: a future that is ready at once, a wake-up
/// from within the poll, and one during the sleep. Exercise 4 has no check in which
/// every future is ready at once.
const WAKE_CHECKS: [(u32, [&str; 3]); 3] = [
    (
        1,
        [
            "tests::a_ready_future_needs_no_wake_up",
            "tests::a_wake_by_the_future_itself_is_not_lost",
            "tests::a_wake_from_another_thread_ends_the_sleep",
        ],
    ),
    (
        2,
        [
            "tests::a_new_parker_has_no_token",
            "tests::an_unpark_before_park_counts",
            "tests::an_unpark_ends_the_sleep",
        ],
    ),
    (
        3,
        [
            "tests::calls_of_block_on_leave_no_memory_behind",
            "tests::a_wake_during_poll_is_not_lost",
            "tests::block_on_sleeps_while_it_waits",
        ],
    ),
];

/// The checks of exercise 3 that call the waker themselves. What they see says more
/// of a waker that does nothing than that no wake-up arrives.
const CALLS_THE_WAKER: [&str; 2] = [
    "tests::wake_calls_wake_of_the_target_once",
    "tests::wake_by_ref_calls_wake_by_ref_of_the_target_once",
];

const SILENT_WAKER: &str = "No wake-up arrives at all: neither one before the sleep nor one during \
                            it, while what needs none passes. The waking side does nothing, or it \
                            wakes another thread or another object than the one that waits.";

/// The failures in the order in which to read them, and the advice for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The most telling one comes first.
    pub order: Vec<&'a Failure>,
    /// What usually causes the first; empty where what was seen says it.
    pub usually: String,
    /// Another possible cause, and the check that it belongs to.
    pub or: Option<(&'a Failure, String)>,
}

/// Orders the failures of an exercise's check. They come in the order of the
/// contract and of their files; `None` if there are none.
pub fn choose<'a>(failures: &'a [Failure], number: u32, known: &[Known]) -> Option<Choice<'a>> {
    let scores = scores(failures, known);
    let mut order: Vec<usize> = (0..failures.len()).collect();
    // A lock in memory that was freed looks like one that is never released.
    let is_corrupt = failures.iter().any(|one| one.cause.kind == Kind::Died);
    let rank = |cause: &Cause| match cause.kind {
        Kind::Deadlock if is_corrupt => rank_of(Kind::Hang),
        _ => rank(cause),
    };
    order.sort_by(|&a, &b| {
        let rank = |at: usize| rank(&failures[at].cause);
        let reasons = |at: usize| {
            let failure = &failures[at];
            let is_by_chance = fails_by_chance(number, &failure.name);
            (is_by_chance, !has_one_reason(failure, number))
        };
        let by_reasons = reasons(a).cmp(&reasons(b));
        let by_score = scores[b].total_cmp(&scores[a]);
        rank(a).cmp(&rank(b)).then(by_reasons).then(by_score)
    });
    let silent = silent_waker(failures, number).filter(|_| {
        let first = order.first().map(|&at| &failures[at]);
        !first.is_some_and(|first| says_the_cause(&first.cause) || has_one_reason(first, number))
    });
    if let Some(silent) = silent {
        order.retain(|&at| at != silent);
        order.insert(0, silent);
    }
    let order: Vec<_> = order.into_iter().map(|at| &failures[at]).collect();
    let first = *order.first()?;
    let usually = match silent {
        Some(_) => SILENT_WAKER.to_owned(),
        None => first.cause.usually.clone(),
    };
    let is_certain =
        says_the_cause(&first.cause) || silent.is_some() || has_one_reason(first, number);
    let others = order.iter().skip(1).filter(|_| !is_certain);
    let or = others
        .filter(|other| rank(&other.cause) == rank(&first.cause))
        // Beside a crash, what looks like a lock is memory that was freed.
        .filter(|other| other.cause.kind != Kind::Deadlock)
        .filter(|other| !fails_by_chance(number, &other.name))
        .map(|other| (*other, first_sentence(&other.cause.usually)))
        .find(|(_, advice)| !advice.is_empty() && !usually.contains(advice.as_str()));
    Some(Choice { order, usually, or })
}

/// Checks so small that there is one reason only for which they fail in this way.
const ONE_REASON: [(u32, &str, Kind); 2] = [
    (1, "tests::a_ready_future_needs_no_wake_up", Kind::Hang),
    (
        1,
        "tests::the_future_gets_a_waker_that_wakes",
        Kind::Assertion,
    ),
];

fn has_one_reason(failure: &Failure, number: u32) -> bool {
    ONE_REASON.contains(&(number, failure.claim().as_str(), failure.cause.kind))
}

/// Checks that any mistake may fail, and none must: threads race in them. Which
/// mistake it is, other checks say, or the models.
const BY_CHANCE: [(u32, &str); 1] = [(13, "tests::thousands_of_jobs_find_a_worker")];

/// Whether the test is one that any mistake may fail, so that the models are
/// worth running although it fails.
pub fn fails_by_chance(number: u32, test: &str) -> bool {
    BY_CHANCE.contains(&(number, without_files(test).as_str()))
}

/// How rustc's check of an addition or a subtraction ends its message.
const OVERFLOW: &str = "with overflow";

/// Whether the words of what was seen say it all: no advice is needed.
fn says_the_cause(cause: &Cause) -> bool {
    let kinds = [Kind::Panic, Kind::Deadlock, Kind::Unseen];
    kinds.contains(&cause.kind) && !is_overflow(cause)
}

/// A panic that only says that some count was wrong by then.
fn is_overflow(cause: &Cause) -> bool {
    cause.kind == Kind::Panic && cause.seen.trim_end().ends_with(OVERFLOW)
}

fn rank(cause: &Cause) -> u8 {
    match is_overflow(cause) {
        true => rank_of(Kind::Assertion),
        false => rank_of(cause.kind),
    }
}

/// What comes first with any score: the kinds whose words name the cause;
/// last what says nothing of the code.
fn rank_of(kind: Kind) -> u8 {
    match kind {
        Kind::Panic | Kind::Unseen => 0,
        Kind::Deadlock => 1,
        Kind::Unwritten => 3,
        Kind::Busy | Kind::Unrepeated => 4,
        _ => 2,
    }
}

/// What the logarithm of the number of equally near versions counts.
const VOTES: f64 = 0.5;

/// How telling each failure is: by the nearest known version that it catches, by
/// how many versions fail it, and by its place.
fn scores(failures: &[Failure], known: &[Known]) -> Vec<f64> {
    let failing: BTreeSet<String> = failures.iter().map(Failure::claim).collect();
    let count = failures.len() as f64;
    let score = |(at, failure): (usize, &Failure)| {
        let claim = failure.claim();
        let catches = known.iter().filter(|version| version.caught_by == claim);
        let likenesses: Vec<_> = catches
            .map(|version| likeness(&failing, &version.fails))
            .collect();
        let nearest = likenesses.iter().copied().fold(0.0, f64::max);
        // Several versions that are as near count for more than one.
        let as_near = likenesses.iter().filter(|likeness| **likeness >= nearest);
        let votes = (as_near.count().max(1) as f64).ln() * VOTES;
        let fails = |version: &&Known| version.fails.contains(&claim);
        let rarity = (known.iter().filter(fails).count() as f64 + 0.5).ln();
        2.0 * nearest + votes - rarity - at as f64 / count
    };
    failures.iter().enumerate().map(score).collect()
}

/// Jaccard's index, of the tests alone or of the models alone: a version's
/// models run only once its tests pass.
fn likeness(failing: &BTreeSet<String>, known: &BTreeSet<String>) -> f64 {
    let modules: BTreeSet<_> = failing.iter().map(|name| module(name)).collect();
    let known: BTreeSet<_> = known
        .iter()
        .filter(|name| modules.contains(module(name)))
        .collect();
    let common = known.iter().filter(|name| failing.contains(**name)).count();
    let all = failing.len() + known.len() - common;
    common as f64 / all.max(1) as f64
}

fn module(name: &str) -> &str {
    name.split("::").next().unwrap_or(name)
}

/// The check that is shown where no wake-up arrives at all.
fn silent_waker(failures: &[Failure], number: u32) -> Option<usize> {
    let (_, [ready, early, late]) = WAKE_CHECKS.iter().find(|(of, _)| *of == number)?;
    let find = |name: &str| failures.iter().position(|failure| failure.claim() == name);
    if number == 3 && CALLS_THE_WAKER.iter().any(|name| find(name).is_some()) {
        return None;
    }
    let hangs = |at: &usize| matches!(failures[*at].cause.kind, Kind::Hang);
    find(late).filter(hangs)?;
    find(early).filter(hangs).filter(|_| find(ready).is_none())
}

/// Columns for the text beside the labels, as in the kit's reports.
const TEXT_WIDTH: usize = 66;

/// Chooses among the tests that have failed, and says it as an event. `None` if
/// none has.
pub fn of_check(root: &Path, exercise: &Exercise, verdicts: &Verdicts) -> Option<Event> {
    let failures = failures(&names(exercise), verdicts);
    let (now, later) = by_milestone(failures, &exercise.milestones(), verdicts);
    let known = known(root, exercise.number);
    let mut choice = choose(&now, exercise.number, &known)?;
    if choice.or.is_none() && choice.order[0].cause.kind == Kind::Hang {
        // What hangs may miss something that only a later milestone asks for.
        choice.or = choose(&later, exercise.number, &known)
            .filter(|choice| rank(&choice.order[0].cause) == rank_of(Kind::Hang))
            .map(|choice| (choice.order[0], first_sentence(&choice.usually)))
            .filter(|(_, advice)| !advice.is_empty());
    }
    choice.order.extend(&later);
    Some(Event::Telling {
        first: choice.order[0].name.clone(),
        message: choice.message(),
        others: choice.others(),
        models_may_show: !verdicts.keys().any(|name| name.starts_with("models::"))
            && models_may_show(exercise, verdicts),
    })
}

/// Whether tests have failed, and a model may show each failure step by step: it hangs, or
/// a model judges the same clause.
pub fn models_may_show(exercise: &Exercise, verdicts: &Verdicts) -> bool {
    let files = exercise.models().into_iter();
    let sources = files.filter_map(|file| fs::read_to_string(file).ok());
    let clauses = sources.flat_map(|source| {
        let models = source::tests(&source).into_iter();
        models.filter_map(|model| model.clause())
    });
    may_be_shown(&clauses.collect(), verdicts)
}

/// The same for models that judge these clauses.
fn may_be_shown(clauses: &BTreeSet<u32>, verdicts: &Verdicts) -> bool {
    !clauses.is_empty()
        && fails_only(verdicts, |_, test| {
            let is_judged = test
                .number()
                .is_some_and(|number| clauses.contains(&number));
            test.outcome == Outcome::Failed && (test.cause.kind == Kind::Hang || is_judged)
        })
}

/// Whether tests have failed, and only such as `is_such` says.
pub fn fails_only(verdicts: &Verdicts, is_such: impl Fn(&str, &Verdict) -> bool) -> bool {
    let has_passed = |outcome| matches!(outcome, Outcome::Passed | Outcome::Ignored);
    let failed = verdicts.iter();
    let mut failed = failed
        .filter(|(_, test)| !has_passed(test.outcome))
        .peekable();
    failed.peek().is_some() && failed.all(|(name, test)| is_such(name, test))
}

/// The failures of the earliest milestone that has some, and those of later ones:
/// these may wait.
fn by_milestone(
    failures: Vec<Failure>,
    milestones: &[Milestone],
    verdicts: &Verdicts,
) -> (Vec<Failure>, Vec<Failure>) {
    let number = |failure: &Failure| {
        let clause = verdicts.get(&failure.name)?.number()?;
        Some(of_clause(milestones, clause)?.number)
    };
    let earliest = failures.iter().filter_map(number).min();
    let may_wait = |failure: &Failure| earliest.is_some() && number(failure) > earliest;
    failures.into_iter().partition(|one| !may_wait(one))
}

/// The names of an exercise's tests and models, as their files have them: the
/// simplest come first.
pub fn names(exercise: &Exercise) -> Vec<String> {
    let files = exercise.tests().into_iter().chain(exercise.models());
    let sources = files.filter_map(|file| fs::read_to_string(file).ok());
    let names = sources.flat_map(|source| source::tests(&source));
    names.map(|test| test.name).collect()
}

/// The tests that have failed, by clause, and within one in the order of `names`.
pub fn failures(names: &[String], verdicts: &Verdicts) -> Vec<Failure> {
    let failed = verdicts
        .iter()
        .filter(|(_, verdict)| verdict.outcome == Outcome::Failed);
    let mut failed: Vec<_> = failed.collect();
    failed.sort_by_key(|(name, verdict)| {
        let place = names.iter().position(|known| known == function(name));
        (verdict.number().is_none(), verdict.number(), place)
    });
    let failed = failed.into_iter().map(|(name, verdict)| Failure {
        name: name.clone(),
        cause: verdict.cause.clone(),
        message: verdict.message.clone(),
    });
    failed.collect()
}

impl Choice<'_> {
    /// The report of the first, with the advice that was chosen.
    pub fn message(&self) -> String {
        let first = self.order[0];
        let mut rows = Vec::new();
        if !self.usually.is_empty() {
            rows.push(("usually", self.usually.clone()));
        }
        if let Some((other, advice)) = &self.or {
            // Where what was seen has no advice of its own, this is the first.
            let label = if rows.is_empty() { "usually" } else { "or" };
            rows.push((label, format!("{advice} ({})", function(&other.name))));
        }
        with_rows(&first.message, &rows)
    }

    /// One line for each of the others: its name, and what was seen.
    pub fn others(&self) -> Vec<FailureLine> {
        let shapes: Vec<_> = self.order.iter().map(|one| shape(&one.cause)).collect();
        let line = |at: usize| {
            let other = self.order[at];
            let count = shapes.iter().filter(|shape| **shape == shapes[at]).count();
            // The first of several that saw the same says so, and the others only that.
            let is_repeated = count >= REPEATED && shapes[..at].contains(&shapes[at]);
            FailureLine {
                name: other.name.clone(),
                line: match is_repeated {
                    true => "the same was seen".to_owned(),
                    false => short(&other.cause, &other.message),
                },
                is_repeated,
            }
        };
        (1..self.order.len()).map(line).collect()
    }
}

/// How many checks that saw the same are told once.
const REPEATED: usize = 3;

/// What was seen, without its numbers and places.
fn shape(cause: &Cause) -> String {
    match cause.kind {
        Kind::Hang => "hang".to_owned(),
        _ => cause.seen.chars().filter(|c| !c.is_ascii_digit()).collect(),
    }
}

/// The most characters of a line about a failure.
const LINE_WIDTH: usize = 96;

fn short(cause: &Cause, message: &str) -> String {
    let seen = match cause.seen.is_empty() {
        true => message
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default(),
        false => match cause.kind {
            Kind::Hang => cause
                .seen
                .rsplit_once(": ")
                .map_or("it hangs", |(_, place)| place),
            _ => &cause.seen,
        },
    };
    let line = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = match cause.kind {
        Kind::Hang if line != "it hangs" => format!("it hangs: {line}"),
        _ => line,
    };
    if line.chars().count() <= LINE_WIDTH {
        return line;
    }
    let cut: String = line.chars().take(LINE_WIDTH - 2).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(cut, _)| cut);
    format!("{cut} …")
}

/// The first sentence, and those after it that say what else it may be.
fn first_sentence(text: &str) -> String {
    let mut sentences = text.split_inclusive(". ");
    let first = sentences.next().unwrap_or_default();
    let others = sentences.take_while(|sentence| sentence.starts_with("Or "));
    let all: String = [first].into_iter().chain(others).collect();
    all.trim_end().to_owned()
}

/// The kit's report with these rows in the place of its advice: after what was
/// seen.
fn with_rows(message: &str, rows: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut label = "";
    let mut is_placed = false;
    for line in message.lines() {
        let row = line.strip_prefix("  ").filter(|row| !row.starts_with(' '));
        if let Some(row) = row {
            let next = row.split(' ').next().unwrap_or_default();
            if ["seen", "unseen"].contains(&label) && next != "unseen" && !is_placed {
                is_placed = true;
                text.extend(rows.iter().map(|(label, words)| row_of(label, words)));
            }
            label = next;
        }
        if label != "usually" {
            text += line;
            text.push('\n');
        }
    }
    text
}

fn row_of(label: &str, text: &str) -> String {
    let mut row = String::new();
    let mut line = format!("  {label:<9} ");
    let indent = line.chars().count();
    for word in text.split_whitespace() {
        let is_full = line.chars().count() + 1 + word.chars().count() > indent + 1 + TEXT_WIDTH;
        if is_full && line.chars().count() > indent {
            row += &format!("{line}\n");
            line = " ".repeat(indent);
        }
        line += &format!(" {word}");
    }
    row + &line + "\n"
}

/// The name of the test's function.
fn function(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(name: &str, kind: Kind, seen: &str, usually: &str) -> Failure {
        Failure {
            name: format!("tests::{name}"),
            cause: Cause {
                kind,
                seen: seen.into(),
                usually: usually.into(),
                execution: None,
            },
            message: format!(
                "clause 1. One\n\n  promised   it holds\n  seen       {seen}\n  usually    old\n             \
                 advice\n  read       a.html\n"
            ),
        }
    }

    fn version(caught_by: &str, also: &[&str]) -> Known {
        let path = |name: &str| format!("tests::{name}");
        Known {
            name: format!("caught_by_{caught_by}"),
            caught_by: path(caught_by),
            fails: also
                .iter()
                .map(|name| path(name))
                .chain([path(caught_by)])
                .collect(),
        }
    }

    fn hang(name: &str) -> Failure {
        failure(
            name,
            Kind::Hang,
            "it hangs: every thread sleeps: thread `check` waits",
            "It is lost.",
        )
    }

    fn first<'a>(failures: &'a [Failure], known: &[Known]) -> &'a str {
        let choice = choose(failures, 7, known).unwrap();
        choice.order[0].name.strip_prefix("tests::").unwrap()
    }

    #[test]
    fn a_second_suggestion_keeps_its_alternatives() {
        let advice = "The lock is held. Or it is taken too late. Release it first.";
        assert_eq!(
            super::first_sentence(advice),
            "The lock is held. Or it is taken too late."
        );
        assert_eq!(super::first_sentence("One only."), "One only.");
    }

    #[test]
    fn a_count_that_overflows_says_less_than_the_check_that_catches_the_fault() {
        let kept = failure("a_flag_is_cleared", Kind::Assertion, "it's set", "Kept.");
        let panic = |seen| failure("a_round", Kind::Panic, seen, "");
        let known = [version("a_flag_is_cleared", &["a_round"])];
        let overflow = panic("a panic at lib.rs:7: attempt to subtract with overflow");
        let failures = [overflow, kept.clone()];
        assert_eq!(first(&failures, &known), "a_flag_is_cleared");
        let failures = [panic("a panic at lib.rs:7: it was promised"), kept];
        assert_eq!(first(&failures, &known), "a_round");
    }

    #[test]
    fn what_any_mistake_fails_by_chance_comes_after_a_model() {
        let race = hang("threads::thousands_of_jobs_find_a_worker");
        assert!(fails_by_chance(13, &race.name));
        assert!(!fails_by_chance(7, &race.name));
        let mut model = hang("a");
        model.name = "models::one_of_two_that_fall_asleep".into();
        let failures = [race, model];
        let choice = choose(&failures, 13, &[]).unwrap();
        assert_eq!(choice.order[0].name, failures[1].name);
    }

    #[test]
    fn a_panic_comes_first_and_then_a_deadlock() {
        let failures = [
            hang("a"),
            failure("b", Kind::Deadlock, "a deadlock: x", ""),
            failure("c", Kind::Panic, "a panic at lib.rs:7", ""),
        ];
        assert_eq!(first(&failures, &[version("a", &["b", "c"])]), "c");
        assert_eq!(first(&failures[..2], &[version("a", &["b", "c"])]), "b");
        let died = failure("d", Kind::Died, "the test process died of SIGSEGV", "");
        let corrupt = [died, failures[1].clone()];
        assert_eq!(first(&corrupt, &[]), "d", "the lock may be in freed memory");
    }

    #[test]
    fn what_fails_for_one_reason_only_comes_first_without_another() {
        let failures = [hang("b"), hang("a_ready_future_needs_no_wake_up")];
        let choice = choose(&failures, 1, &[version("b", &[])]).unwrap();
        assert_eq!(choice.order[0], &failures[1]);
        assert_eq!(choice.or, None);
        assert_eq!(
            first(&failures, &[version("b", &[])]),
            "b",
            "another exercise"
        );
    }

    #[test]
    fn failures_of_later_milestones_may_wait() {
        let milestone = |number, clauses: &[u32]| Milestone {
            number,
            name: String::new(),
            clauses: clauses.into(),
            line: 1,
        };
        let milestones = [milestone(1, &[1, 4]), milestone(2, &[2, 3])];
        let verdict = |clause: u32| Verdict {
            clause: Some(format!("{clause}. Name")),
            outcome: Outcome::Failed,
            message: String::new(),
            cause: Cause::default(),
        };
        let clauses = [("b", 2), ("c", 3), ("d", 4)];
        let verdicts = clauses.map(|(name, clause)| (format!("tests::{name}"), verdict(clause)));
        let verdicts = Verdicts::from(verdicts);
        let failed = |names: &[&str]| names.iter().map(|name| hang(name)).collect::<Vec<_>>();
        let split = |names| by_milestone(failed(names), &milestones, &verdicts);
        let all = ["b", "c", "d"];
        assert_eq!(split(&all), (failed(&["d"]), failed(&["b", "c"])));
        assert_eq!(split(&all[..2]), (failed(&["b", "c"]), Vec::new()));
        let without = by_milestone(failed(&all), &[], &verdicts);
        assert_eq!(without, (failed(&all), Vec::new()));
    }

    #[test]
    fn what_catches_the_nearest_known_version_comes_before_what_others_fail() {
        let failures = [hang("a"), hang("b"), hang("c")];
        let known = [
            version("c", &["a", "b"]),
            version("a", &["d", "e"]),
            version("b", &["a", "d"]),
        ];
        assert_eq!(first(&failures, &known), "c");
    }

    #[test]
    fn what_few_versions_fail_comes_first_and_then_the_contracts_order() {
        let failures = [hang("a"), hang("b"), hang("c")];
        let known = [version("d", &["a"]), version("e", &["a"])];
        assert_eq!(first(&failures, &known), "b");
        assert_eq!(first(&failures, &[]), "a");
    }

    #[test]
    fn what_is_unwritten_or_was_not_to_be_told_comes_last() {
        let failures = [
            failure("a", Kind::Busy, "the machine is too busy to tell", ""),
            failure("b", Kind::Unwritten, "not written", ""),
            hang("c"),
        ];
        let choice = choose(&failures, 7, &[]).unwrap();
        let names: Vec<_> = choice.order.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["tests::c", "tests::b", "tests::a"]);
        assert_eq!(choose(&[], 7, &[]), None);
    }

    #[test]
    fn the_advice_stands_after_what_was_seen_with_the_runner_ups() {
        let failures = [
            failure("a", Kind::Assertion, "1 poll", "The first cause. And more."),
            failure("b", Kind::Assertion, "2 polls", "Another cause. And more."),
        ];
        let message = choose(&failures, 7, &[]).unwrap().message();
        let expected = "clause 1. One\n\n  promised   it holds\n  seen       1 poll\n  usually    The first \
                        cause. And more.\n  or         Another cause. (b)\n  read       a.html\n";
        assert_eq!(message, expected);
    }

    #[test]
    fn what_a_model_cannot_see_is_told_before_the_advice() {
        let mut relaxed = failure("a", Kind::Assertion, "it is gone", "It's `Relaxed`.");
        relaxed.message = relaxed
            .message
            .replace("  usually", "  unseen     std's\n  usually");
        let message = choose(&[relaxed], 7, &[]).unwrap().message();
        let rows =
            "  seen       it is gone\n  unseen     std's\n  usually    It's `Relaxed`.\n  read";
        assert!(message.contains(rows), "{message}");
    }

    #[test]
    fn another_checks_advice_is_no_alternative_where_there_is_no_first() {
        let failures = [
            failure("a", Kind::Hang, "it hangs: x", ""),
            failure("b", Kind::Hang, "it hangs: y", "It sleeps by the clock."),
        ];
        let message = choose(&failures, 7, &[]).unwrap().message();
        let rows = "  seen       it hangs: x\n  usually    It sleeps by the clock. (b)\n  read";
        assert!(message.contains(rows), "{message}");
        assert!(!message.contains("  or  "), "{message}");
    }

    #[test]
    fn a_panic_has_no_other_cause() {
        let failures = [
            failure("a", Kind::Panic, "a panic at lib.rs:7", ""),
            failure("b", Kind::Panic, "a panic at lib.rs:9", "x."),
        ];
        let message = choose(&failures, 7, &[]).unwrap().message();
        assert!(
            !message.contains("usually") && !message.contains("  or"),
            "{message}"
        );
    }

    #[test]
    fn a_waker_that_does_nothing_is_told_as_such() {
        let [ready, early, late] = WAKE_CHECKS[0]
            .1
            .map(|name| name.strip_prefix("tests::").unwrap());
        let failures = [hang(early), hang("another"), hang(late)];
        let choice = choose(&failures, 1, &[version("another", &[])]).unwrap();
        assert_eq!(choice.order[0].claim(), format!("tests::{early}"));
        assert_eq!(choice.usually, SILENT_WAKER);
        let all = [hang(ready), hang(early), hang(late)];
        let choice = choose(&all, 1, &[]).unwrap();
        assert_ne!(
            choice.usually, SILENT_WAKER,
            "also what needs no wake-up hangs"
        );
        let noop = failure(
            "the_future_gets_a_waker_that_wakes",
            Kind::Assertion,
            "polled with `Waker::noop()`",
            "The context is made from it.",
        );
        let known = [hang(early), hang(late), noop];
        let choice = choose(&known, 1, &[]).unwrap();
        assert_eq!(choice.usually, "The context is made from it.");
        assert_eq!(choice.or, None);
    }

    #[test]
    fn a_check_that_calls_the_waker_says_more_than_that_no_wake_up_arrives() {
        let (number, names) = WAKE_CHECKS[2];
        let [_, early, late] = names.map(function);
        let asserted = failure(
            function(CALLS_THE_WAKER[0]),
            Kind::Assertion,
            "`wake` was called 0 times",
            "The vtable's function is empty.",
        );
        let failures = [asserted, hang(early), hang(late)];
        let silent = choose(&failures[1..], number, &[]).unwrap();
        assert_eq!(silent.usually, SILENT_WAKER);
        let seen = choose(&failures, number, &[]).unwrap();
        assert_eq!(seen.usually, "The vtable's function is empty.");
    }

    #[test]
    fn the_checks_about_wakers_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (number, names) in WAKE_CHECKS {
            let folders = fs::read_dir(root.join("exercises")).unwrap().flatten();
            let prefix = format!("{number:02}-");
            let folder = folders.map(|entry| entry.path()).find(|path| {
                path.file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
            });
            let tests = crate::workshop::files_under(&folder.unwrap().join("src"));
            let text: String = tests
                .iter()
                .filter_map(|file| fs::read_to_string(file).ok())
                .collect();
            let alone = ONE_REASON.iter().filter(|(of, ..)| *of == number);
            let calls = CALLS_THE_WAKER.iter().filter(|_| number == 3).copied();
            let names = names.into_iter().chain(calls);
            for name in names.chain(alone.map(|(_, name, _)| *name)) {
                assert!(
                    text.contains(&format!("fn {}()", function(name))),
                    "{number}: {name}"
                );
            }
        }
    }

    #[test]
    fn the_others_have_a_line_each_and_what_several_saw_is_told_once() {
        let failures = [
            failure("a", Kind::Assertion, "1 poll", ""),
            hang("b"),
            hang("c"),
            hang("d"),
            failure("e", Kind::Assertion, &"word ".repeat(40), ""),
        ];
        let lines = choose(&failures, 7, &[]).unwrap().others();
        assert_eq!(lines[0].line, "it hangs: thread `check` waits");
        assert!(!lines[0].is_repeated && lines[1].is_repeated && lines[2].is_repeated);
        assert!(lines[3].line.ends_with("word …"), "{}", lines[3].line);
        assert!(lines[3].line.chars().count() <= LINE_WIDTH);
    }

    #[test]
    fn a_model_may_show_what_hangs_and_what_belongs_to_a_clause_of_its_own() {
        let verdict = |clause: &str, outcome, kind| Verdict {
            clause: Some(clause.into()),
            outcome,
            message: String::new(),
            cause: Cause {
                kind,
                ..Cause::default()
            },
        };
        let may = |verdicts: &Verdicts| may_be_shown(&BTreeSet::from([3]), verdicts);
        let mut verdicts = Verdicts::new();
        let mut insert = |name: &str, verdict| {
            verdicts.insert(format!("tests::{name}"), verdict);
            may(&verdicts)
        };
        assert!(
            !insert("a", verdict("1. A", Outcome::Passed, Kind::default())),
            "nothing fails"
        );
        assert!(insert("b", verdict("2. B", Outcome::Failed, Kind::Hang)));
        assert!(insert("c", verdict("3. C", Outcome::Failed, Kind::Panic)));
        assert!(
            !insert("d", verdict("3. C", Outcome::Unwritten, Kind::Unwritten)),
            "the models would reach the `todo!`, too"
        );
        insert("d", verdict("3. C", Outcome::Passed, Kind::default()));
        assert!(!insert("e", verdict("2. B", Outcome::Failed, Kind::Panic)));
    }

    #[test]
    fn where_nothing_is_known_the_list_of_versions_is_empty() {
        assert_eq!(known(Path::new("/does/not/exist"), 1), []);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let of_first = known(&root, 1);
        assert!(of_first.len() >= 10);
        assert!(
            of_first
                .iter()
                .all(|version| version.fails.contains(&version.caught_by))
        );
    }
}
