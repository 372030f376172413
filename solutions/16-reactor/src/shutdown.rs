//! The end of what the driver and its handles share.

use primitives::atomic::Ordering::Release;

use super::driver::wake;
use super::handle::Shared;

impl Shared {
    /// Wakes every task that waits for a source, and refuses sources that are
    /// registered later.
    pub fn shut_down(&self) {
        // Release: pairs with the Acquire in `Handle::is_shut_down`.
        self.is_shut_down.store(true, Release);
        // Released before the wake-ups.
        let registered = self.registrations().shut_down();
        for registered in registered {
            wake(|| registered.readiness.shut_down());
        }
    }
}
