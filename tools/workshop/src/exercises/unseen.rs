//! Which primitives of std a file uses: the models explore only what comes from
//! `primitives`, and take the rest for something that no other thread can see.

use std::fs;

use imports::{primitives, uses_primitives};

use super::catalogue::Exercise;

/// That the models can't see all of the reader's code.
pub struct Unseen {
    /// Says so, and what to do.
    pub message: String,
    /// Whether they see nothing of it: then each would tell a wrong story.
    pub is_all: bool,
}

/// Looks through the reader's files.
pub fn in_exercise(exercise: &Exercise) -> Option<Unseen> {
    let checks: Vec<_> = [exercise.tests(), exercise.models()].concat();
    let is_own = |file: &std::path::PathBuf| {
        !checks.contains(file) && file.extension().is_some_and(|end| end == "rs")
    };
    let mut places = Vec::new();
    let mut takes_from_sync = false;
    for file in exercise.sources().into_iter().filter(is_own) {
        let source = fs::read_to_string(&file).unwrap_or_default();
        takes_from_sync |= uses_primitives(&source);
        let name = file
            .strip_prefix(&exercise.folder)
            .unwrap_or(&file)
            .display();
        let found = primitives(&source).into_iter();
        places.extend(found.map(|one| format!("`{}` ({name}:{})", one.path, one.line)));
    }
    let first = places.first()?;
    let message = match takes_from_sync {
        true => format!(
            "The models see only what comes from `primitives`, so not {first}. If their failure makes no \
             sense, import it from `primitives` as well."
        ),
        false => format!(
            "The tests pass, but the models can't see your code: it takes nothing from `primitives`, and \
             {first} from std. Import it from `primitives`, which is std's in the tests and the model \
             checker's in the models."
        ),
    };
    Some(Unseen {
        message,
        is_all: !takes_from_sync,
    })
}
