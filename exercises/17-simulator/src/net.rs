//! A network in memory, with the methods of `runtime::net` that the program
//! needs. The seed decides how long a segment takes, and which connections fail,
//! when and how.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::time::{sleep, sleep_until};
use super::{Timer, Wire, World};

const MS: Duration = Duration::from_millis(1);

/// What goes wrong, and how often: once in so many cases, and never if it's 0.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    /// Connections that are refused.
    pub refused: u64,
    /// Connections that are reset within half a second.
    pub reset: u64,
    /// Connections that fall silent within half a second: no byte arrives from
    /// then on, and neither side is told.
    pub silent: u64,
    /// Segments that take up to 300 ms, and not up to 5 ms.
    pub slow: u64,
    /// Reads and writes that move only a part of what they could.
    pub short: u64,
    /// From this time on, all goes well.
    pub until: Duration,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            refused: 30,
            reset: 8,
            silent: 15,
            slow: 30,
            short: 4,
            until: Duration::from_secs(10),
        }
    }
}

impl Faults {
    /// A network in which nothing goes wrong.
    pub const NONE: Self = Self {
        refused: 0,
        reset: 0,
        silent: 0,
        slow: 0,
        short: 0,
        until: Duration::ZERO,
    };
}

/// The network of one world.
#[derive(Default)]
pub struct Network {
    pub(super) faults: Faults,
    listeners: BTreeMap<SocketAddr, Rc<RefCell<Backlog>>>,
    partitions: Vec<Partition>,
    port_count: u16,
}

struct Partition {
    hosts: [IpAddr; 2],
    until: Duration,
}

/// Cuts the connections between two hosts. What they send arrives after
/// `duration`, as if it were sent only then.
///
/// # Panics
///
/// If no simulation runs on this thread.
pub fn partition(one: IpAddr, other: IpAddr, duration: Duration) {
    let world = World::current();
    let until = world.now() + duration;
    world.note(format!("{one} and {other} are cut off for {duration:?}"));
    world.network.borrow_mut().partitions.push(Partition {
        hosts: [one, other],
        until,
    });
}

/// Decides whether something happens that happens once in `count` cases.
fn strikes(world: &World, count: fn(&Faults) -> u64) -> bool {
    let faults = world.network.borrow().faults;
    let count = count(&faults);
    count > 0
        && world.now() < faults.until
        && world.random(|random| random.one_in(count))
}

/// Decides when what is sent now arrives.
fn arrival(world: &World, hosts: [IpAddr; 2]) -> Duration {
    let now = world.now();
    let is_slow = strikes(world, |faults| faults.slow);
    let range = if is_slow {
        5 * MS..300 * MS
    } else {
        MS / 5..5 * MS
    };
    let latency = world.random(|random| random.duration(range));
    let [from, to] = hosts;
    let mut network = world.network.borrow_mut();
    network.partitions.retain(|it| it.until > now);
    let cuts = network.partitions.iter();
    let cuts = cuts
        .filter(|it| it.hosts == [from, to] || it.hosts == [to, from])
        .map(|it| it.until);
    cuts.max().unwrap_or(now) + latency
}

/// A socket that accepts simulated connections.
pub struct TcpListener {
    address: SocketAddr,
    backlog: Rc<RefCell<Backlog>>,
}

#[derive(Default)]
struct Backlog {
    streams: VecDeque<TcpStream>,
    waiting: Vec<Waker>,
}

impl TcpListener {
    /// Listens at `address`. With port 0, a free port is chosen.
    ///
    /// # Errors
    ///
    /// Returns `AddrInUse` if there is a listener already.
    ///
    /// # Panics
    ///
    /// If no simulation runs on this thread.
    pub fn bind(mut address: SocketAddr) -> io::Result<Self> {
        let world = World::current();
        let mut network = world.network.borrow_mut();
        if address.port() == 0 {
            address.set_port(network.new_port());
        }
        let backlog = Rc::new(RefCell::new(Backlog::default()));
        if network.listeners.contains_key(&address) {
            return Err(ErrorKind::AddrInUse.into());
        }
        network.listeners.insert(address, backlog.clone());
        Ok(Self { address, backlog })
    }

