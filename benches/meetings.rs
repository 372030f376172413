//! How often a worker sleeps though a task is ready:
//! `MEETINGS_SECONDS=90 cargo bench -p benches --bench meetings -- tokio`.
//! `benches/tokio-1-53` has the same for tokio 1.53.1.

use benches::schedulers::meetings::{print, tell};
use benches::schedulers::{
    AsyncExecutor, DequePool, FuturesPool, OneQueue, Sharded, Solution14, Tokio, TokioEnableAll,
};

fn main() {
    print(&[
        ("solution-14", tell::<Solution14>),
        ("tokio", tell::<Tokio>),
        // With its drivers: a worker that sleeps there is woken in another way.
        ("tokio-enable-all", tell::<TokioEnableAll>),
        ("async-executor", tell::<AsyncExecutor>),
        ("deque-pool", tell::<DequePool>),
        ("futures", tell::<FuturesPool>),
        ("one-queue", tell::<OneQueue>),
        ("sharded", tell::<Sharded>),
    ]);
}
