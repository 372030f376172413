//! Waits for the program and for every orphan that the launcher adopted.

use std::process::Child;
use std::sync::mpsc::SyncSender;
use std::thread;

use super::news::News;
use super::protocol::Cause;

/// Starts the thread that waits; it tells when `child` has ended, and when no
/// child at all is left.
pub fn spawn_reaper(child: Child, news: SyncSender<News>) {
    let main = libc::pid_t::try_from(child.id()).expect("a process id fits");
    thread::spawn(move || {
        while let Some((pid, status)) = wait_for_any() {
            if pid == main && news.send(News::Ended(cause(status))).is_err() {
                return;
            }
        }
        let _over = news.send(News::Childless);
    });
}

fn cause(status: libc::c_int) -> Cause {
    if libc::WIFSIGNALED(status) {
        Cause::Signal(libc::WTERMSIG(status))
    } else {
        Cause::Exited(libc::WEXITSTATUS(status))
    }
}

/// Returns `None` when there is no child to wait for.
fn wait_for_any() -> Option<(libc::pid_t, libc::c_int)> {
    let mut status = 0;
    loop {
        // SAFETY: the pointer is to an integer that outlives the call. Nothing
        // else in this process waits for children, so no status is taken from it.
        let pid = unsafe { libc::waitpid(-1, &mut status, 0) };
        if pid > 0 {
            return Some((pid, status));
        }
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return None;
        }
    }
}
