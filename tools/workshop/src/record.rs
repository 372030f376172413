//! For authors: runs the programs that leave data for figures, and keeps the data
//! in the book.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::Value;
use tokio::sync::mpsc::unbounded_channel;

use crate::events::{Event, Reason};
use crate::figures::{self, Figure};
use crate::problem::Problem;
use crate::runner::{Mode, Request, Runner, TimeLimit};
use crate::verify::fences;
use crate::workshop::{Scratch, Workshop};

/// The folder of the recorded documents.
pub const TRACES: &str = "src/traces";

/// The folder of the programs.
pub const EXAMPLES: &str = "snippets/examples";

/// `cargo workshop record`: runs these programs, or all that save something, one
/// after the other, and writes what they leave to `src/traces`.
///
/// # Errors
///
/// When there is no such program, when it fails, or when it leaves nothing.
pub async fn record_command(workshop: &Workshop, names: Vec<String>) -> Result<ExitCode, Problem> {
    let names = match names.is_empty() {
        true => recorders(workshop),
        false => names,
    };
    let scratch = Scratch::claim(&workshop.target())?;
    let runner = Runner::new(workshop, &scratch);
    for name in names {
        let program = Program::find(workshop, &name)?;
        for figure in program.run(&runner).await? {
            let file = program.keep(workshop, figure)?;
            println!("  {file}");
        }
    }
    // What the programs left there is of no further use.
    let _left = scratch.sweep();
    Ok(ExitCode::SUCCESS)
}

/// The programs that save a trace or a sweep, by their names.
fn recorders(workshop: &Workshop) -> Vec<String> {
    let files = crate::workshop::files_under(&workshop.root().join(EXAMPLES));
    let saves = |file: &PathBuf| {
        let code = fs::read_to_string(file).unwrap_or_default();
        code.contains("trace::") && code.contains(".save(")
    };
    let stem = |file: PathBuf| Some(file.file_stem()?.to_str()?.to_owned());
    let mut names: Vec<_> = files.into_iter().filter(saves).filter_map(stem).collect();
    names.sort();
    names
}

/// A program of the book.
struct Program {
    name: String,
    request: Request,
}

impl Program {
    fn find(workshop: &Workshop, name: &str) -> Result<Self, Problem> {
        let file = workshop.root().join(EXAMPLES).join(format!("{name}.rs"));
        let code = match figures::is_name(name) {
            true => fs::read_to_string(&file),
            false => Err(std::io::ErrorKind::NotFound.into()),
        };
        let code = code.map_err(|_| {
            Problem::new(format!("there is no program `{name}` in `{EXAMPLES}`")).help(format!(
                "those that record: {}",
                recorders(workshop).join(", ")
            ))
        })?;
        // A program that no page shows yet is run as most are.
        let fence = fences::of_snippet(workshop, name).unwrap_or_default();
        let request = Request {
            code,
            mode: match fence.has("release") {
                true => Mode::Release,
                false => Mode::Debug,
            },
            tests: false,
            limit: match fence.has("limit-60s") {
                true => TimeLimit::Long,
                false => TimeLimit::Usual,
            },
        };
        let name = name.to_owned();
        Ok(Self { name, request })
    }

    /// Runs it, shows what it prints, and returns what it leaves.
    async fn run(&self, runner: &Runner) -> Result<Vec<Figure>, Problem> {
        println!("{} ({:?}):", self.name, self.request.mode);
        let ticket = runner.enqueue()?;
        let (events, mut inbox) = unbounded_channel();
        runner.run(ticket, &self.request, &events).await;
        let (mut figures, mut words, mut succeeded) = (Vec::new(), String::new(), false);
        while let Ok(event) = inbox.try_recv() {
            match event {
                Event::Stdout { text } => print!("{text}"),
                Event::Stderr { text } => words += &text,
                Event::Diagnostic { rendered, .. } => words += &rendered,
                Event::Figure(figure) => figures.push(figure),
                Event::Exit(exit) => {
                    succeeded = exit.reason == Reason::Exited && exit.code == Some(0);
                    words += exit.message.as_deref().unwrap_or_default();
                }
                _ => {}
            }
        }
        let name = &self.name;
        let problem = match (succeeded, words.trim(), figures.is_empty()) {
            (true, "", false) => return Ok(figures),
            (true, "", true) => Problem::new(format!("`{name}` leaves nothing for a figure")),
            (_, words, _) => Problem::new(format!("`{name}` does not run as it should: {words}")),
        };
        Err(problem.help(format!(
            "fix `{EXAMPLES}/{name}.rs`, and let it `save` a trace or a sweep"
        )))
    }

    /// Writes a document into the book, and returns the file's name.
    fn keep(&self, workshop: &Workshop, mut figure: Figure) -> Result<String, Problem> {
        let name = &figure.name;
        let source = format!("{EXAMPLES}/{}.rs", self.name);
        let file = format!("{TRACES}/{name}.json");
        let path = workshop.root().join(&file);
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let kept: Value = serde_json::from_str(&kept).unwrap_or_default();
        if source_of(&kept).is_some_and(|other| other != source) {
            let other = source_of(&kept).unwrap_or_default();
            return Err(Problem::new(format!("`{file}` is a record of `{other}`"))
                .help("save the document under another name"));
        }
        // The program was compiled as `main.rs`, somewhere.
        *source_in(&mut figure.document) = source.into();
        fs::create_dir_all(workshop.root().join(TRACES))
            .and_then(|()| fs::write(&path, figures::format(&figure.document)))
            .map_err(|error| Problem::new(format!("`{file}` cannot be written: {error}")))?;
        Ok(file)
    }
}

/// The program that a document was recorded by.
pub fn source_of(document: &Value) -> Option<&str> {
    let holder = document.get("meta").unwrap_or(document);
    holder.get("source")?.as_str()
}

fn source_in(document: &mut Value) -> &mut Value {
    match document.get("meta").is_some() {
        true => &mut document["meta"]["source"],
        false => &mut document["source"],
    }
}
