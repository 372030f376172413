//! Has cargo build the test binaries of packages, or an example.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::problem::Problem;
use crate::sandbox::{self, Cause, Limits, Order, Stream};
use crate::workshop::Workshop;

const MIB: u64 = 1 << 20;

/// What to build.
#[derive(Debug, Default)]
pub struct Build {
    /// The packages.
    pub packages: Vec<String>,
    /// Which binaries of them.
    pub target: Target,
    /// Features, each as `package/feature`.
    pub features: Vec<String>,
    /// The package that is built without debug assertions, although the profile has them.
    pub without_assertions: Option<String>,
    /// Whether the messages get the colors of a terminal.
    pub colors: bool,
    /// The width of the terminal, if cargo is to show how far it is.
    pub columns: Option<u16>,
    /// What the environment has besides, for build scripts that ask.
    pub variables: Vec<(String, String)>,
}

/// Which binaries of a package to build.
#[derive(Debug, Default)]
pub enum Target {
    /// The library's tests.
    #[default]
    Tests,
    /// Those, and the tests that are programs of these names.
    TestsAnd(Vec<String>),
    /// Only the tests that are a program of this name.
    Test(String),
    /// The example of this name.
    Example(String),
}

/// A binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The package that it belongs to.
    pub package: String,
    /// The binary.
    pub executable: PathBuf,
    /// The package's folder, where cargo would run it.
    pub folder: PathBuf,
}

/// What cargo says while it builds.
#[derive(Debug)]
pub enum Words {
    /// Cargo's own words, in pieces of any size.
    Cargo(String),
    /// The compiler's words about one of the packages of the workspace.
    Compiler(Diagnostic),
}

/// A message of the compiler.
#[derive(Debug)]
pub struct Diagnostic {
    /// The package that was compiled.
    pub package: String,
    /// `error`, `warning`, `note` or `help`.
    pub level: String,
    /// The first line of the message.
    pub summary: String,
    /// The whole message.
    pub rendered: String,
    /// The file and line that it speaks of.
    pub place: Option<(String, u32)>,
}

/// What became of a build.
#[derive(Debug, Default)]
pub struct Built {
    /// Whether all was built.
    pub success: bool,
    /// The binaries.
    pub binaries: Vec<Binary>,
    /// How long it took.
    pub time: Duration,
}

impl Built {
    /// The binary of a package.
    pub fn binary(&self, package: &str) -> Option<&Binary> {
        self.binaries_of(package).next()
    }

    /// The binaries of a package.
    pub fn binaries_of(&self, package: &str) -> impl Iterator<Item = &Binary> {
        let binaries = self.binaries.iter();
        binaries.filter(move |binary| binary.package == package)
    }
}

/// Builds, and hands on all that is said meanwhile.
///
/// # Errors
///
/// When cargo can't be run, or is ended.
pub async fn build(
    workshop: &Workshop,
    build: &Build,
    mut on_words: impl FnMut(Words),
    unwanted: impl Future<Output = ()>,
) -> Result<Built, Problem> {
    let order = order(workshop, build);
    let mut built = Built {
        success: false,
        binaries: Vec::new(),
        time: Duration::ZERO,
    };
    let mut line = String::new();
    let on_output = |stream, text: String| match stream {
        Stream::Err => on_words(Words::Cargo(text)),
        Stream::Out => {
            line.push_str(&text);
            while let Some(end) = line.find('\n') {
                let message: String = line.drain(..=end).collect();
                match Message::read(&message) {
                    Some(Message::Binary(binary)) => built.binaries.push(binary),
                    Some(Message::Diagnostic(diagnostic)) => on_words(Words::Compiler(diagnostic)),
                    None => {}
                }
            }
        }
    };
    let ended = sandbox::run(&order, on_output, unwanted)
        .await
        .map_err(|error| {
            Problem::new(format!("`cargo` cannot be run: {error}"))
                .help("install Rust as https://rustup.rs says, and open a new terminal")
        })?;
    built.time = ended.time;
    built.success = match ended.cause {
        Cause::Exited(code) => code == 0,
        cause => {
            let problem = Problem::new(format!("the build didn't finish: cargo {cause}"));
            return Err(problem.help("run the command again; `cargo clean` makes room"));
        }
    };
    Ok(built)
}

