//! Keeps from the reader what cargo says at each build. Its bar stays, and so does what
//! is out of the ordinary: that it waits for another cargo, or that a download fails.

/// What cargo's lines begin with when all is as always, right-aligned.
const ROUTINE: [&str; 10] = [
    "Compiling",
    "Finished",
    "Running",
    "Executable",
    "Locking",
    "Adding",
    "Updating",
    "Downgrading",
    "Downloading",
    "Downloaded",
];
const VERB_COLUMNS: usize = 12;
/// Takes a bar away, as the line that is left out would have.
const CLEAR_REST: &str = "\x1b[K";

/// Cargo's words, which come in pieces of any size.
#[derive(Debug, Default)]
pub struct Routine {
    /// The beginning of a line.
    line: String,
}

impl Routine {
    /// Takes a piece, and returns what is to be shown by now.
    pub fn take(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for part in piece.split_inclusive(['\n', '\r']) {
            self.line.push_str(part);
            if !part.ends_with(['\n', '\r']) {
                break;
            }
            let line = std::mem::take(&mut self.line);
            match is_routine(&line) {
                true if line.starts_with(CLEAR_REST) => shown.push_str(CLEAR_REST),
                true => {}
                false => shown.push_str(&line),
            }
        }
        shown
    }

    /// Returns the line that cargo hasn't finished.
    pub fn end(self) -> String {
        self.line
    }
}

fn is_routine(line: &str) -> bool {
    let line = without_colors(line);
    // The compiler's own words have been shown.
    if line.starts_with("warning: `") && line.contains(" generated ") {
        return true;
    }
    let Some((verb, rest)) = line.split_at_checked(VERB_COLUMNS) else {
        return false;
    };
    line.ends_with('\n') && rest.starts_with(' ') && ROUTINE.contains(&verb.trim_start())
}

fn without_colors(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let first = pieces.next().unwrap_or_default();
    let rest = pieces.map(|piece| {
        let end = piece.find(|last: char| last.is_ascii_alphabetic());
        end.map_or("", |end| &piece[end + 1..])
    });
    std::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::Routine;

    fn shown(pieces: &[&str]) -> String {
        let mut routine = Routine::default();
        let mut shown: String = pieces.iter().map(|piece| routine.take(piece)).collect();
        shown += &routine.end();
        shown
    }

    #[test]
    fn what_is_said_at_each_build_is_left_out() {
        let said = "   Compiling exercise-1 v0.1.0 (/w/exercises/01-x)\n\
            warning: `exercise-1` (lib test) generated 1 warning\n    \
            Finished `test` profile [unoptimized + debuginfo] target(s) in 1.30s\n";
        assert_eq!(shown(&[said]), "");
        let letters: Vec<_> = said.split_inclusive("").collect();
        assert_eq!(shown(&letters), "");
        let colored = "\x1b[1m\x1b[92m   Compiling\x1b[0m exercise-1 v0.1.0\r\n";
        assert_eq!(shown(&[&colored.replace('\r', "")]), "");
    }

    #[test]
    fn the_bar_is_shown_and_taken_away() {
        let bar = "\x1b[1m\x1b[96m    Building\x1b[0m [==>  ] 3/4: exercise_1(test)   \r";
        let end = "\x1b[K\x1b[1m\x1b[92m    Finished\x1b[0m `test` profile\n";
        assert_eq!(shown(&[bar, end]), format!("{bar}\x1b[K"));
    }

    #[test]
    fn what_is_out_of_the_ordinary_is_shown() {
        for said in [
            "    Blocking waiting for file lock on build directory\n",
            "warning: spurious network error (3 tries remaining): it failed\n",
            "error: could not compile `exercise-1` (lib test) due to 1 previous error\n",
            "error: no such package",
        ] {
            assert_eq!(shown(&[said]), said);
        }
    }
}
