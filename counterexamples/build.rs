//! Puts the wrong versions together that are written as edits of right ones.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use wrong::{Wrong, with_absolute_paths};

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let workspace = here.parent().ok_or("the package is in no workspace")?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for entry in fs::read_dir(here.join("src"))? {
        let folder = entry?.path();
        if folder.is_dir() {
            let name = folder.file_name().unwrap_or_default();
            println!("cargo::rerun-if-changed={}", folder.display());
            let modules = put_together(workspace, &folder, &out.join(name))?;
            fs::write(out.join(name).with_extension("rs"), modules)?;
        }
    }
    Ok(())
}

/// Writes the versions whose edits are in `folder`, and returns the modules that reach
/// them.
fn put_together(
    workspace: &Path,
    folder: &Path,
    out: &Path,
) -> Result<String, Box<dyn Error>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut edits: Vec<_> =
        entries.into_iter().map(|entry| entry.path()).collect();
    edits.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "diff")
    });
    edits.sort();
    let mut modules = String::new();
    for edit in edits {
        let name = edit.file_stem().unwrap_or_default().display().to_string();
        let text = fs::read_to_string(&edit)?;
        let at_fault =
            |error: wrong::Error| format!("{}: {error}", edit.display());
        let version = Wrong::read(&text).map_err(at_fault)?;
        println!(
            "cargo::rerun-if-changed={}",
            workspace.join(version.base).display()
        );
        for (path, text) in version.whole(workspace).map_err(at_fault)? {
            let file = out.join(&name).join(&path);
            fs::create_dir_all(file.parent().unwrap_or(out))?;
            fs::write(
                file,
                with_absolute_paths(
                    &text,
                    &version.folder_of(workspace, &path),
                ),
            )?;
        }
        let root = out.join(&name).join("lib.rs");
        modules += &format!("#[path = {root:?}]\npub mod {name};\n");
    }
    Ok(modules)
}
