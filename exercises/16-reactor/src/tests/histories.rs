//! Clauses 1 to 3, 7, 8 and 11: every short history of calls beside what the
//! contract says of it. The driver, two streams and a sleep have one thread.

use std::fmt;
use std::io::Result;

use super::*;

/// The streams.
const STREAMS: [&str; 2] = ["A", "B"];
/// A sleep lasts this long, unless it's put off.
const SHORT: Duration = Duration::from_micros(20);
/// It may be woken as late as this.
const LATE: Duration = Duration::from_millis(2);
/// It's put off this far.
const LONG: Duration = Duration::from_secs(3_600);
/// In the end, what's due has to come within this time.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most calls of a history.
const LONGEST: usize = 4;

#[derive(Clone, Copy, PartialEq)]
enum Call {
    /// The peer of this stream sends a byte.
    Send(usize),
    /// A read of this stream is polled with a new waker. It begins if there's
    /// none.
    Read(usize),
    /// The read is dropped.
    Leave(usize),
    /// The same for a sleep.
    Sleep,
    /// The sleep's deadline is moved.
    PutOff,
    Unpark,
    Wait,
    Look,
    /// `dispatch` of so many events.
    Dispatch(usize),
}

use Call::*;

const OF_STREAMS: &[Call] = &[
    Send(0),
    Send(1),
    Read(0),
    Read(1),
    Leave(0),
    Leave(1),
    Unpark,
    Wait,
    Look,
    Dispatch(1),
    Dispatch(usize::MAX),
];

const OF_A_SLEEP: &[Call] = &[
    Sleep,
    PutOff,
    Send(0),
    Read(0),
    Wait,
    Unpark,
    Look,
    Dispatch(0),
    Dispatch(2),
    Dispatch(usize::MAX - 1),
    Dispatch(usize::MAX),
];

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Send(at) => write!(f, "a byte for {}", STREAMS[at]),
            Read(at) => write!(f, "a poll of a read of {}", STREAMS[at]),
            Leave(at) => write!(f, "the drop of the read of {}", STREAMS[at]),
            Sleep => f.write_str("a poll of a short sleep"),
            PutOff => f.write_str("`reset` of the sleep to an hour"),
            Unpark => f.write_str("`unpark`"),
            Wait => f.write_str("`wait`"),
            Look => f.write_str("`look`"),
            Dispatch(usize::MAX) => f.write_str("`dispatch(usize::MAX)`"),
            Dispatch(most) => write!(f, "`dispatch({most})`"),
        }
    }
}

/// A stream, and what the contract says of it.
struct Stream {
    stream: Arc<TcpStream>,
    peer: StdStream,
    /// How many bytes have come.
    bytes: usize,
    read: Option<(Waiting<'static, Result<usize>>, Arc<WakeCounts>)>,
}

impl Stream {
    fn new() -> Self {
        let (stream, peer) = pair();
        Self {
            stream: Arc::new(stream),
            peer,
            bytes: 0,
            read: None,
        }
    }

    fn wakes(&self) -> usize {
        self.read.as_ref().map_or(0, |(_, counts)| counts.wakes())
    }
}

struct Scene {
    driver: Endless<Driver>,
    streams: [Stream; 2],
    sleep: Option<(Pin<Box<super::super::Sleep>>, Arc<WakeCounts>)>,
    /// There's a token.
    is_unparked: bool,
    /// The driver has fetched, and hasn't dispatched all.
    has_fetched: bool,
    /// At the last fetch, the sleep was due.
    is_due: bool,
}

impl Scene {
    fn is_possible(&self, call: Call) -> bool {
        match call {
            Send(at) => self.streams[at].bytes < 2,
            Leave(at) => self.streams[at].read.is_some(),
            PutOff => self.sleep.is_some(),
            // Otherwise it may block.
            Wait => self.is_unparked && !self.has_fetched,
            Look => !self.has_fetched,
            Dispatch(_) => self.has_fetched,
            Read(_) | Sleep | Unpark => true,
        }
    }

