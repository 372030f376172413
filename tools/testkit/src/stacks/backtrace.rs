//! Reads a [`std::backtrace::Backtrace`] through its `Debug`: which frames are worth showing, and
//! what std's frames below them wait in.

use super::stack::{Activity, Frame, Origin, ThreadStack};
use crate::source::{is_in_subject_folder, is_of_check};
use crate::threads::Sample;

/// The frames of the code under test and of the check.
pub(super) fn frames(backtrace: &str, folder: &str) -> Vec<Frame> {
    let kept = |(function, file, line): (String, String, String)| {
        Some(Frame {
            origin: origin(&function, &file)?,
            function: short(&function),
            place: place(&file, &line, folder),
        })
    };
    parse(backtrace).into_iter().filter_map(kept).collect()
}

/// The stack of a thread. `folder` is the exercise's.
pub(super) fn stack(sample: &Sample, backtrace: &str, folder: &str) -> ThreadStack {
    let frames = frames(backtrace, folder);
    let within = parse(backtrace).into_iter();
    let within = within.take_while(|(function, file, _)| origin(function, file).is_none());
    let inner: String = within
        .map(|(function, file, _)| format!("{function} {file}\n"))
        .collect();
    let activity = match sample.state {
        'R' => Activity::Runs,
        _ => activity(&inner),
    };
    ThreadStack {
        thread: sample.name.clone(),
        activity,
        frames,
    }
}

/// Reads the frames of a backtrace's `Debug`: function, file and line, the latter two empty if they
/// aren't known.
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

/// The crates whose functions are neither the subject's nor the check's.
const OTHER_CRATES: [&str; 16] = [
    "std",
    "core",
    "alloc",
    "test",
    "testkit",
    "primitives",
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

/// Where the kit, foreign crates and std are, no matter which folder the workshop is in.
const ELSEWHERE: &[&str] = &[
    "/rustc/",
    "/.cargo/",
    "tools/testkit/",
    "tools/primitives/",
    // The kit's own tests run in its folder.
    #[cfg(test)]
    "./src/stacks",
    #[cfg(test)]
    "./src/child.rs",
    #[cfg(test)]
    "./src/panics",
    #[cfg(test)]
    "./src/gate.rs",
];

/// Whose frame it is; `None` for frames of std, the kit and the system.
fn origin(function: &str, file: &str) -> Option<Origin> {
    match file {
        "" => origin_of_function(function),
        file => origin_of_file(file),
    }
}

/// Std shows paths in the current folder, the package's, relative to it.
fn origin_of_file(file: &str) -> Option<Origin> {
    let is_elsewhere = ELSEWHERE.iter().any(|folder| file.contains(folder));
    let in_package = file.starts_with("./src/") || file.starts_with("src/");
    let is_known = in_package || is_in_subject_folder(file);
    (is_known && !is_elsewhere).then(|| match is_of_check(file) {
        true => Origin::Check,
        false => Origin::Subject,
    })
}

/// Without line tables the function's path has to suffice: `<krate::Type as Trait>::function`.
fn origin_of_function(function: &str) -> Option<Origin> {
    let path = function.trim_start_matches(['<', '&', '(']);
    let path = path.strip_prefix("dyn ").unwrap_or(path);
    let (root, _) = path.split_once("::")?;
    let is_check = ["::tests::", "::models::"]
        .iter()
        .any(|part| path.contains(part));
    (!OTHER_CRATES.contains(&root)).then_some(match is_check {
        true => Origin::Check,
        false => Origin::Subject,
    })
}

/// The function's own name: `<a::B<C> as d::E>::f::{{closure}}` becomes `f`.
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

/// What a thread waits in, judging by std's frames inside the innermost frame that is kept.
fn activity(inner: &str) -> Activity {
    const SIGNS: [(Activity, &[&str]); 9] = [
        (
            Activity::Join,
            &["pthread_join", "clockjoin", "JoinHandle", "JoinInner"],
        ),
        (
            Activity::Lock,
            &["lock_contended", "read_contended", "write_contended"],
        ),
        (Activity::Barrier, &["sync::barrier", "sync/barrier"]),
        (
            Activity::Once,
            &["sync::once", "sync/once", "once_lock", "poison/once"],
        ),
        (Activity::Channel, &["mpmc", "mpsc"]),
        (Activity::Scope, &["thread::scoped", "thread/scoped"]),
        (Activity::Condvar, &["ondvar"]),
        (Activity::Park, &["park"]),
        (Activity::Sleep, &["nanosleep", "thread::sleep"]),
    ];
    let is_in = |signs: &[&str]| signs.iter().any(|sign| inner.contains(sign));
    let found = SIGNS.iter().find(|(_, signs)| is_in(signs));
    found.map_or(Activity::Unknown, |(activity, _)| *activity)
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
        let backtrace = r#"Backtrace [{ fn: "testkit::stacks::capture::answer", file: "/home/me/exercises/it/tools/testkit/src/stacks/capture.rs", line: 9 },
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
        let stack = stack(&sample, backtrace, "01-block-on");
        assert_eq!(
            stack.describe().as_deref(),
            Some("check: in a lock ← wake lib.rs:17 ← park 02-parker/lib.rs:4")
        );
        assert_eq!(stack.frames[2].origin, Origin::Check);
    }

    #[test]
    fn without_line_tables_the_functions_path_has_to_do() {
        assert_eq!(
            origin("exercise_1::busy::block_on", ""),
            Some(Origin::Subject)
        );
        assert_eq!(
            origin("<exercise_1::busy::W as alloc::task::Wake>::wake", ""),
            Some(Origin::Subject)
        );
        assert_eq!(
            origin("exercise_1::busy::tests::a::{{closure}}", ""),
            Some(Origin::Check)
        );
        assert_eq!(
            origin(
                "<alloc::boxed::Box<F> as core::ops::function::FnOnce<()>>::call_once",
                ""
            ),
            None
        );
        assert_eq!(origin("start_thread", "./nptl/pthread_create.c"), None);
    }
}
