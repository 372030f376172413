//! How often as many tasks as there are workers fail to run at the same time.
//!
//! Tasks wait for one another within their polls, which blocks their workers, so
//! that only a worker that sleeps can run the last one. A meeting hangs if it hasn't
//! ended after two seconds. Six threads hold meetings at once, so that the operating
//! system interrupts the workers at any point: three spawn the tasks themselves,
//! and three spawn a task that does, and then yields. A runtime has 2, 4 or 8 workers
//! and holds 20 meetings.

use std::env;
use std::ops::AddAssign;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{Scheduler, Spawn};

/// A meeting that hasn't ended by then hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// So many threads hold meetings of either kind.
const HOSTS: usize = 3;

/// Ends once all who are expected are there, or when it is called off.
struct Meeting {
    missing: Mutex<Missing>,
    changed: Condvar,
}

struct Missing {
    guests: usize,
    called_off: bool,
}

impl Meeting {
    fn of(guests: usize) -> Self {
        let called_off = false;
        Self {
            missing: Mutex::new(Missing { guests, called_off }),
            changed: Condvar::new(),
        }
    }

    /// Blocks a guest until the meeting ends.
    fn attend(&self) {
        let mut missing = self.missing.lock().unwrap();
        missing.guests -= 1;
        self.changed.notify_all();
        let waits = |missing: &mut Missing| missing.guests > 0 && !missing.called_off;
        drop(self.changed.wait_while(missing, waits).unwrap());
    }

    /// Waits for the guests. Returns `false`, and calls it off, if it hangs.
    fn is_held(&self) -> bool {
        let missing = self.missing.lock().unwrap();
        let waits = |missing: &mut Missing| missing.guests > 0;
        let waited = self.changed.wait_timeout_while(missing, PATIENCE, waits);
        let (mut missing, result) = waited.unwrap();
        missing.called_off = result.timed_out();
        self.changed.notify_all();
        !result.timed_out()
    }
}

/// What spawns the guests.
#[derive(Clone, Copy)]
enum Host {
    Outside,
    Task,
}

/// Returns whether the meeting was held.
fn meet<S: Scheduler>(scheduler: &S, workers: usize, host: Host) -> bool {
    let meeting = Arc::new(Meeting::of(workers));
    let guest = |_| {
        let meeting = meeting.clone();
        async move { meeting.attend() }
    };
    let guests: Vec<_> = (0..workers).map(guest).collect();
    match host {
        Host::Outside => {
            let spawn = |guest| Box::pin(scheduler.spawn(guest));
            // To drop the handle would cancel the task of some of them.
            let _handles: Vec<_> = guests.into_iter().map(spawn).collect();
            meeting.is_held()
        }
        Host::Task => {
            let spawner = scheduler.spawner();
            let _handle = pin!(scheduler.spawn(async move {
                guests.into_iter().for_each(|guest| spawner.spawn(guest));
                // The last one may be next, where no other worker can take it.
                S::Spawner::yield_now().await;
            }));
            meeting.is_held()
        }
    }
}

/// How many meetings there were, and how many of them hung.
#[derive(Default)]
struct Tally {
    all: usize,
    hung: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.hung += other.hung;
    }
}

/// Holds meetings until `end`.
fn hold<S: Scheduler>(host: Host, end: Instant) -> Tally {
    let mut tally = Tally::default();
    for workers in [2, 4, 8].into_iter().cycle() {
        let scheduler = S::start(workers);
        for _ in 0..20 {
            tally.all += 1;
            if !meet(&scheduler, workers, host) {
                tally.hung += 1;
                // Its worker still sleeps: the next meeting would hang by the same.
                break;
            }
        }
        if Instant::now() >= end {
            break;
        }
    }
    tally
}

/// A name, and what prints its row.
pub type Contender = (&'static str, fn(&str, Duration));

/// Prints a row.
pub fn tell<S: Scheduler>(name: &str, time: Duration) {
    let end = Instant::now() + time;
    let tallies = [Host::Outside, Host::Task].map(|host| {
        let host = move || hold::<S>(host, end);
        (0..HOSTS).map(|_| thread::spawn(host)).collect::<Vec<_>>()
    });
    let cells = tallies.map(|hosts| {
        let mut sum = Tally::default();
        for host in hosts {
            sum += host.join().expect("a meeting cannot panic");
        }
        format!("{} of {}", sum.hung, sum.all)
    });
    println!("{name:<18}{:>20}{:>20}", cells[0], cells[1]);
}

/// Lets contenders hold meetings, one after the other, and prints how many hung.
/// Arguments of the program choose contenders by name.
///
/// # Panics
///
/// If `MEETINGS_SECONDS` in the environment isn't a number.
pub fn print(contenders: &[Contender]) {
    let seconds = env::var("MEETINGS_SECONDS").map_or(10, |text| {
        text.parse().expect("MEETINGS_SECONDS is a number")
    });
    let is_test = env::args().any(|argument| argument == "--test");
    let time = Duration::from_secs(if is_test { 0 } else { seconds });
    let asked: Vec<_> = env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    println!("{:<18}{:>20}{:>20}", "hung", "from outside", "from a task");
    for (name, tell) in contenders {
        if asked.is_empty() || asked.iter().any(|asked| name == asked) {
            tell(name, time);
        }
    }
}
