//! The command line.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::book::{self, Address, Purpose};
use crate::exercises::{self, Format, Selection, Wrong};
use crate::measure;
use crate::problem::Problem;
use crate::record;
use crate::server::{self, DEFAULT_PORT, LOOPBACK, Options};
use crate::verify;
use crate::workshop::Workshop;

/// The book, its snippets and its exercises.
#[derive(Debug, Parser)]
#[command(name = "cargo workshop", bin_name = "cargo workshop", version)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArguments,
}

/// The heading of the commands and options that only the workshop's authors need.
const FOR_AUTHORS: &str = "For authors";

impl Cli {
    /// Reads the command line. Ends the process if it asks for help, or makes no sense.
    pub fn read() -> Self {
        let matches = Self::with_headings().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// The commands: those that are hidden from the list of all are in a list of their own.
    fn with_headings() -> clap::Command {
        let mut command = Self::command();
        command.build();
        let styles = command.get_styles();
        let (header, literal) = (styles.get_header(), styles.get_literal());
        let shown = command.get_subcommands().map(clap::Command::get_name);
        let width = shown.map(str::len).max().unwrap_or(0);
        let mut authors = format!("{header}{FOR_AUTHORS}:{header:#}");
        for one in command.get_subcommands().filter(|one| one.is_hide_set()) {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let name = format!("{:<width$}", one.get_name());
            authors += &format!("\n  {literal}{name}{literal:#}  {about}");
        }
        command.after_help(authors)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Open the book in the browser and run its snippets here (the default).
    Serve(ServeArguments),
    /// Build the book as static files, for any host.
    Build {
        /// Where to put it instead of the workshop's folder `book`.
        #[arg(long)]
        dest_dir: Option<PathBuf>,
        /// Where it will be published. Its page for addresses that don't exist and
        /// the previews that other sites show of it need to know.
        #[arg(long, value_name = "URL")]
        site_url: Option<String>,
    },
    /// List the exercises: what passes, what is next.
    List {
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Check an exercise; without a number the first that isn't solved.
    Check {
        /// The exercise's number.
        number: Option<u32>,
        /// Only the checks with this in their names, each told in full.
        name: Option<String>,
        /// Check all of them.
        #[arg(long, conflicts_with = "number")]
        all: bool,
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Show the order of steps in which a model failed when it was checked last.
    Order {
        /// The exercise's number.
        number: u32,
        /// Show every step, and not only those that matter.
        #[arg(long)]
        every_step: bool,
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
    },
    /// Check on every save; without a number the first that isn't solved, and
    /// then the next.
    Watch {
        /// The exercise's number.
        number: Option<u32>,
    },
    /// Give the next hint for an exercise.
    Hint {
        /// The exercise's number.
        number: u32,
    },
    /// Show how our solution differs from your version.
    Diff {
        /// The exercise's number.
        number: u32,
    },
    /// Put back the stub. Your version is set aside.
    Reset {
        /// The exercise's number.
        number: u32,
    },
    /// Measure your version against the solution and its peers.
    Bench {
        /// The exercise's number.
        number: u32,
    },
    /// Run an exercise's demonstration on your code and open its timeline.
    Trace {
        /// The exercise's number.
        number: u32,
        /// Write the trace to this file instead, for Chrome's and Perfetto's viewers.
        #[arg(long, value_name = "FILE", conflicts_with_all = ["no_open", "port"])]
        chrome: Option<PathBuf>,
        /// Do not open a browser.
        #[arg(long)]
        no_open: bool,
        /// The port to serve on, by default any that is free: beside a book that
        /// is served already.
        #[arg(long, default_value_t = 0)]
        port: u16,
    },
    /// List the wrong versions that the checks must catch, or show one of them.
    Wrong {
        /// The exercise's number.
        number: Option<u32>,
        /// The version's name, or a part that no other name has.
        name: Option<String>,
        /// Print the whole program, and not only what is wrong in it.
        #[arg(long, requires = "name")]
        whole: bool,
        /// Put it into the exercise, to see the checks catch it. Your version is set
        /// aside.
        #[arg(long, requires = "name", conflicts_with = "whole")]
        into_exercise: bool,
        /// Write what was changed in a right version as this wrong one, and undo it
        /// there.
        #[arg(long, requires = "name", conflicts_with_all = ["whole", "into_exercise"])]
        #[arg(help_heading = FOR_AUTHORS)]
        save: bool,
        /// The right version that was changed, by default the solution.
        #[arg(long, value_name = "PATH", requires = "save", help_heading = FOR_AUTHORS)]
        base: Option<PathBuf>,
    },
    /// Run programs of the book and keep what they record for figures.
    #[command(hide = true)]
    Record {
        /// The programs' names; without any, all that record something.
        snippets: Vec<String>,
    },
    /// Measure how long a reader waits, against the same by hand.
    #[command(hide = true)]
    Measure {
        /// How often to measure each; with fewer than 5 no goal is judged.
        #[arg(long, default_value_t = 15)]
        rounds: usize,
    },
    /// Check the workshop itself, or only some of its exercises.
    #[command(hide = true)]
    Verify {
        /// The exercises' numbers; without any, everything.
        numbers: Vec<u32>,
        /// Run also what held the last time and hasn't changed since.
        #[arg(long, conflicts_with = "mutants")]
        fresh: bool,
        /// Change the solutions with cargo-mutants instead, and see whether the
        /// checks notice. Takes hours for all of them.
        #[arg(long)]
        mutants: bool,
        /// Record instead in which order each wrong version fails that a model catches,
        /// print it as a reader would see it, and compare how it ends with the header.
        #[arg(long, conflicts_with_all = ["fresh", "mutants"])]
        orders: bool,
        /// Count instead, in the prose, what the book's English is measured by.
        #[arg(long, conflicts_with_all = ["fresh", "mutants", "numbers", "orders"])]
        language: bool,
    },
}

#[derive(Debug, Args)]
struct ServeArguments {
    /// The port to serve on; 0 takes any that is free.
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Do not open a browser.
    #[arg(long)]
    no_open: bool,
    /// Serve under this name too, as the browser's address bar has it. For a
    /// tunnel from another machine.
    #[arg(long, value_name = "NAME[:PORT]")]
    allow_host: Vec<String>,
    /// Listen on this address. Anything but the default lets other machines in.
    #[arg(long, value_name = "ADDRESS", default_value_t = LOOPBACK)]
    host: IpAddr,
}

impl From<ServeArguments> for Options {
    fn from(arguments: ServeArguments) -> Self {
        Self {
            port: arguments.port,
            address: arguments.host,
            allowed_hosts: arguments.allow_host,
            page: "",
            open: !arguments.no_open,
        }
    }
}

/// Does what the command line says.
///
/// # Errors
///
/// Anything that keeps the command from being carried out.
pub async fn run(cli: Cli) -> Result<ExitCode, Problem> {
    let workshop = Workshop::find()?;
    match cli.command.unwrap_or(Command::Serve(cli.serve)) {
        Command::Serve(arguments) => {
            server::serve(workshop, arguments.into()).await?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Build { dest_dir, site_url } => build(&workshop, dest_dir, site_url.as_deref()),
        Command::List { format } => exercises::list_command(&workshop, format),
        Command::Check {
            number: Some(number),
            name: Some(name),
            format,
            ..
        } => exercises::check_some_command(&workshop, number, &name, format).await,
        Command::Check {
            number,
            all,
            format,
            ..
        } => {
            let selection = match number {
                Some(number) => Selection::One(number),
                None if all => Selection::All,
                None => Selection::Next,
            };
            until_interrupted(exercises::check_command(&workshop, selection, format)).await
        }
        Command::Order {
            number,
            every_step,
            format,
        } => exercises::order_command(&workshop, number, every_step, format),
        Command::Hint { number } => exercises::hint_command(&workshop, number),
        Command::Watch { number } => {
            until_interrupted(exercises::watch_command(&workshop, number)).await
        }
        Command::Diff { number } => exercises::diff_command(&workshop, number),
        Command::Reset { number } => exercises::reset_command(&workshop, number),
        Command::Bench { number } => exercises::bench_command(&workshop, number).await,
        Command::Trace {
            number,
            chrome,
            no_open,
            port,
        } => trace(workshop, number, chrome, no_open, port).await,
        Command::Wrong {
            number: Some(number),
            name: Some(name),
            whole,
            into_exercise,
            save,
            base,
        } => {
            let what = match (whole, into_exercise, save) {
                (true, _, _) => Wrong::Whole,
                (_, true, _) => Wrong::IntoExercise,
                (_, _, true) => Wrong::Save(base),
                _ => Wrong::Show,
            };
            exercises::wrong_command(&workshop, number, &name, &what)
        }
        Command::Wrong { number, .. } => exercises::wrong_list_command(&workshop, number),
        Command::Record { snippets } => record::record_command(&workshop, snippets).await,
        Command::Measure { rounds } => measure::measure_command(&workshop, rounds.max(1)).await,
        Command::Verify {
            numbers,
            mutants: true,
            ..
        } => verify::mutants_command(&workshop, &numbers),
        Command::Verify {
            numbers,
            orders: true,
            ..
        } => verify::orders_command(&workshop, &numbers).await,
        Command::Verify { language: true, .. } => Ok(verify::language_command(&workshop)),
        Command::Verify { numbers, fresh, .. } => {
            verify::verify_command(&workshop, &numbers, fresh).await
        }
    }
}

/// Ends what it does when the reader presses Ctrl-C, closes the terminal or kills
/// the process politely, so that it clears up behind itself.
async fn until_interrupted(
    work: impl Future<Output = Result<ExitCode, Problem>>,
) -> Result<ExitCode, Problem> {
    tokio::select! {
        done = work => done,
        signal = server::asked_to_end() => Ok(ExitCode::from(128 + signal)),
    }
}

/// Runs the demonstration, and writes its trace or opens its timeline.
async fn trace(
    workshop: Workshop,
    number: u32,
    chrome: Option<PathBuf>,
    no_open: bool,
    port: u16,
) -> Result<ExitCode, Problem> {
    let trace = exercises::trace::demonstrate(&workshop, number).await?;
    println!("{}", trace.sentences().join("\n"));
    if let Some(file) = chrome {
        return write_chrome(&trace, &file);
    }
    let options = Options {
        port,
        address: LOOPBACK,
        allowed_hosts: Vec::new(),
        page: "your-trace.html",
        open: !no_open,
    };
    server::serve(workshop, options).await?;
    Ok(ExitCode::SUCCESS)
}

fn write_chrome(trace: &trace::Trace, file: &Path) -> Result<ExitCode, Problem> {
    fs::write(file, trace.to_chrome()).map_err(|error| {
        Problem::new(format!("`{}` cannot be written: {error}", file.display()))
            .help("name a file in a folder that exists")
    })?;
    println!("{} opens in https://ui.perfetto.dev.", file.display());
    Ok(ExitCode::SUCCESS)
}

fn build(
    workshop: &Workshop,
    destination: Option<PathBuf>,
    address: Option<&str>,
) -> Result<ExitCode, Problem> {
    let address = address.map(Address::new).transpose()?;
    let destination = destination.unwrap_or_else(|| workshop.root().join("book"));
    let destination = std::path::absolute(&destination)
        .map_err(|error| Problem::new(format!("no such place: {error}")))?;
    let complaints = book::build(workshop, &destination, Purpose::Publish(address.as_ref()))?;
    if complaints.is_empty() {
        println!("The book is in {}.", destination.display());
        return Ok(ExitCode::SUCCESS);
    }
    Err(Problem::new(complaints.join("\nerror: "))
        .help("fix the lines named above and build again"))
}

#[cfg(test)]
mod tests {
    use super::Cli;

    #[test]
    fn the_help_has_the_authors_commands_under_a_heading_of_their_own() {
        let mut command = Cli::with_headings();
        let help = command.render_help().to_string();
        let (readers, authors) = help.split_once("\nFor authors:\n").unwrap();
        let is_told = |text: &str, name: &str| {
            let start = format!("  {name} ");
            text.lines().any(|line| line.starts_with(&start))
        };
        for name in [
            "serve", "list", "check", "order", "bench", "trace", "wrong", "help",
        ] {
            assert!(is_told(readers, name) && !is_told(authors, name), "{help}");
        }
        for name in ["record", "measure", "verify"] {
            assert!(is_told(authors, name) && !is_told(readers, name), "{help}");
        }
        assert!(!help.contains('\x1b'), "colors are for terminals: {help}");
        let widths: Vec<_> = authors.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width < 80), "{help}");

        let wrong = command.find_subcommand_mut("wrong").unwrap();
        let help = wrong.render_help().to_string();
        let (readers, authors) = help.split_once("\nFor authors:\n").unwrap();
        assert!(
            authors.contains("--save") && authors.contains("--base <PATH>"),
            "{help}"
        );
        assert!(
            readers.contains("--into-exercise") && !readers.contains("  --save"),
            "{help}"
        );
    }

    #[test]
    fn the_readme_has_each_command_in_its_table() {
        let readme = include_str!("../../../README.md");
        let (readers, rest) = readme.split_once("\n### For authors\n").unwrap();
        let (authors, _) = rest.split_once("\n## ").unwrap();
        let is_told = |text: &str, name: &str| {
            let mut rows = text.lines().filter_map(|line| line.strip_prefix("| "));
            let starts = [format!("`{name}`"), format!("`{name} ")];
            rows.any(|row| {
                let cell = row.split(" | ").next().unwrap_or_default();
                starts.iter().any(|start| cell.contains(start))
            })
        };
        for one in Cli::with_headings().get_subcommands() {
            let (name, is_hidden) = (one.get_name(), one.is_hide_set());
            if name != "help" {
                assert_eq!(is_told(readers, name), !is_hidden, "{name}");
                // Both have a `wrong`: only authors save one.
                let is_expected = is_hidden || name == "wrong";
                assert_eq!(is_told(authors, name), is_expected, "{name}");
            }
        }
    }
}
