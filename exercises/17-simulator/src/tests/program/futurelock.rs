//! A version with a bug: a slow update is counted, while it has the lock.

use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};

use super::right::add;
use super::store::{Request, Store};
use super::world::sleep;

/// An update that takes longer is counted.
const SLOW: Duration = Duration::from_millis(100);

// ANCHOR: handle
pub(super) async fn handle(store: &Store, request: Request) -> Option<u64> {
    let adding = pin!(add(store, request));
    match select(adding, pin!(sleep(SLOW))).await {
        Either::Left((value, _)) => Some(value),
        // It's only slow, so it isn't cancelled.
        Either::Right(((), adding)) => {
            store.state.lock().await.slow_count += 1;
            Some(adding.await)
        }
    }
}
// ANCHOR_END: handle
