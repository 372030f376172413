//! The exercises' demonstrations, on our solutions.

use super::{Finding, Outcome};
use crate::exercises::catalogue::Exercise;
use crate::exercises::trace::{DEMONSTRATION, demonstrate_solution};
use crate::workshop::Workshop;

/// Builds and runs those of the `exercises`.
pub async fn verify(
    workshop: &Workshop,
    exercises: &[Exercise],
    on_progress: impl Fn(&str),
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut count = 0;
    for exercise in exercises {
        if !exercise.folder.join(DEMONSTRATION).is_file() {
            continue;
        }
        count += 1;
        on_progress(&exercise.package());
        let place = format!("exercises/{}/{DEMONSTRATION}", exercise.folder_name());
        let finding = match demonstrate_solution(workshop, exercise).await {
            Ok(trace) if trace.all_polls().is_empty() => {
                Finding::new(place, "nothing is polled in it", "let it record a task")
            }
            Ok(_) => continue,
            Err(problem) => Finding::new(
                place,
                problem.error(),
                "fix it, list it in tools/trace/Cargo.toml, and see `cargo build -p trace --examples`",
            ),
        };
        outcome.findings.push(finding);
    }
    outcome.summary = format!("{count} run on the solutions");
    outcome
}
