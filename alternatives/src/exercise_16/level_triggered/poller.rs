//! A poller on `poll(2)`.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::PoisonError;
use std::time::Duration;

use primitives::{Mutex, MutexGuard};

/// An event: what a source is ready for.
pub struct Found {
    pub key: usize,
    pub readable: bool,
    pub writable: bool,
}

/// Waits for the directions that are armed. A direction that's reported is no
/// longer armed.
pub struct Poller {
    state: Mutex<State>,
    /// What is written to the second comes out of the first, and ends a wait.
    interrupts: (UnixStream, UnixStream),
}

struct State {
    /// The sources, by their keys, with what is armed.
    armed: HashMap<usize, (RawFd, i16)>,
    /// Set while a thread waits with a list of its own.
    is_waiting: bool,
}

impl Poller {
    pub fn new() -> io::Result<Self> {
        let interrupts = UnixStream::pair()?;
        interrupts.0.set_nonblocking(true)?;
        interrupts.1.set_nonblocking(true)?;
        Ok(Self {
            state: Mutex::new(State {
                armed: HashMap::new(),
                is_waiting: false,
            }),
            interrupts,
        })
    }

    /// Adds a source, with no direction armed. The caller must delete it before
    /// it's closed.
    pub fn add(&self, source: BorrowedFd<'_>, key: usize) -> io::Result<()> {
        self.lock().armed.insert(key, (source.as_raw_fd(), 0));
        Ok(())
    }

    /// Arms these directions of a source, and disarms the others.
    pub fn arm(
        &self,
        source: BorrowedFd<'_>,
        key: usize,
        (read, write): (bool, bool),
    ) -> io::Result<()> {
        let read = if read { libc::POLLIN } else { 0 };
        let write = if write { libc::POLLOUT } else { 0 };
        let armed = (source.as_raw_fd(), read | write);
        self.change(|state| {
            state.armed.insert(key, armed);
        });
        Ok(())
    }

    /// Ends a wait, so that the kernel doesn't keep the source open.
    pub fn delete(&self, _source: BorrowedFd<'_>, key: usize) {
        self.change(|state| {
            state.armed.remove(&key);
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        if state.is_waiting {
            self.notify();
        }
    }

    /// Waits, at most for the given time, and adds what it finds.
    pub fn wait(&self, timeout: Option<Duration>, found: &mut Vec<Found>) {
        let (mut keys, mut list) = (Vec::new(), Vec::new());
        let mut state = self.lock();
        for (&key, &(source, events)) in &state.armed {
            if events != 0 {
                keys.push(key);
                list.push(entry(source, events));
            }
        }
        list.push(entry(self.interrupts.0.as_raw_fd(), libc::POLLIN));
        state.is_waiting = true;
        drop(state);
        poll(&mut list, timeout);
        while (&self.interrupts.0).read(&mut [0; 64]).is_ok() {}
        let mut state = self.lock();
        state.is_waiting = false;
        for (key, entry) in keys.into_iter().zip(list) {
            // An error and a hang-up are reported in both directions.
            let ends = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
            let is_over = entry.revents & ends != 0;
            let readable = is_over || entry.revents & libc::POLLIN != 0;
            let writable = is_over || entry.revents & libc::POLLOUT != 0;
            if !readable && !writable {
                continue;
            }
            if let Some((_, events)) = state.armed.get_mut(&key) {
                let read = if readable { libc::POLLIN } else { 0 };
                let write = if writable { libc::POLLOUT } else { 0 };
                *events &= !(read | write);
            }
            found.push(Found {
                key,
                readable,
                writable,
            });
        }
    }

    /// Ends the current wait, or the next one.
    pub fn notify(&self) {
        // If there's no room, what is there will end the wait.
        let _ = (&self.interrupts.1).write(&[0]);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry(fd: RawFd, events: i16) -> libc::pollfd {
    libc::pollfd {
        fd,
        events,
        revents: 0,
    }
}

fn poll(list: &mut [libc::pollfd], timeout: Option<Duration>) {
    // Rounded up, so that no sleep is early and none spins.
    let rounded = timeout.map(|it| it.as_nanos().div_ceil(1_000_000));
    let timeout =
        rounded.map_or(-1, |ms| i32::try_from(ms).unwrap_or(i32::MAX));
    let count = list.len() as libc::nfds_t;
    // SAFETY: the pointer and the count are those of one slice.
    let result = unsafe { libc::poll(list.as_mut_ptr(), count, timeout) };
    if result < 0 {
        let error = io::Error::last_os_error();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted, "{error}");
        list.iter_mut().for_each(|entry| entry.revents = 0);
    }
}
