//! What a waker under test wakes, and what becomes of it.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::task::Wake;

use crate::{DropLog, DropProbe};

/// A target for wakers that are made of an [`Arc`]: it counts how it is woken
/// and logs its drop.
#[derive(Debug)]
pub struct WakeTarget {
    wakes: Arc<Wakes>,
    _probe: DropProbe,
}

/// Sees what becomes of a [`WakeTarget`], and doesn't keep it alive.
#[derive(Clone, Debug)]
pub struct TargetWatch {
    wakes: Arc<Wakes>,
    target: Weak<WakeTarget>,
    drops: DropLog,
}

#[derive(Debug, Default)]
struct Wakes {
    by_value: AtomicUsize,
    by_reference: AtomicUsize,
}

impl WakeTarget {
    /// Makes a target and the watch that observes it.
    pub fn new() -> (Arc<Self>, TargetWatch) {
        let wakes = Arc::new(Wakes::default());
        let (probe, drops) = DropProbe::new();
        let target = Arc::new(Self {
            wakes: wakes.clone(),
            _probe: probe,
        });
        let watch = TargetWatch {
            wakes,
            target: Arc::downgrade(&target),
            drops,
        };
        (target, watch)
    }
}

impl Wake for WakeTarget {
    fn wake(self: Arc<Self>) {
        self.wakes.by_value.fetch_add(1, SeqCst);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wakes.by_reference.fetch_add(1, SeqCst);
    }
}

impl TargetWatch {
    /// How often `Wake::wake` and `Wake::wake_by_ref` of the target were
    /// called, in this order.
    pub fn wakes(&self) -> (usize, usize) {
        let Wakes {
            by_value,
            by_reference,
        } = &*self.wakes;
        (by_value.load(SeqCst), by_reference.load(SeqCst))
    }

    /// Asserts that the target hasn't been dropped.
    ///
    /// # Panics
    ///
    /// If it has; the message begins with `when`.
    #[track_caller]
    pub fn assert_alive(&self, when: &str) {
        assert!(
            self.drops.count() == 0,
            "{when} the target was dropped, though a waker of it is left"
        );
    }

    /// Asserts that the target has been dropped, once.
    ///
    /// # Panics
    ///
    /// If it hasn't; the message begins with `when`.
    #[track_caller]
    pub fn assert_gone(&self, when: &str) {
        let (drops, count) = (self.drops.count(), self.target.strong_count());
        assert!(
            drops > 0,
            "{when} nothing holds the target, yet it lives: its `Arc` counts {count} too many"
        );
        assert!(
            drops == 1,
            "{when} the target had been dropped {drops} times"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_wake_is_counted() {
        let (target, watch) = WakeTarget::new();
        target.wake_by_ref();
        target.wake_by_ref();
        target.wake();
        assert_eq!(watch.wakes(), (1, 2), "by value, by reference");
    }

    #[test]
    fn the_end_of_a_target_is_seen() {
        let (target, watch) = WakeTarget::new();
        watch.assert_alive("at first");
        drop(target);
        watch.assert_gone("in the end");
    }

    #[test]
    fn a_count_too_many_is_told() {
        let (_target, watch) = WakeTarget::new();
        let caught = std::panic::catch_unwind(|| watch.assert_gone("in the end"));
        let message = caught.expect_err("the target lives");
        let message = message.downcast_ref::<String>().expect("it is formatted");
        assert!(message.contains("counts 1 too many"), "{message}");
    }
}
