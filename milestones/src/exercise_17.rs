//! The simulator, milestone by milestone. Each version takes the solution's
//! parts, and leaves the rest open.

pub mod m1_clock;
pub mod m2_order;
pub mod m3_network;

/// What the exercise gives, and the loop, which comes last.
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
        #[cfg(test)]
        #[path = "../../../exercises/17-simulator/src/tests/mod.rs"]
        mod tests;
        #[path = "../../../exercises/17-simulator/src/time.rs"]
        mod time;
        #[path = "../../../exercises/17-simulator/src/world.rs"]
        mod world;

        #[path = "../../../solutions/17-simulator/src/clock.rs"]
        mod clock;

        pub use clock::{Clock, Timer};
        pub use local_executor::{JoinHandle, outcome};
        pub use net::Faults;
        pub use random::Random;
        pub use simulation::{
            Simulation, Stop, TIME_LIMIT, random_below, random_duration, spawn,
            spawn_on,
        };
        pub use time::{Elapsed, Sleep, now, sleep, sleep_until, timeout};
        pub use world::{POLL, TaskId, World};

        pub fn drive(_: &World, _: TaskId) -> Result<(), Stop> {
            todo!()
        }

        pub struct Failing {
            pub seed: u64,
            pub failure: String,
            pub trace: String,
            pub is_replayed: bool,
        }

        pub fn find(
            _: std::ops::Range<u64>,
            _: impl Fn(&Simulation) -> Result<(), String>,
        ) -> Option<Failing> {
            todo!()
        }
    };
}

/// No queue yet.
macro_rules! without_queue {
    () => {
        pub struct ReadyQueue {}

        impl ReadyQueue {
            pub fn new() -> Self {
                todo!()
            }

            pub fn push(&mut self, _: TaskId) {
                todo!()
            }

            pub fn pop(&mut self, _: &mut Random) -> Option<TaskId> {
                todo!()
            }
        }
    };
}

/// No wire yet.
macro_rules! without_wire {
    () => {
        pub struct Wire {}

        impl Wire {
            pub fn new() -> Self {
                todo!()
            }

            pub fn send(&mut self, _: &[u8], _: std::time::Duration) {
                todo!()
            }

            pub fn end(&mut self, _: std::time::Duration) {
                todo!()
            }

            pub fn next_arrival(&self) -> Option<std::time::Duration> {
                todo!()
            }

            pub fn receive(
                &mut self,
                _: std::time::Duration,
                _: &mut [u8],
            ) -> Option<usize> {
                todo!()
            }
        }
    };
}

use {given, without_queue, without_wire};
