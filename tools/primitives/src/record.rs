//! Records the order of the steps that end a model, so that it can be shown.
//!
//! A model is explored without this. Once it has failed, a second process explores it again, with
//! the environment variable [`FILE_VARIABLE`], and the execution that fails is written to that
//! file. Switched off, this costs each operation one read of a thread-local.
//!
//! An operation is *begun* before the checker is asked for it, and *done* after. The checker
//! changes threads only before an operation's effect, so the order in which operations are done is
//! the order of their effects. An operation that was begun and isn't done is where its thread
//! stands in the end.
//!
//! All threads of a model run on one thread of the system, so nothing here needs a lock.

mod json;
mod log;
mod panics;
#[cfg(all(feature = "shuttle", not(feature = "loom")))]
mod sleepers;

#[cfg(feature = "loom")]
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

#[cfg(all(feature = "shuttle", not(feature = "loom")))]
pub(crate) use sleepers::{finish_with_first_panic, note_blocked, note_lost, record_again};

use log::{Entry, Log, Number, Object, Step, Thread};

/// Names the file to which the order of a failing execution is written.
const FILE_VARIABLE: &str = "PRIMITIVES_ORDER";

/// Says which execution has failed, counted from 1, where that is known: what comes before isn't
/// recorded.
#[cfg(feature = "loom")]
const EXECUTION_VARIABLE: &str = "PRIMITIVES_EXECUTION";

/// Whether steps are recorded, and what the loads in them return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing is recorded.
    Off,
    /// Each load returns the newest value as far as fences bring that about: an execution that
    /// fails like this is explained by the order of its steps alone.
    Newest,
    /// The checker chooses as it does without a recording.
    #[cfg(feature = "loom")]
    Plain,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Newest => "newest",
            #[cfg(feature = "loom")]
            Self::Plain => "plain",
        }
    }
}

std::thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Off) };
    static LOG: RefCell<Log> = const { RefCell::new(Log::new()) };
    /// Whether the newest values were tried in every order, and nothing failed.
    /// From which execution on steps are recorded, and how.
    static LATER: Cell<Option<(u64, Mode)>> = const { Cell::new(None) };
    static NEWEST_PASSED: Cell<bool> = const { Cell::new(false) };
    static EXECUTION: Cell<u64> = const { Cell::new(0) };
    static CHECKER: Cell<&str> = const { Cell::new("") };
    static IS_WRITTEN: Cell<bool> = const { Cell::new(false) };
}

/// The file to write to, if there is one.
pub(crate) fn file() -> Option<PathBuf> {
    std::env::var_os(FILE_VARIABLE).map(PathBuf::from)
}

/// The execution that has failed, where that is known.
#[cfg(feature = "loom")]
pub(crate) fn failed_execution() -> Option<u64> {
    std::env::var(EXECUTION_VARIABLE).ok()?.parse().ok()
}

/// What is recorded from now on.
pub(crate) fn set_mode(mode: Mode) {
    MODE.set(mode);
    LATER.set(None);
}

/// What is recorded from the execution with this number on; before it, nothing is.
#[cfg(feature = "loom")]
pub(crate) fn set_mode_from(execution: u64, mode: Mode) {
    MODE.set(Mode::Off);
    LATER.set(Some((execution, mode)));
}

/// Whether steps are recorded.
pub(crate) fn is_on() -> bool {
    MODE.get() != Mode::Off
}

/// Whether a load should return the newest value.
#[cfg(feature = "loom")]
pub(crate) fn wants_newest() -> bool {
    MODE.get() == Mode::Newest
}

/// Says that no order failed in which every load returns the newest value.
#[cfg(feature = "loom")]
pub(crate) fn note_newest_passed() {
    NEWEST_PASSED.set(true);
}

fn with_log<R>(change: impl FnOnce(&mut Log) -> R) -> Option<R> {
    // A panic hook may come in between.
    LOG.with(|log| log.try_borrow_mut().ok().map(|mut log| change(&mut log)))
}

/// Forgets the last execution, on the first thread of the next, which has this number.
pub(crate) fn begin_execution(number: u64) {
    if let Some((first, mode)) = LATER.get()
        && number >= first
    {
        set_mode(mode);
    }
    if is_on() {
        EXECUTION.set(number);
        with_log(|log| {
            log.begin();
            log.enter(0, Some(0));
        });
    }
}

/// A thread of the model, if it's recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadNumber(Option<Number>);

impl ThreadNumber {
    /// The thread that calls this.
    pub fn current() -> Self {
        Self(is_on().then(|| with_log(|log| log.running())).flatten())
    }

    /// A thread that is about to be started.
    #[track_caller]
    pub fn new(name: Option<&str>) -> Self {
        if !is_on() {
            return Self(None);
        }
        let place = Location::caller();
        Self(with_log(|log| {
            log.threads.push(Thread {
                name: name.map(str::to_owned),
                place: Some(place),
                stack: None,
                task: None,
            });
            log.threads.len() - 1
        }))
    }

    /// Says that the calling thread is this one.
    #[cfg(feature = "loom")]
    pub fn enter(self) {
        if let Self(Some(number)) = self {
            with_log(|log| log.enter(number, None));
        }
    }
}

/// What threads share: an atomic, a lock, a cell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Id(Option<Number>);

