//! Tells the pages what happens to the exercises outside of them: to the files
//! that the reader works in, to what is remembered, and by checks in a terminal.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use super::announcer::Announcer;
use super::console::Console;
use crate::events::Event;
use crate::exercises::catalogue::{self, Exercise};
use crate::exercises::guard;
use crate::exercises::journal::Followers;
use crate::exercises::memory_file;
use crate::workshop::Workshop;

/// How often to look. A page follows its file within a quarter of a second,
/// which is two looks and the way to the page and back.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Looks for news forever: for all that happens after this call.
pub fn watch(workshop: &Workshop, announcer: Arc<Announcer>, console: Arc<Console>) {
    // Not in the thread: it may begin late, and take what happens now for old.
    let exercises = catalogue::find_all(workshop);
    let mut files: Vec<_> = exercises.into_iter().map(Watched::new).collect();
    let memory = memory_file(workshop);
    let mut remembered = stamp(&memory);
    let mut followers = Followers::new(workshop);
    thread::spawn(move || {
        loop {
            thread::sleep(LOOK_EVERY);
            for watched in &mut files {
                if let Some(kept) = guard::look(&watched.exercise) {
                    console.say(&overwritten(&watched.exercise, &kept));
                }
                // News of a text that may be overwritten unseen would come too soon.
                if !guard::is_active(&watched.exercise) {
                    watched
                        .look()
                        .into_iter()
                        .for_each(|event| announcer.announce(event));
                }
            }
            for (run, event) in followers.look() {
                announcer.check_goes_on(run, event);
            }
            let now = stamp(&memory);
            if now != remembered {
                remembered = now;
                announcer.announce(Event::Progress);
            }
        }
    });
}

fn overwritten(exercise: &Exercise, kept: &Path) -> String {
    format!(
        "Another program saved exercise {} over what the page had just written. \
         The page's text is in `{}`.",
        exercise.number,
        kept.display()
    )
}

/// When a file was last changed, and its length; nothing if it isn't there.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(file: &Path) -> Stamp {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The file of an exercise.
struct Watched {
    exercise: Exercise,
    stamp: Stamp,
    hash: Option<String>,
    settles: bool,
}

impl Watched {
    fn new(exercise: Exercise) -> Self {
        Self {
            stamp: stamp(&exercise.stub()),
            hash: exercise.file_hash(),
            exercise,
            settles: false,
        }
    }

    /// Returns news if the file is another than before, and has been the same
    /// for two looks: an editor may empty a file before it writes to it.
    fn look(&mut self) -> Option<Event> {
        let now = stamp(&self.exercise.stub());
        if now != self.stamp {
            self.stamp = now;
            self.settles = true;
            return None;
        }
        if !std::mem::take(&mut self.settles) {
            return None;
        }
        let hash = self.exercise.file_hash();
        if hash == self.hash {
            return None;
        }
        self.hash.clone_from(&hash);
        let number = self.exercise.number;
        Some(Event::ExerciseFile { number, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_once_it_has_settled_and_then_never_again() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        let exercise = Exercise {
            number: 7,
            topic: "x".into(),
            folder: root.path().into(),
        };
        fs::write(exercise.stub(), "one").unwrap();
        let mut watched = Watched::new(exercise.clone());
        assert_eq!(watched.look(), None);

        fs::write(exercise.stub(), "").unwrap();
        assert_eq!(watched.look(), None, "the editor may not be done");
        fs::write(exercise.stub(), "another").unwrap();
        assert_eq!(watched.look(), None);
        let hash = exercise.file_hash();
        let number = 7;
        assert_eq!(watched.look(), Some(Event::ExerciseFile { number, hash }));
        assert_eq!(watched.look(), None);

        fs::remove_file(exercise.stub()).unwrap();
        assert_eq!(watched.look(), None);
        let hash = None;
        assert_eq!(watched.look(), Some(Event::ExerciseFile { number, hash }));
    }
}
