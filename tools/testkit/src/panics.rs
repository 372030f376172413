//! The panics of the child process, recorded for its verdict instead of printed.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::source::{is_in_subject_folder, is_of_check, without_detours};
use crate::stacks;
use crate::verdict::{ENDED_EARLY, PANIC, UNWRITTEN};

mod models;

/// One panic, on any thread, caught or not.
#[derive(Clone, Debug)]
pub(crate) struct Panic {
    thread: String,
    message: String,
    /// `file:line`, or empty if it isn't known.
    place: String,
    /// Where the code under test called std, if std panicked.
    caller: Option<String>,
}

impl Panic {
    fn is_of_todo(&self) -> bool {
        self.message.starts_with(TODO)
    }
}

/// The payload of a panic.
type Thrown = Box<dyn Any + Send>;

static RECORDED: Mutex<Vec<Panic>> = Mutex::new(Vec::new());

/// How the message of the panic begins that std raises just before it aborts, where a panic can't
/// unwind: in a destructor that runs because of a panic, for instance.
const BEFORE_ABORT: &str = "panic in a ";

/// The payload.
const TODO: &str = "not yet implemented";

/// Runs `body` and returns what it panicked with, if it panicked.
pub fn panic_message(body: impl FnOnce()) -> Option<String> {
    catch_unwind(AssertUnwindSafe(body)).err().map(message_of)
}

/// What was thrown.
fn message_of(panic: Thrown) -> String {
    let text = text_of(&*panic).map(str::to_owned);
    // It may panic when it is dropped, and the payload of that panic may, too.
    catch_unwind(AssertUnwindSafe(|| drop(panic))).unwrap_or_else(std::mem::forget);
    text.unwrap_or_else(|| "a value that isn't text".to_owned())
}

/// A value whose life is checked, and whose end may not be written yet: if its drop panics with
/// `todo!`, that makes no difference. Any other panic goes on.
pub struct EndMayBeUnwritten<T>(Option<T>);

impl<T> EndMayBeUnwritten<T> {
    /// Makes one from a value at the beginning of its life.
    pub fn new(subject: T) -> Self {
        Self(Some(subject))
    }

    /// For a check that is about the end.
    pub fn into_inner(mut self) -> T {
        self.0.take().expect("it is taken once")
    }
}

impl<T> Deref for EndMayBeUnwritten<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("it is taken at the end")
    }
}

impl<T> DerefMut for EndMayBeUnwritten<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("it is taken at the end")
    }
}

impl<T> Drop for EndMayBeUnwritten<T> {
    fn drop(&mut self) {
        let subject = self.0.take();
        allow_unwritten(|| drop(subject));
    }
}

/// Runs `body`. If it panics with `todo!`, that makes no difference.
pub(crate) fn allow_unwritten(body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        forgive(panic);
    }
}

/// Resumes a panic, unless it comes from a `todo!`, which is also removed from the record.
fn forgive(panic: Thrown) {
    if !text_of(&*panic).is_some_and(|text| text.starts_with(TODO)) {
        resume_unwind(panic);
    }
    let this = name_of_thread();
    let mut recorded = recorded();
    let is_it = |panic: &Panic| panic.is_of_todo() && panic.thread == this;
    if let Some(at) = recorded.iter().rposition(is_it) {
        recorded.remove(at);
    }
}

fn text_of(panic: &(dyn Any + Send)) -> Option<&str> {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
}

fn name_of_thread() -> String {
    let this = thread::current();
    this.name().unwrap_or("a thread without a name").to_owned()
}

/// Whether to look for the code that called std when std panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callers {
    Located,
    Ignored,
}

/// Records every panic of this process from now on, instead of printing it. `before_abort` is
/// called when std is about to abort because of a panic.
pub(crate) fn record_all(callers: Callers, before_abort: impl Fn() + Send + Sync + 'static) {
    std::panic::set_hook(Box::new(move |info| {
        let panic = Panic::of(info, callers);
        let aborts = panic.message.starts_with(BEFORE_ABORT);
        recorded().push(panic);
        if aborts {
            before_abort();
        }
    }));
}