impl Id {
    /// Something new, that the caller makes.
    #[track_caller]
    pub fn new(kind: &'static str) -> Self {
        Self::with_value(kind, String::new)
    }

    /// An atomic with its first value.
    #[track_caller]
    pub fn with_value(kind: &'static str, initial: impl FnOnce() -> String) -> Self {
        let place = Location::caller();
        testkit::model_sees(place);
        if !is_on() {
            return Self(None);
        }
        Self(with_log(|log| {
            log.objects.push(Object {
                kind,
                place,
                initial: initial(),
            });
            log.objects.len() - 1
        }))
    }

    /// Begins an operation on it.
    #[track_caller]
    pub fn begin(self, operation: &'static str) -> Begun {
        self.begin_ordered(operation, &[])
    }

    /// Begins an operation with these orderings.
    #[track_caller]
    pub fn begin_ordered(self, operation: &'static str, orderings: &[Ordering]) -> Begun {
        let target = Target {
            object: self.0,
            thread: None,
        };
        begin(operation, orderings, target)
    }
}

/// What an operation is about.
#[derive(Clone, Copy, Debug, Default)]
struct Target {
    object: Option<Number>,
    thread: Option<Number>,
}

/// Begins an operation that is about no object.
#[track_caller]
pub(crate) fn begin_alone(operation: &'static str, orderings: &[Ordering]) -> Begun {
    begin(operation, orderings, Target::default())
}

/// Begins an operation that is about a thread.
#[track_caller]
pub(crate) fn begin_with_thread(operation: &'static str, thread: ThreadNumber) -> Begun {
    let target = Target {
        object: None,
        thread: thread.0,
    };
    begin(operation, &[], target)
}

#[track_caller]
fn begin(operation: &'static str, orderings: &[Ordering], target: Target) -> Begun {
    let place = Location::caller();
    testkit::model_sees(place);
    if !is_on() {
        return Begun(None);
    }
    Begun(with_log(|log| {
        log.steps.push(Step {
            thread: log.running(),
            object: target.object,
            target: target.thread,
            operation,
            orderings: orderings.to_vec(),
            place,
            ..Step::new(place)
        });
        log.steps.len() - 1
    }))
}

/// An operation that was begun.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) struct Begun(Option<Number>);

impl Begun {
    fn note(self, change: impl FnOnce(&mut Step)) {
        let Self(Some(number)) = self else { return };
        with_log(|log| {
            // An operation that began before the log was cleared belongs to no execution.
            if let Some(step) = log.steps.get_mut(number) {
                change(step);
                step.wakes.append(&mut log.woken);
                if !step.is_done {
                    step.is_done = true;
                    log.order.push(Entry::Done(number));
                    log.awakes(number);
                }
            }
        });
    }

    /// It has taken effect.
    pub fn done(self) {
        self.note(|_| ());
    }

    /// It has, after its effect, woken others.
    #[cfg(feature = "loom")]
    pub fn woke(self) {
        self.note(|_| ());
    }

    /// It has taken effect, and failed.
    pub fn failed(self) {
        self.note(|step| step.has_failed = true);
    }

    /// It has read a value, while another may have been the newest.
    pub fn read(self, value: impl FnOnce() -> (String, String)) {
        self.note(|step| {
            let (found, newest) = value();
            step.stale = (found != newest).then_some(newest);
            step.read = Some(found);
        });
    }

    /// The same, but it would have written if it had found another value.
    pub fn found(self, value: impl FnOnce() -> (String, String)) {
        self.note(|step| step.has_failed = true);
        self.read(value);
    }

    /// It has written.
    pub fn wrote(self, value: impl FnOnce() -> String) {
        self.note(|step| step.wrote = Some(value()));
    }
}

/// Says that a thread falls asleep in the operation that it has begun.
#[cfg(feature = "loom")]
pub(crate) fn note_sleep(thread: usize) {
    with_log(|log| {
        let begun = |step: &Step| step.thread == thread && !step.is_done;
        if let Some(number) = log.steps.iter().rposition(begun) {
            log.order.push(Entry::Sleeps(number));
        }
    });
}

/// Says that the operation that is done next wakes a thread.
#[cfg(feature = "loom")]
pub(crate) fn note_wake(thread: usize) {
    with_log(|log| log.woken.push(thread));
}

/// Notes, from now on, the panics of the executions that this checker tries.
pub(crate) fn watch_panics(checker: &'static str) {
    if CHECKER.replace(checker).is_empty() {
        panics::watch();
    }
}

/// Ends the recording: this has ended the execution.
#[cfg(feature = "loom")]
pub(crate) fn finish_panicked(panic: &(dyn Any + Send)) {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    finish(text.unwrap_or_default());
}

/// Ends the recording: the execution has failed with this message.
fn finish(message: &str) {
    if IS_WRITTEN.get() || !is_on() {
        return;
    }
    let text = with_log(|log| {
        log.cut_at_panic(message);
        log.wake_pending();
        let about = json::About {
            checker: CHECKER.get(),
            values: MODE.get().name(),
            newest_passed: NEWEST_PASSED.get(),
            execution: EXECUTION.get(),
            message,
        };
        json::text(log, &about)
    });
    if let (Some(text), Some(file)) = (text, file()) {
        IS_WRITTEN.set(true);
        if let Err(error) = std::fs::write(&file, text) {
            eprintln!("the order can't be written to {}: {error}", file.display());
        }
    }
}
