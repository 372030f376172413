//! What went wrong, and the way out of it.

use std::fmt;

/// An error as the reader sees it: one sentence, then the remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    error: String,
    help: Option<String>,
}

impl Problem {
    /// Creates a problem from what happened: lower case, no final dot.
    pub fn new(error: impl Into<String>) -> Self {
        Self {
            error: error.into(),
            help: None,
        }
    }

    /// Adds the remedy: what to do or which command to run.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// What happened.
    pub fn error(&self) -> &str {
        &self.error
    }

    /// The remedy, where there is one.
    pub fn remedy(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.error)?;
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
