//! Which task is next: the seed decides.

use super::{Random, TaskId};

// ANCHOR: ready
/// The tasks that are ready.
#[derive(Default)]
pub struct ReadyQueue {
    tasks: Vec<TaskId>,
}

impl ReadyQueue {
    /// Creates a queue without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task, unless it's there already.
    pub fn push(&mut self, task: TaskId) {
        if !self.tasks.contains(&task) {
            self.tasks.push(task);
        }
    }

    /// Takes out one of the tasks, each with the same probability.
    pub fn pop(&mut self, random: &mut Random) -> Option<TaskId> {
        if self.tasks.is_empty() {
            return None;
        }
        let index = random.below(self.tasks.len() as u64);
        Some(self.tasks.swap_remove(index as usize))
    }
}
// ANCHOR_END: ready
