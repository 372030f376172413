//! Opens the reader's browser, by the system's own means.

use std::process::{Command, Stdio};

/// Returns `true` if a program was found that promises to open `url`.
pub fn open(url: &str) -> bool {
    // Other users of the machine can see the arguments of these programs. That's why
    // the link has no token in it: see `launch`.
    let programs: &[&[&str]] = if cfg!(target_os = "macos") {
        &[&["open"]]
    } else if cfg!(windows) {
        &[&["rundll32", "url.dll,FileProtocolHandler"]]
    } else {
        &[&["xdg-open"], &["wslview"], &["gio", "open"]]
    };
    programs.iter().any(|program| start(program, url))
}

fn start(program: &[&str], url: &str) -> bool {
    let [name, arguments @ ..] = program else {
        return false;
    };
    let child = Command::new(name)
        .args(arguments)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        return false;
    };
    // Such a program mostly ends at once; one that is the browser itself goes on.
    for _attempt in 0..10 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => {}
            Err(_) => return false,
        }
    }
    std::thread::spawn(move || child.wait());
    true
}
