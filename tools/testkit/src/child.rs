//! The child process in which a check runs, from both sides.
//!
//! The parent starts the test binary again for one test; there the same
//! `#[test]` function reaches [`run`], which executes the body on a thread of
//! its own while the first thread watches. The child's [`Verdict`] comes back at
//! the end of its standard error.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::allocator::leave_this_thread_uncounted;
use crate::check::Body;
use crate::threads::{activity, time_in_line};
use crate::verdict::{BUSY, DIED, Failure, HANGS, Verdict};
use crate::watchdog::{INTERVAL, Limits, Watchdog};
use crate::{hangs, model, panics, version};

/// The environment variable that tells a process that it is a child.
const CHILD_VARIABLE: &str = "TESTKIT_CHILD";
/// The thread that runs the body.
const BODY_THREAD: &str = "check";
/// How long nothing in a child moves before it is taken for dead. Its watchdog looks around many
/// times a second.
const STILL_FOR: Duration = Duration::from_secs(20);
/// How often the parent looks whether something has moved.
const LOOK_EACH: Duration = Duration::from_secs(1);
/// How much longer than the child's own limit the parent waits for it.
const GRACE: Duration = Duration::from_secs(20);

/// What a child sent back.
pub(crate) struct Report {
    pub verdict: Verdict,
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
    let end = wait(&mut child, limits.at_most + GRACE);
    let output = printed.join().unwrap_or_default();
    let errors = complained.join().unwrap_or_default();
    let (errors, verdict) = Verdict::decode(&errors);
    Report {
        verdict: judge(verdict, end),
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

/// How a child ended.
#[derive(Clone, Copy, Debug)]
enum End {
    /// By itself, or by a signal of its own.
    Exited(ExitStatus),
    /// It was killed after this time. Its threads had stood in line for a CPU for so long, all of
    /// them together, if that is known.
    Killed {
        limit: Duration,
        in_line: Option<Duration>,
    },
}

/// Waits for the child. Kills it after `limit`, or if nothing in it has moved for [`STILL_FOR`]: its
/// own watchdog can't even look at the clock anymore. Memory that was broken can leave the
/// allocator's lock taken forever.
fn wait(child: &mut Child, limit: Duration) -> End {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    let (mut looked, mut last_seen, mut still) = (begun, None, Duration::ZERO);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return End::Exited(status);
        }
        if looked.elapsed() >= LOOK_EACH {
            // A look counts for no more, even if this process was stopped meanwhile.
            let seen = activity(child.id());
            still = match seen.is_some() && seen == last_seen {
                true => still + LOOK_EACH,
                false => Duration::ZERO,
            };
            (looked, last_seen) = (Instant::now(), seen);
        }
        if begun.elapsed() >= limit || still >= STILL_FOR {
            let in_line = match still >= STILL_FOR {
                true => Some(Duration::ZERO),
                false => time_in_line(child.id()),
            };
            let _ = child.kill();
            let _ = child.wait();
            let limit = begun.elapsed().min(limit);
            return End::Killed { limit, in_line };
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// The child's own verdict, if the way it ended agrees with it.
fn judge(verdict: Option<Verdict>, end: End) -> Verdict {
    let seen = match (verdict, end) {
        (Some(failed @ Verdict::Failed(_)), _) => return failed,
        (Some(Verdict::Passed), End::Exited(status)) if status.success() => {
            return Verdict::Passed;
        }
        (_, End::Exited(status)) => describe_exit(status),
        (_, End::Killed { limit, in_line }) => describe_silence(limit, in_line),
    };
    Verdict::Failed(Failure::new(seen))
}

/// What is said of a child that hasn't even reported that it's late. If it stood in line for a
/// large part of the time in which it had to report that, this says nothing about the program.
fn describe_silence(limit: Duration, in_line: Option<Duration>) -> String {
    let kind = match in_line {
        Some(in_line) if in_line < GRACE / 4 => HANGS,
        _ => BUSY,
    };
    let seconds = limit.as_secs();
    format!("{kind}: the test process did not answer within {seconds} s, and was killed")
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

/// Suppresses what libtest itself prints in the child.
fn without_libtest(output: &str, name: &str) -> String {
    let output = output.strip_prefix("\nrunning 1 test\n").unwrap_or(output);
    let output = output.replacen(&format!("test {name} ... "), "", 1);
    if output == "\n" {
        String::new()
    } else {
        output
    }
}

/// What a child runs as its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A check, once.
    Check,
    /// A model, in each interleaving.
    Model,
}

/// In the child: runs `body`, sends the verdict and ends the process.
/// `folder` is the exercise's.
pub(crate) fn run(limits: Limits, folder: &str, body: Body) -> ! {
    let kind = match limits == Limits::MODEL {
        true => Kind::Model,
        false => Kind::Check,
    };
    let callers = match kind {
        // loom and shuttle run a model's threads on stacks of their own.
        Kind::Model => panics::Callers::Ignored,
        Kind::Check => panics::Callers::Located,
    };
    panics::record_all(callers, move || finish_aborting(kind));
    // Before the body counts what is allocated.
    let _known = version();
    leave_this_thread_uncounted();
    let mut watchdog = Watchdog::new(limits);
    let (sender, receiver) = mpsc::channel();
    let parent = parent_process();
    let body_thread = thread::Builder::new().name(BODY_THREAD.to_owned());
    let started = body_thread.spawn(move || {
        let _ = sender.send(panics::panic_message(body));
    });
    if let Err(error) = started {
        let seen = format!("no thread could be started: {error}");
        finish(Verdict::Failed(Failure::new(seen)));
    }
    loop {
        match receiver.recv_timeout(INTERVAL) {
            Ok(None) => finish(Verdict::Passed),
            Ok(Some(message)) => finish(failed_by_panic(kind, &message)),
            Err(RecvTimeoutError::Disconnected) => {
                let seen = panics::seen("its thread ended");
                finish(Verdict::Failed(Failure::new(seen)))
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(mut failure) = watchdog.look() {
            if kind == Kind::Check {
                hangs::locate(&mut failure, watchdog.last_samples(), folder);
            }
            failure.threads.extend(panics::describe_all());
            let panicked = panics::unwritten().or_else(panics::of_subject);
            failure.seen = panicked.unwrap_or(failure.seen);
            if kind == Kind::Model {
                failure = model::judge(failure);
            }
            finish(Verdict::Failed(failure));
        }
        if parent_process() != parent {
            std::process::exit(1);
        }
    }
}

/// The verdict on a body that panicked with `message`, perhaps only because a `todo!` was reached,
/// on any thread.
fn failed_by_panic(kind: Kind, message: &str) -> Verdict {
    let first = || match kind {
        Kind::Model => panics::first_seen(),
        Kind::Check => None,
    };
    let seen = panics::unwritten().or_else(first);
    let failure = Failure::new(seen.unwrap_or_else(|| panics::seen(message)));
    Verdict::Failed(match kind {
        Kind::Model => model::judge(failure),
        Kind::Check => failure,
    })
}

/// Sends the verdict of a process that is about to abort.
fn finish_aborting(kind: Kind) {
    if kind == Kind::Model || panics::unwritten().is_some() {
        finish(failed_by_panic(kind, "it aborted"));
    }
    let panics = panics::describe_all();
    let last = panics.iter().rev().nth(1).or(panics.last());
    finish(Verdict::Failed(Failure {
        seen: format!(
            "{DIED} of SIGABRT, because a panic reached a place that it can't pass (a destructor \
             during another panic, or an `extern` function): {}",
            last.map_or("", String::as_str)
        ),
        threads: panics,
        execution: None,
    }));
}

/// Sends the verdict and ends the process without waiting for its threads.
fn finish(mut verdict: Verdict) -> ! {
    if let Verdict::Failed(failure) = &mut verdict {
        failure.execution = model::execution();
    }
    let _ = io::stdout().flush();
    let _ = io::stderr().write_all(verdict.encode().as_bytes());
    std::process::exit(i32::from(verdict != Verdict::Passed))
}

/// The number of the process that started this one.
fn parent_process() -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    return None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Kind as Seen;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_in_which_nothing_moves_is_killed_before_its_limit() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let end = wait(&mut child, Duration::from_secs(600));
        let End::Killed { limit, in_line } = end else {
            panic!("{end:?}")
        };
        assert!(limit < Duration::from_secs(300) && in_line == Some(Duration::ZERO));
    }

    /// What a killed child's failure is taken for.
    fn seen_after(verdict: Option<Verdict>, in_line: Option<Duration>) -> Seen {
        let limit = Limits::CHECK.at_most + GRACE;
        match judge(verdict, End::Killed { limit, in_line }) {
            Verdict::Failed(failure) => Seen::of(&failure.seen),
            Verdict::Passed => panic!("a child that was killed has not passed"),
        }
    }

    #[test]
    fn a_child_that_got_no_cpu_to_answer_says_nothing_of_the_code() {
        for verdict in [None, Some(Verdict::Passed)] {
            assert_eq!(seen_after(verdict.clone(), Some(GRACE)), Seen::Busy);
            assert_eq!(seen_after(verdict, None), Seen::Busy, "nothing is known");
        }
    }

    #[test]
    fn a_child_that_does_not_answer_on_an_idle_machine_hangs() {
        assert_eq!(seen_after(None, Some(GRACE / 100)), Seen::Hang);
        let failed = Verdict::Failed(Failure::new("1, not 2"));
        assert_eq!(seen_after(Some(failed), None), Seen::Assertion);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_that_sleeps_is_killed_with_what_is_known_of_it() {
        let child = Command::new("sleep").arg("1000").spawn();
        let mut child = child.expect("`sleep` can be started");
        let limit = Duration::from_millis(20);
        let End::Killed { in_line, .. } = wait(&mut child, limit) else {
            panic!("it has not slept");
        };
        assert!(in_line.is_some_and(|time| time < GRACE), "{in_line:?}");
        let end = wait(&mut child, Duration::ZERO);
        assert!(matches!(end, End::Exited(_)), "it is still there: {end:?}");
    }
}
