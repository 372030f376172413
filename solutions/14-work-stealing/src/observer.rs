//! Who is told what happens to the queues, if anybody is.
//!
//! It is a feature and not a setting: a worker handles a task in fewer
//! nanoseconds than it has places that would have to look at a setting.
//! Without the feature this has no size, and to tell it something is no code.

use super::events::Event;

/// Is told what happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Observer {
    #[cfg(feature = "observer")]
    pub observe: Option<fn(Event)>,
}

impl Observer {
    /// Tells what `event` returns, which is not called if nobody listens.
    #[inline]
    pub fn tell(self, event: impl FnOnce() -> Event) {
        #[cfg(feature = "observer")]
        if let Some(observe) = self.observe {
            observe(event());
        }
        #[cfg(not(feature = "observer"))]
        let _ = event;
    }
}
