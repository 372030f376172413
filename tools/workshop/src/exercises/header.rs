//! The header of a counterexample: what it breaks, and what catches it.

use std::fs;
use std::path::Path;

use wrong::Wrong;

/// What a header claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The clause's number.
    pub clause: u32,
    /// The clause's name.
    pub name: String,
    /// The test that must fail.
    pub caught_by: Claim,
    /// The other tests that may fail.
    pub also_fails: Vec<Claim>,
    /// Those of them whose words name the cause as well.
    pub tells: Vec<Claim>,
    /// How the order ends in which the model fails that catches it; one of [`ORDERS`].
    pub order: Option<String>,
}

/// What a header may say of an order: what it ends in, and whether a load before that has
/// returned an old value, without which the order wouldn't end so. There is none if the
/// model fails only after all orders.
pub const ORDERS: [&str; 6] = [
    "a deadlock",
    "a failure",
    "a data race",
    "a deadlock after an old value",
    "a failure after an old value",
    "none",
];

/// A test that a header names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The test's path in the exercise, `tests::…` or `models::…`.
    pub test: String,
    /// The line, counted from 1.
    pub line: usize,
}

impl Header {
    /// Reads the header of a wrong version's file: of a source, or of an edit of a
    /// right version.
    ///
    /// # Errors
    ///
    /// The line at fault, and what is wrong with it.
    pub fn of(file: &Path) -> Result<Self, (usize, String)> {
        let text = fs::read_to_string(file).map_err(|error| (1, error.to_string()))?;
        if file.extension().is_none_or(|extension| extension != "diff") {
            return Self::read(&text);
        }
        let wrong = Wrong::read(&text).map_err(|error| (1, error.to_string()))?;
        let lines = wrong.header.lines();
        let commented: Vec<_> = lines.map(|line| format!("//! {line}")).collect();
        Self::read(&commented.join("\n"))
    }

    /// Reads the header of a file.
    ///
    /// # Errors
    ///
    /// The line at fault, and what is wrong with it.
    pub fn read(source: &str) -> Result<Self, (usize, String)> {
        let mut lines = source.lines().enumerate().map(|(at, line)| (at + 1, line));
        let expected = |form: &str| format!("the header has no line `//! {form}` here");
        let mut next = |form: &str| lines.next().ok_or_else(|| (1, expected(form)));

        let form = "Breaks clause K: Name.";
        let (at, line) = next(form)?;
        let (clause, name) = broken_clause(line).ok_or_else(|| (at, expected(form)))?;
        let form = "Caught by: name_of_the_test";
        let (at, line) = next(form)?;
        let caught_by = claim("Caught by", at, line).ok_or_else(|| (at, expected(form)))?;
        let mut header = Self {
            clause,
            name,
            caught_by,
            also_fails: Vec::new(),
            tells: Vec::new(),
            order: None,
        };
        for (at, line) in lines.by_ref() {
            if let Some(claim) = claim("Also fails", at, line) {
                if header.allows(&claim.test) {
                    return Err((at, "the header has named this test already".into()));
                }
                header.also_fails.push(claim);
            } else if let Some(claim) = claim("Tells", at, line) {
                if !header.allows(&claim.test) {
                    return Err((at, "`Tells` names a test that doesn't fail".into()));
                }
                header.tells.push(claim);
            } else if let Some(order) = line.strip_prefix("//! Order: ") {
                if !ORDERS.contains(&order) || header.order.is_some() {
                    let orders = ORDERS.join("`, `");
                    return Err((
                        at,
                        format!("`Order` is said once, and is one of `{orders}`"),
                    ));
                }
                header.order = Some(order.to_owned());
            } else if line.trim_end() == "//!" {
                break;
            } else {
                return Err((at, expected("Also fails: name_of_the_test")));
            }
        }
        match lines.next() {
            Some((_, line)) if line.len() > 4 && line.starts_with("//! ") => Ok(header),
            Some((at, _)) => Err((at, "the header does not say what is wrong".into())),
            None => Err((1, "the header does not say what is wrong".into())),
        }
    }

    /// Whether the header allows this test to fail.
    pub fn allows(&self, test: &str) -> bool {
        self.claims().any(|claim| claim.test == test)
    }

