//! A barrier over loom's mutex: loom has none.

use std::sync::PoisonError;

use loom::sync::{Condvar, Mutex};

/// Holds threads back until enough of them have come.
#[derive(Debug)]
pub struct Barrier {
    state: Mutex<State>,
    opened: Condvar,
    size: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: usize,
    /// How often it has opened.
    generation: usize,
}

/// Which of the threads came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns `true` for one of the threads.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Makes a barrier for `size` threads.
    pub fn new(size: usize) -> Self {
        Self {
            state: Mutex::default(),
            opened: Condvar::new(),
            size,
        }
    }

    /// Waits for the other threads.
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = state.generation;
        state.waiting += 1;
        if state.waiting >= self.size {
            state.waiting = 0;
            state.generation += 1;
            drop(state);
            self.opened.notify_all();
            return BarrierWaitResult(true);
        }
        while state.generation == generation {
            let waited = self.opened.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        BarrierWaitResult(false)
    }
}
