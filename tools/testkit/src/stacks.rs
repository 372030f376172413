//! Where the threads of a check are when it hangs: a stack for each, with the
//! frames that are neither std's nor the kit's, and what the thread waits in.
//!
//! Works on Linux only, and with std alone: a signal handler runs on the thread
//! in question, and captures a [`Backtrace`] there. Strictly speaking, that
//! isn't safe in a handler (it allocates and takes a lock), but the process is
//! about to end anyway. The handler may wait for a lock that the thread itself
//! holds, so everything here happens on a thread that the watchdog waits for
//! only so long: without stacks it reports what it can.
//!
//! [`Backtrace`]: std::backtrace::Backtrace

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::threads::Sample;

mod backtrace;
mod capture;
mod stack;

pub(crate) use stack::{Activity, Frame, Origin, ThreadStack};

/// How long all of it may take. Resolving the first address reads the
/// program's line tables, which takes long on a loaded machine.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most threads that are asked: a check may have hundreds, most of them at
/// the same place.
const MAX_THREADS: usize = 12;

/// Finds out where the sampled threads are, in the order of the samples.
/// `folder` is the exercise's: files in it are shown without their folder.
/// Returns nothing if the system, or the program's state, doesn't allow it.
pub(crate) fn capture_all(samples: &[Sample], folder: &str) -> Vec<Option<ThreadStack>> {
    let (sender, receiver) = mpsc::channel();
    let (asked, folder) = (samples.to_vec(), folder.to_owned());
    let collector = thread::Builder::new().name("stacks".to_owned());
    let started = collector.spawn(move || {
        let asked = asked.iter().take(MAX_THREADS);
        // All threads first, because resolving takes longer than capturing.
        let captured: Vec<_> = asked
            .map(|sample| (sample, capture::backtrace_of(sample.id)))
            .collect();
        let stacks = captured.into_iter().map(|(sample, backtrace)| {
            let text = format!("{:?}", backtrace?);
            Some(backtrace::stack(sample, &text, &folder))
        });
        let _ = sender.send(stacks.collect::<Vec<_>>());
    });
    let taken = started
        .ok()
        .and_then(|_| receiver.recv_timeout(TIMEOUT).ok());
    let mut stacks = taken.unwrap_or_default();
    stacks.resize(samples.len(), None);
    stacks
}

/// The innermost frame of the code under test on this thread.
pub(crate) fn innermost_subject() -> Option<Frame> {
    let backtrace = format!("{:?}", std::backtrace::Backtrace::force_capture());
    let mut frames = backtrace::frames(&backtrace, "").into_iter();
    frames.find(|frame| frame.origin == Origin::Subject)
}