    /// Whether the words of this test name the cause.
    pub fn accepts(&self, test: &str) -> bool {
        let tells = self.tells.iter().chain([&self.caught_by]);
        tells.into_iter().any(|claim| claim.test == test)
    }

    /// All tests that it names.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        [&self.caught_by].into_iter().chain(&self.also_fails)
    }
}

fn broken_clause(line: &str) -> Option<(u32, String)> {
    let rest = line.strip_prefix("//! Breaks clause ")?.trim_end();
    let (number, name) = rest.strip_suffix('.')?.split_once(": ")?;
    Some((number.parse().ok()?, name.to_owned()))
}

fn claim(label: &str, line: usize, text: &str) -> Option<Claim> {
    let name = text
        .strip_prefix("//! ")?
        .strip_prefix(label)?
        .strip_prefix(": ")?
        .trim_end();
    let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    if name.is_empty() || !name.chars().all(is_path) {
        return None;
    }
    let test = match name.contains("::") {
        true => name.to_owned(),
        false => format!("tests::{name}"),
    };
    Some(Claim { test, line })
}

#[cfg(test)]
mod tests {
    use super::Header;

    #[test]
    fn a_header_is_read_with_all_it_names() {
        let source = "//! Breaks clause 3: No lost wake-up.\n//! Caught by: models::a\n\
                      //! Also fails: b\n//! Also fails: c\n//!\n//! Why.\n";
        let header = Header::read(source).unwrap();
        assert_eq!(
            (header.clause, header.name.as_str()),
            (3, "No lost wake-up")
        );
        assert_eq!(
            (header.caught_by.test.as_str(), header.caught_by.line),
            ("models::a", 2)
        );
        assert!(header.allows("tests::c") && header.allows("models::a"));
        assert!(!header.allows("tests::a") && !header.allows("models::b"));
    }

    #[test]
    fn what_tells_the_cause_is_what_catches_it_or_is_said_to() {
        let source = "//! Breaks clause 3: Name.\n//! Caught by: a\n//! Also fails: b\n\
                      //! Also fails: c\n//! Tells: c\n//!\n//! Why.\n";
        let header = Header::read(source).unwrap();
        assert!(header.accepts("tests::a") && header.accepts("tests::c"));
        assert!(!header.accepts("tests::b"));
        let source = source.replace("Tells: c", "Tells: d");
        assert_eq!(Header::read(&source).unwrap_err().0, 5);
    }

    #[test]
    fn a_test_is_named_once() {
        let source = "//! Breaks clause 3: Name.\n//! Caught by: a\n//! Also fails: b\n\
                      //! Also fails: tests::b\n//!\n//! Why.\n";
        assert_eq!(Header::read(source).unwrap_err().0, 4);
        let source = source.replace("tests::b", "a");
        assert_eq!(Header::read(&source).unwrap_err().0, 4);
    }

    #[test]
    fn how_an_order_ends_is_one_of_a_few_and_said_once() {
        let source = "//! Breaks clause 3: Name.\n//! Caught by: models::a\n\
                      //! Order: a data race\n//! Also fails: b\n//!\n//! Why.\n";
        let header = Header::read(source).unwrap();
        assert_eq!(header.order.as_deref(), Some("a data race"));
        for wrong in ["//! Order: a race", "//! Order: none\n//! Order: none"] {
            let source = source.replace("//! Order: a data race", wrong);
            assert!(Header::read(&source).unwrap_err().1.starts_with("`Order`"));
        }
    }

    #[test]
    fn a_broken_header_is_told_with_its_line() {
        let line_at_fault = |source: &str| Header::read(source).unwrap_err().0;
        let first = "//! Breaks clause 3: Name.";
        assert_eq!(line_at_fault("//! Breaks clause three: Name.\n"), 1);
        assert_eq!(line_at_fault("//! Breaks clause 3: Name\n"), 1);
        assert_eq!(line_at_fault(&format!("{first}\n//! Found by: a\n")), 2);
        assert_eq!(line_at_fault(&format!("{first}\n//! Caught by: a, b\n")), 2);
        assert_eq!(
            line_at_fault(&format!("{first}\n//! Caught by: a\n//! Also fail: b\n")),
            3
        );
        assert_eq!(
            line_at_fault(&format!("{first}\n//! Caught by: a\n//!\n\nuse x;")),
            4
        );
    }
}
