//! A version with a bug: a value is on its way when its future is dropped.

use std::time::Duration;

use super::store::{Request, Store, log};
use super::world::timeout;

const LIMIT: Duration = Duration::from_millis(100);

// ANCHOR: handle
pub(super) async fn handle(store: &Store, request: Request) -> Option<u64> {
    timeout(LIMIT, add(store, request)).await.ok()
}

async fn add(store: &Store, request: Request) -> u64 {
    let mut state = store.state.lock().await;
    if let Some(&answer) = state.answers.get(&request.id) {
        return answer;
    }
    let value = state.values.remove(&request.key).unwrap_or_default();
    log(&request).await;
    let value = value + request.amount;
    state.values.insert(request.key, value);
    state.answers.insert(request.id, value);
    value
}
// ANCHOR_END: handle
