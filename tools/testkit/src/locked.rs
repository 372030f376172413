//! Counts the atomic read-modify-writes that code executes, including those in the standard
//! library and in other crates, which no wrapper sees.

use crate::child;
use crate::trap;

/// After this many instructions the rest isn't counted.
const MAX_STEPS: u32 = 2_000_000;

/// Runs `body` one machine instruction at a time and returns how many of these are
/// atomic read-modify-writes: those with a `lock` prefix, and exchanges with memory.
/// A few are the kit's own, the same number each time.
///
/// Returns `None` where a thread can't be stepped, as in
/// [`race_step_by_step`](crate::race_step_by_step). `body` runs in any case.
pub fn locked_instructions(body: impl FnOnce()) -> Option<u32> {
    if !child::is_child() || !trap::install(|| ()) {
        body();
        return None;
    }
    trap::start(u32::MAX, MAX_STEPS);
    body();
    trap::stop();
    Some(trap::locked_steps())
}
