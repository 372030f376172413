//! The right version.

use std::time::Duration;

use super::store::{Request, Store, log};
use super::world::timeout;

/// The server gives up after this time. The client tries again.
const LIMIT: Duration = Duration::from_millis(100);

// ANCHOR: handle
pub(super) async fn handle(store: &Store, request: Request) -> Option<u64> {
    timeout(LIMIT, add(store, request)).await.ok()
}

/// If this is dropped early, nothing has changed.
pub(super) async fn add(store: &Store, request: Request) -> u64 {
    let mut state = store.state.lock().await;
    if let Some(&answer) = state.answers.get(&request.id) {
        return answer;
    }
    log(&request).await;
    state.apply(request)
}
// ANCHOR_END: handle
