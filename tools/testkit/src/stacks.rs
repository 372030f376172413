//! Where the threads of a check stand when it hangs: a stack each, of the
//! frames that are neither std's nor the kit's, and what the thread waits in.
//!
//! Linux only, and by std alone: a signal's handler runs on the thread that is
//! to be asked, and captures a [`Backtrace`] there. That isn't safe in a
//! handler by the letter (it allocates and takes a lock), but the process is
//! about to end anyway. What can go wrong is that the handler waits for a lock
//! that the thread itself holds, so everything here happens on a thread that
//! the watchdog waits for only so long: without stacks it says what it can.
//!
//! [`Backtrace`]: std::backtrace::Backtrace

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::threads::Sample;

/// How long all of it may take. Resolving the first address reads the
/// program's line tables, which takes long on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most threads that are asked: a check may have hundreds, which mostly
/// stand at the same place.
const MOST_THREADS: usize = 12;
/// The most frames that are shown of a thread.
const MOST_FRAMES: usize = 3;

/// What a thread waits in, or that it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Lock,
    Condvar,
    Park,
    Join,
    Scope,
    Channel,
    Barrier,
    Once,
    Sleep,
    Runs,
    Unknown,
}

impl Doing {
    /// The words in a thread's line.
    pub fn words(self) -> &'static str {
        match self {
            Self::Lock => "in a lock",
            Self::Condvar => "in a condvar",
            Self::Park => "in a park",
            Self::Join => "in a join",
            Self::Scope => "at the end of a scope",
            Self::Channel => "in a channel",
            Self::Barrier => "in a barrier",
            Self::Once => "in a `Once`",
            Self::Sleep => "in a sleep",
            Self::Runs => "running",
            Self::Unknown => "asleep",
        }
    }
}

/// Whose code a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The code under test, or an earlier exercise's that it is built on.
    Subject,
    /// The check.
    Check,
}

/// One frame that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub whose: Whose,
    /// The function's name, without its path; empty for a closure.
    pub function: String,
    /// `lib.rs:17`; empty where the program has no line tables.
    pub place: String,
}

impl Frame {
    fn describe(&self) -> String {
        let of_whom = match (self.whose, self.function.as_str()) {
            (Whose::Check, _) => "the check",
            (Whose::Subject, "") => "a closure",
            (Whose::Subject, function) => function,
        };
        [of_whom, &self.place].join(" ").trim_end().to_owned()
    }

    /// For a sentence: `` `wake` (lib.rs:17) ``.
    pub fn in_words(&self) -> String {
        let function = match self.function.as_str() {
            "" => "a closure".to_owned(),
            function => format!("`{function}`"),
        };
        match self.place.as_str() {
            "" => function,
            place => format!("{function} ({place})"),
        }
    }
}

/// Where a thread stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stand {
    pub thread: String,
    pub doing: Doing,
    /// From the innermost outwards.
    pub frames: Vec<Frame>,
}

impl Stand {
    /// The frames of the code under test, from the innermost outwards.
    pub fn subject(&self) -> impl Iterator<Item = &Frame> {
        let frames = self.frames.iter();
        frames.filter(|frame| frame.whose == Whose::Subject)
    }

    /// The innermost frame, if it is of the code under test.
    pub fn innermost(&self) -> Option<&Frame> {
        let first = self.frames.first()?;
        (first.whose == Whose::Subject).then_some(first)
    }

    /// `check: in a join ← drop lib.rs:319`.
    pub fn describe(&self) -> Option<String> {
        let mut frames: Vec<_> = self.subject().map(Frame::describe).collect();
        frames.dedup();
        frames.truncate(MOST_FRAMES);
        if frames.is_empty() || self.innermost().is_none() {
            frames.insert(0, self.frames.first()?.describe());
        }
        let (thread, doing) = (&self.thread, self.doing.words());
        Some(format!("{thread}: {doing} ← {}", frames.join(" ← ")))
    }
}