fn order(workshop: &Workshop, build: &Build) -> Order {
    // `cargo workshop` is run by cargo, which says where it is.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let (format, color) = match build.colors {
        true => ("json-diagnostic-rendered-ansi", "--color=always"),
        false => ("json", "--color=never"),
    };
    let test = ["test", "--no-run", "--lib"].map(String::from);
    let mut arguments: Vec<String> = match &build.target {
        Target::Tests => test.into(),
        Target::TestsAnd(programs) => {
            let programs = programs.iter().map(|name| format!("--test={name}"));
            test.into_iter().chain(programs).collect()
        }
        Target::Test(name) => vec!["test".into(), "--no-run".into(), format!("--test={name}")],
        Target::Example(name) => vec!["build".into(), format!("--example={name}")],
    };
    arguments.push(color.into());
    arguments.push(format!("--message-format={format}"));
    arguments.extend(
        build
            .packages
            .iter()
            .map(|package| format!("--package={package}")),
    );
    if let Some(package) = &build.without_assertions {
        // Only this package is rebuilt for it.
        arguments.push(format!(
            "--config=profile.dev.package.{package}.debug-assertions=false"
        ));
    }
    if !build.features.is_empty() {
        arguments.push(format!("--features={}", build.features.join(",")));
    }
    Order {
        program: cargo.into(),
        arguments,
        folder: workshop.root().to_path_buf(),
        inherit_environment: true,
        variables: [progress(build.columns), build.variables.clone()].concat(),
        limits: Limits {
            wall: Duration::from_secs(30 * 60),
            output_bytes: 64 * MIB,
            cuts_output: true,
            // Two compilers with five hundred wrong versions each.
            memory_bytes: 16_384 * MIB,
            file_bytes: 4096 * MIB,
            processes: 512,
            threads: 16_384,
            disk_bytes: None,
        },
    }
}

/// Cargo shows how far it is only to a terminal, unless it is told to. It is told
/// not to as well: the reader's configuration may be of another opinion.
fn progress(columns: Option<u16>) -> Vec<(String, String)> {
    let when = if columns.is_some() { "always" } else { "never" };
    let width = columns.map(|columns| ("CARGO_TERM_PROGRESS_WIDTH", columns.to_string()));
    let when = ("CARGO_TERM_PROGRESS_WHEN", when.to_owned());
    let variables = [when].into_iter().chain(width);
    variables
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The messages of cargo that matter here.
enum Message {
    Binary(Binary),
    Diagnostic(Diagnostic),
}

#[derive(Deserialize)]
struct Line {
    package_id: String,
    manifest_path: PathBuf,
    executable: Option<PathBuf>,
    message: Option<CompilerMessage>,
}

#[derive(Deserialize)]
struct CompilerMessage {
    level: String,
    message: String,
    rendered: Option<String>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u32,
    is_primary: bool,
}

impl Message {
    fn read(line: &str) -> Option<Self> {
        let line: Line = serde_json::from_str(line).ok()?;
        let package = package(&line.package_id)?;
        if let Some(executable) = line.executable {
            return Some(Self::Binary(Binary {
                package,
                executable,
                folder: line.manifest_path.parent()?.to_path_buf(),
            }));
        }
        let message = line.message?;
        // The summaries at the end say nothing that the messages don't.
        let summary = message.message.starts_with("aborting due to")
            || message.message.ends_with("emitted")
            || message.level == "failure-note";
        if summary && message.spans.is_empty() {
            return None;
        }
        let primary = message.spans.into_iter().find(|span| span.is_primary);
        Some(Self::Diagnostic(Diagnostic {
            package,
            level: message.level,
            rendered: message.rendered.unwrap_or_else(|| message.message.clone()),
            summary: message.message,
            place: primary.map(|span| (span.file_name, span.line_start)),
        }))
    }
}

/// Reads the name in `path+file:///…/04-x#solution-4@0.1.0`, or in
/// `path+file:///…/primitives#0.1.0`.
fn package(id: &str) -> Option<String> {
    let (source, fragment) = id.rsplit_once('#')?;
    let name = match fragment.split_once('@') {
        Some((name, _version)) => name,
        None => source.rsplit('/').next()?,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn a_test_binary_is_told_from_a_library() {
        let line = |executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/exercises/01-x#exercise-1@0.1.0",
                "manifest_path":"/w/exercises/01-x/Cargo.toml","executable":{executable}}}"#
            )
        };
        assert!(Message::read(&line("null")).is_none());
        let Some(Message::Binary(binary)) = Message::read(&line("\"/t/x-1\"")) else {
            panic!("it is a binary");
        };
        assert_eq!(binary.package, "exercise-1");
        assert_eq!(binary.folder.to_str(), Some("/w/exercises/01-x"));
    }

    #[test]
    fn the_compilers_words_arrive_with_their_place_and_without_its_count() {
        let line = |message: &str, spans: &str| {
            format!(
                r#"{{"reason":"compiler-message","package_id":"path+file:///w/tools/primitives#0.1.0",
                "manifest_path":"/w/tools/primitives/Cargo.toml",
                "message":{{"level":"error","message":"{message}","rendered":"error: …","spans":[{spans}]}}}}"#
            )
        };
        let span = r#"{"file_name":"src/lib.rs","line_start":7,"is_primary":true}"#;
        let Some(Message::Diagnostic(diagnostic)) = Message::read(&line("no such type", span))
        else {
            panic!("it is a diagnostic");
        };
        assert_eq!(diagnostic.package, "primitives");
        assert_eq!(diagnostic.place, Some(("src/lib.rs".into(), 7)));
        assert!(Message::read(&line("aborting due to 1 previous error", "")).is_none());
    }
}