    /// Waits for a connection, and returns the stream and the peer's address.
    ///
    /// # Errors
    ///
    /// None, so far: the interface is that of a real listener.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        poll_fn(|cx| {
            let mut backlog = self.backlog.borrow_mut();
            let Some(stream) = backlog.streams.pop_front() else {
                backlog.waiting.push(cx.waker().clone());
                return Poll::Pending;
            };
            let peer = stream.peer_addr()?;
            Poll::Ready(Ok((stream, peer)))
        })
        .await
    }

    /// Returns the address that the listener is bound to.
    ///
    /// # Errors
    ///
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        if let Some(world) = World::try_current() {
            world.network.borrow_mut().listeners.remove(&self.address);
        }
    }
}

impl Network {
    fn new_port(&mut self) -> u16 {
        self.port_count += 1;
        1_023 + self.port_count
    }
}

/// A simulated connection, as one of its two ends sees it.
pub struct TcpStream {
    connection: Rc<RefCell<Connection>>,
    side: usize,
}

struct Connection {
    ends: [End; 2],
    reset_at: Option<Duration>,
    silent_from: Option<Duration>,
}

struct End {
    address: SocketAddr,
    /// What this end reads.
    incoming: Wire,
    reader: Option<Waker>,
    timer: Option<Timer>,
    /// Whether this end may still write, and whether it exists.
    is_open: bool,
    is_dropped: bool,
}

impl TcpStream {
    /// Connects to `address`.
    ///
    /// # Errors
    ///
    /// Returns `ConnectionRefused` if no listener is there, or by chance.
    ///
    /// # Panics
    ///
    /// When first polled, if no simulation runs on this thread.
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        let world = World::current();
        let port = world.network.borrow_mut().new_port();
        let local = SocketAddr::new(world.host(), port);
        let hosts = [local.ip(), address.ip()];
        sleep_until(arrival(&world, hosts)).await;
        let is_refused = strikes(&world, |faults| faults.refused);
        let listener = world.network.borrow().listeners.get(&address).cloned();
        let accepted = listener.filter(|_| !is_refused).map(|backlog| {
            let (client, server) = Connection::pair(&world, local, address);
            let mut backlog = backlog.borrow_mut();
            backlog.streams.push_back(server);
            let waiting = backlog.waiting.drain(..);
            waiting.for_each(Waker::wake);
            client
        });
        sleep_until(arrival(&world, hosts)).await;
        accepted.ok_or_else(|| ErrorKind::ConnectionRefused.into())
    }

    /// Reads some bytes, and returns how many; 0 is the end of the stream.
    ///
    /// # Errors
    ///
    /// Returns `ConnectionReset` if the connection was reset.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_read(cx, buffer)).await
    }

    /// Polls for bytes, as [`read`](Self::read) does.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn poll_read(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let world = World::current();
        let now = world.now();
        let mut connection = self.connection.borrow_mut();
        connection.check(now)?;
        let length = part_of(&world, buffer.len());
        let end = &mut connection.ends[self.side];
        let received = end.incoming.receive(now, &mut buffer[..length]);
        if let Some(count) = received {
            return Poll::Ready(Ok(count));
        }
        end.reader = Some(cx.waker().clone());
        connection.wake_reader_when_due(&world, self.side);
        Poll::Pending
    }

    /// Writes some bytes, and returns how many.
    ///
    /// # Errors
    ///
    /// Returns `ConnectionReset` if the connection was reset, and `BrokenPipe`
    /// after a [`shutdown`](Self::shutdown).
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let world = World::current();
        if strikes(&world, |faults| 2 * faults.short) {
            let pause = world.random(|random| random.duration(MS / 5..5 * MS));
            sleep(pause).await;
        }
        let now = world.now();
        let mut connection = self.connection.borrow_mut();
        connection.check(now)?;
        if !connection.ends[self.side].is_open {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let length = part_of(&world, bytes.len());
        let arrival = arrival(&world, connection.hosts());
        let peer = 1 - self.side;
        if connection.ends[peer].is_dropped {
            // Its host answers that there's no such connection.
            connection.reset(&world, arrival + 5 * MS);
        } else if !connection.is_silent(now) {
            let incoming = &mut connection.ends[peer].incoming;
            incoming.send(&bytes[..length], arrival);
            connection.wake_reader_when_due(&world, peer);
        }
        Ok(length)
    }

    /// Writes all the bytes.
    ///
    /// # Errors
    ///
    /// As for [`write`](Self::write). Some bytes may have been written by then.
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = self.write(bytes).await?;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Ends the stream in the direction in which this end writes. Reading goes
    /// on, so `Shutdown::Read` has no effect.
    ///
    /// # Errors
    ///
    /// Returns `ConnectionReset` if the connection was reset.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let world = World::current();
        let mut connection = self.connection.borrow_mut();
        connection.check(world.now())?;
        if !matches!(how, Shutdown::Read) {
            connection.end(&world, self.side);
        }
        Ok(())
    }

    /// Returns the address of the other end.
    ///
    /// # Errors
    ///
    /// None.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.connection.borrow().ends[1 - self.side].address)
    }

    /// Returns the address of this end.
    ///
    /// # Errors
    ///
    /// None.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.connection.borrow().ends[self.side].address)
    }
}