    /// How often those who wait have been woken: the reads, and the sleep.
    fn wakes(&self) -> [usize; 3] {
        let sleep = self.sleep.as_ref().map_or(0, |(_, it)| it.wakes());
        [self.streams[0].wakes(), self.streams[1].wakes(), sleep]
    }

    /// Makes the call. Returns what the contract doesn't allow.
    fn make(&mut self, call: Call) -> Option<&'static str> {
        match call {
            Send(at) => {
                let stream = &mut self.streams[at];
                stream.peer.write_all(b"!").unwrap();
                stream.bytes += 1;
                None
            }
            Read(at) => self.read(at),
            Leave(at) => {
                let (read, counts) = self.streams[at].read.take()?;
                drop(read);
                let is_left = counts.clones() + 1 > counts.drops();
                is_left.then_some("the read was dropped, and left its waker")
            }
            Sleep => {
                let handle = self.driver.handle();
                let sleep = self.sleep.take().map(|(sleep, _)| sleep);
                let mut sleep =
                    sleep.unwrap_or_else(|| Box::pin(handle.sleep(SHORT)));
                let (waker, counts) = CountingWaker::new();
                let mut cx = Context::from_waker(&waker);
                match sleep.as_mut().poll(&mut cx) {
                    Poll::Pending => self.sleep = Some((sleep, counts)),
                    Poll::Ready(()) => {
                        self.is_due = false;
                        let is_early = Instant::now() < sleep.deadline();
                        return is_early.then_some("the sleep was ready early");
                    }
                }
                None
            }
            PutOff => {
                let (mut sleep, _) = self.sleep.take()?;
                sleep.as_mut().get_mut().reset(Instant::now() + LONG);
                let (waker, counts) = CountingWaker::new();
                let mut cx = Context::from_waker(&waker);
                let is_ready = sleep.as_mut().poll(&mut cx).is_ready();
                self.sleep = Some((sleep, counts));
                self.is_due = false;
                is_ready.then_some("the sleep was put off, and was ready")
            }
            Unpark => {
                self.driver.handle().unpark();
                self.is_unparked = true;
                None
            }
            Wait | Look => self.fetch(call),
            Dispatch(most) => self.dispatch(most),
        }
    }

