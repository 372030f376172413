//! Measures the reader's version against the solution and its peers.

use std::process::ExitCode;

use super::catalogue::Exercise;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// Later.
pub async fn bench(_workshop: &Workshop, exercise: &Exercise) -> Result<ExitCode, Problem> {
    Err(Problem::new(format!(
        "exercise {} has no benchmark yet",
        exercise.number
    )))
}
