//! A task yields again and again. Meanwhile the future that the executor was
//! called with is woken. After how many polls of the task is it polled?

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use tokio::task::LocalSet;

#[derive(Clone, Default)]
struct Contest {
    root: Rc<RefCell<Option<Waker>>>,
    is_over: Rc<Cell<bool>>,
    polls: Rc<Cell<u32>>,
}

impl Contest {
    /// Waits to be woken by the task, then ends the contest.
    async fn root(&self) {
        poll_fn(|cx| {
            if self.root.borrow().is_some() && self.polls.get() > 0 {
                self.is_over.set(true);
                return Poll::Ready(());
            }
            *self.root.borrow_mut() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Wakes the root in its first poll, and itself in each.
    async fn task(self) {
        poll_fn(|cx| {
            if self.is_over.get() {
                return Poll::Ready(());
            }
            if let Some(root) = &*self.root.borrow() {
                self.polls.set(self.polls.get() + 1);
                if self.polls.get() == 1 {
                    root.wake_by_ref();
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

fn main() {
    let contest = Contest::default();
    let mut pool = LocalPool::new();
    let task = contest.clone().task();
    pool.spawner().spawn_local(task).unwrap();
    pool.run_until(contest.root());
    println!("LocalPool of futures, polls: {}", contest.polls.get());

    let contest = Contest::default();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().unwrap();
    let set = LocalSet::new();
    set.spawn_local(contest.clone().task());
    runtime.block_on(set.run_until(contest.root()));
    println!("LocalSet of tokio, polls:    {}", contest.polls.get());
}
