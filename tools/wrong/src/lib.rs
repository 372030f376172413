//! A wrong version of an exercise, written as its fault: what it breaks, which
//! correct version it's an edit of, and the edit as a unified diff.
//!
//! ```text
//! Breaks clause 3: No lost wake-up.
//! Caught by: a_wake_during_poll_is_not_lost
//! Base: solutions/01-block-on
//!
//! Why a reader would write it.
//!
//! --- lib.rs
//! +++ lib.rs
//! @@ -10,3 +10,3 @@
//! ```
//!
//! The base is a package's folder, whose `src` the diff's paths are relative to, or
//! another folder with a `lib.rs`, or a single file, which the diff calls by its name.

mod pieces;
pub mod together;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};

/// How the line begins that names the base.
const BASE: &str = "Base: ";

/// How the first line of a diff begins.
const DIFF: &str = "--- ";

/// The file at the root of a version.
const ROOT: &str = "lib.rs";

/// A wrong version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong<'a> {
    /// What stands above the diff, but for the line that names the base.
    pub header: String,
    /// The right version that it is an edit of, as a path from the workspace's root.
    pub base: &'a str,
    /// The edit, as a unified diff.
    pub diff: &'a str,
}

/// Why a wrong version can't be read or put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl<'a> Wrong<'a> {
    /// Reads a wrong version from its file's text.
    ///
    /// # Errors
    ///
    /// If the text names no base or has no diff.
    pub fn read(text: &'a str) -> Result<Self, Error> {
        let start = match text.find(&format!("\n{DIFF}")) {
            Some(at) => at + 1,
            None => return Err(Error("it has no diff".into())),
        };
        let (above, diff) = text.split_at(start);
        let base = above.lines().find_map(|line| line.strip_prefix(BASE));
        let base = base.ok_or_else(|| Error(format!("it has no line `{BASE}PATH`")))?;
        let header = above.lines().filter(|line| !line.starts_with(BASE));
        let mut header = header.collect::<Vec<_>>().join("\n");
        header.truncate(header.trim_end().len());
        header.push('\n');
        Ok(Self { header, base, diff })
    }

    /// Puts the whole version together: its files, by their paths below its `src`.
    /// The one at the root is `lib.rs`.
    ///
    /// # Errors
    ///
    /// If the base can't be read, or the edit doesn't fit it.
    pub fn whole(&self, workspace: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
        let base = workspace.join(self.base);
        let mut files = raw_files(&base)?;
        for patch in PatchSet::parse(self.diff, ParseOptions::unidiff()) {
            let patch = patch.map_err(|error| Error(format!("the diff is broken: {error}")))?;
            let (old, new) = match patch.operation() {
                FileOperation::Create(new) => (None, Some(new.as_ref())),
                FileOperation::Delete(old) => (Some(old.as_ref()), None),
                FileOperation::Modify { original, modified } => {
                    (Some(original.as_ref()), Some(modified.as_ref()))
                }
                other => return Err(Error(format!("a diff cannot do this here: {other:?}"))),
            };
            let text = match old {
                None => String::new(),
                Some(old) => files
                    .remove(Path::new(old))
                    .ok_or_else(|| Error(format!("{} has no file `{old}`", self.base)))?,
            };
            let Some(new) = new else { continue };
            let hunks = patch
                .patch()
                .as_text()
                .ok_or_else(|| Error(format!("the diff of `{new}` is not one of text")))?;
            let edited = diffy::apply(&text, hunks).map_err(|error| {
                Error(format!(
                    "the edit of `{new}` does not fit {}: {error}",
                    self.base
                ))
            })?;
            files.insert(PathBuf::from(new), edited);
        }
        call_root_by_its_name(&base, &mut files);
        Ok(files)
    }
}

/// The folder that the paths in `#[path = …]` of the file at `path` are relative to, in
/// versions with this base.
pub fn folder_of(workspace: &Path, base: &str, path: &Path) -> PathBuf {
    let base = workspace.join(base);
    let source = match base.is_dir() {
        true => sources_of(&base).join(path),
        false => base,
    };
    source.parent().unwrap_or(workspace).to_path_buf()
}

/// The files of a base, by their paths below its `src`. The one at the root is `lib.rs`.
///
/// # Errors
///
/// If the base can't be read.
pub fn files(workspace: &Path, base: &str) -> Result<BTreeMap<PathBuf, String>, Error> {
    let base = workspace.join(base);
    let mut files = raw_files(&base)?;
    call_root_by_its_name(&base, &mut files);
    Ok(files)
}

/// The same, but a base of one file is called by its own name.
fn raw_files(base: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
    match base.is_dir() {
        true => sources(&sources_of(base)),
        false => Ok(BTreeMap::from([(file_name(base), read(base)?)])),
    }
}

