//! Everything is a list in the order of time: the wakers, and the segments,
//! which are the ends of ranges of one buffer. The loop and the search are the
//! solution's.

use std::task::Waker;
use std::time::Duration;

super::given! {}

#[path = "../../../solutions/17-simulator/src/drive.rs"]
mod drive;

pub use drive::{Failing, drive, find};

/// Virtual time, and the wakers that wait for it.
pub struct Clock {
    now: Duration,
    /// The last one is the next.
    waiting: Vec<(Duration, u64, Waker)>,
    timer_count: u64,
}

/// A waker's place in the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    number: u64,
}

impl Clock {
    /// Creates a clock that shows zero and on which nothing waits.
    #[expect(clippy::new_without_default, reason = "as in the exercise")]
    pub fn new() -> Self {
        Self {
            now: Duration::ZERO,
            waiting: Vec::new(),
            timer_count: 0,
        }
    }

    /// Returns the time that has passed since the clock was made.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Stores a waker that is due at `deadline`.
    pub fn wake_at(&mut self, deadline: Duration, waker: Waker) -> Timer {
        let number = self.timer_count;
        self.timer_count += 1;
        let index = self.waiting.partition_point(|it| it.0 > deadline);
        self.waiting.insert(index, (deadline, number, waker));
        Timer { number }
    }

    /// Takes a waker out again, unless it was due already.
    pub fn cancel(&mut self, timer: Timer) -> Option<Waker> {
        let mut numbers = self.waiting.iter().map(|it| it.1);
        let index = numbers.position(|number| number == timer.number)?;
        Some(self.waiting.remove(index).2)
    }

    /// Returns the earliest deadline that a waker waits for.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.waiting.last().map(|(deadline, ..)| *deadline)
    }

    /// Sets the clock, and takes out the wakers that are due.
    pub fn advance_to(&mut self, time: Duration) -> Vec<Waker> {
        self.now = time.max(self.now);
        let index = self.waiting.partition_point(|it| it.0 > self.now);
        let due = self.waiting.drain(index..).rev();
        due.map(|(.., waker)| waker).collect()
    }
}

/// The tasks that are ready.
pub struct ReadyQueue {
    tasks: Vec<TaskId>,
}

impl ReadyQueue {
    /// Creates a queue without tasks.
    #[expect(clippy::new_without_default, reason = "as in the exercise")]
    pub fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    /// Adds a task, unless it's there already.
    pub fn push(&mut self, task: TaskId) {
        if let Err(index) = self.tasks.binary_search(&task) {
            self.tasks.insert(index, task);
        }
    }

    /// Takes out one of the tasks, each with the same probability.
    pub fn pop(&mut self, random: &mut Random) -> Option<TaskId> {
        let count = self.tasks.len() as u64;
        let index = (count > 0).then(|| random.below(count))?;
        Some(self.tasks.remove(index as usize))
    }
}

/// The bytes that were sent and not read, and which of them arrive when.
pub struct Wire {
    bytes: Vec<u8>,
    /// At this time, so many of the bytes have arrived. Both numbers grow.
    arrivals: Vec<(Duration, usize)>,
    end: Option<Duration>,
}

impl Wire {
    /// Creates a wire on which nothing was sent.
    #[expect(clippy::new_without_default, reason = "as in the exercise")]
    pub fn new() -> Self {
        Self {
            bytes: Vec::new(),
            arrivals: vec![(Duration::ZERO, 0)],
            end: None,
        }
    }

    fn last_arrival(&self) -> Duration {
        self.arrivals.last().map_or(Duration::ZERO, |last| last.0)
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8], arrival: Duration) {
        if self.end.is_none() && !bytes.is_empty() {
            let arrival = arrival.max(self.last_arrival());
            self.bytes.extend(bytes);
            self.arrivals.push((arrival, self.bytes.len()));
        }
    }

    /// Sends the end of the stream.
    pub fn end(&mut self, arrival: Duration) {
        if self.end.is_none() {
            self.end = Some(arrival.max(self.last_arrival()));
        }
    }

    /// Returns when there's something to read.
    pub fn next_arrival(&self) -> Option<Duration> {
        let first = self.arrivals.iter().find(|(_, count)| *count > 0);
        first.map(|(arrival, _)| *arrival).or(self.end)
    }

    /// Reads bytes that have arrived by `now`.
    pub fn receive(
        &mut self,
        now: Duration,
        buffer: &mut [u8],
    ) -> Option<usize> {
        if now < self.next_arrival()? {
            return None;
        }
        let arrived = self.arrivals.iter().rev().find(|it| it.0 <= now);
        let arrived = arrived.map_or(0, |(_, count)| *count);
        let count = arrived.min(buffer.len());
        buffer[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes.drain(..count);
        // The last entry stays, for the time.
        for entry in &mut self.arrivals {
            entry.1 = entry.1.saturating_sub(count);
        }
        let last = self.arrivals.len() - 1;
        let read = self.arrivals[..last].iter().take_while(|it| it.1 == 0);
        let read = read.count();
        self.arrivals.drain(..read);
        Some(count)
    }
}
