//! The sleepers of solution 13 with other decisions: how many workers may
//! search, and when a worker is unparked.

/// Makes sleepers of solution 13's modules, but for the counts.
macro_rules! sleepers {
    () => {
        #[path = "../../../solutions/13-sleepers/src/counts.rs"]
        mod right;
        #[path = "../../../solutions/13-sleepers/src/sleeper_set.rs"]
        mod sleeper_set;
        #[path = "../../../solutions/13-sleepers/src/sleepers.rs"]
        mod sleepers;

        pub use ::sleepers::Activity;
        pub use sleepers::Sleepers;
    };
    (counts) => {
        use super::right::Counts as Right;
        pub use super::right::MOST_WORKERS;

        /// The right counts, with another decision.
        pub struct Counts(Right);

        impl std::ops::Deref for Counts {
            type Target = Right;

            #[inline]
            fn deref(&self) -> &Right {
                &self.0
            }
        }

        impl Counts {
            pub fn new() -> Self {
                Self(Right::new())
            }
        }
    };
}

// ANCHOR: all_search
/// All workers may search at once.
#[path = "."]
pub mod all_search {
    sleepers!();

    mod counts {
        sleepers!(counts);

        impl Counts {
            pub fn begin_search(&self, _most: u32) -> bool {
                self.0.begin_search(u32::MAX)
            }
        }
    }
}
// ANCHOR_END: all_search

/// A parked worker is unparked for each task, although another one searches.
#[path = "."]
pub mod always_wake {
    sleepers!();

    mod counts {
        sleepers!(counts);

        impl Counts {
            #[inline]
            pub fn should_notify(&self) -> bool {
                true
            }

            /// Two steps instead of one. Between them the worker that is unparked
            /// is counted nowhere, so that others look again in vain.
            pub fn choose_sleeper(&self) -> bool {
                self.0.try_remove_sleeper() && self.0.begin_search(u32::MAX)
            }
        }
    }
}
