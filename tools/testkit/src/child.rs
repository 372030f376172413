//! The child process in which a check runs, from both of its sides.
//!
//! The parent starts the test binary again for one test; there the same
//! `#[test]` function reaches [`run`], which executes the body on a thread of
//! its own while the first thread watches. The child's verdict comes back at
//! the end of its standard error, behind [`MARK`].

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::check::Body;
use crate::lesson::DIED;
use crate::panics;
use crate::watchdog::{INTERVAL, Limits, Verdict, Watchdog};

/// The environment variable that tells a process that it is a child.
const CHILD_VARIABLE: &str = "TESTKIT_CHILD";
/// Stands before the child's verdict; no text of a program has it by chance.
pub(crate) const MARK: &str = "\u{1}testkit-verdict\u{1}";
/// The verdict of a check that passed.
const PASSED: &str = "passed";
/// The thread that runs the body.
const BODY_THREAD: &str = "check";
/// How much longer than the child's own limit the parent waits for it.
const GRACE: Duration = Duration::from_secs(20);

/// How a check ended.
pub(crate) enum Ending {
    Passed,
    Failed { seen: String, threads: Vec<String> },
}

/// What a child sent back.
pub(crate) struct Report {
    pub ending: Ending,
    /// What the body printed.
    pub output: String,
}

/// Whether this process was started by [`start`].
pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD_VARIABLE).is_some()
}

/// Runs the test `name` in a child process and waits for its verdict.
pub(crate) fn start(name: &str, limits: Limits) -> Report {
    let started = std::env::current_exe().and_then(|binary| {
        Command::new(binary)
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .env(CHILD_VARIABLE, name)
            .env("RUST_TEST_NOCAPTURE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    });
    let mut child =
        started.unwrap_or_else(|error| panic!("cannot start the test process: {error}"));
    let printed = drain(child.stdout.take());
    let complained = drain(child.stderr.take());
    let status = wait(&mut child, limits.at_most + GRACE);
    let output = printed.join().unwrap_or_default();
    let errors = complained.join().unwrap_or_default();
    let (errors, verdict) = match errors.split_once(MARK) {
        Some((errors, verdict)) => (errors, Some(verdict)),
        None => (errors.as_str(), None),
    };
    Report {
        ending: ending(verdict, status),
        output: without_libtest(&output, name) + errors,
    }
}

/// Reads a pipe to its end on a thread of its own.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the child; kills it after `limit` and then returns `None`.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn ending(verdict: Option<&str>, status: Option<ExitStatus>) -> Ending {
    let failed = |seen: String| Ending::Failed {
        seen,
        threads: Vec::new(),
    };
    match (verdict, status) {
        (Some(PASSED), Some(status)) if status.success() => Ending::Passed,
        (Some(PASSED) | None, Some(status)) => failed(describe_exit(status)),
        (None, None) => failed("the test process did not answer and was killed".to_owned()),
        (Some(verdict), _) => {
            let (seen, threads) = verdict.split_once(MARK).unwrap_or((verdict, ""));
            Ending::Failed {
                seen: seen.to_owned(),
                threads: threads.lines().map(str::to_owned).collect(),
            }
        }
    }
}

fn describe_exit(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal {
            4 => format!(
                "{DIED} of SIGILL: std aborted, as when an `Arc`'s count is wrong, because it was \
                 dropped twice or used after it was freed"
            ),
            6 => format!("{DIED} of SIGABRT: something called `abort`"),
            7 | 11 => format!(
                "{DIED} of SIGSEGV: memory was used that isn't, or is no longer, the program's own"
            ),
            other => format!("{DIED} of signal {other}"),
        };
    }
    format!("the test process ended by itself before its check was done ({status})")
}

/// Takes away what libtest itself prints in the child.
fn without_libtest(output: &str, name: &str) -> String {
    let output = output.strip_prefix("\nrunning 1 test\n").unwrap_or(output);
    let output = output.replacen(&format!("test {name} ... "), "", 1);
    if output == "\n" {
        String::new()
    } else {
        output
    }
}

/// Whether the child runs a model.
static IS_MODEL: AtomicBool = AtomicBool::new(false);

/// Whether this process explores a model.
pub(crate) fn is_model() -> bool {
    IS_MODEL.load(Relaxed)
}

/// In the child: runs `body`, sends the verdict and ends the process.
/// `folder` is the exercise's.
pub(crate) fn run(limits: Limits, folder: &str, body: Body) -> ! {
    IS_MODEL.store(limits == Limits::MODEL, Relaxed);
    panics::note_all();
    let mut watchdog = Watchdog::new(limits);
    let (tell, told) = mpsc::channel();
    let parent = parent_process();
    let body_thread = thread::Builder::new().name(BODY_THREAD.to_owned());
    let started = body_thread.spawn(move || {
        let _ = tell.send(panics::panic_message(body));
    });
    if let Err(error) = started {
        finish(Err(Verdict {
            seen: format!("no thread could be started: {error}"),
            threads: Vec::new(),
        }));
    }
    loop {
        match told.recv_timeout(INTERVAL) {
            Ok(None) => finish(Ok(())),
            Ok(Some(message)) => finish(Err(verdict_on(&message))),
            Err(RecvTimeoutError::Disconnected) => {
                finish(Err(Verdict::of_panic("its thread ended")))
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(mut verdict) = watchdog.look() {
            if limits != Limits::MODEL {
                verdict.locate(&watchdog, folder);
            }
            verdict.threads.extend(panics::describe_all());
            let panicked = panics::unwritten().or_else(panics::of_subject);
            verdict.seen = panicked.unwrap_or(verdict.seen);
            finish(Err(verdict));
        }
        if parent_process() != parent {
            std::process::exit(1);
        }
    }
}

/// The verdict on a body that panicked with `message`: perhaps only because a
/// `todo!` was reached, on any thread.
fn verdict_on(message: &str) -> Verdict {
    if let Some(seen) = panics::unwritten() {
        return Verdict {
            seen,
            threads: Vec::new(),
        };
    }
    match panics::first_seen() {
        Some(seen) if IS_MODEL.load(Relaxed) => Verdict {
            seen,
            threads: Vec::new(),
        },
        _ => Verdict::of_panic(message),
    }
}

/// Sends the verdict of a process that is about to abort.
pub(crate) fn finish_aborting() {
    if IS_MODEL.load(Relaxed) || panics::unwritten().is_some() {
        finish(Err(verdict_on("it aborted")));
    }
    let panics = panics::describe_all();
    let last = panics.iter().rev().nth(1).or(panics.last());
    finish(Err(Verdict {
        seen: format!(
            "{DIED} of SIGABRT, because a panic reached a place that it can't pass (a destructor \
             during another panic, or an `extern` function): {}",
            last.map_or("", String::as_str)
        ),
        threads: panics,
    }));
}

/// Sends the verdict and ends the process without waiting for its threads.
fn finish(outcome: Result<(), Verdict>) -> ! {
    let verdict = match outcome {
        Ok(()) => format!("{MARK}{PASSED}"),
        Err(verdict) => format!("{MARK}{}{MARK}{}", verdict.seen, verdict.threads.join("\n")),
    };
    let _ = io::stdout().flush();
    let _ = io::stderr().write_all(verdict.as_bytes());
    std::process::exit(i32::from(!verdict.ends_with(PASSED)))
}

/// The number of the process that started this one.
fn parent_process() -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    return None;
}
