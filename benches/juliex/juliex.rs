//! What a task costs on juliex, one of the smallest pools for tasks, beside tokio
//! and solution 14: `cargo bench --manifest-path benches/juliex/Cargo.toml`.
//! `SCHEDULER_ROUNDS` and `SCHEDULER_WORKERS` are those of the benchmark
//! `scheduler`.
//!
//! juliex asks how many processors there are, and starts two workers for each.
//! So this lends it as many processors as make the workers that are asked for,
//! while it starts, and all of them afterward. It never has one worker.

use std::sync::Arc;

use benches::schedulers::measure::{self, Results, contender, in_turns};
use benches::schedulers::{Scheduler, Solution14, Spawn, Tokio, wake_itself};
use futures::channel::oneshot;
use juliex::ThreadPool;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How many workers juliex starts for each processor.
const WORKERS_EACH: usize = 2;

#[derive(Clone)]
struct Juliex(Arc<ThreadPool>);

impl Scheduler for Juliex {
    type Spawner = Self;

    fn start(workers: usize) -> Self {
        let all = processors();
        let mut some = CpuSet::new();
        let mut lent = 0;
        for processor in (0..CpuSet::MAX_CPU).filter(|&one| all.is_set(one)) {
            if lent < workers / WORKERS_EACH {
                some.set(processor);
                lent += 1;
            }
        }
        run_on(&some);
        let pool = ThreadPool::with_setup(move || run_on(&all));
        run_on(&all);
        Self(Arc::new(pool))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        futures::executor::block_on(future)
    }

    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (done, end) = oneshot::channel();
        self.0.spawn(async move {
            future.await;
            // The receiver may be gone.
            let _ = done.send(());
        });
        end
    }

    fn spawner(&self) -> Self {
        self.clone()
    }
}

impl Spawn for Juliex {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.0.spawn(future);
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        wake_itself()
    }
}

/// Those that this thread may run on.
fn processors() -> CpuSet {
    sched_getaffinity(None).expect("a thread may ask where it runs")
}

fn run_on(processors: &CpuSet) {
    sched_setaffinity(None, processors).expect("a thread may stay where it was");
}

fn main() {
    let contenders = [
        contender::<Solution14>(
            "solution-14",
            "fair; abort; panics caught; drops tasks at its end",
        ),
        contender::<Tokio>("tokio", "all of solution 14's, and budgets, metrics, hooks"),
        contender::<Juliex>("juliex", "one queue; no handles; a panic ends a worker"),
    ];
    let most = WORKERS_EACH * processors().count() as usize;
    let is_possible = |workers: &usize| workers.is_multiple_of(WORKERS_EACH) && *workers <= most;
    let workers: Vec<_> = measure::workers().into_iter().filter(is_possible).collect();
    let mut results = Results::new();
    for &workers in &workers {
        in_turns(
            &contenders,
            measure::rounds().unwrap_or(if measure::is_test() { 1 } else { 21 }),
            workers,
            &mut results,
        );
    }
    measure::print(&contenders, &workers, &results);
}
