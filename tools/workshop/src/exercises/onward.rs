//! What to do with a solved exercise, and what comes after it.

use super::catalogue::Exercise;
use super::state::{self, State};
use super::{bench, file};
use crate::workshop::Workshop;

/// At most three lines: the difference from our solution, what shows the exercise at
/// work, and the next exercise.
pub fn lines(workshop: &Workshop, exercise: &Exercise) -> Vec<String> {
    let number = exercise.number;
    let compare = format!("Compare it with our solution: `cargo workshop diff {number}`.");
    let bench = bench::exists(workshop, number)
        .then(|| format!("Measure it: `cargo workshop bench {number}`."));
    let trace = exercise
        .has_trace()
        .then(|| format!("Trace it: `cargo workshop trace {number}`."));
    let at_work: Vec<_> = bench.into_iter().chain(trace).collect();
    let at_work = (!at_work.is_empty()).then(|| at_work.join(" "));
    [compare]
        .into_iter()
        .chain(at_work)
        .chain([next(workshop, exercise)])
        .collect()
}

fn next(workshop: &Workshop, exercise: &Exercise) -> String {
    // What is remembered of this exercise may be from before it was solved.
    let list = state::list(workshop).into_iter();
    let others = list.filter(|one| one.number != exercise.number);
    let Some(next) = state::first_to_do(others) else {
        return "All others are solved, too.".into();
    };
    let number = next.number;
    match (next.state, super::catalogue::find(workshop, number)) {
        (State::Solved { .. }, _) => format!(
            "All others are solved. `cargo workshop check {number}` explores the models of \
             {number}."
        ),
        (_, Ok(next)) => format!("Next: exercise {number}, in `{}`.", file::shown(&next)),
        (_, Err(_)) => format!("Next: exercise {number}."),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Workshop, lines};
    use crate::exercises::catalogue;
    use crate::exercises::progress::{LastCheck, Progress};

    fn add(root: &Path, folder: &str) {
        let folder = root.join("exercises").join(folder);
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("Cargo.toml"), "").unwrap();
        fs::write(folder.join("src/lib.rs"), "todo!()").unwrap();
    }

    #[test]
    fn a_solved_exercise_names_what_there_is_for_it() {
        let root = tempfile::tempdir().unwrap();
        add(root.path(), "05-sleep");
        let workshop = Workshop::at(root.path());
        let said = || {
            let exercise = catalogue::find(&workshop, 5).unwrap();
            lines(&workshop, &exercise)
        };
        let compare = "Compare it with our solution: `cargo workshop diff 5`.";
        assert_eq!(said(), [compare, "All others are solved, too."]);

        add(root.path(), "06-spawn-blocking");
        let next = "Next: exercise 6, in `exercises/06-spawn-blocking/src/lib.rs`.";
        assert_eq!(said(), [compare, next]);

        let examples = root.path().join("exercises/05-sleep/examples");
        fs::create_dir(&examples).unwrap();
        fs::write(examples.join("trace.rs"), "fn main() {}").unwrap();
        assert_eq!(
            said(),
            [compare, "Trace it: `cargo workshop trace 5`.", next]
        );

        fs::create_dir(root.path().join("benches")).unwrap();
        let bench = "use exercise_5 as yours;\nfn main() {}";
        fs::write(root.path().join("benches/timers.rs"), bench).unwrap();
        let at_work = "Measure it: `cargo workshop bench 5`. Trace it: `cargo workshop trace 5`.";
        assert_eq!(said(), [compare, at_work, next]);

        let other = catalogue::find(&workshop, 6).unwrap();
        fs::write(other.folder.join("src/models.rs"), "").unwrap();
        let last = LastCheck {
            clauses: [(1, true)].into(),
            ..LastCheck::new(other.fingerprint(), true, &[].into())
        };
        Progress::change(&workshop, 6, |memory| memory.hear(last)).unwrap();
        let next = "All others are solved. `cargo workshop check 6` explores the models of 6.";
        assert_eq!(said(), [compare, at_work, next]);
        let width = |line: String| line.chars().count();
        assert!(said().into_iter().map(width).all(|width| width < 80));
    }
}