/// Asks the sampled threads where they stand, in the order of the samples.
/// `folder` is the exercise's: what lies there is shown without its folder.
/// Nothing where the system, or the program's state, doesn't allow it.
pub(crate) fn take(samples: &[Sample], folder: &str) -> Vec<Option<Stand>> {
    let (tell, told) = mpsc::channel();
    let (asked, folder) = (samples.to_vec(), folder.to_owned());
    let collector = thread::Builder::new().name("stacks".to_owned());
    let started = collector.spawn(move || {
        let asked = asked.iter().take(MOST_THREADS);
        // All threads first: resolving takes longer than capturing.
        let captured: Vec<_> = asked
            .map(|sample| (sample, system::capture(sample.id)))
            .collect();
        let stands = captured.into_iter().map(|(sample, backtrace)| {
            let text = format!("{:?}", backtrace?);
            Some(stand(sample, &text, &folder))
        });
        let _ = tell.send(stands.collect::<Vec<_>>());
    });
    let taken = started.ok().and_then(|_| told.recv_timeout(PATIENCE).ok());
    let mut stands = taken.unwrap_or_default();
    stands.resize(samples.len(), None);
    stands
}

/// The innermost frame of the code under test on this thread.
pub(crate) fn innermost_subject() -> Option<Frame> {
    let backtrace = format!("{:?}", std::backtrace::Backtrace::force_capture());
    let mut frames = frames(&backtrace, "").into_iter();
    frames.find(|frame| frame.whose == Whose::Subject)
}

/// The frames that are kept.
fn frames(backtrace: &str, folder: &str) -> Vec<Frame> {
    let kept = |(function, file, line): (String, String, String)| {
        Some(Frame {
            whose: whose(&function, &file)?,
            function: short(&function),
            place: place(&file, &line, folder),
        })
    };
    parse(backtrace).into_iter().filter_map(kept).collect()
}

fn stand(sample: &Sample, backtrace: &str, folder: &str) -> Stand {
    let frames = frames(backtrace, folder);
    let within = parse(backtrace).into_iter();
    let within = within.take_while(|(function, file, _)| whose(function, file).is_none());
    let inner: String = within
        .map(|(function, file, _)| format!("{function} {file}\n"))
        .collect();
    let doing = match sample.state {
        'R' => Doing::Runs,
        _ => doing(&inner),
    };
    Stand {
        thread: sample.name.clone(),
        doing,
        frames,
    }
}

/// Reads the frames of a backtrace's `Debug`: function, file and line, the
/// latter two empty where they aren't known.
fn parse(backtrace: &str) -> Vec<(String, String, String)> {
    let frames = backtrace.split("{ fn: \"").skip(1);
    let read = |frame: &str| {
        let (function, rest) = frame.split_once('"')?;
        let file = rest.split_once("file: \"").and_then(|(_, rest)| {
            let (file, rest) = rest.split_once('"')?;
            let line = rest.split_once("line: ").map_or("", |(_, line)| line);
            let line: String = line.chars().take_while(char::is_ascii_digit).collect();
            Some((file.replace('\\', "/"), line))
        });
        let (file, line) = file.unwrap_or_default();
        Some((function.to_owned(), file, line))
    };
    frames.filter_map(read).collect()
}

/// The folders of the code that a check may be about.
const SUBJECTS: [&str; 4] = [
    "exercises/",
    "solutions/",
    "alternatives/",
    "counterexamples/",
];

/// The crates whose functions are neither the subject's nor the check's.
const OTHERS: [&str; 16] = [
    "std",
    "core",
    "alloc",
    "test",
    "testkit",
    "sync",
    "loom",
    "shuttle",
    "generator",
    "rayon",
    "rayon_core",
    "crossbeam_epoch",
    "futures",
    "tokio",
    "tracing",
    "rustc_demangle",
];

/// Where the kit, foreign crates and std lie, whatever folder the workshop is in.
const ELSEWHERE: &[&str] = &[
    "/rustc/",
    "/.cargo/",
    "tools/testkit/",
    "tools/sync/",
    // The kit's own tests run in its folder.
    #[cfg(test)]
    "./src/stacks.rs",
    #[cfg(test)]
    "./src/child.rs",
    #[cfg(test)]
    "./src/panics.rs",
    #[cfg(test)]
    "./src/gate.rs",
];

/// Whose frame it is; `None` for std's, the kit's and the system's.
fn whose(function: &str, file: &str) -> Option<Whose> {
    let (is_known, is_check) = match file {
        "" => whose_function(function),
        file => whose_file(file),
    };
    match (is_known, is_check) {
        (false, _) => None,
        (true, true) => Some(Whose::Check),
        (true, false) => Some(Whose::Subject),
    }
}

