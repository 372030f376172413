//! A small executor that is fair and deterministic.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// Runs a few tasks on this thread, each in its turn: a task that is woken goes
/// to the back of the queue, and the task at its front is polled. Several
/// wake-ups before a poll count as one.
///
/// While no task is woken it sleeps, so that a wake-up may come from another
/// thread, too, and a wake-up that never comes is a hang.
#[derive(Default)]
pub struct RoundRobin<'a> {
    tasks: Vec<Task<'a>>,
    queue: Arc<Queue>,
    turns: String,
}

struct Task<'a> {
    /// `None` once it is finished.
    future: Option<Pin<Box<dyn Future<Output = ()> + 'a>>>,
    signal: Arc<Signal>,
}

/// The indices of the tasks that were woken and not polled since then.
#[derive(Default)]
struct Queue {
    woken: Mutex<VecDeque<usize>>,
    grew: Condvar,
}

/// What the wakers of a task point at.
struct Signal {
    name: char,
    index: usize,
    is_queued: AtomicBool,
    wake_count: AtomicUsize,
    queue: Arc<Queue>,
}

impl<'a> RoundRobin<'a> {
    /// Makes an executor without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task at the back of the queue. Its name stands for it in
    /// [`RoundRobin::turns`].
    pub fn spawn(&mut self, name: char, future: impl Future<Output = ()> + 'a) {
        let signal = Arc::new(Signal {
            name,
            index: self.tasks.len(),
            is_queued: AtomicBool::new(false),
            wake_count: AtomicUsize::new(0),
            queue: self.queue.clone(),
        });
        signal.enqueue();
        self.tasks.push(Task {
            future: Some(Box::pin(future)),
            signal,
        });
    }

    /// Polls the task whose turn it is; waits if none is woken. Returns `false`
    /// if all tasks are finished.
    pub fn turn(&mut self) -> bool {
        if self.tasks.iter().all(|task| task.future.is_none()) {
            return false;
        }
        let task = &mut self.tasks[self.queue.next()];
        task.signal.is_queued.store(false, SeqCst);
        // A finished task may be woken late.
        if let Some(future) = &mut task.future {
            self.turns.push(task.signal.name);
            let waker = Waker::from(task.signal.clone());
            let mut cx = Context::from_waker(&waker);
            if future.as_mut().poll(&mut cx).is_ready() {
                task.future = None;
            }
        }
        true
    }

    /// Runs all tasks to their ends, and returns the [turns].
    ///
    /// [turns]: RoundRobin::turns
    pub fn run(&mut self) -> &str {
        while self.turn() {}
        self.turns()
    }

    /// Which tasks were polled so far, in order: `ABAB` if two tasks
    /// alternated.
    pub fn turns(&self) -> &str {
        &self.turns
    }

    /// How often the tasks of this name were polled.
    pub fn polls(&self, name: char) -> usize {
        self.turns.matches(name).count()
    }

    /// How often wakers of the tasks of this name were called.
    pub fn wakes(&self, name: char) -> usize {
        let tasks = self.tasks.iter().map(|task| &task.signal);
        let named = tasks.filter(|signal| signal.name == name);
        named.map(|signal| signal.wake_count.load(SeqCst)).sum()
    }
}

impl Queue {
    /// Takes the task at the front, and waits until there is one.
    fn next(&self) -> usize {
        let woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        self.grew
            .wait_while(woken, |woken| woken.is_empty())
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
            .expect("just waited for it")
    }
}

impl Signal {
    fn enqueue(&self) {
        if self.is_queued.swap(true, SeqCst) {
            return;
        }
        let woken = self.queue.woken.lock();
        woken
            .unwrap_or_else(PoisonError::into_inner)
            .push_back(self.index);
        self.queue.grew.notify_one();
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_count.fetch_add(1, SeqCst);
        self.enqueue();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ManualFuture, Yields};

    #[test]
    fn tasks_take_turns() {
        let mut tasks = RoundRobin::new();
        tasks.spawn('A', Yields(2));
        tasks.spawn('B', Yields(1));
        tasks.spawn('C', Yields(0));
        assert_eq!(tasks.run(), "ABCABA");
        assert_eq!((tasks.polls('A'), tasks.wakes('A')), (3, 2));
    }

    #[test]
    fn several_wake_ups_are_one_turn() {
        let mut is_first = true;
        let mut tasks = RoundRobin::new();
        tasks.spawn(
            'A',
            std::future::poll_fn(|cx| {
                cx.waker().wake_by_ref();
                cx.waker().wake_by_ref();
                match std::mem::take(&mut is_first) {
                    true => std::task::Poll::Pending,
                    false => std::task::Poll::Ready(()),
                }
            }),
        );
        tasks.spawn('B', Yields(1));
        assert_eq!(tasks.run(), "ABAB");
        assert_eq!(tasks.wakes('A'), 4, "each call is counted");
    }

    #[test]
    fn another_thread_may_wake() {
        let (future, handle) = ManualFuture::new();
        let waking = std::thread::spawn(move || {
            handle.wait_until_asleep();
            handle.complete();
        });
        let mut tasks = RoundRobin::new();
        tasks.spawn('A', future);
        assert_eq!(tasks.run(), "AA");
        waking.join().expect("waking does not panic");
    }

    #[test]
    fn one_turn_at_a_time_can_be_taken() {
        let mut tasks = RoundRobin::new();
        tasks.spawn('A', Yields(1));
        assert!(tasks.turn(), "its first turn");
        assert_eq!(tasks.turns(), "A");
        assert!(tasks.turn(), "its last turn");
        assert!(!tasks.turn(), "nothing is left");
    }
}
