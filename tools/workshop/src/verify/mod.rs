//! For authors: whether the workshop keeps its own rules.

use std::process::ExitCode;

use crate::problem::Problem;
use crate::workshop::Workshop;

/// `cargo workshop verify`. The status is a success only if every rule holds.
pub async fn verify_command(_workshop: &Workshop) -> Result<ExitCode, Problem> {
    Err(Problem::new("not built yet"))
}
