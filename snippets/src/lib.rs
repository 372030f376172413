//! The runnable programs are in `examples/`. This is what the book only
//! shows, so that it is compiled all the same.

/// `std::future::Future`, as the book shows it.
pub mod future {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// A computation that may not be finished yet.
    // ANCHOR: future
    pub trait Future {
        /// What it computes.
        type Output;
        /// Runs as far as it can.
        fn poll(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output>;
    }
    // ANCHOR_END: future
}
