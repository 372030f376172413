//! What others run of this repository without us, the workflows and the development
//! container, names commands, packages, paths and versions that exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The workflows, by their paths.
fn workflows() -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join(".github/workflows")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files = names.map(|name| format!(".github/workflows/{name}"));
    files.map(|file| (file.clone(), read(&file))).collect()
}

/// The development container's settings, without their comments.
fn container() -> serde_json::Value {
    let text = read(".devcontainer/devcontainer.json");
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    serde_json::from_str(&lines.collect::<Vec<_>>().join("\n")).unwrap()
}

/// Each command line that they run: of the lines that have several, each.
fn commands() -> Vec<String> {
    let mut text: String = workflows().into_iter().map(|(_, text)| text).collect();
    text += container()["postCreateCommand"].as_str().unwrap();
    let lines = text.lines().flat_map(|line| line.split("&&"));
    let commands = lines.map(|line| {
        line.trim()
            .trim_start_matches("- ")
            .trim_start_matches("run: ")
    });
    let is_command = |line: &&str| {
        ["cargo ", "npm ", "cd ", "git "]
            .iter()
            .any(|start| line.starts_with(start))
    };
    commands.filter(is_command).map(str::to_owned).collect()
}

/// The names of the workspace's packages.
fn packages() -> BTreeSet<String> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| package["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn commands_name_what_exists() {
    let packages = packages();
    let scripts: serde_json::Value = serde_json::from_str(&read("web/package.json")).unwrap();
    let mut folder = root();
    let commands = commands();
    assert!(commands.len() > 8, "{commands:?}");
    for command in commands {
        let words: Vec<_> = command.split_whitespace().collect();
        match words[..] {
            ["cargo", "workshop", subcommand, ..] => {
                let help = Command::new(env!("CARGO_BIN_EXE_workshop"))
                    .args([subcommand, "--help"])
                    .current_dir(root())
                    .output()
                    .unwrap();
                assert!(help.status.success(), "{command}");
                let help = String::from_utf8(help.stdout).unwrap();
                for flag in words.iter().filter(|word| word.starts_with("--")) {
                    assert!(help.contains(flag), "{command}: no {flag} in\n{help}");
                }
            }
            ["cargo", subcommand, ..] => {
                let known = ["build", "check", "fetch", "test"];
                assert!(known.contains(&subcommand), "{command}");
                for pair in words.windows(2) {
                    if ["--package", "--exclude"].contains(&pair[0]) {
                        assert!(
                            packages.contains(pair[1]),
                            "{command}: no package {}",
                            pair[1]
                        );
                    }
                }
            }
            ["npm", "run", script, ..] => {
                assert!(scripts["scripts"][script].is_string(), "{command}")
            }
            ["npm", word, ..] => assert!(["ci", "test"].contains(&word), "{command}"),
            ["cd", to] => {
                folder = root().join(to);
                assert!(folder.is_dir(), "{command}");
            }
            ["git", ..] => {
                for path in words.iter().skip_while(|word| **word != "--").skip(1) {
                    assert!(folder.join(path).exists(), "{command}: no {path}");
                }
            }
            _ => panic!("{command}"),
        }
    }
}

#[test]
fn versions_agree_and_actions_are_pinned() {
    let manifest = read("Cargo.toml");
    let version = manifest
        .split("rust-version = \"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for (file, text) in workflows() {
        assert!(
            text.contains(&format!("  RUST: \"{version}\"\n")),
            "{file} uses another Rust"
        );
        // Each job that needs more says so.
        assert!(
            text.contains("\npermissions:\n  contents: read\n\n"),
            "{file}"
        );
        assert!(text.contains("\nconcurrency:\n"), "{file}");
        for (_, used) in text.lines().filter_map(|line| line.split_once("uses: ")) {
            let commit = used.split_once('@').map_or("", |(_, rest)| rest);
            let (commit, tag) = commit.split_once(" # v").unwrap_or((commit, ""));
            let is_commit =
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_commit && !tag.is_empty(), "{file}: `{used}` can change");
        }
    }
    let image = format!("FROM rust:{version}-");
    assert!(
        read(".devcontainer/Dockerfile").starts_with(&image),
        "the container has another Rust"
    );
}

#[test]
fn the_container_forwards_the_port_that_is_served() {
    let help = Command::new(env!("CARGO_BIN_EXE_workshop"))
        .args(["serve", "--help"])
        .current_dir(root())
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let container = container();
    let port = container["forwardPorts"][0].to_string();
    assert!(
        help.contains(&format!("[default: {port}]")),
        "{port} is not in\n{help}"
    );
    assert!(container["portsAttributes"][&port]["requireLocalPort"] == true);
    let dockerfile = container["build"]["dockerfile"].as_str().unwrap();
    let user = container["remoteUser"].as_str().unwrap();
    assert!(read(&format!(".devcontainer/{dockerfile}")).contains(&format!("USER {user}\n")));
}
