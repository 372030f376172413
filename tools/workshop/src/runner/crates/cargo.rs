//! Asks cargo about the package `snippets`, and has it build the dependencies.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

use super::super::request::Mode;
use crate::problem::Problem;
use crate::workshop::Workshop;

const PACKAGE: &str = "snippets";

/// A crate that `snippets` names in its manifest.
pub struct Dependency {
    /// The package's name.
    pub package: String,
    /// The name that the manifest gives it instead.
    pub renamed: Option<String>,
    /// The name that code uses, unless the package's library has a name of its own.
    pub extern_name: String,
}

/// The packages that `snippets` needs on this system.
#[derive(Default)]
pub struct Tree {
    /// Each package, as `name version`.
    pub packages: BTreeSet<String>,
    /// Those that the manifest names.
    direct: BTreeSet<String>,
    /// The folders of the packages of this workspace.
    pub local_folders: BTreeSet<PathBuf>,
}

/// A library that cargo built.
pub struct Library {
    /// The package's name.
    pub package: String,
    /// The package's version.
    pub version: String,
    /// The library's name.
    pub name: String,
    /// The file that `--extern` wants.
    pub file: PathBuf,
}

/// Reads the manifest of `snippets`, without the network.
pub async fn dependencies(workshop: &Workshop) -> Result<Vec<Dependency>, Problem> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        dependencies: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        name: String,
        rename: Option<String>,
        kind: Option<String>,
    }

    let arguments = ["metadata", "--no-deps", "--format-version=1"];
    let output = ask(workshop, &arguments).await?;
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| Problem::new(format!("cargo's metadata cannot be read: {error}")))?;
    let package = metadata
        .packages
        .into_iter()
        .find(|package| package.name == PACKAGE);
    let entries = package
        .map(|package| package.dependencies)
        .unwrap_or_default();
    let normal = entries.into_iter().filter(|entry| entry.kind.is_none());
    Ok(normal
        .map(|entry| {
            let renamed = entry.rename.map(|name| name.replace('-', "_"));
            Dependency {
                extern_name: renamed
                    .clone()
                    .unwrap_or_else(|| entry.name.replace('-', "_")),
                package: entry.name,
                renamed,
            }
        })
        .collect())
}

/// Finds out what there is to build; cargo downloads what it needs for that.
pub async fn tree(workshop: &Workshop) -> Result<Tree, Problem> {
    let package = format!("--package={PACKAGE}");
    let arguments = [
        "tree",
        &package,
        "--edges=no-dev",
        "--prefix=depth",
        "--quiet",
    ];
    let output = ask(workshop, &arguments).await?;
    let mut tree = Tree::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        tree.read_line(line);
    }
    Ok(tree)
}

impl Tree {
    /// Reads a line such as `1tokio v1.54.1` or `2trace v0.1.0 (/path) (*)`.
    fn read_line(&mut self, line: &str) {
        let name_at = line
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(line.len());
        let (depth, rest) = line.split_at(name_at);
        let mut words = rest.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next()) else {
            return;
        };
        let package = format!("{name} {}", version.trim_start_matches('v'));
        if depth == "1" {
            self.direct.insert(package.clone());
        }
        self.packages.insert(package);
        let folder = rest
            .split_once(" (")
            .and_then(|(_, folder)| folder.split_once(')'));
        if let Some((folder, _)) = folder
            && PathBuf::from(folder).is_absolute()
        {
            self.local_folders.insert(folder.into());
        }
    }

    /// Whether the manifest of `snippets` names this very version.
    pub fn is_direct(&self, package: &str, version: &str) -> bool {
        self.direct.contains(&format!("{package} {version}"))
    }
}

