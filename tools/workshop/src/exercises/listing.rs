//! The list of the exercises for people, as wide as the terminal.

use std::io;

use super::state::{self, Listed, State};
use crate::terminal::{BOLD, DIM, GREEN, RED, YELLOW, colors_wanted, columns, cut, is_live, paint};
use crate::workshop::Workshop;

/// What a terminal leaves for how an exercise stands, at least.
const STATE_LEAST: usize = 20;

/// The list as standard output is to show it: elsewhere than in a terminal, in full
/// and without colors.
pub fn for_stdout(workshop: &Workshop) -> String {
    let out = io::stdout();
    let columns = is_live(&out).then(|| usize::from(columns()));
    table(&state::list(workshop), colors_wanted(&out), columns)
}

/// A line for each exercise, and what is next. With a width, each line is shorter.
fn table(list: &[Listed], colors: bool, columns: Option<usize>) -> String {
    let names = list.iter().map(|one| one.name.chars().count());
    let mut name_width = names.max().unwrap_or(0);
    let mut state_width = usize::MAX;
    if let Some(columns) = columns {
        // A line that is full breaks on some terminals.
        let room = columns.saturating_sub("  ✓ 17    ".chars().count() + 1);
        name_width = name_width.min(room.saturating_sub(STATE_LEAST).max(room / 2));
        state_width = room.saturating_sub(name_width);
    }
    let mut text = String::new();
    for one in list {
        let (mark, color) = match one.state {
            State::Solved { explored: true } => ("✓", GREEN),
            State::Solved { explored: false } => ("✓", YELLOW),
            State::Changed { solved: true } => ("~", YELLOW),
            State::DoesNotCompile => ("·", RED),
            State::Unsolved { held, clauses, .. } if held == clauses => ("·", RED),
            State::Unsolved { .. } => ("·", ""),
            State::Changed { solved: false } | State::NotChecked | State::NotStarted => ("·", DIM),
        };
        let mark = paint(color, mark, colors);
        let name = format!("{:<name_width$}", cut(&one.name, name_width));
        let name = match one.next {
            true => paint(BOLD, &name, colors),
            false => name,
        };
        let state = fitting(&spoken(&one.state, one.milestones), state_width);
        let state = paint(color, &state, colors);
        text += &format!("  {mark} {:>2}  {name}  {state}\n", one.number);
    }
    let next = match list.iter().find(|one| one.next) {
        Some(Listed { number, state, .. }) if state.is_solved() => filled(
            &[
                "All are solved.".into(),
                format!("Next: the models of exercise {number}."),
                format!("`cargo workshop check {number}` explores them."),
            ],
            columns,
        ),
        Some(Listed { number, topic, .. }) => filled(
            &[
                format!("Next: exercise {number},"),
                format!("in `exercises/{number:02}-{topic}/src/lib.rs`."),
                format!("`cargo workshop check {number}` checks it."),
            ],
            columns,
        ),
        None => "All are solved.".into(),
    };
    format!("{text}\n{next}\n")
}

/// How an exercise stands, in several wordings: the longest comes first.
fn spoken(state: &State, milestones: usize) -> Vec<String> {
    let wordings: &[&str] = match state {
        State::NotStarted => &["not started"],
        State::NotChecked => &["not checked yet"],
        State::Changed { solved: true } => &[
            "solved, but changed since its last check",
            "solved, then changed",
        ],
        State::Changed { solved: false } => &["changed since its last check", "not checked since"],
        State::DoesNotCompile => &["does not compile"],
        State::Unsolved { held, clauses, .. } if held == clauses => &[
            "every clause holds when tested, but a model fails",
            "a model fails",
        ],
        State::Solved { explored: true } => &["solved"],
        State::Solved { explored: false } => &[
            "solved; its models are still to be explored",
            "solved, but for the models",
        ],
        State::Unsolved {
            held,
            clauses,
            unwritten,
            reached,
        } => {
            let hold = format!("{held} of {clauses} clauses hold");
            let with_milestones = match milestones {
                0 => hold.clone(),
                of => format!("{reached} of {of} milestones: {hold}"),
            };
            let with_unwritten = match unwritten {
                0 => with_milestones.clone(),
                some => format!("{with_milestones}, {some} not written yet"),
            };
            return vec![with_unwritten, with_milestones, hold];
        }
    };
    wordings.iter().map(|&wording| wording.to_owned()).collect()
}

/// The first wording that fits; if none does, the beginning of the last.
fn fitting(wordings: &[String], width: usize) -> String {
    let fits = |wording: &&String| wording.chars().count() <= width;
    let found = wordings.iter().find(fits).or(wordings.last());
    found.map_or(String::new(), |wording| cut(wording, width))
}

