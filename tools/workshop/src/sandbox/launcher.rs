//! The launcher's side: one process for each sandboxed program.

use std::io::{self, BufRead, PipeWriter, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::news::News;
use super::pieces::Pieces;
use super::platform;
use super::protocol::{Cause, Ended, Limits, Order, Report, Stream};
use super::streams::Streams;
use crate::removal::room_taken;

/// How often to look whether a limit is reached.
const TICK: Duration = Duration::from_millis(50);

/// How often to look how much room on disk the program takes.
const DISK_EVERY: Duration = Duration::from_millis(200);

/// How long to go on ending descendants before giving up on those that the
/// kernel doesn't let go.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads an [`Order`] from standard input, carries it out, and writes
/// [`Report`]s to standard output.
pub fn launch() -> ExitCode {
    match carry_out() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If the server doesn't listen either, there's nothing left to tell.
            let _gone = report(&Report::Refused(error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn carry_out() -> io::Result<()> {
    platform::leave_terminal();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line)?;

    let (news, inbox) = sync_channel(16);
    let (streams, ends) = Streams::open(&news)?;
    let fence = platform::Fence::raise(&order.limits, &news, &streams)?;
    let started = Instant::now();
    // The command goes at once: while it has the ends, the streams don't end.
    let child = command(&order, ends).spawn().map_err(|error| {
        let program = order.program.display();
        io::Error::other(format!("`{program}` cannot be started: {error}"))
    })?;
    streams.follow();
    spawn_lifeline(news.clone());
    let family = platform::Family::new(&child, fence);
    platform::spawn_reaper(child, news);

    let mut watch = Watch {
        limits: order.limits,
        folder: order.folder,
        inbox,
        written: 0,
        pieces: Default::default(),
        open_streams: 2,
        childless: false,
    };
    let cause = watch.until_the_end(started, &family);
    let time = started.elapsed();
    watch.end_all(&family);
    watch.pass_on_rest()?;
    report(&Report::Ended(Ended { cause, time }))
}

fn command(order: &Order, [output, errors]: [PipeWriter; 2]) -> Command {
    let mut command = Command::new(&order.program);
    if !order.inherit_environment {
        command.env_clear();
    }
    command
        .args(&order.arguments)
        .current_dir(&order.folder)
        .envs(order.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors);
    platform::confine(&mut command, &order.limits);
    command
}

fn spawn_lifeline(news: SyncSender<News>) {
    thread::spawn(move || {
        // The server sends nothing after the order, so the end of this read
        // means that the program is no longer wanted.
        let _end = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _over = news.send(News::Cut);
    });
}

/// What the main thread keeps while the program runs.
struct Watch {
    limits: Limits,
    folder: PathBuf,
    inbox: Receiver<News>,
    written: u64,
    pieces: [Pieces; 2],
    open_streams: usize,
    childless: bool,
}

impl Watch {
    /// Passes output on until the program ends or a limit is reached.
    fn until_the_end(&mut self, started: Instant, family: &platform::Family) -> Cause {
        let mut census = family.census();
        let mut disk_due = Instant::now() + DISK_EVERY;
        loop {
            if started.elapsed() >= self.limits.wall {
                return Cause::Timeout;
            }
            let left = self.limits.wall.saturating_sub(started.elapsed());
            match self.inbox.recv_timeout(TICK.min(left)) {
                Ok(news) => {
                    if let Some(cause) = self.take(news) {
                        return cause;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the lifeline still reads"),
            }
            if self.pass_on_overdue().is_err() {
                return Cause::Cancelled;
            }
            if let Some(usage) = census.take_if_due() {
                if usage.processes > self.limits.processes {
                    return Cause::ProcessLimit;
                }
                if usage.threads > self.limits.threads {
                    return Cause::ThreadLimit;
                }
                if usage.memory_bytes > self.limits.memory_bytes {
                    return Cause::MemoryLimit;
                }
            }
            if let Some(most) = self.limits.disk_bytes
                && Instant::now() >= disk_due
            {
                let looked = Instant::now();
                if room_taken(&self.folder, most) > most {
                    return Cause::DiskLimit;
                }
                // A folder with many files is looked at less often.
                disk_due = Instant::now() + DISK_EVERY.max(looked.elapsed() * 10);
            }
        }
    }

    /// Ends every descendant, and passes on the output they left in the pipes.
    fn end_all(&mut self, family: &platform::Family) {
        let deadline = Instant::now() + PATIENCE;
        // A well-behaved program leaves nothing, and that is known in a moment.
        self.take_all_within(Duration::from_millis(1));
        while !self.is_over() && Instant::now() < deadline {
            if !self.childless {
                family.kill();
            }
            self.take_all_within(Duration::from_millis(2));
        }
    }

    /// Takes news until all is over or this time has passed. Output that is
    /// no longer wanted is dropped here as well.
    fn take_all_within(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_over() && Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            if let Ok(news) = self.inbox.recv_timeout(left) {
                self.take(news);
            }
        }
    }

    fn is_over(&self) -> bool {
        self.childless && self.open_streams == 0
    }

    /// Returns what ends the program, if this news does.
    fn take(&mut self, news: News) -> Option<Cause> {
        match news {
            News::Output(stream, bytes) => self.pass_on(stream, bytes),
            News::Ended(cause) => Some(cause),
            News::Cut => Some(Cause::Cancelled),
            News::Childless => {
                self.childless = true;
                None
            }
        }
    }

    /// Passes on the beginnings of lines whose ends don't come.
    fn pass_on_overdue(&mut self) -> io::Result<()> {
        let now = Instant::now();
        for stream in [Stream::Out, Stream::Err] {
            let text = self.pieces[stream as usize].overdue(now);
            if !text.is_empty() {
                report(&Report::Output(stream, text))?;
            }
        }
        Ok(())
    }

    /// Passes on what is held of streams that the kernel doesn't let end.
    fn pass_on_rest(&mut self) -> io::Result<()> {
        for stream in [Stream::Out, Stream::Err] {
            let text = self.pieces[stream as usize].finish();
            if !text.is_empty() {
                report(&Report::Output(stream, text))?;
            }
        }
        Ok(())
    }

    fn pass_on(&mut self, stream: Stream, bytes: Vec<u8>) -> Option<Cause> {
        let pieces = &mut self.pieces[stream as usize];
        let room = self.limits.output_bytes - self.written;
        let fitting = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.written += fitting as u64;
        let text = if bytes.is_empty() {
            self.open_streams -= 1;
            pieces.finish()
        } else {
            pieces.push(&bytes[..fitting])
        };
        if !text.is_empty() {
            // The program has sent off this beginning of a line before.
            let before = match stream {
                Stream::Out => String::new(),
                Stream::Err => self.pieces[Stream::Out as usize].take_line(),
            };
            let told = [(Stream::Out, before), (stream, text)];
            for (stream, text) in told.into_iter().filter(|(_, text)| !text.is_empty()) {
                if report(&Report::Output(stream, text)).is_err() {
                    return Some(Cause::Cancelled);
                }
            }
        }
        let is_over = fitting < bytes.len() && !self.limits.cuts_output;
        is_over.then_some(Cause::OutputLimit)
    }
}

fn report(report: &Report) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line)?;
    stdout.flush()
}
