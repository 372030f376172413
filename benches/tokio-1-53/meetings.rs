//! The benchmark `meetings` with tokio 1.53.1, a version in which its global
//! queue shared a mutex with its workers' going to sleep:
//! `cargo bench --manifest-path benches/tokio-1-53/Cargo.toml`.

/// The parts of `benches` that know nothing of other schedulers.
#[path = "."]
#[allow(dead_code, reason = "meetings don't use all of the interface")]
mod schedulers {
    #[path = "../schedulers/interface.rs"]
    mod interface;
    #[path = "../schedulers/meetings.rs"]
    pub mod meetings;
    #[path = "../schedulers/tokio_runtime.rs"]
    mod tokio_runtime;

    pub use interface::{Scheduler, Spawn};
    pub use tokio_runtime::{Tokio, TokioEnableAll};
}

use schedulers::meetings::{print, tell};
use schedulers::{Tokio, TokioEnableAll};

runtime!(Solution14, Solution14Spawner, solution_14);

fn main() {
    print(&[
        ("solution-14", tell::<Solution14>),
        ("tokio-1.53.1", tell::<Tokio>),
        // With its drivers: a worker that sleeps there is woken in another way.
        ("1.53.1-enable-all", tell::<TokioEnableAll>),
    ]);
}
