//! What pages have written a moment ago. An editor that saves right then hasn't
//! seen it, and overwrites it without a question: the page's text is set aside.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::catalogue::Exercise;
use super::kept;
use super::turn::Turn;

/// What another program saves this soon after the page, it began to save before
/// it could see the page's text.
const UNSEEN: Duration = Duration::from_millis(100);

static WRITTEN: Mutex<BTreeMap<PathBuf, Written>> = Mutex::new(BTreeMap::new());

struct Written {
    text: String,
    hash: String,
    at: Instant,
}

/// Remembers what a page has written. It had seen what was there before.
pub fn remember(exercise: &Exercise, text: &str, hash: &str) {
    let written = Written {
        text: text.to_owned(),
        hash: hash.to_owned(),
        at: Instant::now(),
    };
    lock().insert(exercise.stub(), written);
}

/// Looks whether the text is still there. Returns the file in which it's kept if
/// another program has overwritten it, and nothing else has kept it.
pub fn look(exercise: &Exercise) -> Option<PathBuf> {
    let stub = exercise.stub();
    let (hash, at) = lock()
        .get(&stub)
        .map(|written| (written.hash.clone(), written.at))?;
    if is_there(exercise, &hash) {
        if at.elapsed() >= UNSEEN {
            lock().remove(&stub);
        }
        return None;
    }
    // What is being changed right now is kept by the process that changes it.
    let _turn = Turn::take(exercise).ok()?;
    // Meanwhile the page may have written again: that's for the next look.
    let is_the_same = |written: &Written| written.hash == hash;
    let written = lock().get(&stub).is_some_and(is_the_same);
    let lost = written && !is_there(exercise, &hash);
    lost.then(|| forget(exercise)).flatten()
}

/// Returns `true` while the text may still be overwritten unseen.
pub fn is_active(exercise: &Exercise) -> bool {
    lock().contains_key(&exercise.stub())
}

/// To be called in a turn in which a page that has seen this replaces it. What a
/// page wrote before, and this one hasn't seen, is kept.
pub fn replaces(exercise: &Exercise, seen: Option<&str>) {
    let has_seen = |written: &Written| Some(&*written.hash) == seen;
    if !lock().get(&exercise.stub()).is_some_and(has_seen) {
        forget(exercise);
    }
}

/// Returns the file in which the text is kept, unless it was kept already.
fn forget(exercise: &Exercise) -> Option<PathBuf> {
    let written = lock().remove(&exercise.stub())?;
    let text = written.text.as_bytes();
    let is_lost = !kept::is_kept(exercise, text);
    let kept = is_lost.then(|| kept::keep(&exercise.folder, text))?;
    kept.ok()
}

fn is_there(exercise: &Exercise, hash: &str) -> bool {
    exercise.file_hash().as_deref() == Some(hash)
}

fn lock() -> MutexGuard<'static, BTreeMap<PathBuf, Written>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}
