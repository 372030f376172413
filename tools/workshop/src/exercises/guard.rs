//! What pages have written a moment ago. An editor that saves right then has not
//! seen it, and overwrites it without a question: the page's text is kept aside.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::catalogue::Exercise;
use super::turn::Turn;
use super::{file, reset};

/// Nobody reads a text, changes it and saves it in less.
const UNSEEN: Duration = Duration::from_secs(1);

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
    let is_there = |hash: &str| file::hash(exercise).as_deref() == Some(hash);
    if is_there(&hash) {
        if at.elapsed() > UNSEEN {
            lock().remove(&stub);
        }
        return None;
    }
    // What is being changed right now is kept by those who change it.
    let _turn = Turn::take(exercise).ok()?;
    let written = lock().remove(&stub)?;
    let text = written.text.as_bytes();
    let is_lost = !is_there(&written.hash) && !reset::is_kept(exercise, text);
    let kept = is_lost.then(|| reset::keep(&exercise.folder, text));
    kept?.ok()
}

fn lock() -> MutexGuard<'static, BTreeMap<PathBuf, Written>> {
    WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}
