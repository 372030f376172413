//! The buffer of one thread's events, which another thread reads without a lock.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use crate::event::{Event, Kind};

/// How many events a thread can record; more than a figure can show.
const EVENTS_PER_THREAD: usize = 1 << 14;

/// A count has three bytes.
const COUNT_MOST: u32 = (1 << 24) - 1;

/// The events of one thread. Only that thread writes.
///
/// *Memory ordering.* A thread that reads `length` sees the events below it: the Release store in
/// `push` pairs with the Acquire load in `read`.
pub(crate) struct Buffer {
    slots: Box<[Slot]>,
    length: AtomicUsize,
    lost: AtomicU64,
    first_lost_ns: AtomicU64,
}

/// Plain numbers for the thread that writes; atomic so that another thread may read.
#[derive(Default)]
struct Slot {
    time_ns: AtomicU64,
    /// From the lowest byte up: one for the kind, four for the worker, three for
    /// the count.
    what: AtomicU64,
    task_and_arg: AtomicU64,
}

impl Buffer {
    /// Makes an empty buffer, and allocates all of its memory at once.
    pub(crate) fn new() -> Self {
        Self {
            slots: (0..EVENTS_PER_THREAD).map(|_| Slot::default()).collect(),
            length: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            first_lost_ns: AtomicU64::new(0),
        }
    }

    /// Adds an event, or counts it as lost if there is no room.
    #[inline]
    pub(crate) fn push(&self, event: Event) {
        let length = self.length.load(Relaxed);
        let Some(slot) = self.slots.get(length) else {
            return self.lose(event.time_ns);
        };
        let worker = u64::from(event.worker.cast_unsigned());
        let count = u64::from(event.count.min(COUNT_MOST));
        let what = count << 40 | worker << 8 | event.kind as u64;
        slot.time_ns.store(event.time_ns, Relaxed);
        slot.what.store(what, Relaxed);
        slot.task_and_arg
            .store(u64::from(event.task) << 32 | u64::from(event.arg), Relaxed);
        // Release: pairs with the Acquire in `read`; publishes the slot.
        self.length.store(length + 1, Release);
    }

    /// How many events were lost, and when the first of them was.
    pub(crate) fn lost(&self) -> Option<(u64, u64)> {
        let lost = self.lost.load(Relaxed);
        (lost > 0).then(|| (lost, self.first_lost_ns.load(Relaxed)))
    }

    #[cold]
    fn lose(&self, time_ns: u64) {
        // Relaxed: only this thread writes, and the reader needs only a count.
        let lost = self.lost.load(Relaxed);
        if lost == 0 {
            self.first_lost_ns.store(time_ns, Relaxed);
        }
        self.lost.store(lost + 1, Relaxed);
    }

    /// Adds what has been pushed so far to `events`.
    pub(crate) fn read(&self, events: &mut Vec<Event>) {
        // Acquire: pairs with the Release in `push`; the slots below are written.
        let length = self.length.load(Acquire);
        let events_of = self.slots[..length].iter().filter_map(|slot| {
            let what = slot.what.load(Relaxed);
            let task_and_arg = slot.task_and_arg.load(Relaxed);
            Some(Event {
                time_ns: slot.time_ns.load(Relaxed),
                kind: Kind::from_number(what as u8)?,
                worker: (what >> 8) as i32,
                task: (task_and_arg >> 32) as u32,
                arg: task_and_arg as u32,
                count: (what >> 40) as u32,
            })
        });
        events.extend(events_of);
    }
}
