//! The load generator: one thread sends requests on many connections, on each of
//! them at times that were set before.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream as StdStream};
use std::thread;
use std::time::{Duration, Instant};

use benches::random::Random;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n";
const SLOW_REQUEST: &[u8] = b"GET /slow HTTP/1.1\r\nhost: here\r\n\r\n";

/// The load that a server gets.
pub struct Load {
    pub active: usize,
    pub idle: usize,
    /// Requests per second, on all connections together. `None` sends each request
    /// as soon as the response before it has arrived.
    pub rate: Option<f64>,
    /// The number of requests after which a connection is closed and reopened.
    pub requests_each: Option<usize>,
    /// The share of requests to a slow handler.
    pub slow: f64,
    pub duration: Duration,
}

/// The results of one round.
#[derive(Default)]
pub struct Measured {
    /// For each request that isn't slow, the time from when it was due until its
    /// response had arrived. Sorted.
    pub latencies: Vec<Duration>,
    /// The number of requests that were answered, slow ones too.
    pub answered_count: usize,
    pub took: Duration,
    /// The CPU time that the server has used.
    pub processor_time: Duration,
}

impl Measured {
    /// Returns a percentile of the latencies, in thousandths: 990 is p99.
    pub fn latency(&self, per_mille: usize) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies
            .get(last * per_mille / 1_000)
            .copied()
            .unwrap_or_default()
    }
}

struct Connection {
    stream: TcpStream,
    /// When the next request is due. It may be in the past, if the response before
    /// it is late.
    due: Instant,
    /// When the request was due whose response hasn't arrived yet.
    asked: Option<Instant>,
    is_slow: bool,
    received: usize,
    answered_count: usize,
}

/// Puts the load on the server for the load's duration, after a warm-up of a quarter
/// of that time, which doesn't count. `used` returns the CPU time that the
/// server has used so far.
pub fn run(address: SocketAddr, load: &Load, used: impl Fn() -> Duration) -> io::Result<Measured> {
    super::server::raise_limit();
    let length = length_of_response(address)?;
    let mut idle = Vec::with_capacity(load.idle);
    for count in 1..=load.idle {
        idle.push(StdStream::connect(address)?);
        if count % 100 == 0 {
            // Otherwise the queue of connections that wait to be accepted may
            // overflow, and the kernel tries again only after a second.
            thread::sleep(Duration::from_millis(10));
        }
    }
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(1_024);
    let mut random = Random::new(7);
    let gap = load.rate.map(|rate| load.active as f64 / rate);
    // Exponentially distributed pauses, as if many independent clients sent the
    // requests (a Poisson process).
    let mut gaps = Random::new(11);
    let mut pause = move || match gap {
        Some(mean) => Duration::from_secs_f64(-mean * (1.0 - gaps.fraction()).ln()),
        None => Duration::ZERO,
    };
    let begun = Instant::now();
    // By then the server has accepted all connections, and its caches are warm.
    let start = begun + load.duration / 4;
    let mut connections = Vec::new();
    for index in 0..load.active {
        connections.push(Connection {
            stream: open(&poll, address, index)?,
            due: begun + pause(),
            asked: None,
            is_slow: false,
            received: 0,
            answered_count: 0,
        });
    }
    let mut latencies = Vec::new();
    let mut answered_count = 0;
    let end = start + load.duration;
    let mut processor_time = None;
    while Instant::now() < end {
        let now = Instant::now();
        if now >= start && processor_time.is_none() {
            processor_time = Some(used());
        }
        let mut next = end;
        for connection in &mut connections {
            if connection.asked.is_some() {
                continue;
            }
            if connection.due <= now {
                connection.is_slow = load.slow > 0.0 && random.fraction() < load.slow;
                connection.stream.write_all(match connection.is_slow {
                    true => SLOW_REQUEST,
                    false => REQUEST,
                })?;
                connection.asked = Some(connection.due);
                connection.due += pause();
            } else {
                next = next.min(connection.due);
            }
        }
        wait(
            &mut poll,
            &mut events,
            next.saturating_duration_since(Instant::now()),
        )?;
        for event in &events {
            let index = event.token().0;
            let connection = &mut connections[index];
            connection.receive()?;
            if connection.received < length {
                continue;
            }
            assert_eq!(connection.received, length, "a response has another length");
            connection.received = 0;
            let now = Instant::now();
            if let Some(asked) = connection.asked.take()
                && asked >= start
            {
                answered_count += 1;
                if !connection.is_slow {
                    latencies.push(now.duration_since(asked));
                }
            }
            if load.rate.is_none() {
                connection.due = now;
            }
            connection.answered_count += 1;
            if load.requests_each == Some(connection.answered_count) {
                connection.answered_count = 0;
                connection.stream = open(&poll, address, index)?;
            }
        }
    }
    drop(idle);
    latencies.sort_unstable();
    Ok(Measured {
        latencies,
        answered_count,
        took: load.duration,
        processor_time: used().saturating_sub(processor_time.unwrap_or_default()),
    })
}

impl Connection {
    fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4_096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.received += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }
}

fn open(poll: &Poll, address: SocketAddr, index: usize) -> io::Result<TcpStream> {
    let stream = StdStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let mut stream = TcpStream::from_std(stream);
    poll.registry()
        .register(&mut stream, Token(index), Interest::READABLE)?;
    Ok(stream)
}

/// Returns the length of a response in bytes. All responses are equally long.
fn length_of_response(address: SocketAddr) -> io::Result<usize> {
    let mut stream = StdStream::connect(address)?;
    stream.write_all(REQUEST)?;
    let mut response = Vec::new();
    while !response.ends_with(super::server::BODY.as_bytes()) {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        response.push(byte[0]);
    }
    Ok(response.len())
}

/// Waits for events. mio rounds its timeouts to milliseconds, so this waits for the
/// poller's descriptor with a finer timeout.
#[cfg(unix)]
fn wait(poll: &mut Poll, events: &mut Events, timeout: Duration) -> io::Result<()> {
    use std::os::fd::{AsRawFd, BorrowedFd};

    use rustix::event::{PollFd, PollFlags};
    {
        // SAFETY: the poller owns the descriptor and keeps it open during this block.
        let descriptor = unsafe { BorrowedFd::borrow_raw(poll.as_raw_fd()) };
        let mut waited = [PollFd::new(&descriptor, PollFlags::IN)];
        let timeout = timeout.try_into().map_err(io::Error::other)?;
        rustix::event::poll(&mut waited, Some(&timeout))?;
    }
    poll.poll(events, Some(Duration::ZERO))
}

#[cfg(not(unix))]
fn wait(poll: &mut Poll, events: &mut Events, timeout: Duration) -> io::Result<()> {
    poll.poll(events, Some(timeout))
}
