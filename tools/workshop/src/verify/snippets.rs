//! Runs the programs of the book, as the page's button does.

use std::fs;
use std::sync::Arc;
use std::thread;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinSet;

use super::book::{Book, chapter_of};
use super::html::{Block, Page};
use super::{Finding, Outcome};
use crate::events::{Event, Exit, Reason};
use crate::runner::{Mode, Request, Runner, TimeLimit};
use crate::workshop::{Scratch, Workshop};

/// A block that the reader can run.
struct Program {
    name: String,
    chapter: String,
    code: String,
    tests: bool,
    long: bool,
    mode: Mode,
    expected: Expected,
    is_local_only: bool,
    recorded: Recorded,
}

/// What the page shows where the program can't run.
enum Recorded {
    Nothing,
    /// The output, which isn't the same twice; or a figure made of it.
    Varying,
    Output(String),
}

/// How a program is meant to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Success,
    Panic,
    Timeout,
    CompileError,
}

impl Expected {
    fn of(block: &Block) -> Self {
        let ends = [
            ("expect-panic", Self::Panic),
            ("expect-timeout", Self::Timeout),
            ("expect-compile-error", Self::CompileError),
        ];
        let end = ends.into_iter().find(|(class, _)| block.has(class));
        end.map_or(Self::Success, |(_, expected)| expected)
    }
}

/// What a program did.
#[derive(Default)]
struct Ran {
    stdout: String,
    stderr: String,
    exit: Option<Exit>,
}

/// Runs all programs of the book.
pub async fn verify(
    workshop: &Workshop,
    scratch: &Scratch,
    book: &Book,
    on_progress: impl Fn(&str),
) -> Outcome {
    let programs: Vec<_> = book
        .pages
        .iter()
        .flat_map(|(name, page)| programs(name, page))
        .collect();
    let count = programs.len();
    let own_crates = own_crates(workshop);
    let unfit = programs
        .iter()
        .filter_map(|program| program.unfit(&own_crates));
    let unfit: Vec<_> = unfit.collect();
    let runner = Arc::new(Runner::new(workshop, scratch));
    // As many as the runner runs at once, so that its line doesn't get too long.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let places = Arc::new(Semaphore::new(cores.min(4)));

    let mut running = JoinSet::new();
    for program in programs {
        let (runner, places) = (runner.clone(), places.clone());
        running.spawn(async move {
            let _place = places.acquire().await;
            let ran = run(&runner, &program).await;
            (program, ran)
        });
    }
    let mut outcome = Outcome::default();
    outcome.findings.extend(unfit);
    let mut done = 0;
    while let Some(Ok((program, ran))) = running.join_next().await {
        done += 1;
        on_progress(&format!("{done} of {count}"));
        outcome.findings.extend(program.judge(&ran));
    }
    // They end in any order.
    outcome.findings.sort();
    outcome.summary = format!("{done} programs run");
    outcome
}

fn programs(name: &str, page: &Page) -> Vec<Program> {
    let nexts = page.blocks.iter().skip(1).map(Some).chain([None]);
    let pairs = page.blocks.iter().zip(nexts);
    let program = |(block, next): (&Block, Option<&Block>)| {
        let recorded = next.filter(|next| next.follows && next.has("recorded"));
        Some(Program {
            name: block.snippet()?.to_owned(),
            chapter: chapter_of(name),
            code: block.text.clone(),
            tests: block.has("tests"),
            long: block.has("limit-60s"),
            mode: match block.has("release") {
                true => Mode::Release,
                false => Mode::Debug,
            },
            expected: Expected::of(block),
            is_local_only: block.has("local-only"),
            recorded: match recorded {
                None if page
                    .recorded
                    .iter()
                    .any(|name| Some(name.as_str()) == block.snippet()) =>
                {
                    Recorded::Varying
                }
                None => Recorded::Nothing,
                Some(next) if next.has("varies") => Recorded::Varying,
                Some(next) => Recorded::Output(next.text.clone()),
            },
        })
    };
    pairs.filter_map(program).collect()
}

