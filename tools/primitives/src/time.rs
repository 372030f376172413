//! The clock. It is std's, unless a test lets a thread read one of its own.

/// What time it is: [`Instant::now`](std::time::Instant::now), or with the feature `chaos` the time of
/// the `FakeClock` that this thread runs by.
#[cfg(not(feature = "chaos"))]
#[inline]
pub fn now() -> std::time::Instant {
    std::time::Instant::now()
}

#[cfg(feature = "chaos")]
pub use fake::{FakeClock, now};

#[cfg(feature = "chaos")]
mod fake {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::{Duration, Instant};

    std::thread_local! {
        /// The clock that this thread runs by, if it isn't std's.
        static RUNNING: RefCell<Option<FakeClock>> = const { RefCell::new(None) };
    }

    /// What time it is, as above.
    pub fn now() -> Instant {
        RUNNING.with_borrow(|clock| clock.as_ref().map_or_else(Instant::now, FakeClock::read))
    }

    /// A clock that stands still until it is advanced, and counts its readings.
    ///
    /// It is read by the threads that [`run`](Self::run) by it. Clones are
    /// the same clock.
    #[derive(Clone, Debug)]
    pub struct FakeClock(Arc<State>);

    #[derive(Debug)]
    struct State {
        start: Instant,
        elapsed_ns: AtomicU64,
        readings: AtomicU64,
        cost_of_reading_ns: u64,
    }

    impl FakeClock {
        /// Makes a clock which a reading advances by `cost_of_reading`.
        pub fn new(cost_of_reading: Duration) -> Self {
            Self(Arc::new(State {
                start: Instant::now(),
                elapsed_ns: AtomicU64::new(0),
                readings: AtomicU64::new(0),
                cost_of_reading_ns: in_ns(cost_of_reading),
            }))
        }

        /// Runs `body` with this clock in place of std's, on this thread.
        pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
            struct Restored(Option<FakeClock>);
            impl Drop for Restored {
                fn drop(&mut self) {
                    RUNNING.set(self.0.take());
                }
            }
            let _restored = Restored(RUNNING.replace(Some(self.clone())));
            body()
        }

        /// Lets `by` pass.
        pub fn advance(&self, by: Duration) {
            // Relaxed: code that compares times of two threads orders them by other means.
            self.0.elapsed_ns.fetch_add(in_ns(by), Relaxed);
        }

        /// How much time has passed. This doesn't count as a reading.
        pub fn elapsed(&self) -> Duration {
            Duration::from_nanos(self.0.elapsed_ns.load(Relaxed))
        }

        /// How often the clock has been read by [`now`].
        pub fn readings(&self) -> u64 {
            self.0.readings.load(Relaxed)
        }

        fn read(&self) -> Instant {
            let state = &*self.0;
            state.readings.fetch_add(1, Relaxed);
            let cost = state.cost_of_reading_ns;
            let elapsed = state.elapsed_ns.fetch_add(cost, Relaxed) + cost;
            state.start + Duration::from_nanos(elapsed)
        }
    }

    fn in_ns(duration: Duration) -> u64 {
        u64::try_from(duration.as_nanos()).expect("a test is shorter than five centuries")
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn it_stands_still_but_for_its_readings() {
            let clock = FakeClock::new(Duration::from_nanos(25));
            clock.run(|| {
                let first = now();
                clock.advance(Duration::from_secs(3));
                let passed = now() - first;
                assert_eq!(passed, Duration::from_secs(3) + Duration::from_nanos(25));
            });
            assert_eq!(clock.readings(), 2, "both readings count");
            now();
            assert_eq!(
                clock.readings(),
                2,
                "after `run` the thread reads std's clock"
            );
            let elapsed = Duration::from_secs(3) + Duration::from_nanos(50);
            assert_eq!(clock.elapsed(), elapsed);
        }
    }
}
