//! Which of several versions a test binary is to be.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The environment variable that says it.
const VARIABLE: &str = "TESTKIT_VERSION";
/// It hasn't been asked yet.
const UNKNOWN: u32 = u32::MAX;

static VERSION: AtomicU32 = AtomicU32::new(UNKNOWN);

/// The number of the version that a binary with several wrong versions is to be, or 0.
pub fn version() -> u32 {
    // Relaxed: the number is all that threads tell each other, and all find the same one.
    match VERSION.load(Relaxed) {
        UNKNOWN => find_out(),
        known => known,
    }
}

#[cold]
fn find_out() -> u32 {
    let number = std::env::var(VARIABLE).ok();
    let number = number.and_then(|number| number.parse().ok()).unwrap_or(0);
    VERSION.store(number, Relaxed);
    number
}