async fn run(runner: &Runner, program: &Program) -> Ran {
    let request = Request {
        code: program.code.clone(),
        mode: program.mode,
        tests: program.tests,
        limit: match program.expected {
            Expected::Timeout => TimeLimit::Brief,
            _ if program.long => TimeLimit::Long,
            _ => TimeLimit::Usual,
        },
    };
    let mut ran = Ran::default();
    let ticket = match runner.enqueue() {
        Ok(ticket) => ticket,
        Err(problem) => {
            ran.stderr = problem.to_string();
            return ran;
        }
    };
    let (events, mut inbox) = unbounded_channel();
    runner.run(ticket, &request, &events).await;
    while let Ok(event) = inbox.try_recv() {
        match event {
            Event::Stdout { text } => ran.stdout += &text,
            Event::Stderr { text } => ran.stderr += &text,
            Event::Diagnostic {
                rendered, level, ..
            } if level == "error" => ran.stderr += &rendered,
            Event::Test {
                message: Some(message),
                ..
            } => ran.stderr += &message,
            Event::Exit(exit) => ran.exit = Some(exit),
            _ => {}
        }
    }
    ran
}

/// The crates that snippets may use and that no other server has.
fn own_crates(workshop: &Workshop) -> Vec<String> {
    let read = |file: &str| fs::read_to_string(workshop.root().join(file)).unwrap_or_default();
    let (root, snippets) = (read("Cargo.toml"), read("snippets/Cargo.toml"));
    let has_path = |line: &str| line.contains("path = ");
    let (_, dependencies) = snippets.split_once("[dependencies]").unwrap_or_default();
    let names = dependencies.lines().filter_map(|line| {
        let name = line
            .split([' ', '.'])
            .next()
            .filter(|name| !name.is_empty())?;
        let of_root = |line: &str| line.starts_with(&format!("{name} = ")) && has_path(line);
        (has_path(line) || root.lines().any(of_root)).then(|| name.to_owned())
    });
    names.collect()
}

/// Returns `true` if a path in `code` begins with the crate `name`.
fn uses(code: &str, name: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let path = format!("{name}::");
    let mut places = code.match_indices(&path);
    places.any(|(at, _)| !code[..at].ends_with(is_inside))
}

impl Program {
    /// What keeps the page from showing it well where it can't run, or from
    /// sending it to a server that can run it.
    fn unfit(&self, own_crates: &[String]) -> Option<Finding> {
        let own = own_crates.iter().find(|name| uses(&self.code, name));
        let (fault, remedy) = match own {
            _ if matches!(self.recorded, Recorded::Nothing) => (
                "its output is not recorded".to_owned(),
                "add it in a fence `text,recorded` right below, with `varies` if it does",
            ),
            Some(name) if !self.is_local_only => (
                format!("it uses `{name}`, which only this workshop has"),
                "add `local-only` to its fence",
            ),
            _ => return None,
        };
        Some(Finding::new(self.place(), fault, remedy))
    }

    fn place(&self) -> String {
        format!("{}, snippet-{}", self.chapter, self.name)
    }

    fn judge(&self, ran: &Ran) -> Option<Finding> {
        let (fault, remedy) = self.fault_of(ran)?;
        Some(Finding::new(self.place(), fault, remedy))
    }

    fn fault_of(&self, ran: &Ran) -> Option<(String, &'static str)> {
        let (reason, code) = match &ran.exit {
            Some(exit) => (exit.reason, exit.code),
            None => return Some((format!("it was not run: {}", ran.stderr), "try again")),
        };
        let as_expected = match self.expected {
            Expected::Success => reason == Reason::Exited && code == Some(0),
            Expected::Panic => reason == Reason::Exited && code == Some(101),
            Expected::Timeout => reason == Reason::Timeout,
            Expected::CompileError => reason == Reason::CompileError,
        };
        if !as_expected {
            let words = ran.stderr.trim();
            let code = code.map_or(String::new(), |code| format!(" {code}"));
            let expected = self.expected;
            let fault = format!("it ends by {reason:?}{code}, not by {expected:?}: {words}");
            let remedy = "fix the program, or say in the fence what to expect: `expect-panic`, \
                          `expect-timeout` or `expect-compile-error`";
            return Some((fault, remedy));
        }
        let Recorded::Output(recorded) = &self.recorded else {
            return None;
        };
        let recorded = recorded.trim_end();
        let both = format!("{}{}", ran.stdout, ran.stderr);
        if ran.stdout.trim_end() == recorded || both.trim_end() == recorded {
            return None;
        }
        let fault = format!(
            "it prints `{}`, and the page says `{recorded}`",
            ran.stdout.trim_end()
        );
        let remedy = "record the output again, or mark the record `varies` if it is never the same";
        Some((fault, remedy))
    }
}

