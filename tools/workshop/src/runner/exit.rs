//! How runs end, in words for the page.

use std::time::Duration;

use crate::events::{Event, Events, Exit, Reason, send};
use crate::problem::Problem;
use crate::sandbox::{Cause, Ended, Limits};

/// The end of a run whose program was started.
pub fn of_run(ended: Ended, limits: &Limits, compile_time: Duration) -> Exit {
    let (reason, code, message) = match ended.cause {
        Cause::Exited(code) => (Reason::Exited, Some(code), None),
        Cause::Signal(signal) => (Reason::Signal, Some(signal), None),
        Cause::Cancelled => (Reason::Killed, None, Some("stopped".into())),
        cause => {
            let (reason, limit) = limit_reached(cause, limits);
            (reason, None, Some(format!("ended {limit}")))
        }
    };
    Exit {
        reason,
        code,
        compile_ms: Some(milliseconds(compile_time)),
        run_ms: Some(milliseconds(ended.time)),
        message,
    }
}

/// What the limit was that ended a program, to be read after `ended`.
fn limit_reached(cause: Cause, limits: &Limits) -> (Reason, String) {
    let mib = |bytes: u64| bytes >> 20;
    match cause {
        Cause::Timeout => {
            let seconds = limits.wall.as_secs();
            (Reason::Timeout, format!("after {seconds} seconds"))
        }
        Cause::OutputLimit => {
            let kib = limits.output_bytes >> 10;
            (Reason::OutputLimit, format!("after {kib} KiB of output"))
        }
        Cause::ProcessLimit => {
            let processes = limits.processes;
            (
                Reason::Killed,
                format!("with more than {processes} processes"),
            )
        }
        Cause::ThreadLimit => {
            let threads = limits.threads;
            (Reason::Killed, format!("with more than {threads} threads"))
        }
        Cause::MemoryLimit => {
            let mib = mib(limits.memory_bytes);
            (
                Reason::Killed,
                format!("with more than {mib} MiB of memory"),
            )
        }
        Cause::DiskLimit => {
            let mib = mib(limits.disk_bytes.unwrap_or_default());
            (Reason::Killed, format!("with more than {mib} MiB of files"))
        }
        Cause::Exited(_) | Cause::Signal(_) | Cause::Cancelled => {
            unreachable!("{cause:?} is no limit")
        }
    }
}

/// The end of a run that is no longer wanted.
pub fn cancelled() -> Exit {
    Exit {
        reason: Reason::Killed,
        code: None,
        compile_ms: None,
        run_ms: None,
        message: Some("stopped".into()),
    }
}

/// The program never ran: the problem goes where its errors would have gone.
pub fn refused(problem: &Problem, events: &Events) -> Exit {
    let text = format!("{problem}\n");
    send(events, Event::Stderr { text });
    Exit {
        message: Some(problem.error().to_owned()),
        ..cancelled()
    }
}

/// A time as an [`Exit`] has it.
pub fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