    fn read(&mut self, at: usize) -> Option<&'static str> {
        let it = &mut self.streams[at];
        let read = it.read.take().map(|(read, _)| read);
        let mut read = read.unwrap_or_else(|| {
            let stream = it.stream.clone();
            Box::pin(async move { stream.read(&mut [0]).await })
        });
        let (waker, counts) = CountingWaker::new();
        match read.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => {
                it.read = Some((read, counts));
                None
            }
            Poll::Ready(Ok(1)) if it.bytes > 0 => {
                it.bytes -= 1;
                None
            }
            Poll::Ready(_) => Some("the read returned what hasn't come"),
        }
    }

    fn fetch(&mut self, call: Call) -> Option<&'static str> {
        let before = self.wakes();
        // A sleep that's due by now has to be seen.
        if let Some((sleep, _)) = &self.sleep
            && sleep.deadline() < Instant::now() + LONG / 2
        {
            while Instant::now() <= sleep.deadline() + LATE {
                std::hint::spin_loop();
            }
            self.is_due = true;
        }
        if call == Wait {
            self.driver.wait();
            self.is_unparked = false;
        } else {
            self.driver.look();
        }
        self.has_fetched = true;
        (self.wakes() != before).then_some("that woke a task")
    }

    fn dispatch(&mut self, most: usize) -> Option<&'static str> {
        let before = self.wakes();
        let is_left = self.driver.dispatch(most);
        let after = self.wakes();
        let is_woken = [0, 1, 2].map(|at| after[at] > before[at]);
        self.has_fetched = is_left;
        let streams = is_woken[..2].iter().filter(|it| **it).count();
        if streams > most {
            return Some("that woke the tasks of too many streams");
        }
        let is_asleep = self.is_due && after[2] == 0;
        if most == usize::MAX {
            self.is_due = false;
            return (is_asleep && !is_left)
                .then_some("that woke no task, and the sleep was due");
        }
        if is_woken[2] {
            return Some("that woke the sleep");
        }
        (is_asleep && !is_left)
            .then_some("that returned `false`, and the sleep was due")
    }

    /// Has all that's due come, and takes it.
    fn end(&mut self) -> Option<&'static str> {
        while self.has_fetched {
            if let Some(wrong) = self.dispatch(usize::MAX) {
                return Some(wrong);
            }
        }
        let start = Instant::now();
        for at in [0, 1] {
            while self.streams[at].bytes > 0 {
                let is_pending = self.streams[at].read.is_some();
                if (!is_pending || self.streams[at].wakes() > 0)
                    && let Some(wrong) = self.read(at)
                {
                    return Some(wrong);
                }
                self.driver.look();
                while self.driver.dispatch(usize::MAX) {}
                if start.elapsed() > PATIENCE {
                    return Some("a byte has come, and its read isn't woken");
                }
            }
            self.streams[at].read = None;
        }
        if self.is_unparked {
            self.driver.wait();
        }
        self.driver.look();
        while self.driver.dispatch(usize::MAX) {}
        self.sleep = None;
        self.is_unparked = false;
        self.has_fetched = false;
        self.is_due = false;
        None
    }
}

/// Makes each history of this many calls. Each of them leaves the streams empty.
fn make_each_history(scene: &mut Scene, calls: &[Call], length: usize) {
    // The place in `calls` of each call that's made.
    let mut history = vec![0; length];
    loop {
        let mut wrong = None;
        let mut made = 0;
        for at in &history {
            if !scene.is_possible(calls[*at]) {
                break;
            }
            made += 1;
            wrong = scene.make(calls[*at]);
            if wrong.is_some() {
                break;
            }
        }
        let wrong = wrong.or_else(|| scene.end());
        if let Some(wrong) = wrong {
            let made = history[..made].iter().map(|at| calls[*at].to_string());
            let made: Vec<_> = made.collect();
            panic!("{}: {wrong}", made.join(", "));
        }
        // The next history that doesn't begin with what isn't possible.
        history.truncate((made + 1).min(length));
        while history.last().is_some_and(|at| at + 1 == calls.len()) {
            history.pop();
        }
        match history.last_mut() {
            Some(at) => *at += 1,
            None => return,
        }
        history.resize(length, 0);
    }
}

/// Clause 7: time goes on while events come. What each call does depends on the
/// calls before it.
#[test]
fn every_history_of_calls_goes_as_the_contract_says() {
    let lesson = Lesson {
        clause: "7. Sleep",
        promise: "Whatever calls come one after the other, only `dispatch` wakes tasks, each byte \
                  is read once, a read or a sleep that's due is woken, and what is dropped leaves \
                  nothing behind.",
        usual_cause: "A call leaves something behind that only another call takes away, or takes \
                      away what another call needs. The other checks that fail name the mistake.",
        read: "io/reactor.html#time-in-the-same-wait",
    };
    check(lesson, || {
        let driver = driver();
        let _entered = driver.handle().enter();
        let mut scene = Scene {
            driver,
            streams: [(); 2].map(|()| Stream::new()),
            sleep: None,
            is_unparked: false,
            has_fetched: false,
            is_due: false,
        };
        // The shortest history that goes wrong is the one to show.
        for length in 1..=LONGEST {
            make_each_history(&mut scene, OF_STREAMS, length);
            // Each of these takes milliseconds.
            make_each_history(&mut scene, OF_A_SLEEP, length - 1);
        }
    });
}