#[cfg(test)]
mod tests {
    use super::{Exit, Page, Ran, Reason, programs, uses};

    fn ran(stdout: &str, reason: Reason, code: Option<i32>) -> Ran {
        Ran {
            stdout: stdout.into(),
            stderr: String::new(),
            exit: Some(Exit {
                reason,
                code,
                compile_ms: None,
                run_ms: None,
                message: None,
            }),
        }
    }

    fn fault(classes: &str, recorded: &str, ran: &Ran) -> Option<String> {
        let html = format!(
            "<pre><code class=\"language-rust snippet-x {classes}\">fn main() {{}}</code></pre>\n\
             <pre><code class=\"language-text {recorded}\">a &lt; b\n</code></pre>"
        );
        let programs = programs("one/x.html", &Page::read(&html));
        programs[0].judge(ran).map(|finding| finding.fault)
    }

    #[test]
    fn a_program_must_end_as_its_fence_says() {
        let success = ran("", Reason::Exited, Some(0));
        let panic = ran("", Reason::Exited, Some(101));
        let timeout = ran("", Reason::Timeout, None);
        assert_eq!(fault("", "", &success), None);
        assert!(fault("", "", &panic).is_some() && fault("", "", &timeout).is_some());
        assert_eq!(fault("expect-panic", "", &panic), None);
        assert_eq!(fault("expect-timeout", "", &timeout), None);
        assert!(fault("expect-timeout", "", &success).is_some());
        assert!(fault("expect-compile-error", "", &success).is_some());
        assert!(
            fault("", "", &Ran::default()).is_some(),
            "a program that was not run"
        );
    }

    #[test]
    fn a_crate_is_used_where_a_path_begins_with_it() {
        assert!(uses("use runtime::net;", "runtime") && uses("runtime::spawn(x)", "runtime"));
        assert!(!uses("use tokio::runtime::Builder;", "runtime"));
        assert!(!uses("my_runtime::spawn(x)", "runtime"));
    }

    #[test]
    fn a_program_must_have_a_record_and_say_if_no_other_server_can_run_it() {
        let unfit = |classes: &str, recorded: &str| {
            let html = format!(
                "<pre><code class=\"language-rust snippet-x {classes}\">use trace::task;</code></pre>\n\
                 <pre><code class=\"language-text {recorded}\">a\n</code></pre>"
            );
            let programs = programs("one/x.html", &Page::read(&html));
            programs[0]
                .unfit(&["trace".into()])
                .map(|finding| finding.fault)
        };
        assert!(unfit("", "").is_some_and(|fault| fault.contains("not recorded")));
        assert!(unfit("", "recorded").is_some_and(|fault| fault.contains("`trace`")));
        assert_eq!(unfit("local-only", "recorded varies"), None);
        let figure = "<pre><code class=\"language-rust snippet-x\">fn main() {}</code></pre>\n\
                      <ws-sweep data-snippet=\"x y\"></ws-sweep>";
        let programs = programs("one/x.html", &Page::read(figure));
        assert!(programs[0].unfit(&[]).is_none(), "the figure is the record");
    }

    #[test]
    fn what_is_recorded_must_be_printed_unless_it_varies() {
        let other = ran("a > b\n", Reason::Exited, Some(0));
        assert_eq!(
            fault("", "recorded", &ran("a < b\n", Reason::Exited, Some(0))),
            None
        );
        assert!(fault("", "recorded", &other).is_some());
        assert_eq!(fault("", "recorded varies", &other), None);
        assert_eq!(fault("", "", &other), None);
    }
}