fn call_root_by_its_name(base: &Path, files: &mut BTreeMap<PathBuf, String>) {
    if !base.is_dir()
        && let Some(only) = files.remove(&file_name(base))
    {
        files.insert(ROOT.into(), only);
    }
}

/// Makes the paths in `#[path = …]` absolute that lead out of the version, so that
/// its files can stand anywhere. They're relative to `folder` before.
pub fn with_absolute_paths(text: &str, folder: &Path) -> String {
    const ATTRIBUTE: &str = "#[path = \"..";
    let mut whole = String::new();
    for line in text.split_inclusive('\n') {
        let Some((before, rest)) = line.split_once(ATTRIBUTE) else {
            whole.push_str(line);
            continue;
        };
        let path = folder.join("..").display().to_string();
        whole.push_str(&format!("{before}#[path = \"{path}{rest}"));
    }
    whole
}

/// The folder with the sources of a base that is a folder: a package's `src`, or the
/// folder itself.
fn sources_of(base: &Path) -> PathBuf {
    let src = base.join("src");
    match src.is_dir() {
        true => src,
        false => base.into(),
    }
}

/// All files in a folder and the folders below it, by their paths from there on.
fn sources(folder: &Path) -> Result<BTreeMap<PathBuf, String>, Error> {
    let unreadable = |error| Error(format!("`{}` cannot be read: {error}", folder.display()));
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = file_name(&path);
        if path.is_dir() {
            let below = sources(&path)?.into_iter();
            files.extend(below.map(|(path, text)| (name.join(path), text)));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(name, read(&path)?);
        }
    }
    Ok(files)
}

fn read(file: &Path) -> Result<String, Error> {
    fs::read_to_string(file)
        .map_err(|error| Error(format!("`{}` cannot be read: {error}", file.display())))
}

fn file_name(path: &Path) -> PathBuf {
    path.file_name().unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Breaks clause 1: Two.\nCaught by: it_is_two\nBase: right\n\nA slip.\n\n\
                        --- lib.rs\n+++ lib.rs\n@@ -2,3 +2,3 @@\n pub fn two() -> u32 {\n-    2\n+    3\n }\n";

    const RIGHT: &str = "mod part;\npub fn two() -> u32 {\n    2\n}\n";

    fn workspace(lib: &str) -> tempfile::TempDir {
        let workspace = tempfile::tempdir().unwrap();
        let source = workspace.path().join("right/src/inner");
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("deep.rs"), "// deep\n").unwrap();
        fs::write(workspace.path().join("right/src/lib.rs"), lib).unwrap();
        workspace
    }

    #[test]
    fn a_version_is_its_base_with_the_edit() {
        let wrong = Wrong::read(TEXT).unwrap();
        assert_eq!(
            wrong.header,
            "Breaks clause 1: Two.\nCaught by: it_is_two\n\nA slip.\n"
        );
        let workspace = workspace(RIGHT);
        let files = wrong.whole(workspace.path()).unwrap();
        let paths: Vec<_> = files.keys().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(paths, ["inner/deep.rs", "lib.rs"]);
        assert_eq!(files[Path::new("lib.rs")], RIGHT.replace("    2", "    3"));
    }

    #[test]
    fn a_base_may_be_a_single_file() {
        let workspace = workspace(RIGHT);
        fs::write(workspace.path().join("one.rs"), RIGHT).unwrap();
        let text = TEXT
            .replace("Base: right", "Base: one.rs")
            .replace("lib.rs", "one.rs");
        let files = Wrong::read(&text).unwrap().whole(workspace.path()).unwrap();
        assert_eq!(files.len(), 1);
        assert_eq!(files[Path::new("lib.rs")], RIGHT.replace("    2", "    3"));
    }

    #[test]
    fn an_edit_that_does_not_fit_its_base_is_told() {
        let workspace = workspace("pub fn two() -> u32 {\n    1 + 1\n}\n");
        let error = Wrong::read(TEXT)
            .unwrap()
            .whole(workspace.path())
            .unwrap_err();
        assert!(
            error.to_string().contains("`lib.rs` does not fit right"),
            "{error}"
        );
    }

    #[test]
    fn what_is_missing_is_told() {
        let error = |text: &str| Wrong::read(text).unwrap_err().to_string();
        assert!(error("Breaks clause 1: Two.\n").contains("no diff"));
        assert!(error(&TEXT.replace("Base: right\n", "")).contains("no line `Base: PATH`"));
    }

    #[test]
    fn paths_that_lead_out_are_made_absolute() {
        let text = "#[path = \"../tests.rs\"]\nmod tests;\n#[path = \"own.rs\"]\nmod own;\n";
        let whole = with_absolute_paths(text, Path::new("/w/right/src"));
        assert!(
            whole.starts_with("#[path = \"/w/right/src/../tests.rs\"]\n"),
            "{whole}"
        );
        assert!(whole.contains("#[path = \"own.rs\"]"), "{whole}");
    }
}
