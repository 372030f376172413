//! When a worker serves the driver alone.
//!
//! A worker that leaves the driver with work notifies another one, which
//! usually helps. It doesn't if the machine is *crowded*, that is, if more
//! threads want to run than there are cores. Then the notified worker gets a
//! core only when another thread loses one. No task ends sooner, but two
//! workers keep parking, unparking, and stealing from each other, and a task
//! waits whenever the worker that has it waits for a core. So on a crowded
//! machine, a worker with much to do serves the driver alone: it keeps the
//! tasks that it wakes, it comes back to the driver, and the other workers stay
//! parked.
//!
//! The kernel knows whether the machine is crowded. For each thread, it counts
//! how often it took the core away although the thread wanted to go on: the
//! *involuntary context switches*.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::super::driver::DriverSeat;

/// How long a worker counts before it judges.
const WINDOW: Duration = Duration::from_millis(50);

/// The same if the machine is crowded. A worker that serves the driver alone is
/// seldom interrupted, except by the one that watches the driver.
const CROWDED_WINDOW: Duration = Duration::from_millis(250);

/// So many involuntary switches in a window are a crowd. As long as a core is
/// idle, there's hardly one.
const CROWD: u64 = 3;

/// What part of the window a worker must have used its core at least to count
/// as one with much to do: a fifth. (Even on a machine that's mostly idle, a
/// thread that's unparked may interrupt another.)
const LEAST_PART: u32 = 5;

/// A worker that has waited in the driver for this time, and for a quarter of
/// the time that has passed, hasn't much to do.
const MOST_WAITED: Duration = Duration::from_micros(100);

/// What one worker knows about that.
pub struct Alone {
    /// When the window began, and what the thread had used until then.
    window: Cell<(Instant, Usage)>,
    /// Since when the worker has served the driver alone.
    since: Cell<Instant>,
    /// How long it has waited there meanwhile.
    waited: Cell<Duration>,
}

impl Alone {
    pub fn new() -> Self {
        let now = Instant::now();
        Self {
            window: Cell::new((now, Usage::default())),
            since: Cell::new(now),
            waited: Cell::new(Duration::ZERO),
        }
    }

    // ANCHOR: is_crowded
    /// A worker with much to do asks whether the machine is crowded. At the end
    /// of a window it judges that itself, and notes it in the seat for all
    /// workers.
    pub fn is_crowded(&self, seat: &DriverSeat) -> bool {
        let now = Instant::now();
        let is_crowded = seat.is_crowded(now);
        let window = if is_crowded { CROWDED_WINDOW } else { WINDOW };
        let (began, before) = self.window.get();
        let passed = now - began;
        if passed < window {
            return is_crowded;
        }
        let usage = Usage::of_this_thread();
        self.window.set((now, usage));
        if passed >= 2 * window {
            // It hasn't asked for long, so this says little about now.
            return is_crowded;
        }
        let switches = usage.switches.saturating_sub(before.switches);
        let time = usage.time.saturating_sub(before.time);
        let is_crowded = switches >= CROWD && time >= passed / LEAST_PART;
        seat.set_crowded(is_crowded.then_some(now + 2 * CROWDED_WINDOW));
        is_crowded
    }
    // ANCHOR_END: is_crowded

    /// The worker serves the driver alone from now on.
    pub fn begin(&self) {
        self.since.set(Instant::now());
        self.waited.set(Duration::ZERO);
    }

    /// The worker, which serves the driver alone, has waited there since
    /// `began`. Returns `false` if it has so little to do that it needn't go
    /// on so.
    pub fn goes_on_after_wait(&self, began: Instant) -> bool {
        let now = Instant::now();
        let waited = self.waited.get() + (now - began);
        self.waited.set(waited);
        waited < MOST_WAITED + (now - self.since.get()) / 4
    }
}

/// What a thread has had of its core.
#[derive(Clone, Copy, Default)]
struct Usage {
    /// How long the thread has had a core.
    time: Duration,
    /// How often the kernel has taken the core away from it.
    switches: u64,
}

impl Usage {
    #[cfg(target_os = "linux")]
    fn of_this_thread() -> Self {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the pointer is valid for a write of the whole structure.
        let result =
            unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        if result != 0 {
            // A sandbox may forbid the call.
            return Self::default();
        }
        // SAFETY: the call succeeded, so it has written the structure.
        let usage = unsafe { usage.assume_init() };
        let time = |time: libc::timeval| {
            Duration::new(time.tv_sec as u64, 1_000 * time.tv_usec as u32)
        };
        Self {
            time: time(usage.ru_utime) + time(usage.ru_stime),
            switches: usage.ru_nivcsw as u64,
        }
    }

    /// Other systems don't count this for each thread, so the machine is never
    /// taken for crowded.
    #[cfg(not(target_os = "linux"))]
    fn of_this_thread() -> Self {
        Self::default()
    }
}
