//! Other correct versions of the simulator.

pub mod heaps_and_bytes;
pub mod sorted_lists;
pub mod tickets;

/// What the exercise gives.
macro_rules! given {
    () => {
        #[path = "../../../exercises/17-simulator/src/net.rs"]
        pub mod net;
        #[path = "../../../exercises/17-simulator/src/random.rs"]
        mod random;
        #[path = "../../../exercises/17-simulator/src/recorder.rs"]
        mod recorder;
        #[path = "../../../exercises/17-simulator/src/simulation.rs"]
        mod simulation;
        #[cfg(all(test, not(feature = "loom")))]
        #[path = "../../../exercises/17-simulator/src/tests/mod.rs"]
        mod tests;
        #[path = "../../../exercises/17-simulator/src/time.rs"]
        mod time;
        #[path = "../../../exercises/17-simulator/src/world.rs"]
        mod world;

        pub use local_executor::{JoinHandle, outcome};
        pub use net::Faults;
        pub use random::Random;
        pub use simulation::{
            Simulation, Stop, TIME_LIMIT, random_below, random_duration, spawn,
            spawn_on,
        };
        pub use time::{Elapsed, Sleep, now, sleep, sleep_until, timeout};
        pub use world::{POLL, TaskId, World};
    };
}

use given;
