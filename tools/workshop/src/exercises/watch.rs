//! Checks on every save.

use std::io;
use std::pin::pin;
use std::process::ExitCode;
use std::time::Duration;

use super::catalogue::{self, Exercise};
use super::{check_for_people_until, hint, listing, print, state, unprintable};
use crate::keys::Keys;
use crate::problem::Problem;
use crate::terminal::{harmless, is_live};
use crate::workshop::Workshop;

/// How often the files are looked at. Watching by events has traps of its own,
/// and a look costs some 0.1 ms.
const LOOK: Duration = Duration::from_millis(50);
/// Clears the screen and goes to its top left corner.
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";

/// Checks the exercise now and whenever one of its files has changed. Without a
/// number it goes on to the next exercise once one is solved, and ends with the
/// last. On a terminal it listens to keys, too.
///
/// # Errors
///
/// When there is no such exercise, or cargo can't be run.
pub async fn watch(workshop: &Workshop, mut number: Option<u32>) -> Result<ExitCode, Problem> {
    let keys = Keys::open();
    let mut is_first = true;
    loop {
        let exercise = match find(workshop, number) {
            Ok(Some(exercise)) => exercise,
            Ok(None) => return done(),
            Err(problem) if is_first => return Err(problem),
            Err(problem) => {
                tell(&problem);
                while find(workshop, number).is_err() {
                    tokio::time::sleep(LOOK).await;
                }
                continue;
            }
        };
        let seen = exercise.fingerprint();
        if is_live(&io::stdout()) {
            print(CLEAR).map_err(unprintable)?;
        }
        if let Err(problem) = still_there(&exercise) {
            tell(&problem);
            until_back(&exercise).await;
            continue;
        }
        let changed = async { until_changed(&exercise, &seen).await };
        let checking = check_for_people_until(workshop, &exercise, Some(workshop), changed);
        let green = match checking.await {
            Ok(green) => green,
            Err(problem) if is_first => return Err(problem),
            // A switch of branches is half done, or the disk is full for a while.
            Err(problem) => {
                tell(&problem);
                Some(false)
            }
        };
        is_first = false;
        let is_followed = number.is_none() && green == Some(true);
        if green.is_some() && !is_followed {
            say(match keys {
                Some(_) => WATCHING_WITH_KEYS,
                None => WATCHING,
            })?;
        }
        if !is_followed {
            match until_asked(workshop, &exercise, &seen, keys.as_ref()).await? {
                Asked::ToCheck => {}
                Asked::ForNext => number = Some(after(workshop, exercise.number)),
                Asked::ToEnd => return Ok(ExitCode::SUCCESS),
            }
            continue;
        }
        match find(workshop, number) {
            Ok(None) => return done(),
            Ok(Some(next)) => {
                say("\nSave a file of the next exercise to begin with it.\n")?;
                let seen = next.fingerprint();
                until_changed(&next, &seen).await;
            }
            // The next round tells it.
            Err(_gone) => {}
        }
    }
}

const WATCHING: &str = "\nWatching: save a file to check again, Ctrl-C ends.\n";
const WATCHING_WITH_KEYS: &str = "\nWatching: save a file to check again, or press a key: \
    Enter checks, h gives a hint, l lists the exercises, n goes to the next one, q ends.\n";

/// What a watch is to do next.
enum Asked {
    /// A file has changed, or the reader asks for it.
    ToCheck,
    /// The exercise after this one is to be watched.
    ForNext,
    ToEnd,
}

/// Waits for a change of the exercise, or for a key that ends the wait. Answers the
/// other keys.
async fn until_asked(
    workshop: &Workshop,
    exercise: &Exercise,
    seen: &str,
    keys: Option<&Keys>,
) -> Result<Asked, Problem> {
    let mut changed = pin!(until_changed(exercise, seen));
    loop {
        let key = tokio::select! {
            () = &mut changed => return Ok(Asked::ToCheck),
            key = until_pressed(keys) => key,
        };
        match key {
            '\n' | '\r' | 'c' => return Ok(Asked::ToCheck),
            'n' => return Ok(Asked::ForNext),
            'q' => return Ok(Asked::ToEnd),
            'h' => match hint::next(workshop, exercise) {
                Ok(text) => say(&format!("\n{}\n", text.trim_end()))?,
                Err(problem) => tell(&problem),
            },
            'l' => say(&format!("\n{}", listing::for_stdout(workshop)))?,
            _ => say(WATCHING_WITH_KEYS)?,
        }
    }
}

async fn until_pressed(keys: Option<&Keys>) -> char {
    loop {
        if let Some(key) = keys.and_then(Keys::pressed) {
            return key;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The number of the exercise after this one, and after the last one the first.
fn after(workshop: &Workshop, number: u32) -> u32 {
    let all = catalogue::find_all(workshop);
    let numbers = || all.iter().map(|exercise| exercise.number);
    let next = numbers().find(|other| *other > number);
    next.or(numbers().next()).unwrap_or(number)
}

/// Finds the exercise to check: none if all are solved.
fn find(workshop: &Workshop, number: Option<u32>) -> Result<Option<Exercise>, Problem> {
    let all = catalogue::find_all(workshop);
    if all.is_empty() {
        let folder = workshop.root().join("exercises");
        let problem = Problem::new(format!("`{}` has no exercise in it", folder.display()));
        return Err(problem.help("`git restore exercises` brings them back, or the branch that has them; a watch that has begun goes on then"));
    }
    match number {
        Some(number) => catalogue::find(workshop, number).map(Some),
        None => Ok(state::next(workshop)),
    }
}

fn tell(problem: &Problem) {
    eprintln!("{}", harmless(&problem.to_string()));
}

fn done() -> Result<ExitCode, Problem> {
    say("Every exercise is solved. `cargo workshop check --all` checks them again.\n")?;
    Ok(ExitCode::SUCCESS)
}

fn say(text: &str) -> Result<(), Problem> {
    print(text).map_err(unprintable)
}

/// Returns once a file of the exercise isn't what it was, and has been the
/// same for two looks: an editor may write in several steps.
async fn until_changed(exercise: &Exercise, seen: &str) {
    let mut last = seen.to_owned();
    loop {
        tokio::time::sleep(LOOK).await;
        let now = exercise.fingerprint();
        if now != seen && now == last {
            return;
        }
        last = now;
    }
}

/// Returns once the reader's file is there again.
async fn until_back(exercise: &Exercise) {
    while still_there(exercise).is_err() {
        tokio::time::sleep(LOOK).await;
    }
}

fn still_there(exercise: &Exercise) -> Result<(), Problem> {
    if exercise.stub().is_file() {
        return Ok(());
    }
    let number = exercise.number;
    Err(
        Problem::new(format!("`{}` is gone", exercise.stub().display())).help(format!(
            "`cargo workshop reset {number}` puts the stub there, `git restore` your last \
             commit; the watch goes on then"
        )),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Exercise, until_changed};

    fn exercise() -> (tempfile::TempDir, Exercise) {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        let exercise = Exercise {
            number: 7,
            topic: "x".into(),
            folder: root.path().into(),
        };
        fs::write(exercise.stub(), "one").unwrap();
        (root, exercise)
    }

    #[tokio::test]
    async fn a_save_is_seen_also_one_from_before_the_first_look() {
        let (_root, exercise) = exercise();
        let seen = exercise.fingerprint();
        fs::write(exercise.stub(), "two").unwrap();
        until_changed(&exercise, &seen).await;
    }
}