/// Std shows what lies in the current folder, the package's, from there on.
fn whose_file(file: &str) -> (bool, bool) {
    let is_elsewhere = ELSEWHERE.iter().any(|folder| file.contains(folder));
    let in_package = file.starts_with("./src/") || file.starts_with("src/");
    let is_known = in_package || SUBJECTS.iter().any(|folder| file.contains(folder));
    let of_check = ["src/tests.rs", "src/tests/", "src/models"];
    let is_check = of_check.iter().any(|part| file.contains(part));
    (is_known && !is_elsewhere, is_check)
}

/// Without line tables the function's path has to do: `<krate::Type as Trait>::function`.
fn whose_function(function: &str) -> (bool, bool) {
    let path = function.trim_start_matches(['<', '&', '(']);
    let path = path.strip_prefix("dyn ").unwrap_or(path);
    let root = path.split_once("::").map(|(root, _)| root);
    let is_known = root.is_some_and(|root| !OTHERS.contains(&root));
    let is_check = ["::tests::", "::models::"]
        .iter()
        .any(|part| path.contains(part));
    (is_known, is_check)
}

/// The function's own name: `<a::B<C> as d::E>::f::{{closure}}` is `f`.
fn short(function: &str) -> String {
    let mut depth = 0_usize;
    let mut plain = String::new();
    for character in function.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            other if depth == 0 => plain.push(other),
            _ => {}
        }
    }
    let parts = plain.split("::").filter(|part| !part.is_empty());
    let name = parts.filter(|part| !part.starts_with('{')).last();
    name.unwrap_or_default().to_owned()
}

/// `lib.rs:17`, with its folder if it isn't the exercise's own.
fn place(file: &str, line: &str, folder: &str) -> String {
    let Some((before, name)) = file.rsplit_once("src/") else {
        return String::new();
    };
    let package = before.trim_end_matches('/').rsplit('/').next();
    let package = package.unwrap_or_default();
    let is_own = package == folder || ["", ".", "counterexamples"].contains(&package);
    match is_own {
        true => format!("{name}:{line}"),
        false => format!("{package}/{name}:{line}"),
    }
}

