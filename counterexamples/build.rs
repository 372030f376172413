//! Lists the wrong versions, and puts together those that are written as edits of
//! correct ones. Where the environment has `WRONG=part_of_a_name`, the others are left
//! out, because one of them is built in a moment, but all of them in minutes. With the
//! primitives of a model checker, it leaves out those whose headers name none of the
//! checker's models, because they aren't explored.
//!
//! For their tests, versions that differ from the same correct one only in what functions
//! do are put [together](wrong::together).

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use wrong::together::Together;
use wrong::{Wrong, with_absolute_paths};

/// The variable that says which versions are wanted.
const ONLY: &str = "WRONG";

/// What a version may do that is an edit.
const ALLOW: &str = "#[allow(dead_code, missing_docs, unused_imports)]\n";

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let workspace = here.parent().ok_or("the package is in no workspace")?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    println!("cargo::rerun-if-env-changed={ONLY}");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|it| it == "linux") {
        // Each check starts such a program, and a large one that can be loaded anywhere
        // takes milliseconds to be relocated.
        println!("cargo::rustc-link-arg-tests=-no-pie");
    }
    for entry in fs::read_dir(here.join("src"))? {
        let folder = entry?.path();
        if folder.is_dir() {
            let name = folder.file_name().unwrap_or_default();
            println!("cargo::rerun-if-changed={}", folder.display());
            let modules = put_together(workspace, &folder, &out.join(name))?;
            fs::write(out.join(name).with_extension("rs"), modules.each)?;
            let tested = out.join(name).with_extension("tested.rs");
            fs::write(tested, modules.tested)?;
        }
    }
    Ok(())
}

/// The declarations of modules.
#[derive(Default)]
struct Modules {
    /// Each version is one: so they're linted.
    each: String,
    /// Those that can stand together are one: so they're tested.
    tested: String,
}

/// Writes the versions whose edits are in `folder`, and returns the modules that reach
/// all versions.
fn put_together(
    workspace: &Path,
    folder: &Path,
    out: &Path,
) -> Result<Modules, Box<dyn Error>> {
    let only = std::env::var(ONLY).unwrap_or_default();
    let elsewhere = optimized(workspace)?;
    let models = models(workspace, folder)?;
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut versions: Vec<_> =
        entries.into_iter().map(|entry| entry.path()).collect();
    versions.sort();
    let mut modules = Modules::default();
    let mut edits = Vec::new();
    for version in versions {
        let name = version.file_stem().unwrap_or_default().display();
        let name = name.to_string();
        if !name.contains(&only) || elsewhere.contains(&format!("{name}.rs")) {
            continue;
        }
        // A version that is asked for by name is built in any case.
        if let Some(models) = &models
            && only.is_empty()
            && !names_one_of(&fs::read_to_string(&version)?, models)
        {
            continue;
        }
        let is_edit = version.extension().is_some_and(|it| it == "diff");
        let root = match is_edit {
            true => apply(workspace, &version, &out.join(&name))?,
            false => version.clone(),
        };
        // An edit may leave a part of its base without a use, and adds no documentation.
        let allow = match is_edit {
            true => ALLOW,
            false => "",
        };
        let module = format!("{allow}#[path = {root:?}]\npub mod {name};\n");
        modules.each += &module;
        match is_edit {
            true => edits.push((name, version, module)),
            false => modules.tested += &module,
        }
    }
    // A version that is asked for by name stands apart.
    let may_share = only.is_empty() && models.is_none();
    modules.tested += &tested(workspace, edits, may_share, out)?;
    Ok(modules)
}

/// The modules that reach these versions in tests, each of which comes with its name, the
/// file of its edit, and the module that it would be on its own. Writes those that share a
/// base, and can stand together, to `out`.
fn tested(
    workspace: &Path,
    edits: Vec<(String, PathBuf, String)>,
    may_share: bool,
    out: &Path,
) -> Result<String, Box<dyn Error>> {
    let mut texts = BTreeMap::new();
    for (name, file, _) in &edits {
        texts.insert(name.as_str(), fs::read_to_string(file)?);
    }
    let mut bases: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (name, _, module) in &edits {
        let version = Wrong::read(&texts[name.as_str()])?;
        let of_base = bases.entry(version.base).or_default();
        of_base.push((name, version, module.as_str()));
    }
    let mut modules = String::new();
    for (group, (base, versions)) in (1..).zip(bases) {
        let mut together = Together::new(wrong::files(workspace, base)?);
        let mut apart = String::new();
        for (name, version, module) in &versions {
            if !together.take_in(name, &version.whole(workspace)?) {
                apart += module;
            }
        }
        // A single one gains nothing.
        if may_share && together.names().len() > 1 {
            let name = format!("together_{group}");
            let files = together.files();
            let root = write(workspace, base, files, &out.join(&name))?;
            modules += &apart;
            modules += &declaration(&name, &root, together.names());
        } else {
            modules.extend(versions.iter().map(|(.., module)| *module));
        }
    }
    Ok(modules)
}

