//! Runs a program that may misbehave, and ends everything it started.
//!
//! The server never starts such a program itself. It starts the *launcher*, this
//! same executable with a hidden argument, and tells it what to run. On Linux the
//! launcher adopts every orphan among its descendants, so nothing that the program
//! starts can get away: not by a new session, not by forking twice, not by
//! ignoring `SIGTERM`. The launcher ends them all when the program ends, when a
//! limit is reached, and when the pipe from the server closes, which happens even
//! if the server is killed.

#[cfg(target_os = "linux")]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    path = "open_door.rs"
)]
mod doorkeeper;
mod launcher;
#[cfg(unix)]
mod limits;
#[cfg(target_os = "linux")]
mod linux_processes;
mod news;
mod pieces;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "unix.rs")]
#[cfg_attr(not(unix), path = "portable.rs")]
mod platform;
mod protocol;
#[cfg(unix)]
mod reaper;
mod signals;
#[cfg_attr(not(target_os = "linux"), path = "streams_apart.rs")]
mod streams;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

pub use launcher::launch;
pub use protocol::{Cause, Ended, Limits, Order, Stream};

use protocol::Report;

/// The hidden argument that turns this executable into the launcher.
pub const LAUNCHER: &str = "__launch";

/// Runs the program to its end, and hands each piece of output to `on_output`.
/// When `cancelled` completes, or this future is dropped, the program and
/// everything it started is ended at once.
///
/// # Errors
///
/// When the program can't be started, or the launcher itself is killed.
pub async fn run(
    order: &Order,
    mut on_output: impl FnMut(Stream, String),
    cancelled: impl Future<Output = ()>,
) -> io::Result<Ended> {
    let mut launcher = start_launcher()?;
    let mut lifeline = launcher.stdin.take();
    let reports = launcher.stdout.take().expect("the output is piped");
    if let Some(pipe) = &mut lifeline {
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        pipe.write_all(&line).await?;
    }

    let mut reports = BufReader::new(reports).lines();
    let mut cancelled = std::pin::pin!(cancelled);
    let mut result = Err(io::Error::other("the launcher was killed"));
    loop {
        tokio::select! {
            line = reports.next_line() => match line? {
                Some(line) => match serde_json::from_str(&line)? {
                    Report::Output(stream, text) => on_output(stream, text),
                    Report::Ended(ended) => result = Ok(ended),
                    Report::Refused(error) => result = Err(io::Error::other(error)),
                },
                None => break,
            },
            () = &mut cancelled, if lifeline.is_some() => drop(lifeline.take()),
        }
    }
    drop(lifeline);
    launcher.wait().await?;
    result
}

fn start_launcher() -> io::Result<Child> {
    let mut command = Command::new(own_executable()?);
    command
        .arg(LAUNCHER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.spawn()
}

/// The path of this executable, which works on Linux even after cargo has
/// replaced the file by a newer build.
fn own_executable() -> io::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if cfg!(target_os = "linux") && link.exists() {
        return Ok(link.into());
    }
    std::env::current_exe()
}
