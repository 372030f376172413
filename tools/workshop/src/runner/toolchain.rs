//! Finds the compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::problem::Problem;

/// Returns the compiler itself. Under rustup the program on the path is a shim
/// that has to find the toolchain again at every call.
///
/// # Errors
///
/// When there is none.
pub fn find_rustc(root: &Path) -> Result<PathBuf, Problem> {
    let missing = |why: String| {
        Problem::new(format!("`rustc` cannot be used: {why}"))
            .help("install Rust as https://rustup.rs says, and open a new terminal")
    };
    let output = Command::new("rustc")
        .args(["--print", "sysroot"])
        .current_dir(root)
        .output()
        .map_err(|error| missing(error.to_string()))?;
    if !output.status.success() {
        return Err(missing(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ));
    }
    let sysroot = String::from_utf8_lossy(&output.stdout);
    let rustc = format!("bin/rustc{}", std::env::consts::EXE_SUFFIX);
    let rustc = Path::new(sysroot.trim()).join(rustc);
    // A distribution may keep its compiler elsewhere.
    Ok(if rustc.is_file() {
        rustc
    } else {
        "rustc".into()
    })
}