/// The pieces in lines that are shorter than this, each with as many as fit.
fn filled(pieces: &[String], columns: Option<usize>) -> String {
    let columns = columns.unwrap_or(usize::MAX);
    let mut text = String::new();
    let mut used = 0;
    for piece in pieces {
        let width = piece.chars().count();
        if used > 0 && used + 1 + width >= columns {
            text.push('\n');
            used = 0;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text += piece;
        used += width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Listed, State, spoken, table};

    fn listed(number: u32, name: &str, state: State) -> Listed {
        Listed {
            number,
            topic: "cached-block-on".into(),
            title: "a whole sentence, which is longer than what a line has room for".into(),
            name: name.into(),
            page: None,
            milestones: 0,
            state,
            next: false,
        }
    }

    fn unsolved(held: usize, unwritten: usize, reached: usize) -> State {
        State::Unsolved {
            held,
            clauses: 9,
            unwritten,
            reached,
        }
    }

    /// One exercise in each state.
    fn all() -> Vec<Listed> {
        let mut all = vec![
            listed(1, "block_on", State::Solved { explored: true }),
            listed(2, "a parker", State::Changed { solved: true }),
            listed(3, "a raw waker", State::Changed { solved: false }),
            listed(4, "a cached block_on", State::NotStarted),
            listed(7, "a yield, and every n-th", State::DoesNotCompile),
            listed(9, "a local executor", unsolved(4, 3, 1)),
            listed(12, "a task", unsolved(9, 0, 3)),
            listed(15, "readiness", State::Solved { explored: false }),
            listed(17, "a runtime that replays", State::NotChecked),
        ];
        all[3].next = true;
        all[5].milestones = 3;
        all
    }

    /// The text as a terminal shows it.
    fn seen(text: &str) -> String {
        let mut parts = text.split('\x1b');
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest));
        first + &rest.collect::<String>()
    }

    #[test]
    fn each_line_fits_a_terminal_with_colors_and_without() {
        for columns in [24, 40, 60, 80, 120] {
            let plain = table(&all(), false, Some(columns));
            assert!(!plain.contains('\x1b'), "{plain}");
            let rows = plain.lines().take_while(|line| !line.is_empty());
            let widths: Vec<_> = rows.map(|line| line.chars().count()).collect();
            assert_eq!(widths.len(), 9, "no row breaks:\n{plain}");
            assert!(widths.iter().all(|width| *width < columns), "{plain}");
            if columns >= 60 {
                assert!(!plain.contains('…'), "nothing is cut:\n{plain}");
                let lines = plain.lines();
                assert!(lines.clone().all(|line| line.chars().count() < columns));
            }
            let colored = table(&all(), true, Some(columns));
            assert_eq!(seen(&colored), plain, "colors take no room");
        }
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_words() {
        let line = |columns, number: &str| {
            let text = table(&all(), false, columns);
            let mut lines = text.lines();
            let line = lines.find(|line| line[5..].trim_start().starts_with(number));
            line.unwrap().to_owned()
        };
        let nine = "  ·  9  a local executor         1 of 3 milestones: 4 of 9 clauses hold";
        assert_eq!(line(Some(120), "9 "), format!("{nine}, 3 not written yet"));
        assert_eq!(line(Some(80), "9 "), nine);
        let hold = "  ·  9  a local executor         4 of 9 clauses hold";
        assert_eq!(line(Some(60), "9 "), hold);
        let twelve = "  · 12  a task                   ";
        let whole = "every clause holds when tested, but a model fails";
        assert_eq!(line(Some(120), "12 "), format!("{twelve}{whole}"));
        assert_eq!(line(Some(60), "12 "), format!("{twelve}a model fails"));
        // What is printed elsewhere doesn't depend on a width.
        assert_eq!(line(None, "9 "), line(Some(120), "9 "));
        assert_eq!(line(None, "12 "), line(Some(120), "12 "));
    }

    #[test]
    fn colors_tell_what_is_solved_and_what_is_next() {
        let text = table(&all(), true, Some(80));
        for expected in [
            "  \x1b[32m✓\x1b[0m  1  block_on                 \x1b[32msolved\x1b[0m\n",
            "  \x1b[33m~\x1b[0m  2  a parker                 \x1b[33msolved, but changed",
            "  \x1b[2m·\x1b[0m  4  \x1b[1ma cached block_on      \x1b[0m  \x1b[2mnot started",
            "  \x1b[31m·\x1b[0m  7  a yield, and every n-th  \x1b[31mdoes not compile",
            "  \x1b[33m✓\x1b[0m 15  readiness                \x1b[33msolved; its models",
        ] {
            assert!(text.contains(expected), "{expected:?} is not in {text:?}");
        }
    }

    #[test]
    fn the_table_says_how_far_an_exercise_is() {
        let longest = |state, milestones| spoken(&state, milestones).remove(0);
        assert_eq!(longest(unsolved(4, 0, 0), 0), "4 of 9 clauses hold");
        let unwritten = "4 of 9 clauses hold, 5 not written yet";
        assert_eq!(longest(unsolved(4, 5, 0), 0), unwritten);
        let with_milestones = "1 of 3 milestones: 4 of 9 clauses hold, 3 not written yet";
        assert_eq!(longest(unsolved(4, 3, 1), 3), with_milestones);
    }

    #[test]
    fn the_table_says_what_is_next() {
        let mut list = vec![
            listed(1, "run", State::Solved { explored: true }),
            listed(2, "a parker", State::NotStarted),
        ];
        list[1].next = true;
        let rows = "  ✓  1  run       solved\n  ·  2  a parker  not started\n\n";
        let next = "Next: exercise 2, in `exercises/02-cached-block-on/src/lib.rs`.";
        let check = "`cargo workshop check 2` checks it.";
        let expected = format!("{rows}{next} {check}\n");
        assert_eq!(table(&list, false, None), expected);
        let narrower = format!("{rows}{next}\n{check}\n");
        assert_eq!(table(&list, false, Some(80)), narrower);
        list[1].state = State::Solved { explored: false };
        let rows = "  ✓  1  run       solved\n\
                    \x20 ✓  2  a parker  solved; its models are still to be explored\n\n";
        let next = "All are solved. Next: the models of exercise 2.";
        let check = "`cargo workshop check 2` explores them.";
        assert_eq!(table(&list, false, None), format!("{rows}{next} {check}\n"));
        list.pop();
        let all = "  ✓  1  run  solved\n\nAll are solved.\n";
        assert_eq!(table(&list, false, None), all);
    }
}
