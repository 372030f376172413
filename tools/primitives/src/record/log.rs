//! What is recorded of an execution.

use std::panic::Location;
use std::sync::atomic::Ordering;

/// The place of something in its list.
pub type Number = usize;

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// The name that the program gave it.
    pub name: Option<String>,
    /// Where it was started.
    pub place: Option<&'static Location<'static>>,
    /// An address near the beginning of its stack.
    pub stack: Option<usize>,
    /// The checker's number for it, where that may be another.
    pub task: Option<usize>,
}

/// Something that threads share.
#[derive(Debug)]
pub struct Object {
    pub kind: &'static str,
    /// Where it was made.
    pub place: &'static Location<'static>,
    /// The first value, of an atomic.
    pub initial: String,
}

/// An operation.
#[derive(Debug)]
pub struct Step {
    pub thread: Number,
    pub object: Option<Number>,
    /// The thread that it is about.
    pub target: Option<Number>,
    pub operation: &'static str,
    pub orderings: Vec<Ordering>,
    pub place: &'static Location<'static>,
    pub is_done: bool,
    pub has_failed: bool,
    pub read: Option<String>,
    pub wrote: Option<String>,
    /// The newest value, if it has read an older one.
    pub stale: Option<String>,
    pub wakes: Vec<Number>,
}

impl Step {
    pub fn new(place: &'static Location<'static>) -> Self {
        Self {
            thread: 0,
            object: None,
            target: None,
            operation: "",
            orderings: Vec::new(),
            place,
            is_done: false,
            has_failed: false,
            read: None,
            wrote: None,
            stale: None,
            wakes: Vec::new(),
        }
    }
}

/// What happened, in its order.
#[derive(Debug)]
pub enum Entry {
    /// An operation took effect.
    Done(Number),
    /// A thread fell asleep in one.
    Sleeps(Number),
    /// A thread panicked.
    Panic {
        thread: Number,
        message: String,
        place: Option<(String, u32)>,
    },
    /// Before the step that comes next, an order was found that doesn't fail; after it, none of
    /// this many.
    #[cfg_attr(feature = "loom", expect(dead_code, reason = "loom tries all orders"))]
    Lost(usize),
}

impl Entry {
    pub fn panic(&self) -> Option<String> {
        match self {
            Self::Panic { message, .. } => Some(message.clone()),
            _ => None,
        }
    }
}

/// One execution.
#[derive(Debug)]
pub struct Log {
    pub threads: Vec<Thread>,
    pub objects: Vec<Object>,
    /// In the order in which they begin.
    pub steps: Vec<Step>,
    pub order: Vec<Entry>,
    /// Whom the next operation wakes that is done.
    pub woken: Vec<Number>,
    /// The operations in which threads sleep.
    pub asleep: Vec<Number>,
    /// The notifications of one thread each, of several that slept: whom each has woken is known
    /// when one wakes.
    pub pending: Vec<Number>,
}

/// How far the stack of a thread goes beyond the address that is known of it.
const SLACK: usize = 4096;

impl Log {
    pub const fn new() -> Self {
        Self {
            threads: Vec::new(),
            objects: Vec::new(),
            steps: Vec::new(),
            order: Vec::new(),
            woken: Vec::new(),
            asleep: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Forgets everything, and begins with one thread.
    pub fn begin(&mut self) {
        self.objects.clear();
        self.steps.clear();
        self.order.clear();
        self.woken.clear();
        self.asleep.clear();
        self.pending.clear();
        self.threads.clear();
        self.threads.push(Thread {
            name: None,
            place: None,
            stack: None,
            task: None,
        });
    }

    /// The thread that runs is this one.
    pub fn enter(&mut self, number: Number, task: Option<usize>) {
        let here = address();
        // A thread that has ended may have left its stack to this one.
        let is_here = |it: &usize| it.abs_diff(here) < SLACK;
        for thread in &mut self.threads {
            thread.stack.take_if(|stack| is_here(stack));
        }
        if let Some(thread) = self.threads.get_mut(number) {
            thread.stack = Some(here);
            thread.task = task;
        }
    }

    /// The thread that runs. Its stack says it, which grows downward: a checker's own answer isn't
    /// to be had in a destructor of a thread-local, or in a panic hook.
    pub fn running(&self) -> Number {
        let here = address();
        let distance = |thread: &Thread| (thread.stack? + SLACK).checked_sub(here);
        let threads = self.threads.iter().enumerate();
        let near = threads.filter_map(|(number, thread)| Some((distance(thread)?, number)));
        near.min().map_or(0, |(_, number)| number)
    }

    /// The message of the last panic.
    pub fn last_panic(&self) -> Option<String> {
        self.order.iter().rev().find_map(Entry::panic)
    }

    /// The operations of this kind in which threads sleep: on the same object, or of the thread
    /// that the step is about.
    pub fn sleepers(&self, number: Number, operation: &str) -> Vec<Number> {
        let step = &self.steps[number];
        let sleeps = |it: &&Number| {
            let sleeping = &self.steps[**it];
            let is_meant = match step.target {
                Some(thread) => sleeping.thread == thread,
                None => sleeping.object == step.object,
            };
            sleeping.operation == operation && is_meant
        };
        self.asleep.iter().filter(sleeps).copied().collect()
    }

    /// An operation is done: if its thread slept in it, one of several notifications has woken it.
    pub fn awakes(&mut self, number: Number) {
        let Some(at) = self.asleep.iter().position(|&step| step == number) else {
            return;
        };
        self.asleep.remove(at);
        let Step { object, thread, .. } = self.steps[number];
        let is_same = |step: &Number| self.steps[*step].object == object;
        if let Some(at) = self.pending.iter().position(is_same) {
            let notification = self.pending.remove(at);
            self.steps[notification].wakes.push(thread);
        }
    }

    /// Of the notifications that have woken a thread which hasn't run since, each wakes the one
    /// that has slept longest.
    pub fn wake_pending(&mut self) {
        for number in std::mem::take(&mut self.pending) {
            let first = self.sleepers(number, "wait").first().copied();
            if let Some(step) = first {
                self.asleep.retain(|it| *it != step);
                let thread = self.steps[step].thread;
                self.steps[number].wakes.push(thread);
            }
        }
    }

    /// Drops what followed the panic that ended the execution: destructors.
    pub fn cut_at_panic(&mut self, message: &str) {
        let is_it =
            |entry: &Entry| matches!(entry, Entry::Panic { message: it, .. } if it == message);
        if let Some(at) = self.order.iter().rposition(is_it) {
            for entry in self.order.drain(at + 1..) {
                if let Entry::Done(number) = entry {
                    self.steps[number].is_done = false;
                }
            }
        }
    }
}

/// An address on the stack of the thread that runs.
#[inline(never)]
fn address() -> usize {
    let local = 0_u8;
    (&raw const local).addr()
}
