//! Two executors of a few lines. One keeps its tasks borrowed while it polls.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

type BoxedFuture = Pin<Box<dyn Future<Output = ()>>>;
type Tasks = Rc<RefCell<VecDeque<BoxedFuture>>>;

fn while_borrowed(tasks: &Tasks, cx: &mut Context<'_>) {
    while let Some(mut task) = tasks.borrow_mut().pop_front() {
        let _pending = task.as_mut().poll(cx).is_pending();
    }
}

fn taken_out(tasks: &Tasks, cx: &mut Context<'_>) {
    loop {
        let Some(mut task) = tasks.borrow_mut().pop_front() else {
            return;
        };
        let _pending = task.as_mut().poll(cx).is_pending();
    }
}

fn run(name: &str, executor: fn(&Tasks, &mut Context<'_>)) {
    let tasks = Tasks::default();
    let spawner = tasks.clone();
    let message = format!("{name}: the child runs");
    tasks.borrow_mut().push_back(Box::pin(async move {
        let child = async move { println!("{message}") };
        spawner.borrow_mut().push_back(Box::pin(child));
    }));
    let run = || executor(&tasks, &mut Context::from_waker(Waker::noop()));
    if catch_unwind(AssertUnwindSafe(run)).is_err() {
        println!("{name}: a panic, and the child never runs");
    }
}

fn main() {
    std::panic::set_hook(Box::new(|panic| {
        println!("{}", panic.payload_as_str().unwrap_or_default());
    }));
    run("while borrowed", while_borrowed);
    run("taken out", taken_out);
}
