//! A barrier over loom's mutex: loom has none.

use std::sync::PoisonError;

use loom::sync::{Condvar, Mutex};

use crate::record::Id;

/// Holds threads back until enough of them have come.
#[derive(Debug)]
pub struct Barrier {
    state: Mutex<State>,
    opened: Condvar,
    size: usize,
    id: Id,
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
    #[track_caller]
    pub fn new(size: usize) -> Self {
        Self {
            state: Mutex::default(),
            opened: Condvar::new(),
            size,
            id: Id::new("Barrier"),
        }
    }

    /// Waits for the other threads.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let begun = self.id.begin("wait");
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = state.generation;
        state.waiting += 1;
        if state.waiting >= self.size {
            state.waiting = 0;
            state.generation += 1;
            begun.done();
            drop(state);
            self.opened.notify_all();
            begun.woke();
            return BarrierWaitResult(true);
        }
        while state.generation == generation {
            let waited = self.opened.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        begun.done();
        BarrierWaitResult(false)
    }
}
