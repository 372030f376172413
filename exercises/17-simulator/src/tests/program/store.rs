//! What the server keeps.

use std::collections::BTreeMap;

use futures::lock::Mutex;

use super::{applied_twice, futurelock, lost_update, right, world};

/// How the store handles a request: correctly, or with a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Without a known bug.
    Right,
    /// An update that's cancelled is lost, and takes the value with it.
    LostUpdate,
    /// A request that's tried again may be applied twice.
    AppliedTwice,
    /// A slow update deadlocks with itself.
    Futurelock,
}

/// The values, and the answers that were given.
pub struct Store {
    version: Version,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub values: BTreeMap<String, u64>,
    /// The answers to all requests. (A real server would forget them some day.)
    pub answers: BTreeMap<u64, u64>,
    pub slow_count: u64,
}

/// A request to add an amount to a key's value.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub id: u64,
    pub key: String,
    pub amount: u64,
}

impl Store {
    /// Creates an empty store.
    pub fn new(version: Version) -> Self {
        Self {
            version,
            state: Mutex::default(),
        }
    }

    /// Handles a request, and returns the new value, or `None` if it gave up.
    pub(super) async fn handle(&self, request: Request) -> Option<u64> {
        match self.version {
            Version::Right => right::handle(self, request).await,
            Version::LostUpdate => lost_update::handle(self, request).await,
            Version::AppliedTwice => applied_twice::handle(self, request).await,
            Version::Futurelock => futurelock::handle(self, request).await,
        }
    }
}

impl State {
    /// Adds the amount, and stores the answer.
    pub fn apply(&mut self, request: Request) -> u64 {
        let value = self.values.entry(request.key).or_default();
        *value += request.amount;
        self.answers.insert(request.id, *value);
        *value
    }
}

/// Writes a request to a log, on a disk that's slow now and then.
pub(super) async fn log(request: &Request) {
    let _ = request;
    world::sleep(world::disk_latency()).await;
}

impl Request {
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        Some(Self {
            id: words.next()?.parse().ok()?,
            key: words.next()?.into(),
            amount: words.next()?.parse().ok()?,
        })
    }
}