/// The module with this name in which these versions stand together.
fn declaration(name: &str, root: &Path, versions: &[String]) -> String {
    let mut declaration = format!("{ALLOW}#[path = {root:?}]\nmod {name};\n");
    // A test binary lists its tests, so these tell which versions are in there.
    for (number, version) in (1..).zip(versions) {
        declaration += &format!(
            "#[cfg(test)]\nmod {name}_has_{number} {{\n\
             #[test]\nfn {version}() {{}}\n}}\n"
        );
    }
    declaration
}

/// The sources of the models that the checker explores whose primitives the versions are
/// built over. `folder` is that of the versions.
fn models(
    workspace: &Path,
    folder: &Path,
) -> Result<Option<String>, Box<dyn Error>> {
    let is_on = |feature| std::env::var_os(feature).is_some();
    let shuttle = is_on("CARGO_FEATURE_SHUTTLE");
    if !shuttle && !is_on("CARGO_FEATURE_LOOM") {
        return Ok(None);
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let number: u32 = name.trim_start_matches("exercise_").parse()?;
    let mut sources = String::new();
    for exercise in fs::read_dir(workspace.join("exercises"))? {
        let exercise = exercise?;
        let name = exercise.file_name();
        if !name.to_string_lossy().starts_with(&format!("{number:02}-")) {
            continue;
        }
        let source = exercise.path().join("src");
        println!("cargo::rerun-if-changed={}", source.display());
        let one = [source.join("models.rs")].into_iter();
        let several = fs::read_dir(source.join("models"));
        let several = several.into_iter().flatten().flatten();
        let files = one.chain(several.map(|entry| entry.path()));
        // As `verify` tells them apart.
        for file in files.filter(|file| file.is_file()) {
            if file.ends_with("shuttle.rs") == shuttle {
                sources += &fs::read_to_string(file)?;
            }
        }
    }
    Ok(Some(sources))
}

/// Whether the header of a version says that one of these models fails on it.
fn names_one_of(version: &str, models: &str) -> bool {
    version.lines().any(|line| {
        let line = line.trim_start_matches("//! ");
        let claim = ["Caught by: models::", "Also fails: models::"];
        let mut names =
            claim.iter().filter_map(|claim| line.strip_prefix(claim));
        names.any(|name| models.contains(&format!("fn {}(", name.trim())))
    })
}

/// What names the versions that another package has.
fn optimized(workspace: &Path) -> Result<String, Box<dyn Error>> {
    let list = workspace.join("counterexamples/optimized/src/exercise_3.rs");
    println!("cargo::rerun-if-changed={}", list.display());
    Ok(fs::read_to_string(list)?)
}

/// Writes the version with this edit to `out`, and returns its root.
fn apply(
    workspace: &Path,
    edit: &Path,
    out: &Path,
) -> Result<PathBuf, Box<dyn Error>> {
    let text = fs::read_to_string(edit)?;
    let at_fault = |error: wrong::Error| format!("{}: {error}", edit.display());
    let version = Wrong::read(&text).map_err(at_fault)?;
    let base = workspace.join(version.base);
    println!("cargo::rerun-if-changed={}", base.display());
    let files = version.whole(workspace).map_err(at_fault)?;
    write(workspace, version.base, files, out)
}

/// Writes the files of a version of this base to `out`, and returns its root.
fn write(
    workspace: &Path,
    base: &str,
    files: BTreeMap<PathBuf, String>,
    out: &Path,
) -> Result<PathBuf, Box<dyn Error>> {
    // A file that the base had earlier would still be found.
    let _absent = fs::remove_dir_all(out);
    for (path, text) in files {
        let file = out.join(&path);
        fs::create_dir_all(file.parent().unwrap_or(out))?;
        let folder = wrong::folder_of(workspace, base, &path);
        fs::write(file, with_absolute_paths(&text, &folder))?;
    }
    Ok(out.join("lib.rs"))
}