impl Panic {
    fn of(info: &PanicHookInfo<'_>, callers: Callers) -> Self {
        let place = info.location();
        // A place in std says nothing about the code that called it.
        let is_in_std = place.is_some_and(|at| at.file().starts_with("/rustc/"));
        let caller = (is_in_std && callers == Callers::Located)
            .then(stacks::innermost_subject)
            .flatten();
        Self {
            thread: name_of_thread(),
            message: info
                .payload_as_str()
                .unwrap_or("a value that isn't text")
                .to_owned(),
            place: place.map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line())),
            caller: caller.map(|frame| frame.in_words()),
        }
    }
}

fn recorded() -> MutexGuard<'static, Vec<Panic>> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One line for each panic so far.
pub(crate) fn describe_all() -> Vec<String> {
    let describe = |panic: &Panic| {
        format!(
            "{}: panicked at {}: {}",
            panic.thread, panic.place, panic.message
        )
    };
    recorded().iter().map(describe).collect()
}

/// Says what was seen when the first panic of the process ended a model: the later ones only come
/// from unwinding what loom has given up.
pub(crate) fn first_seen() -> Option<String> {
    let first = recorded().first()?.clone();
    let in_words = models::use_after_free(&first.message, &first.place)
        .or_else(|| models::in_words(&first.message));
    Some(in_words.unwrap_or_else(|| seen(&first.message)))
}

/// How messages end that only say that something else went wrong before: the thread that was meant
/// to send, to be joined, or to release a lock has ended.
const CONSEQUENCES: [&str; 5] = [
    ": RecvError",
    ": Any { .. }",
    ": PoisonError { .. }",
    ": Disconnected",
    ": \"SendError(..)\"",
];

/// How the panics begin that checks raise on purpose, for the code under test to catch, and what
/// raises them.
const ON_PURPOSE: [(&str, &str); 3] = [
    ("this waker panics", "waker"),
    ("this value panics", "value"),
    ("boom", "task or job"),
];

/// Says what was seen when `message` ended the body: the message itself if it is an assertion of
/// the check, or with its place if it comes from elsewhere.
pub(crate) fn seen(message: &str) -> String {
    let is_it = |(beginning, _): &&(&str, &str)| message.starts_with(beginning);
    if let Some((_, whose)) = ON_PURPOSE.iter().find(is_it) {
        return format!(
            "the panic of the check's own {whose} came out of the code, which should have caught \
             it (the panic's text: \"{message}\")"
        );
    }
    if CONSEQUENCES.iter().any(|end| message.ends_with(end)) {
        return cause_of(message);
    }
    let recorded = recorded();
    let panic = recorded.iter().rev().find(|panic| panic.message == message);
    let place = panic.map_or("", |panic| panic.place.as_str());
    if message.starts_with(TODO) {
        unwritten_at(place)
    } else if place.is_empty() || is_of_a_check(place) {
        as_sentence(message)
    } else if let Some(caller) = panic.and_then(|panic| panic.caller.as_ref()) {
        format!("{PANIC} in what {caller} calls, at {place}: {message}")
    } else {
        format!("{PANIC} at {}: {message}", without_detours(place))
    }
}

/// What `assert_eq!` says, as one sentence: what it is about, what was found, and what was
/// expected.
pub(crate) fn as_sentence(message: &str) -> String {
    let parts = || {
        let rest = message.strip_prefix("assertion `left == right` failed")?;
        let (about, values) = rest.split_once("\n  left: ")?;
        let (found, expected) = values.split_once("\n right: ")?;
        let about = about.strip_prefix(": ").map(|about| format!("{about}: "));
        Some(format!(
            "{}{found}, not {expected}",
            about.unwrap_or_default()
        ))
    };
    parts().unwrap_or_else(|| message.to_owned())
}

/// Says what came before a panic that is only a consequence.
fn cause_of(message: &str) -> String {
    let first = recorded()
        .iter()
        .find(|panic| panic.message != message)
        .cloned();
    if let Some(first) = first {
        return format!(
            "thread `{}{ENDED_EARLY}{}",
            first.thread,
            seen(&first.message)
        );
    }
    let awaited = message
        .split_once(": ")
        .map_or(message, |(awaited, _)| awaited);
    format!(
        "what the check waits for can't come anymore, because what should cause it was dropped or \
         has ended (\"{awaited}\" didn't hold)"
    )
}

