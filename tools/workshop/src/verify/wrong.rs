//! Whether the wrong versions do what their headers say.

use super::claims::{Fault, by_version, decide, faults_of, has_certain_unnamed, names};
use super::judge::Judge;
use super::relative;
use super::shown::Chooser;
use crate::exercises::cargo::Built;
use crate::exercises::catalogue::Exercise;
use crate::exercises::counterexamples::{self, Counterexample};
use crate::exercises::header::Claim;
use crate::problem::Problem;

/// How often a wrong version is run that doesn't do what its header says.
const RUNS: usize = 3;
/// How often it's run as long as a failure that its header doesn't name comes each time.
/// One that comes in half of the runs would be taken for a certain one in an eighth of
/// those who look only three times.
const RUNS_OF_UNNAMED: usize = 7;

/// A wrong version that didn't do what its header says.
struct Doubtful<'a> {
    exercise: &'a Exercise,
    counterexample: Counterexample,
    /// What each run has found.
    runs: Vec<Vec<Fault>>,
}

impl Doubtful<'_> {
    /// Whether it must run again before it can be judged.
    fn is_open(&self) -> bool {
        let count = self.runs.len();
        count < RUNS || count < RUNS_OF_UNNAMED && has_certain_unnamed(&self.runs)
    }

    /// What the paths of its tests have in them.
    fn filter(&self) -> String {
        let number = self.exercise.number;
        format!("exercise_{number}::{}::tests::", self.counterexample.name)
    }
}

impl Judge<'_> {
    /// Each wrong version must do what its header says.
    ///
    /// # Errors
    ///
    /// When the tests can't be run.
    pub async fn counterexamples(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        let run = self.run(built, "counterexamples", &["::tests::"], on_progress);
        let Some(verdicts) = run.await? else {
            return Ok(());
        };
        let versions = by_version(verdicts);
        let mut doubtful = Vec::new();
        for exercise in exercises {
            let names = names(&exercise.tests());
            let chooser = Chooser::new(self.workshop, exercise);
            for counterexample in counterexamples::of(self.workshop, exercise) {
                let key = (exercise.number, counterexample.name.clone());
                let verdicts = versions.get(&key).cloned().unwrap_or_default();
                let place = relative(self.workshop, &counterexample.file);
                let mut faults = faults_of(&place, &counterexample, &verdicts, "tests");
                let (shown, fault) = chooser.judge(&place, &counterexample, &verdicts, "tests");
                self.shown.add(shown);
                faults.extend(fault);
                // Where only luck decides on real threads, the models alone may judge.
                let by_models = counterexample.header.caught_by.test.starts_with("models::");
                if !(by_models && verdicts.is_empty()) {
                    self.must_have(&place, &verdicts, &names);
                }
                if !faults.is_empty() {
                    doubtful.push(Doubtful {
                        exercise,
                        counterexample,
                        runs: vec![faults],
                    });
                }
            }
        }
        self.judge_again(doubtful, built, on_progress).await
    }

    /// Runs wrong versions again that didn't do what their headers say, for luck may have
    /// had a say in it.
    async fn judge_again(
        &mut self,
        mut doubtful: Vec<Doubtful<'_>>,
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        loop {
            let open = doubtful.iter().filter(|one| one.is_open());
            let filters: Vec<_> = open.map(Doubtful::filter).collect();
            if filters.is_empty() {
                break;
            }
            let filters: Vec<_> = filters.iter().map(String::as_str).collect();
            let run = self
                .run_again(built, "counterexamples", &filters, on_progress)
                .await?;
            let versions = by_version(run.unwrap_or_default());
            for one in doubtful.iter_mut().filter(|one| one.is_open()) {
                let key = (one.exercise.number, one.counterexample.name.clone());
                let verdicts = versions.get(&key).cloned().unwrap_or_default();
                let place = relative(self.workshop, &one.counterexample.file);
                let mut faults = faults_of(&place, &one.counterexample, &verdicts, "tests");
                let chooser = Chooser::new(self.workshop, one.exercise);
                let (_, fault) = chooser.judge(&place, &one.counterexample, &verdicts, "tests");
                faults.extend(fault);
                one.runs.push(faults);
            }
        }
        for one in doubtful {
            let place = relative(self.workshop, &one.counterexample.file);
            let (findings, notes) = decide(&place, &one.runs);
            self.outcome.findings.extend(findings);
            self.outcome.notes.extend(notes);
        }
        Ok(())
    }

    /// Models are for what tests can't decide: only the counterexamples that
    /// name one are explored.
    ///
    /// # Errors
    ///
    /// When the models can't be run.
    pub async fn counterexample_models(
        &mut self,
        exercises: &[Exercise],
        built: &Built,
        on_progress: &impl Fn(&str),
    ) -> Result<(), Problem> {
        for exercise in exercises {
            let models = names(&self.part.files_of(exercise));
            let is_here = |claim: &Claim| {
                let name = claim.test.strip_prefix("models::");
                name.is_some_and(|name| models.iter().any(|model| model == name))
            };
            let mut counterexamples = counterexamples::of(self.workshop, exercise);
            counterexamples.retain(|one| one.header.claims().any(is_here));
            let number = exercise.number;
            let filter =
                |one: &Counterexample| format!("exercise_{number}::{}::models::", one.name);
            let filters: Vec<_> = counterexamples.iter().map(filter).collect();
            if filters.is_empty() {
                continue;
            }
            let filters: Vec<_> = filters.iter().map(String::as_str).collect();
            let run = self.run(built, "counterexamples", &filters, on_progress);
            let Some(verdicts) = run.await? else {
                return Ok(());
            };
            let versions = by_version(verdicts);
            let chooser = Chooser::new(self.workshop, exercise);
            for counterexample in counterexamples {
                let key = (number, counterexample.name.clone());
                let verdicts = versions.get(&key).cloned().unwrap_or_default();
                // Some models are explored by another checker.
                let module = match is_here(&counterexample.header.caught_by) {
                    true => "models",
                    false => "",
                };
                let place = relative(self.workshop, &counterexample.file);
                let mut faults = faults_of(&place, &counterexample, &verdicts, module);
                if module == "models" {
                    let (shown, fault) =
                        chooser.judge(&place, &counterexample, &verdicts, "models");
                    self.shown.add(shown);
                    faults.extend(fault);
                }
                let findings = faults.into_iter().map(|fault| fault.finding);
                self.outcome.findings.extend(findings);
            }
        }
        Ok(())
    }
}
