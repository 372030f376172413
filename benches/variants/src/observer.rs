//! The observer as with the feature, which holds for a whole package: here it
//! holds for some of the variants.

use super::OBSERVE;
use super::events::Event;

#[derive(Clone, Copy, Debug)]
pub struct Observer {
    observe: Option<fn(Event)>,
}

impl Default for Observer {
    fn default() -> Self {
        Self { observe: OBSERVE }
    }
}

impl Observer {
    #[inline]
    pub fn emit(self, event: impl FnOnce() -> Event) {
        if let Some(observe) = self.observe {
            observe(event());
        }
    }
}
