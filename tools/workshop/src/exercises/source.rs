//! Reads contracts, tests and lessons from the sources, by simple rules for
//! lines: the sources keep to a form, and what breaks it is to be told.

use serde::Serialize;

use super::milestones::Milestone;

/// A clause of a contract: `3. **No lost wake-up.** A wake-up that …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its number.
    pub number: u32,
    /// Its name, without the dot.
    pub name: String,
    /// The line where it begins, counted from 1.
    pub line: usize,
}

/// The `# Contract` of a file, which may stand in several parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// The clauses, in the order of the file.
    pub clauses: Vec<Clause>,
    /// All lines of it, without indentation and empty ones.
    pub text: Vec<String>,
}

/// A test, or a model, and what its comment and its lesson say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// The function's name.
    pub name: String,
    /// The line of the function, counted from 1.
    pub line: usize,
    /// The comment's first line, without the slashes.
    pub comment: String,
    /// The lesson's clause, `3. No lost wake-up`, if it stands in the function.
    pub lesson: Option<String>,
}

impl Test {
    /// The number in a comment that begins with `Clause 3: `.
    pub fn clause(&self) -> Option<u32> {
        let (number, why) = self.comment.strip_prefix("Clause ")?.split_once(": ")?;
        number.parse().ok().filter(|_| !why.trim().is_empty())
    }
}

/// Reads the contract of a stub or a solution.
pub fn contract(source: &str) -> Contract {
    let mut contract = Contract::default();
    let mut inside = false;
    for (at, line) in source.lines().enumerate() {
        let Some(text) = documentation(line) else {
            inside = false;
            continue;
        };
        if let Some(heading) = text.strip_prefix("# ") {
            inside = heading == "Contract";
        } else if inside && !text.is_empty() {
            contract.text.push(text.to_owned());
            contract.clauses.extend(clause(text, at + 1));
        }
    }
    contract
}

fn documentation(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line
        .strip_prefix("///")
        .or_else(|| line.strip_prefix("//!"))?;
    Some(text.trim())
}

fn clause(text: &str, line: usize) -> Option<Clause> {
    let (number, rest) = text.split_once(". **")?;
    let (name, _) = rest.split_once(".**")?;
    Some(Clause {
        number: number.parse().ok()?,
        name: name.to_owned(),
        line,
    })
}

/// A clause in full, as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FullClause {
    /// Its number.
    pub number: u32,
    /// Its name, without the dot.
    pub name: String,
    /// What it promises, in Markdown of one paragraph.
    pub text: String,
}

/// Reads the clauses of a stub's contract with all of their words.
pub fn full_clauses(source: &str) -> Vec<FullClause> {
    let contract = contract(source);
    let lines: Vec<_> = source.lines().collect();
    let full = |clause: Clause| {
        let above = &lines[clause.line - 1..];
        let (_, first) = above.first()?.split_once(".**")?;
        let mut words = vec![first.trim()];
        // What belongs to the clause is indented below it.
        let rest = above[1..].iter().map(|line| line.trim_start());
        let rest = rest.map_while(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
        let rest = rest.take_while(|line| line.trim().is_empty() || line.starts_with("   "));
        words.extend(rest.map(str::trim).filter(|line| !line.is_empty()));
        Some(FullClause {
            number: clause.number,
            name: clause.name,
            // Links between items of the documentation lead nowhere on a page.
            text: without_links(&words.join(" ")),
        })
    };
    contract.clauses.into_iter().filter_map(full).collect()
}

/// The words of `[`x`]` and `[`x`](path)` without the link.
fn without_links(text: &str) -> String {
    let mut parts = text.split("`]");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let path = part.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        whole.push('`');
        whole.push_str(path.map_or(part, |(_path, rest)| rest));
    }
    whole.replace("[`", "`")
}