/// Builds `snippets`, and returns the libraries. `on_progress` is told how many
/// packages are done.
pub async fn build(
    workshop: &Workshop,
    mode: Mode,
    mut on_progress: impl FnMut(usize),
) -> Result<Vec<Library>, Problem> {
    let mut command = cargo(workshop);
    command
        .args([
            "build",
            "--package",
            PACKAGE,
            "--message-format=json-render-diagnostics",
        ])
        .arg("--target-dir")
        .arg(workshop.target())
        .args((mode == Mode::Release).then_some("--release"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(no_cargo)?;
    let mut stderr = child.stderr.take().expect("the errors are piped");
    let errors = tokio::spawn(async move {
        let mut errors = Vec::new();
        let _cut_short = stderr.read_to_end(&mut errors).await;
        errors
    });

    let stdout = child.stdout.take().expect("the output is piped");
    let mut lines = BufReader::new(stdout).lines();
    let mut libraries = Vec::new();
    let mut done = BTreeSet::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(artifact) = serde_json::from_str::<Artifact>(&line) else {
            continue;
        };
        // A package may have a build script besides its library.
        if done.insert(artifact.package_id.clone()) {
            on_progress(done.len());
        }
        libraries.extend(artifact.library());
    }
    let status = child.wait().await.map_err(no_cargo)?;
    if !status.success() {
        return Err(failed(&errors.await.unwrap_or_default()));
    }
    Ok(libraries)
}

/// The part of cargo's message about a built target that matters here.
#[derive(Deserialize)]
struct Artifact {
    package_id: String,
    target: Target,
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Artifact {
    /// Returns the library, if that is what was built.
    fn library(self) -> Option<Library> {
        if self
            .target
            .kind
            .iter()
            .any(|kind| kind == "custom-build" || kind == "bin")
        {
            return None;
        }
        let (package, version) = name_and_version(&self.package_id)?;
        let extension = |file: &PathBuf| {
            let extension = file.extension().unwrap_or_default();
            extension == "rlib" || extension == std::env::consts::DLL_EXTENSION
        };
        Some(Library {
            file: self.filenames.into_iter().find(extension)?,
            name: self.target.name.replace('-', "_"),
            package,
            version,
        })
    }
}

/// Reads `registry+…#tokio@1.54.1`, or `path+file:///…/primitives#0.1.0`.
fn name_and_version(package_id: &str) -> Option<(String, String)> {
    let (source, fragment) = package_id.rsplit_once('#')?;
    let (name, version) = match fragment.split_once('@') {
        Some(both) => both,
        None => (source.rsplit('/').next()?, fragment),
    };
    Some((name.to_owned(), version.to_owned()))
}

fn cargo(workshop: &Workshop) -> Command {
    // `cargo workshop` is run by cargo, which says where it is.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command
        .current_dir(workshop.root())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    build_as_snippets_are(&mut command);
    command
}

/// Snippets are compiled without cargo, and so without what the reader's
/// environment and configuration tell it. Crates that heeded those wouldn't fit.
fn build_as_snippets_are(command: &mut Command) {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in names.filter(|name| is_about_code(name)) {
        command.env_remove(name);
    }
    // Stands above the configuration's flags, too.
    command.env("CARGO_ENCODED_RUSTFLAGS", "");
    for profile in ["DEV", "RELEASE"] {
        command.env(format!("CARGO_PROFILE_{profile}_PANIC"), "unwind");
    }
}

/// Whether cargo compiles otherwise if there is a variable of this name.
fn is_about_code(name: &str) -> bool {
    let exact = [
        "RUSTFLAGS",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    ];
    let of_target = name.starts_with("CARGO_TARGET_") && name.ends_with("_RUSTFLAGS");
    exact.contains(&name) || of_target || name.starts_with("CARGO_PROFILE_")
}

async fn ask(workshop: &Workshop, arguments: &[&str]) -> Result<Output, Problem> {
    let output = cargo(workshop)
        .args(arguments)
        .output()
        .await
        .map_err(no_cargo)?;
    match output.status.success() {
        true => Ok(output),
        false => Err(failed(&output.stderr)),
    }
}

fn no_cargo(error: std::io::Error) -> Problem {
    Problem::new(format!("`cargo` cannot be run: {error}"))
        .help("install Rust as https://rustup.rs says, and open a new terminal")
}

fn failed(stderr: &[u8]) -> Problem {
    let stderr = String::from_utf8_lossy(stderr);
    // Progress comes before the first error and is of no interest.
    let words = stderr
        .find("error")
        .map_or(&*stderr, |at| &stderr[at..])
        .trim();
    let offline = [
        "download",
        "resolve host",
        "failed to get",
        "failed to fetch",
        "offline",
    ];
    let problem = Problem::new(format!("the snippets' crates cannot be built: {words}"));
    if offline.iter().any(|sign| words.contains(sign)) {
        problem.help("connect to the network and run the snippet again: they are downloaded once")
    } else {
        problem.help("`cargo build --package snippets` shows the same, with colors")
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Tree, name_and_version};

    #[test]
    fn both_forms_of_a_package_id_are_read() {
        let registry = "registry+https://example.invalid/index#tokio@1.54.1";
        let (name, version) = name_and_version(registry).unwrap();
        assert_eq!((name.as_str(), version.as_str()), ("tokio", "1.54.1"));
        let (name, version) = name_and_version("path+file:///a/tools/primitives#0.1.0").unwrap();
        assert_eq!((name.as_str(), version.as_str()), ("primitives", "0.1.0"));
        let (name, version) = name_and_version("path+file:///a/04-x#solution-4@0.1.0").unwrap();
        assert_eq!((name.as_str(), version.as_str()), ("solution-4", "0.1.0"));
    }

    #[test]
    fn the_tree_tells_direct_dependencies_from_others() {
        let mut tree = Tree::default();
        let lines = [
            "0snippets v0.1.0 (/a/snippets)",
            "1tokio v1.54.1",
            "2bytes v1.12.1",
        ];
        for line in lines
            .into_iter()
            .chain(["2tokio-macros v2.7.2 (proc-macro)", "1bytes v1.0.0 (*)"])
        {
            tree.read_line(line);
        }
        assert!(tree.is_direct("tokio", "1.54.1"));
        assert!(tree.is_direct("bytes", "1.0.0"));
        assert!(!tree.is_direct("bytes", "1.12.1"));
        assert_eq!(tree.packages.len(), 5);
        let folders: Vec<_> = tree.local_folders.into_iter().collect();
        assert_eq!(folders, [PathBuf::from("/a/snippets")]);
    }
}
