//! Which task a queue event is about. A scheduler doesn't know the recorder's numbers, but what
//! happens before and after on the same thread shows it.

use std::collections::VecDeque;

use crate::event::{Event, Kind};
use crate::queue::Queue;

/// Assigns tasks to queue events, as far as that can be determined: 0 where it can't. `events` are
/// those of one thread.
pub(crate) fn name_tasks(events: &mut [Event]) {
    let mut thread = Thread::default();
    for index in 0..events.len() {
        let event = events[index];
        match event.kind {
            Kind::Spawn | Kind::Job => {
                thread.forget();
                thread.made.push_back(event.task);
            }
            Kind::Wake => thread.woken = Some(event.task),
            Kind::PollBegin => {
                thread.forget();
                thread.displaced = None;
                // The task of a `block_on` never enters a queue.
                thread.made.retain(|&task| task != event.task);
                if let Some(pop) = thread.popped.take() {
                    events[pop].task = event.task;
                }
            }
            Kind::PollEnd => {
                thread.forget();
                // It may have yielded, or have been woken while it ran.
                thread.polled = (event.arg == 0).then_some(event.task);
            }
            Kind::Push => events[index].task = thread.pushes(event.arg == Queue::Slot as u32),
            Kind::Overflow => events[index].task = thread.enters(),
            Kind::Pop => {
                thread.forget();
                thread.popped = Some(index);
                if event.arg == Queue::Slot as u32 {
                    // Unless it is polled now, it is pushed elsewhere.
                    thread.displaced = thread.slot.take();
                }
            }
            _ => {}
        }
    }
}

/// What is known of a thread up to some event.
#[derive(Default)]
struct Thread {
    /// What it has just woken, and not yet pushed.
    woken: Option<u32>,
    /// What it has just polled, and not yet pushed.
    polled: Option<u32>,
    /// What it has made, and not yet pushed.
    made: VecDeque<u32>,
    /// What is in its slot, and what a newer task has displaced from it.
    slot: Option<u32>,
    displaced: Option<u32>,
    /// The place of the last pop that no poll has followed.
    popped: Option<usize>,
}

impl Thread {
    fn pushes(&mut self, into_slot: bool) -> u32 {
        let task = self.enters();
        if into_slot {
            self.displaced = self.slot.replace(task);
        }
        task
    }

    fn enters(&mut self) -> u32 {
        let woken = self.woken.take();
        woken
            .or_else(|| self.displaced.take())
            .or_else(|| self.polled.take())
            .or_else(|| self.made.pop_front())
            .unwrap_or(0)
    }

    /// What hasn't been pushed by now was in a queue already, or ran.
    fn forget(&mut self) {
        self.woken = None;
        self.polled = None;
    }
}
