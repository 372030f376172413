//! The program's two streams of output, in the order in which it wrote them.
//!
//! Two pipes have no common order: what has come in one of them may be older or newer
//! than what has come in the other. So a write to standard error waits, by the filter
//! of the doorkeeper, until everything that standard output holds has been read.
//! What is found in standard output later was written after that. If both pipes have
//! something then, the errors are the older.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::news::News;
use super::protocol::Stream;

/// How much a pipe holds, unless it was asked to hold more.
const PIPE_BYTES: usize = 64 * 1024;

/// The ends from which both streams are read.
pub struct Streams {
    pipes: Mutex<Pipes>,
}

struct Pipes {
    output: Option<PipeReader>,
    errors: Option<PipeReader>,
    news: SyncSender<News>,
}

impl Streams {
    /// Makes the pipes, and returns the ends that the program is to have, standard
    /// output's first.
    ///
    /// # Errors
    ///
    /// When the system has no pipe left.
    pub fn open(news: &SyncSender<News>) -> io::Result<(Arc<Self>, [PipeWriter; 2])> {
        let (output, to_output) = io::pipe()?;
        let (errors, to_errors) = io::pipe()?;
        for pipe in [&output, &errors] {
            // SAFETY: this command of `fcntl` takes an integer and touches no memory;
            // the descriptor is open.
            if unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        let pipes = Pipes {
            output: Some(output),
            errors: Some(errors),
            news: news.clone(),
        };
        let streams = Self {
            pipes: Mutex::new(pipes),
        };
        Ok((Arc::new(streams), [to_output, to_errors]))
    }

    /// Reads both streams on a thread of its own, until they end.
    pub fn follow(self: Arc<Self>) {
        thread::spawn(move || {
            while let Some(descriptors) = self.descriptors() {
                wait_for_any(descriptors);
                self.drain();
            }
        });
    }

    /// Reads all that is in the pipes now, and not without end what comes meanwhile.
    pub fn drain(&self) {
        let mut pipes = self.pipes();
        let mut read = 0;
        while read < PIPE_BYTES {
            let output = Pipes::read(&mut pipes.output);
            // These are read after the output, and are older.
            while let Some(errors) = Pipes::read(&mut pipes.errors) {
                pipes.tell(Stream::Err, errors);
            }
            let Some(output) = output else { return };
            read += output.len();
            pipes.tell(Stream::Out, output);
        }
    }

    /// The descriptors of what is still open, or `None` when nothing is. The kernel
    /// overlooks negative ones.
    fn descriptors(&self) -> Option<[libc::c_int; 2]> {
        let pipes = self.pipes();
        let of = |pipe: &Option<PipeReader>| pipe.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let both = [of(&pipes.output), of(&pipes.errors)];
        (both != [-1, -1]).then_some(both)
    }

    fn pipes(&self) -> MutexGuard<'_, Pipes> {
        self.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pipes {
    /// Returns what is in a pipe: nothing if it is empty or has been closed, and an
    /// empty piece at its end, which closes it.
    fn read(pipe: &mut Option<PipeReader>) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let length = match pipe.as_mut()?.read(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(_) => 0,
            };
            buffer.truncate(length);
            if length == 0 {
                *pipe = None;
            }
            return Some(buffer);
        }
    }

    fn tell(&self, stream: Stream, piece: Vec<u8>) {
        // If no one listens, the launcher is about to end.
        let _over = self.news.send(News::Output(stream, piece));
    }
}

fn wait_for_any(descriptors: [libc::c_int; 2]) {
    let mut asked = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: the pointer is to two `pollfd`s that outlive the call. After an error,
    // the pipes are looked at all the same.
    unsafe { libc::poll(asked.as_mut_ptr(), 2, -1) };
}