impl Drop for TcpStream {
    fn drop(&mut self) {
        let Some(world) = World::try_current() else {
            return;
        };
        let mut connection = self.connection.borrow_mut();
        connection.end(&world, self.side);
        let end = &mut connection.ends[self.side];
        end.is_dropped = true;
        let reader = end.reader.take();
        let timer = end.timer.take();
        drop(connection);
        drop(reader);
        if let Some(timer) = timer {
            world.cancel(timer);
        }
    }
}

/// How many of `length` bytes one call moves: at least one, if there is one.
fn part_of(world: &World, length: usize) -> usize {
    if length > 1 && strikes(world, |faults| faults.short) {
        return 1 + world.random(|it| it.below(length as u64 - 1)) as usize;
    }
    length
}

impl Connection {
    /// Creates the two ends of a connection, and decides what becomes of it.
    fn pair(
        world: &World,
        client: SocketAddr,
        server: SocketAddr,
    ) -> (TcpStream, TcpStream) {
        let soon = |world: &World| {
            world.now() + world.random(|it| it.duration(MS..500 * MS))
        };
        let reset = strikes(world, |it| it.reset).then(|| soon(world));
        let silent = strikes(world, |it| it.silent).then(|| soon(world));
        if let Some(at) = reset {
            world.note(format!("{client} to {server} is reset at {at:?}"));
        }
        if let Some(at) = silent {
            world.note(format!("{client} to {server} is silent from {at:?}"));
        }
        let connection = Rc::new(RefCell::new(Self {
            ends: [client, server].map(End::new),
            reset_at: reset,
            silent_from: silent,
        }));
        let end = |side| TcpStream {
            connection: connection.clone(),
            side,
        };
        (end(0), end(1))
    }

    fn check(&self, now: Duration) -> io::Result<()> {
        match self.reset_at {
            Some(at) if at <= now => Err(ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        }
    }

    fn hosts(&self) -> [IpAddr; 2] {
        [self.ends[0].address.ip(), self.ends[1].address.ip()]
    }

    fn is_silent(&self, now: Duration) -> bool {
        self.silent_from.is_some_and(|from| from <= now)
    }

    fn reset(&mut self, world: &World, time: Duration) {
        self.reset_at = Some(self.reset_at.unwrap_or(time).min(time));
        for side in [0, 1] {
            self.wake_reader_when_due(world, side);
        }
    }

    /// Ends what one side writes.
    fn end(&mut self, world: &World, side: usize) {
        if self.ends[side].is_open && !self.is_silent(world.now()) {
            let arrival = arrival(world, self.hosts());
            self.ends[1 - side].incoming.end(arrival);
            self.wake_reader_when_due(world, 1 - side);
        }
        self.ends[side].is_open = false;
    }

    /// If a task waits for bytes, has it woken when there's something to know.
    fn wake_reader_when_due(&mut self, world: &World, side: usize) {
        let reset_at = self.reset_at;
        let end = &mut self.ends[side];
        if let Some(timer) = end.timer.take() {
            world.cancel(timer);
        }
        let times = [end.incoming.next_arrival(), reset_at];
        let first = times.into_iter().flatten().min();
        if let (Some(time), Some(reader)) = (first, &end.reader) {
            end.timer = Some(world.wake_at(time, reader.clone()));
        }
    }
}

impl End {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            incoming: Wire::new(),
            reader: None,
            timer: None,
            is_open: true,
            is_dropped: false,
        }
    }
}
