//! The processes that descend from this one, as `/proc` has them.

use std::collections::HashMap;
use std::fs;

/// One process.
pub struct Process {
    /// Its number.
    pub pid: libc::pid_t,
    /// Its threads.
    pub thread_count: usize,
    /// Its resident memory.
    pub memory_bytes: u64,
    parent: libc::pid_t,
}

/// The living descendants of this process.
pub fn descendants() -> Vec<Process> {
    let mut children: HashMap<libc::pid_t, Vec<Process>> = HashMap::new();
    for process in all_processes() {
        children.entry(process.parent).or_default().push(process);
    }
    let this = libc::pid_t::try_from(std::process::id()).expect("a process id fits");
    let mut found = children.remove(&this).unwrap_or_default();
    let mut next = 0;
    while let Some(parent) = found.get(next) {
        found.extend(children.remove(&parent.pid).unwrap_or_default());
        next += 1;
    }
    found
}

fn all_processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        parse_stat(pid, &stat)
    })
}

/// Returns `None` for a zombie: it is dead, and only waits to be waited for.
fn parse_stat(pid: libc::pid_t, stat: &str) -> Option<Process> {
    // The name, in parentheses, may contain spaces and parentheses itself.
    let (_, after_name) = stat.rsplit_once(") ")?;
    let mut fields = after_name.split(' ');
    if fields.next()? == "Z" {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    // Fields 20 and 24 of proc(5); the parent was field 4.
    let thread_count = fields.nth(15)?.parse().ok()?;
    let pages: u64 = fields.nth(3)?.parse().ok()?;
    Some(Process {
        pid,
        thread_count,
        memory_bytes: pages * page_size(),
        parent,
    })
}

fn page_size() -> u64 {
    // SAFETY: `sysconf` takes an integer and touches no memory of ours.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(size).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::parse_stat;

    const STAT: &str = "17 (a) b (c)) S 4 17 17 0 -1 4194304 92 0 0 0 0 0 0 0 20 0 1 0 \
        51 2961408 3 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0";

    #[test]
    fn a_name_may_contain_anything() {
        let process = parse_stat(17, STAT).unwrap();
        assert_eq!((process.pid, process.parent), (17, 4));
        assert_eq!(process.thread_count, 1);
        assert_eq!(process.memory_bytes % 3, 0);
        assert_ne!(process.memory_bytes, 0);
    }

    #[test]
    fn a_zombie_does_not_count() {
        assert!(parse_stat(17, &STAT.replace(") S 4", ") Z 4")).is_none());
    }
}
