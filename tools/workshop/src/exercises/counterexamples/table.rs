//! The list of wrong versions, as wide as the terminal.

use super::Counterexample;
use crate::terminal::cut;

/// What a terminal leaves for the clause's name, at least.
const CLAUSE_LEAST: usize = 12;

/// A line for each: the exercise, its name, the clause that it breaks and the check
/// that catches it. In a terminal the clause and the check are cut to fit.
pub fn table(rows: &[(u32, Counterexample)], columns: Option<usize>) -> String {
    let clause = |one: &Counterexample| format!("{}. {}", one.header.clause, one.header.name);
    let names = rows.iter().map(|(_, one)| one.name.chars().count());
    let name_width = names.max().unwrap_or(0);
    let clauses = rows.iter().map(|(_, one)| clause(one).chars().count());
    let mut clause_width = clauses.max().unwrap_or(0);
    let tests = rows.iter().map(|(_, one)| test(one).chars().count());
    let mut test_width = tests.max().unwrap_or(0);
    if let Some(columns) = columns {
        // The number, and the gaps. A line that is full breaks on some terminals.
        let room = columns.saturating_sub("  14  ".len() + name_width + 2 + 2 + 1);
        let for_clause = (room / 3).max(CLAUSE_LEAST);
        clause_width = clause_width.min(for_clause);
        test_width = room.saturating_sub(clause_width).max(1);
    }
    let line = |(number, one): &(u32, Counterexample)| {
        let clause = cut(&clause(one), clause_width);
        let line = format!(
            "  {number:>2}  {:<name_width$}  {clause:<clause_width$}  {}",
            one.name,
            cut(test(one), test_width)
        );
        let line = columns.map_or(line.clone(), |columns| cut(&line, columns - 1));
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

/// The check that catches it. Models keep the name of their module: `check` runs them
/// after all others.
fn test(one: &Counterexample) -> &str {
    let test = &one.header.caught_by.test;
    test.strip_prefix("tests::").unwrap_or(test)
}

#[cfg(test)]
mod tests {
    use super::{Counterexample, table};
    use crate::exercises::header::Header;

    fn row(name: &str, header: &str) -> (u32, Counterexample) {
        let header = Header::read(&format!("{header}//!\n//! Why.\n")).unwrap();
        let counterexample = Counterexample {
            name: name.into(),
            file: "x.rs".into(),
            header,
        };
        (3, counterexample)
    }

    #[test]
    fn a_line_has_the_clause_and_what_catches_it() {
        let rows = [
            row(
                "c01_counts",
                "//! Breaks clause 1: Exactly once.\n//! Caught by: it_comes_once\n",
            ),
            row(
                "c02_waits_for_nobody",
                "//! Breaks clause 2: Prompt.\n//! Caught by: models::every_order_of_all_threads\n",
            ),
        ];
        let expected = "   3  c01_counts            1. Exactly once  it_comes_once\n   \
                        3  c02_waits_for_nobody  2. Prompt        models::every_order_of_all_threads\n";
        assert_eq!(table(&rows, None), expected);
        let narrow = table(&rows, Some(60));
        let widths: Vec<_> = narrow.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width < 60), "{narrow}");
        assert!(narrow.contains("1. Exactly …  it_comes_once"), "{narrow}");
        // Nothing is left of a check, but no line breaks.
        let narrower = table(&rows, Some(20));
        assert!(
            narrower.lines().all(|line| line.chars().count() < 20),
            "{narrower}"
        );
    }
}
