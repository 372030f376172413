//! Another correct design: a binary heap that knows where each of its entries
//! is, so that a dropped sleep takes out its own entry at once. A sleep has a
//! seat in a second table, which says where in the heap the sleep's entry is at
//! the moment.

use std::mem;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use primitives::{Arc, Mutex, MutexGuard};

use super::{Unpark, call};

/// All sleeps that wait, and until when.
pub struct Timers {
    shared: Arc<Shared>,
}

struct Shared {
    unpark: Unpark,
    heap: Mutex<Heap>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Timers {
    /// Creates timers for which no sleep waits.
    pub fn new(unpark: impl Fn() + Send + Sync + 'static) -> Self {
        let unpark = Box::new(unpark);
        let heap = Mutex::default();
        Self {
            shared: Arc::new(Shared { unpark, heap }),
        }
    }

    /// Creates a sleep that ends when `deadline` or a later time is passed to
    /// [`fire`](Self::fire).
    pub fn sleep_until(&self, deadline: Instant) -> Sleep {
        self.sleep(Some(deadline))
    }

    fn sleep(&self, deadline: Option<Instant>) -> Sleep {
        Sleep {
            shared: self.shared.clone(),
            deadline,
            stage: Stage::New,
        }
    }

    /// Wakes all sleeps that are due at `now`, and returns when to call it
    /// again.
    pub fn fire(&self, now: Instant) -> Option<Instant> {
        let mut heap = self.shared.lock();
        loop {
            heap.looks_at = heap.entries.first().map(|entry| entry.deadline);
            if heap.looks_at.is_none_or(|deadline| deadline > now) {
                return heap.looks_at;
            }
            let waker = heap.take(0);
            drop(heap);
            call(waker);
            heap = self.shared.lock();
        }
    }
}

/// A future that is ready once its deadline has come.
pub struct Sleep {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum Stage {
    New,
    Waits(Ticket),
    Over,
}

impl Sleep {
    /// When the sleep ends; `None` if never.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let Some(deadline) = this.deadline else {
            return Poll::Pending;
        };
        match this.stage {
            Stage::New => {
                let waker = cx.waker().clone();
                let mut heap = this.shared.lock();
                this.stage = Stage::Waits(heap.put(deadline, waker));
                let is_early = heap.looks_at.is_none_or(|at| deadline < at);
                drop(heap);
                if is_early {
                    (this.shared.unpark)();
                }
                Poll::Pending
            }
            Stage::Waits(ticket) => {
                let waker = cx.waker().clone();
                let mut heap = this.shared.lock();
                let place = heap.find(ticket);
                let old = place.map(|place| {
                    mem::replace(&mut heap.entries[place].waker, waker)
                });
                drop(heap);
                if old.is_none() {
                    this.stage = Stage::Over;
                    return Poll::Ready(());
                }
                Poll::Pending
            }
            Stage::Over => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Stage::Waits(ticket) = self.stage {
            let mut heap = self.shared.lock();
            let waker = heap.find(ticket).map(|place| heap.take(place));
            drop(heap);
            drop(waker);
        }
    }
}

/// By its ticket a sleep finds its entry, no matter where in the heap that is.
#[derive(Clone, Copy)]
struct Ticket {
    seat: usize,
    /// Distinguishes it from those that had or will have this seat.
    number: u64,
}

struct Seat {
    /// The number of its ticket; 0 if the seat is free.
    number: u64,
    /// Where in the heap the seat's entry is.
    place: usize,
}

struct Entry {
    deadline: Instant,
    seat: usize,
    waker: Waker,
}

/// A binary heap, the earliest deadline at its top.
#[derive(Default)]
struct Heap {
    entries: Vec<Entry>,
    seats: Vec<Seat>,
    free_seats: Vec<usize>,
    last_number: u64,
    /// When the driver looks again: `None` if it has to be unparked.
    looks_at: Option<Instant>,
}

impl Heap {
    fn put(&mut self, deadline: Instant, waker: Waker) -> Ticket {
        let seat = self.free_seats.pop().unwrap_or_else(|| {
            self.seats.push(Seat {
                number: 0,
                place: 0,
            });
            self.seats.len() - 1
        });
        self.last_number += 1;
        let number = self.last_number;
        self.seats[seat].number = number;
        let entry = Entry {
            deadline,
            seat,
            waker,
        };
        self.entries.push(entry);
        self.settle(self.entries.len() - 1);
        Ticket { seat, number }
    }

    fn find(&self, ticket: Ticket) -> Option<usize> {
        let seat = &self.seats[ticket.seat];
        (seat.number == ticket.number).then_some(seat.place)
    }

    fn take(&mut self, place: usize) -> Waker {
        let Entry { seat, waker, .. } = self.entries.swap_remove(place);
        self.seats[seat].number = 0;
        self.free_seats.push(seat);
        if place < self.entries.len() {
            self.settle(place);
        }
        waker
    }

    /// Moves an entry up or down to where it belongs.
    fn settle(&mut self, place: usize) {
        let place = self.raise(place);
        let place = self.lower(place);
        self.note(place);
    }

    fn raise(&mut self, mut place: usize) -> usize {
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_earlier(place, parent) {
                break;
            }
            self.swap(parent, place);
            place = parent;
        }
        place
    }

    fn lower(&mut self, mut place: usize) -> usize {
        let len = self.entries.len();
        loop {
            let children = (2 * place + 1)..len.min(2 * place + 3);
            let first =
                children.min_by_key(|child| self.entries[*child].deadline);
            match first {
                Some(child) if self.is_earlier(child, place) => {
                    self.swap(child, place);
                    place = child;
                }
                _ => return place,
            }
        }
    }

    fn is_earlier(&self, one: usize, other: usize) -> bool {
        self.entries[one].deadline < self.entries[other].deadline
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.entries.swap(one, other);
        self.note(one);
        self.note(other);
    }

    /// Records where an entry is.
    fn note(&mut self, place: usize) {
        let seat = self.entries[place].seat;
        self.seats[seat].place = place;
    }
}

super::process_timers!();

#[cfg(all(test, feature = "loom"))]
#[path = "../../../exercises/05-sleep/src/models.rs"]
mod models;
#[cfg(all(test, not(feature = "loom")))]
#[path = "../../../exercises/05-sleep/src/tests/mod.rs"]
mod tests;
