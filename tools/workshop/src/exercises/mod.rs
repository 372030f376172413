//! The exercises: which there are, which pass, and what the next hint is.

use std::process::ExitCode;

use serde::Serialize;

use crate::events::Events;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// How the results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// The page's events, one JSON object a line.
    Json,
}

/// Which exercises to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The first that is not solved.
    Next,
    /// The one with this number.
    One(u32),
    /// All.
    All,
}

/// One exercise, as the page and `cargo workshop list` show it.
#[derive(Clone, Debug, Serialize)]
pub struct Exercise {
    /// Its number, from 1.
    pub number: u32,
    /// The topic: the folder's name without the number.
    pub topic: String,
    /// `true` if it passed when it was last checked and has not changed since;
    /// `None` if it was never checked in this form.
    pub passed: Option<bool>,
}

/// Lists the exercises for the page.
pub async fn list(_workshop: &Workshop) -> Result<Vec<Exercise>, Problem> {
    Err(not_built_yet())
}

/// Checks one exercise for the page: sends `building`, `diagnostic`, `test`
/// and at last one `exit` event. Ends everything it started when the receiver
/// of `events` is dropped.
pub async fn check(_workshop: &Workshop, _number: u32, _events: &Events) -> Result<(), Problem> {
    Err(not_built_yet())
}

/// `cargo workshop list`.
pub async fn list_command(_workshop: &Workshop, _format: Format) -> Result<ExitCode, Problem> {
    Err(not_built_yet())
}

/// `cargo workshop check`. The status is a success only if all is green.
pub async fn check_command(
    _workshop: &Workshop,
    _selection: Selection,
    _format: Format,
) -> Result<ExitCode, Problem> {
    Err(not_built_yet())
}

/// `cargo workshop hint N`.
pub async fn hint_command(_workshop: &Workshop, _number: u32) -> Result<ExitCode, Problem> {
    Err(not_built_yet())
}

/// `cargo workshop bench N`.
pub async fn bench_command(_workshop: &Workshop, _number: u32) -> Result<ExitCode, Problem> {
    Err(not_built_yet())
}

fn not_built_yet() -> Problem {
    Problem::new("not built yet")
}
