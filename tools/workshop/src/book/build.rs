//! Builds the book with mdBook, once.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mdbook_driver::MDBook;
use mdbook_driver::config::Config;
use mdbook_driver::errors::Error;

use super::address::Address;
use super::complaints;
use super::includes::{Include, includes};
use super::minutes;
use crate::problem::Problem;
use crate::workshop::Workshop;

/// What a build is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// For any host, in any folder of it, or for this one.
    Publish(Option<&'a Address>),
    /// For the local server.
    Serve,
    /// For the local server at once: the search index, which takes most of a
    /// build's time, is left empty.
    ServeSoon,
}

/// Builds the book into `destination`, an absolute path, and returns what is
/// wrong with it though mdBook doesn't mind: includes of what doesn't exist.
///
/// # Errors
///
/// When mdBook fails, in its own words.
pub fn build(
    workshop: &Workshop,
    destination: &Path,
    purpose: Purpose<'_>,
) -> Result<Vec<String>, Problem> {
    let root = workshop.root();
    try_destination(destination)?;
    complaints::take();
    let built = configured(root, destination, purpose).and_then(|config| {
        let mut book = MDBook::load_with_config(root, config)?;
        minutes::write_into(&mut book.book);
        book.build()
    });
    let mut complaints = complaints::take();
    // We say the same with the file and the line.
    complaints.retain(|complaint| !complaint.starts_with("Error updating"));
    if let Err(error) = built {
        let words: Vec<_> = error.chain().map(ToString::to_string).collect();
        return Err(
            Problem::new(format!("the book cannot be built: {}", words.join(": ")))
                .help("fix `book.toml`, `src/SUMMARY.md` or the chapter named above"),
        );
    }
    if let Purpose::Publish(Some(address)) = purpose {
        let written = address.write_into(destination);
        written.map_err(|error| unwritable(destination, &error))?;
    }
    complaints.extend(includes(workshop).iter().filter_map(Include::complaint));
    Ok(complaints)
}

/// Tries the folder before mdBook does, which empties it and says less clearly
/// what is wrong.
fn try_destination(destination: &Path) -> Result<(), Problem> {
    let shown = destination.display();
    let failed = |error: io::Error| unwritable(destination, &error);
    fs::create_dir_all(destination).map_err(failed)?;
    let mut entries = fs::read_dir(destination).map_err(failed)?;
    let is_book = MARKS_OF_A_BOOK
        .iter()
        .any(|name| destination.join(name).exists());
    if entries.next().is_some() && !is_book {
        let problem = Problem::new(format!("`{shown}` has files in it that are no book"));
        return Err(problem.help("name an empty folder, or one that doesn't exist yet"));
    }
    let probe = destination.join(format!(".probe-{}", std::process::id()));
    let written = fs::write(&probe, PROBE);
    // Where it couldn't be written, there may be none.
    let _gone = fs::remove_file(&probe);
    written.map_err(failed)
}

fn unwritable(destination: &Path, error: &io::Error) -> Problem {
    let shown = destination.display();
    Problem::new(format!("`{shown}` cannot be written to: {error}"))
        .help("make room or change its owner, or name another folder with `--dest-dir`")
}

/// What mdBook leaves in every book.
const MARKS_OF_A_BOOK: [&str; 3] = [".nojekyll", "toc.html", "404.html"];

static PROBE: [u8; 64 << 10] = [0; 64 << 10];

/// What only served pages load: the panels of the exercises need the server.
const WORKBENCH: [(&str, &str, &str); 2] = [
    (
        "output.html.additional-js",
        "theme/workshop.js",
        "theme/workbench.js",
    ),
    (
        "output.html.additional-css",
        "theme/workshop.css",
        "theme/workbench.css",
    ),
];

fn configured(root: &Path, destination: &Path, purpose: Purpose<'_>) -> Result<Config, Error> {
    let mut config = Config::from_disk(root.join("book.toml"))?;
    config.build.build_dir = destination.to_path_buf();
    // The page for addresses that don't exist needs absolute links.
    if let Purpose::Publish(address) = purpose {
        if let Some(address) = address {
            config.set("output.html.site-url", address.as_str())?;
        }
    } else {
        config.set("output.html.site-url", "/")?;
        for (setting, bundle, workbench) in WORKBENCH {
            if root.join(workbench).is_file() {
                config.set(setting, [bundle, workbench])?;
            }
        }
    }
    if purpose == Purpose::ServeSoon {
        let setting = serde_json::json!({ "": { "enable": false } });
        config.set("output.html.search.chapter", setting)?;
    }
    Ok(config)
}

/// Copies the search index of an older build over the empty one of a build that
/// was made with [`Purpose::ServeSoon`]: better an old index than none.
pub fn borrow_search_index(from: &Path, to: &Path) {
    if let (Some(old), Some(new)) = (search_index(from), search_index(to)) {
        // Without it the search finds nothing until the index is built.
        let _none_yet = fs::copy(old, new);
    }
}

fn search_index(book: &Path) -> Option<PathBuf> {
    let mut files = fs::read_dir(book).ok()?.flatten().map(|entry| entry.path());
    files.find(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("searchindex") && name.ends_with(".js")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Purpose, configured};

    #[test]
    fn only_served_pages_load_the_workbench() {
        let root = tempfile::tempdir().unwrap();
        let toml = "[output.html]\nadditional-js = [\"theme/workshop.js\"]\n";
        fs::write(root.path().join("book.toml"), toml).unwrap();
        let scripts = |purpose| {
            let config = configured(root.path(), root.path(), purpose).unwrap();
            let scripts = config.get::<Vec<String>>("output.html.additional-js");
            scripts.unwrap().unwrap()
        };
        assert_eq!(scripts(Purpose::Serve), ["theme/workshop.js"]);
        fs::create_dir(root.path().join("theme")).unwrap();
        fs::write(root.path().join("theme/workbench.js"), "").unwrap();
        let both = ["theme/workshop.js", "theme/workbench.js"];
        assert_eq!(scripts(Purpose::Serve), both);
        assert_eq!(scripts(Purpose::ServeSoon), both);
        assert_eq!(scripts(Purpose::Publish(None)), ["theme/workshop.js"]);
    }
}