/// The source of one test: its comment, its attributes and its function.
pub fn test_source(source: &str, name: &str) -> Option<String> {
    let test = tests(source).into_iter().find(|test| test.name == name)?;
    let lines: Vec<_> = source.lines().collect();
    let at = test.line - 1;
    let is_above = |line: &&&str| {
        let line = line.trim_start();
        line.starts_with("///") || line.starts_with("#[")
    };
    let above = lines[..at].iter().rev().take_while(is_above).count();
    let indent = lines[at].len() - lines[at].trim_start().len();
    let closing = format!("{:indent$}}}", "");
    let below = lines[at..].iter().position(|line| **line == closing)?;
    let lines = lines[at - above..=at + below].iter();
    let lines = lines.map(|line| line.get(indent..).unwrap_or_default());
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Reads the `# Milestones` of a stub: `1. **A shell.** Clauses 1, 2 and 4 to 6.`
pub fn milestones(source: &str) -> Vec<Milestone> {
    let mut milestones: Vec<(Milestone, String)> = Vec::new();
    let mut inside = false;
    for (at, line) in source.lines().enumerate() {
        let text = documentation(line).unwrap_or_default();
        if let Some(heading) = text.strip_prefix("# ") {
            inside = heading == "Milestones";
        } else if inside && let Some(item) = clause(text, at + 1) {
            let Clause { number, name, line } = item;
            let clauses = Vec::new();
            let milestone = Milestone {
                number,
                name,
                clauses,
                line,
            };
            let (_, says) = text.split_once(".**").unwrap_or_default();
            milestones.push((milestone, says.to_owned()));
        } else if inside && let Some((_, says)) = milestones.last_mut() {
            *says += " ";
            *says += text;
        }
    }
    let read = |(milestone, says): (Milestone, String)| Milestone {
        clauses: numbers(&says).unwrap_or_default(),
        ..milestone
    };
    milestones.into_iter().map(read).collect()
}

/// The numbers in a sentence such as `Clauses 1, 2 and 4 to 6`.
fn numbers(text: &str) -> Option<Vec<u32>> {
    let text = text.trim_start();
    let list = text
        .strip_prefix("Clauses ")
        .or_else(|| text.strip_prefix("Clause "))?;
    numbers_in(list.split(['.', ':', ';']).next()?)
}

/// The numbers in a list such as `1, 2 and 4 to 6`.
pub fn numbers_in(list: &str) -> Option<Vec<u32>> {
    let list = list.replace(" and ", ", ");
    let mut numbers = Vec::new();
    for part in list.split(", ") {
        let (first, last) = part.split_once(" to ").unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        numbers.extend(number(first)?..=number(last)?);
    }
    Some(numbers)
}

/// Reads the tests of a file.
pub fn tests(source: &str) -> Vec<Test> {
    let lines: Vec<_> = source.lines().collect();
    let starts: Vec<_> = (0..lines.len())
        .filter(|&at| lines[at].trim() == "#[test]")
        .collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let regions = starts.iter().copied().zip(ends);
    regions
        .filter_map(|(start, end)| test(&lines, start, end))
        .collect()
}

/// Reads the test whose `#[test]` is in line `start`; the next one's is in `end`.
fn test(lines: &[&str], start: usize, end: usize) -> Option<Test> {
    let (at, name) = (start..end).find_map(|at| Some((at, function_name(lines[at])?)))?;
    let above = lines[..start].iter().rev();
    let comment = above
        .take_while(|line| line.trim_start().starts_with("///"))
        .last();
    let lesson = (at..end).find_map(|at| field(lines[at], "clause"));
    Some(Test {
        name: name.to_owned(),
        line: at + 1,
        comment: comment
            .and_then(|line| documentation(line))
            .unwrap_or_default()
            .to_owned(),
        lesson: lesson.map(str::to_owned),
    })
}

fn function_name(line: &str) -> Option<&str> {
    let rest = line.trim_start();
    let rest = rest
        .strip_prefix("pub ")
        .unwrap_or(rest)
        .strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

/// The string in `name: "…"`.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = line.trim_start().strip_prefix(name)?.strip_prefix(": \"")?;
    rest.split('"').next()
}

/// All places that the lessons of a file send the reader to, with their lines.
pub fn reading(source: &str) -> Vec<(usize, String)> {
    let lines = source.lines().enumerate();
    let places = lines.filter_map(|(at, line)| Some((at + 1, field(line, "read")?)));
    let sections = places.flat_map(|(line, read)| {
        // At a hang another section of the page may say more.
        let (page, at_hang) = match read.split_once(", at a hang ") {
            Some((page, at_hang)) => (page, Some(at_hang)),
            None => (read, None),
        };
        let file = page.split('#').next().unwrap_or(page);
        let at_hang = at_hang.map(|anchor| format!("{file}{anchor}"));
        let all = [page.to_owned()].into_iter().chain(at_hang);
        all.map(move |place| (line, place))
    });
    sections.collect()
}

#[cfg(test)]
mod tests {
    use super::{Clause, contract, full_clauses, milestones, reading, test_source, tests};

    const STUB: &str = "\
/// Runs it.
///
/// # Contract
///
/// 1. **Prompt.** The future is polled
///    at once.
///
/// 2. **Idle.** It sleeps.
///
/// # Panics
///
/// 3. **Not one.** Of the contract.
pub fn run() {}
";

    #[test]
    fn a_contract_ends_at_the_next_heading() {
        let contract = contract(STUB);
        let clause = |number, name: &str, line| Clause {
            number,
            name: name.into(),
            line,
        };
        assert_eq!(
            contract.clauses,
            [clause(1, "Prompt", 5), clause(2, "Idle", 8)]
        );
        let text = [
            "1. **Prompt.** The future is polled",
            "at once.",
            "2. **Idle.** It sleeps.",
        ];
        assert_eq!(contract.text, text);
    }

    #[test]
    fn a_clause_is_told_with_all_of_its_words() {
        let source = STUB.replace(
            "It sleeps.",
            "It sleeps\n///    in [`wait`], not in [`park`](std::thread::park) (see [`wait`]).",
        );
        let source = source.replace("/// # Panics", "/// Not of a clause.\n///\n/// # Panics");
        let told: Vec<_> = full_clauses(&source).into_iter().collect();
        let told: Vec<_> = told
            .iter()
            .map(|one| (one.number, one.name.as_str(), one.text.as_str()))
            .collect();
        let expected = [
            (1, "Prompt", "The future is polled at once."),
            (
                2,
                "Idle",
                "It sleeps in `wait`, not in `park` (see `wait`).",
            ),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn the_code_of_a_test_is_its_comment_and_its_function() {
        let code = test_source(TESTS, "it_holds").unwrap();
        assert!(code.starts_with("/// Clause 1: because.\n/// And more.\n#[test]"));
        assert!(code.ends_with("    };\n}"), "{code}");
        let nested = "mod a {\n    #[test]\n    fn b() {\n        c();\n    }\n}\n";
        let code = test_source(nested, "b").unwrap();
        assert_eq!(code, "#[test]\nfn b() {\n    c();\n}");
        assert_eq!(test_source(TESTS, "helper"), None);
    }

    #[test]
    fn milestones_are_sets_of_clauses() {
        let source = "//! # Contract\n//!\n//! 1. **Not one.** Clauses 1 to 9.\n//!\n\
                      //! # Milestones\n//!\n//! In steps.\n//!\n\
                      //! 1. **A shell.** Clauses 1, 3\n//!    and 5 to 7: on one queue.\n\
                      //! 2. **Its end.** Clause 2.\n//! 3. **Odd.** Some.\n//!\n//! # Examples\n\
                      //!\n//! 4. **Not one.** Clause 4.\n";
        let read = milestones(source).into_iter();
        let read: Vec<_> = read
            .map(|one| (one.number, one.name, one.clauses, one.line))
            .collect();
        let expected = [
            (1, "A shell".to_owned(), vec![1, 3, 5, 6, 7], 9),
            (2, "Its end".to_owned(), vec![2], 11),
            (3, "Odd".to_owned(), vec![], 12),
        ];
        assert_eq!(read, expected);
    }

    const TESTS: &str = "\
/// Clause 1: because.
/// And more.
#[test]
#[cfg(unix)]
fn it_holds() {
    let lesson = Lesson {
        clause: \"1. Prompt\",
        read: \"a.html#b\",
    };
}

fn helper() {}

#[test]
fn it_says_nothing() {
    check(PROMPT, || ());
}
";

    #[test]
    fn a_test_is_read_with_its_comment_and_its_lesson() {
        let tests = tests(TESTS);
        assert_eq!(tests[0].name, "it_holds");
        assert_eq!((tests[0].line, tests[0].clause()), (5, Some(1)));
        assert_eq!(tests[0].lesson.as_deref(), Some("1. Prompt"));
        assert_eq!(tests[1].name, "it_says_nothing");
        assert_eq!((tests[1].clause(), &tests[1].lesson), (None, &None));
        assert_eq!(reading(TESTS), [(8, "a.html#b".to_owned())]);
        let both = TESTS.replace("a.html#b", "a.html#b, at a hang #c");
        let expected = ["a.html#b", "a.html#c"].map(|place| (8, place.to_owned()));
        assert_eq!(reading(&both), expected);
    }

    #[test]
    fn a_comment_without_number_or_reason_names_no_clause() {
        for comment in ["Clause x: y.", "Clause 3", "Clause 3: ", "clause 3: y."] {
            let source = format!("/// {comment}\n#[test]\nfn a() {{}}\n");
            assert_eq!(tests(&source)[0].clause(), None, "{comment}");
        }
    }
}
