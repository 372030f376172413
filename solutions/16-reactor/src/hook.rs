//! A driver in the form that a runtime of exercise 14 wants.

use std::any::Any;
use std::sync::Arc;

use super::Driver;

impl work_stealing::Driver for Driver {
    fn unparker(&self) -> Box<dyn Fn() + Send + Sync> {
        let handle = self.handle();
        Box::new(move || handle.unpark())
    }

    fn handle(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(self.handle())
    }

    fn wait(&mut self) {
        self.wait();
    }

    fn look(&mut self) {
        self.look();
    }

    fn dispatch(&mut self, most: usize) -> bool {
        self.dispatch(most)
    }

    fn shut_down(&mut self) {
        self.shut_down();
    }
}