/// Says that the code under test panicked, on any thread, if it did: the
/// others may wait for that thread in vain.
pub(crate) fn of_subject() -> Option<String> {
    let recorded = recorded();
    let is_cause = |panic: &&Panic| is_of_subject(&panic.place) && is_unwanted(&panic.message);
    let panic = recorded.iter().find(is_cause)?;
    Some(format!(
        "{PANIC} at {}, on thread `{}`: {}. Afterward it hangs",
        without_detours(&panic.place),
        panic.thread,
        panic.message
    ))
}

/// How panics read that aren't written on purpose. What the code under test says in its own words
/// may be what the contract requires, and be caught.
const UNWANTED: [&str; 9] = [
    "already borrowed",
    "already mutably borrowed",
    "attempt to ",
    "called `Option::",
    "called `Result::",
    "index out of bounds",
    "out of range",
    "overflow",
    "resumed after",
];

fn is_unwanted(message: &str) -> bool {
    UNWANTED.iter().any(|words| message.contains(words))
}

/// Whether the code at `place` is what the check is about.
fn is_of_subject(place: &str) -> bool {
    let place = place.replace('\\', "/");
    is_in_subject_folder(&place) && !is_of_a_check(&place)
}

/// Says that a `todo!` was reached, if one was, on any thread: others may wait for that thread in
/// vain.
pub(crate) fn unwritten() -> Option<String> {
    let recorded = recorded();
    let panic = recorded.iter().find(|panic| panic.is_of_todo())?;
    Some(unwritten_at(&panic.place))
}

fn unwritten_at(place: &str) -> String {
    format!("{UNWRITTEN}: `todo!` was reached at {place}")
}

/// Whether the code at `place` belongs to a check and not to its subject.
fn is_of_a_check(place: &str) -> bool {
    let file = place.rsplit_once(':').map_or(place, |(file, _line)| file);
    let file = file.replace('\\', "/");
    is_of_check(&file) || file.contains("testkit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equality_that_fails_is_reported_as_a_sentence() {
        let failed =
            |left, right| panic_message(|| assert_eq!(left, right, "drops of the future")).unwrap();
        assert_eq!(as_sentence(&failed(0, 1)), "drops of the future: 0, not 1");
        let bare = panic_message(|| assert_eq!(2, 3)).unwrap();
        assert_eq!(as_sentence(&bare), "2, not 3");
        assert_eq!(as_sentence("anything else"), "anything else");
    }

    #[test]
    fn a_check_may_have_files_of_its_own() {
        for file in ["tests.rs", "tests/mod.rs", "tests\\ends.rs", "models.rs"] {
            let place = format!("exercises/07-yield-now/src/{file}:12");
            assert!(is_of_a_check(&place), "{place}");
        }
        assert!(!is_of_a_check("exercises/07-yield-now/src/lib.rs:12"));
    }

    #[test]
    fn a_panic_that_the_check_raises_on_purpose_is_told_as_such() {
        for (message, whose) in [
            ("this waker panics when it is woken", "waker"),
            ("this value panics when it is dropped", "value"),
            ("boom", "task or job"),
        ] {
            let words = format!("the panic of the check's own {whose} came out of the code");
            assert!(seen(message).starts_with(&words), "{}", seen(message));
        }
    }

    #[test]
    fn a_panic_in_the_codes_own_words_may_be_wanted() {
        assert!(is_unwanted("RefCell already borrowed"));
        assert!(!is_unwanted(
            "recursive `block_on`: await the inner future instead"
        ));
    }

    #[test]
    fn the_message_of_a_panic_is_returned() {
        assert_eq!(panic_message(|| ()), None, "no panic, no message");
        let of_text = panic_message(|| panic!("plain"));
        assert_eq!(of_text.as_deref(), Some("plain"));
        let number = 7;
        let of_format = panic_message(|| panic!("number {number}"));
        assert_eq!(of_format.as_deref(), Some("number 7"));
    }
}
