//! What each of its parts is worth to solution 14:
//! `cargo bench -p benches --bench scheduler_parts`. Each row is the solution
//! without one of its optimizations, beside the whole, in turns.
//!
//! `SCHEDULER_ROUNDS=31` in the environment takes so many turns, and
//! `SCHEDULER_WORKERS=2` chooses numbers of workers. An argument chooses the
//! rows and workloads whose names contain it, as in `no-slot/ping_pong`.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use benches::runtime;
use benches::schedulers::measure::{self, Contender, Results, contender, parameter};
use benches::schedulers::workloads::WORKLOADS;
use benches::schedulers::{Scheduler, Solution14, Spawn, wake_itself};
use variants::{
    all_search, always_wake, counted_wakes, listed_at_spawn, locked_injector, locked_queue,
    never_recycled, no_slot, observable, observed, unfetched,
};

runtime!(LockedQueue, LockedQueueSpawner, locked_queue);
runtime!(NoSlot, NoSlotSpawner, no_slot);
runtime!(AllSearch, AllSearchSpawner, all_search);
runtime!(AlwaysWake, AlwaysWakeSpawner, always_wake);
runtime!(CountedWakes, CountedWakesSpawner, counted_wakes);
runtime!(NeverRecycled, NeverRecycledSpawner, never_recycled);
runtime!(ListedAtSpawn, ListedAtSpawnSpawner, listed_at_spawn);
runtime!(LockedInjector, LockedInjectorSpawner, locked_injector);
runtime!(Unfetched, UnfetchedSpawner, unfetched);
runtime!(Observable, ObservableSpawner, observable);
runtime!(Observed, ObservedSpawner, observed);

/// The rows: first Lerche's optimizations (see `src/sources.md`), then those that
/// tokio doesn't have, and last what it costs to be observed.
fn rows() -> [Contender; 15] {
    [
        contender::<Solution14>(WHOLE, "nothing is left out"),
        contender::<LockedQueue>("locked-queue", "a `VecDeque` in a mutex, not a ring"),
        contender::<NoSlot>("no-slot", "what is woken goes to the queue's end"),
        contender::<AllSearch>("all-search", "no limit of half the workers"),
        contender::<AlwaysWake>("always-wake", "a sleeper is woken though another searches"),
        contender::<Changed<Boxed>>("boxed", "two allocations: the task and its future"),
        contender::<CountedWakes>("counted-wakes", "a wake by reference counts one"),
        contender::<NeverRecycled>("never-recycled", "the allocator gives and takes each task"),
        contender::<ListedAtSpawn>("listed-at-spawn", "not only once it waits"),
        contender::<Changed<Counted>>("counted-runtime", "each task counts an `Arc` of it"),
        contender::<LockedInjector>("locked-injector", "a list in a mutex, not a stack"),
        contender::<Unfetched>("unfetched", "no note of what was pushed last"),
        contender::<Changed<Woken>>("woken-yields", "a yield wakes itself, by the waker"),
        contender::<Observable>("observable", "with the feature, without an observer"),
        contender::<Observed>("observed", "with an observer that does nothing"),
    ]
}

const WHOLE: &str = "whole";

/// What can be changed from outside, by the futures that are spawned.
trait Change: Clone + Send + 'static {
    fn change<F>(future: F) -> impl Future<Output = ()> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        future
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        solution_14::yield_now()
    }
}

#[derive(Clone)]
struct Boxed;

impl Change for Boxed {
    fn change<F>(future: F) -> impl Future<Output = ()> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let future: Pin<Box<F>> = Box::pin(future);
        future
    }
}

/// As if each task had an `Arc` of its runtime: the same count for all of them.
#[derive(Clone)]
struct Counted;

impl Change for Counted {
    fn change<F>(future: F) -> impl Future<Output = ()> + Send + 'static
    where
        F: Future<Output = ()> + Send + 'static,
    {
        static RUNTIME: LazyLock<Arc<()>> = LazyLock::new(Arc::default);
        let runtime = RUNTIME.clone();
        async move {
            future.await;
            drop(runtime);
        }
    }
}

#[derive(Clone)]
struct Woken;

impl Change for Woken {
    fn yield_now() -> impl Future<Output = ()> + Send {
        wake_itself()
    }
}

/// Solution 14, and other futures.
struct Changed<C> {
    runtime: solution_14::Runtime,
    change: PhantomData<C>,
}

#[derive(Clone)]
struct ChangedSpawner<C>(PhantomData<C>);

impl<C: Change> Scheduler for Changed<C> {
    type Spawner = ChangedSpawner<C>;

    fn start(workers: usize) -> Self {
        let runtime = solution_14::Runtime::builder()
            .worker_threads(workers)
            .build();
        Self {
            runtime: runtime.expect("the threads can be started"),
            change: PhantomData,
        }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    fn spawn<F>(&self, future: F) -> impl Future
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.runtime.spawn(C::change(future))
    }

    fn spawner(&self) -> Self::Spawner {
        ChangedSpawner(PhantomData)
    }
}

impl<C: Change> Spawn for ChangedSpawner<C> {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        drop(solution_14::spawn(C::change(future)));
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        C::yield_now()
    }
}

fn main() {
    let rounds = measure::rounds().unwrap_or(if measure::is_test() { 1 } else { 15 });
    let rows = rows();
    for workers in measure::workers() {
        let mut results = Results::new();
        measure::in_turns(&rows, rounds, workers, &mut results);
        println!("\nWith {workers} workers, times the whole (in brackets, times its CPU time):\n");
        print(&rows, workers, &results);
    }
}

fn print(rows: &[Contender], workers: usize, results: &Results) {
    let short = |workload: &'static str| workload.strip_prefix("spawn_many_").unwrap_or(workload);
    let heads = WORKLOADS.map(|(workload, _)| format!("{:>14}", short(workload)));
    println!("{:<16}{}", "without", heads.concat());
    for row in rows {
        let cells = WORKLOADS.map(|(workload, _)| {
            let of = |name| results.get(&(name, parameter(workload, workers)));
            let (own, whole) = (of(row.name), of(WHOLE));
            let wall = own
                .zip(whole)
                .map(|(own, whole)| own.median.wall.div_duration_f64(whole.median.wall));
            let cpu = own
                .zip(whole)
                .and_then(|(own, whole)| Some(own.median.cpu?.div_duration_f64(whole.median.cpu?)));
            let wall = wall.map_or("–".into(), |wall| format!("{wall:.2}"));
            let cpu = cpu.map_or(String::new(), |cpu| format!(" ({cpu:.2})"));
            format!("{:>14}", wall + &cpu)
        });
        println!("{:<16}{}  {}", row.name, cells.concat(), row.notes);
    }
}
