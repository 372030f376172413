//! Timed waits that end spuriously when half of their time has passed.

use std::cell::RefCell;
use std::time::Duration;

std::thread_local! {
    /// How long the timed waits of this thread were meant to last so far.
    static WAITS: RefCell<Option<Vec<Duration>>> = const { RefCell::new(None) };
}

/// This many timed waits end early; the next ones last as long as they should.
const EARLY: usize = 8;

/// Runs `body`. Meanwhile the first few timed waits of this thread, on a
/// condition variable or in `park_timeout`, last half of their time and then
/// return spuriously. Also returns how long each was meant to last.
pub fn with_late_returns<R>(body: impl FnOnce() -> R) -> (R, Vec<Duration>) {
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            WAITS.take();
        }
    }
    let _off = Off;
    WAITS.set(Some(Vec::new()));
    let result = body();
    (result, WAITS.take().unwrap_or_default())
}

/// Records a timed wait. Returns the time after which it has to end spuriously,
/// if it does.
pub(super) fn end_of(limit: Duration) -> Option<Duration> {
    // `try_with`: threads also wait while their locals are destroyed.
    let noted = WAITS.try_with(|waits| {
        let mut waits = waits.borrow_mut();
        let waits = waits.as_mut()?;
        waits.push(limit);
        (waits.len() <= EARLY).then_some(limit / 2)
    });
    noted.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::super::{Condvar, Mutex, thread};
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_timed_wait_ends_half_way_and_is_noted() {
        let _alone = super::super::tests::ALONE.lock();
        const LIMIT: Duration = Duration::from_millis(10);
        let start = Instant::now();
        let (timed_out, waits) = with_late_returns(|| {
            let (mutex, condvar) = (Mutex::new(()), Condvar::new());
            let guard = mutex.lock().expect("no thread panics");
            let waited = condvar.wait_timeout(guard, LIMIT);
            thread::park_timeout(LIMIT);
            waited.expect("no thread panics").1.timed_out()
        });
        assert!(!timed_out, "its time wasn't up");
        assert_eq!(waits, [LIMIT; 2]);
        assert!(start.elapsed() >= LIMIT, "each lasted half of it");
    }
}
