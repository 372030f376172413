//! The solutions that are built from earlier exercises, and their checks, on the stubs
//! of those: what compiles here needs nothing of a reader's own parts that the stubs
//! don't offer. Exercise 16 is given files of its solution, and asks for no more either.
//! It's built on solution 14, because the stub of 14 has no place for a driver.
#![allow(
    dead_code,
    missing_docs,
    unexpected_cfgs,
    clippy::drop_non_drop,
    reason = "in their own packages the solutions are documented, used in full and \
              have features; what a stub returns owns nothing yet"
)]

#[path = "../../solutions/10-one-queue/src/lib.rs"]
pub mod solution_10;
#[path = "../../solutions/12-task/src/lib.rs"]
pub mod solution_12;
#[path = "../../solutions/14-work-stealing/src/lib.rs"]
pub mod solution_14;
#[path = "../../solutions/16-reactor/src/lib.rs"]
pub mod solution_16;
#[path = "../../solutions/17-simulator/src/lib.rs"]
pub mod solution_17;
#[path = "../../solutions/04-cached-block-on/src/lib.rs"]
pub mod solution_4;
#[path = "../../solutions/05-sleep/src/lib.rs"]
pub mod solution_5;
#[path = "../../solutions/06-spawn-blocking/src/lib.rs"]
pub mod solution_6;
#[path = "../../solutions/08-budget/src/lib.rs"]
pub mod solution_8;
#[path = "../../solutions/09-local-executor/src/lib.rs"]
pub mod solution_9;
