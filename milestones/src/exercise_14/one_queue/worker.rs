//! What a worker does all day.

use std::ptr;
use std::sync::Arc;

use super::context;
use super::shared::Shared;

pub struct Worker {
    shared: Arc<Shared>,
}

impl Worker {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub fn is_of(&self, runtime: &Shared) -> bool {
        ptr::eq(&*self.shared, runtime)
    }

    pub fn run(self) {
        let _inside = context::EnterScope::new(self.shared.clone());
        context::run_as(&self, || {
            while let Some(task) = self.shared.next() {
                task.run();
                context::leave_forgotten(&self.shared);
            }
        });
        self.shared.workers_exited(1);
    }
}