/// What a thread waits in, by std's frames within the innermost that is kept.
fn doing(inner: &str) -> Doing {
    const SIGNS: [(Doing, &[&str]); 9] = [
        (
            Doing::Join,
            &["pthread_join", "clockjoin", "JoinHandle", "JoinInner"],
        ),
        (
            Doing::Lock,
            &["lock_contended", "read_contended", "write_contended"],
        ),
        (Doing::Barrier, &["sync::barrier", "sync/barrier"]),
        (
            Doing::Once,
            &["sync::once", "sync/once", "once_lock", "poison/once"],
        ),
        (Doing::Channel, &["mpmc", "mpsc"]),
        (Doing::Scope, &["thread::scoped", "thread/scoped"]),
        (Doing::Condvar, &["ondvar"]),
        (Doing::Park, &["park"]),
        (Doing::Sleep, &["nanosleep", "thread::sleep"]),
    ];
    let is_in = |signs: &[&str]| signs.iter().any(|sign| inner.contains(sign));
    let found = SIGNS.iter().find(|(_, signs)| is_in(signs));
    found.map_or(Doing::Unknown, |(doing, _)| *doing)
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
))]
mod system {
    use std::backtrace::Backtrace;
    use std::ffi::{c_int, c_long};
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicPtr};
    use std::thread;
    use std::time::{Duration, Instant};

    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

    /// `SIGUSR2`, the same number on both architectures.
    const SIGNAL: c_int = 12;
    #[cfg(target_arch = "x86_64")]
    const TGKILL: c_long = 234;
    #[cfg(target_arch = "aarch64")]
    const TGKILL: c_long = 131;
    /// How long a thread may take to answer.
    const PATIENCE: Duration = Duration::from_secs(2);

    unsafe extern "C" {
        fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
        fn syscall(number: c_long, ...) -> c_long;
        fn pause() -> c_int;
    }

    /// The backtrace of the thread that is being asked.
    static ANSWER: AtomicPtr<Backtrace> = AtomicPtr::new(ptr::null_mut());
    /// Set once a thread hasn't answered: it may hold what the others need.
    static IS_STUCK: AtomicBool = AtomicBool::new(false);

    extern "C" fn answer(_number: c_int) {
        let backtrace = Box::into_raw(Box::new(Backtrace::force_capture()));
        // Release: pairs with the Acquire in `capture`; publishes the backtrace.
        ANSWER.store(backtrace, Release);
        // The thread goes no further, so that what is told of the others stays true.
        loop {
            // SAFETY: it has no preconditions.
            unsafe { pause() };
        }
    }

    /// Halts a thread of this process and returns its backtrace.
    pub(super) fn capture(thread: u32) -> Option<Backtrace> {
        // Relaxed: only this thread uses the flag.
        if IS_STUCK.load(Relaxed) {
            return None;
        }
        let (process, thread) = (c_long::from(std::process::id()), c_long::from(thread));
        // SAFETY: the handler has the signature that `signal` wants, and lives as long as the program.
        unsafe { signal(SIGNAL, answer) };
        // SAFETY: `tgkill` takes three numbers, and touches no memory of this process.
        let failed = unsafe { syscall(TGKILL, process, thread, c_long::from(SIGNAL)) };
        if failed != 0 {
            return None;
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            // Acquire: pairs with the Release in `answer`; this thread sees the backtrace.
            let answer = ANSWER.swap(ptr::null_mut(), Acquire);
            if !answer.is_null() {
                // SAFETY: the handler made it from a box and gave it up; the swap took it, and nobody takes it twice.
                return Some(*unsafe { Box::from_raw(answer) });
            }
            if Instant::now() >= deadline {
                IS_STUCK.store(true, Relaxed);
                return None;
            }
            thread::sleep(Duration::from_micros(200));
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
mod system {
    use std::backtrace::Backtrace;

    /// Threads can't be asked here.
    pub(super) fn capture(_thread: u32) -> Option<Backtrace> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_shown_by_its_own_name() {
        for (function, name) in [
            ("exercise_1::block_on", "block_on"),
            (
                "<exercise_1::ThreadWaker as alloc::task::Wake>::wake",
                "wake",
            ),
            ("exercise_5::Timer::start::{{closure}}", "start"),
            ("inner<u8>", "inner"),
            ("{closure#1}<b::main::{closure_env#0}, ()>", ""),
        ] {
            assert_eq!(short(function), name, "{function}");
        }
    }

    #[test]
    fn a_stack_keeps_the_frames_of_the_subject_and_the_check() {
        let backtrace = r#"Backtrace [{ fn: "testkit::stacks::system::answer", file: "/home/me/exercises/it/tools/testkit/src/stacks.rs", line: 9 },
            { fn: "lock_contended", file: "/rustc/1/library/std/src/sys/sync/mutex/futex.rs", line: 68 },
            { fn: "lock<u8>", file: "/rustc/1/library/std/src/sync/poison/mutex.rs", line: 7 },
            { fn: "wake<exercise_1::tests::it::{closure#0}>", file: "./src/lib.rs", line: 17 },
            { fn: "<core::pin::Pin<P> as core::future::future::Future>::poll" },
            { fn: "parker::Parker::park", file: "/home/me/exercises/it/solutions/02-parker/src/lib.rs", line: 4 },
            { fn: "exercise_1::tests::it::{{closure}}", file: "./src/tests.rs", line: 3 }]"#;
        let sample = Sample {
            id: 7,
            name: "check".into(),
            state: 'S',
            cpu_ns: 0,
        };
        let stand = stand(&sample, backtrace, "01-block-on");
        assert_eq!(
            stand.describe().as_deref(),
            Some("check: in a lock ← wake lib.rs:17 ← park 02-parker/lib.rs:4")
        );
        assert_eq!(stand.frames[2].whose, Whose::Check);
    }

    #[test]
    fn without_line_tables_the_functions_path_has_to_do() {
        assert_eq!(
            whose("exercise_1::busy::block_on", ""),
            Some(Whose::Subject)
        );
        assert_eq!(
            whose("<exercise_1::busy::W as alloc::task::Wake>::wake", ""),
            Some(Whose::Subject)
        );
        assert_eq!(
            whose("exercise_1::busy::tests::a::{{closure}}", ""),
            Some(Whose::Check)
        );
        assert_eq!(
            whose(
                "<alloc::boxed::Box<F> as core::ops::function::FnOnce<()>>::call_once",
                ""
            ),
            None
        );
        assert_eq!(whose("start_thread", "./nptl/pthread_create.c"), None);
    }
}
