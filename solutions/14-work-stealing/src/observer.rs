//! Who is told what happens to the queues, if anybody is.
//!
//! It is a feature and not only a setting: a worker handles a task within some
//! nanoseconds, and would have to look at the setting at several places on the
//! way. Without the feature, to tell something is no code.

use super::events::Event;

/// Is told what happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observer {
    #[cfg(feature = "observer")]
    pub observe: Option<fn(Event)>,
}

#[cfg(not(feature = "observer"))]
const _: () = assert!(size_of::<Observer>() == 0);

impl Observer {
    /// Tells what `event` returns, which is not called if nobody listens.
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
