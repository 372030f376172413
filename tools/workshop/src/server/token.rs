//! The secret that only the reader's own page has.

use subtle::ConstantTimeEq;

use crate::problem::Problem;

/// A token made for this process. It is printed as part of a link, in the part
/// that browsers never send.
pub struct Token(String);

impl Token {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers.
    pub fn new() -> Result<Self, Problem> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| Problem::new(format!("no random numbers for the token: {error}")))?;
        Ok(Self(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    /// The token, as it stands in the link.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `true` if `candidate` is this token. How long that takes tells
    /// nothing about where they differ.
    pub fn matches(&self, candidate: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(candidate).into()
    }
}
