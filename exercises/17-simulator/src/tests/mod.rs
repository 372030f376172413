//! The checks of exercise 17, one or more for each clause of the contract.

mod clock;
mod order;
mod program;
mod replays;
mod runs;
mod wires;
mod world;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

use testkit::{Lesson, Yields, check};

use super::{
    Clock, JoinHandle, POLL, Random, ReadyQueue, Simulation, Stop, TIME_LIMIT,
    TaskId, Wire, find, net, now, random_below, random_duration, sleep,
    sleep_until, spawn, spawn_on, timeout,
};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
