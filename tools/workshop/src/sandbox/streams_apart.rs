//! The program's two streams of output, each read as it comes. Where the order of
//! both can't be known, it is only nearly that in which they were written.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::news::News;
use super::protocol::Stream;

/// The ends from which both streams are read.
pub struct Streams {
    pipes: Mutex<Vec<(Stream, PipeReader)>>,
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
        let streams = Self {
            pipes: Mutex::new(vec![(Stream::Out, output), (Stream::Err, errors)]),
            news: news.clone(),
        };
        Ok((Arc::new(streams), [to_output, to_errors]))
    }

    /// Reads each stream on a thread of its own, until it ends.
    pub fn follow(self: Arc<Self>) {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        for (stream, pipe) in pipes.drain(..) {
            spawn_reader(stream, pipe, self.news.clone());
        }
    }
}

fn spawn_reader(stream: Stream, mut pipe: PipeReader, news: SyncSender<News>) {
    thread::spawn(move || {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let length = match pipe.read(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let told = news.send(News::Output(stream, buffer[..length].to_vec()));
            if length == 0 || told.is_err() {
                return;
            }
        }
    });
}
