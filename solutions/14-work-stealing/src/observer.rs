//! The function that is told what happens to the queues, if there is one.
//!
//! It's a feature, and not only a setting, because a worker handles a task
//! within some nanoseconds, and would have to look at the setting in several
//! places on the way. Without the feature, emitting an event takes no code.

use super::events::Event;

/// The function that is told what happens, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observer {
    #[cfg(feature = "observer")]
    pub observe: Option<fn(Event)>,
}

#[cfg(not(feature = "observer"))]
const _: () = assert!(size_of::<Observer>() == 0);

impl Observer {
    /// Passes on what `event` returns. If there is no observer, `event` isn't
    /// called.
    #[inline]
    pub fn emit(self, event: impl FnOnce() -> Event) {
        #[cfg(feature = "observer")]
        if let Some(observe) = self.observe {
            observe(event());
        }
        #[cfg(not(feature = "observer"))]
        let _ = event;
    }
}
