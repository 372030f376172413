//! The limits that the kernel itself enforces on each process.

use std::io;

use super::protocol::Limits;

/// Which resource, and how much of it.
pub type Limit = (Resource, libc::rlim_t);

// The C libraries don't agree on the type of this number.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

/// Translates `limits` for [`apply`].
pub fn of(limits: &Limits) -> [Limit; 4] {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Processor time counts for all threads of a process together. The wall
    // clock ends it sooner; this one holds even if the launcher is killed.
    let processor_seconds = (limits.wall.as_secs() + 1) * cores as u64;
    [
        (libc::RLIMIT_AS, limits.memory_bytes),
        (libc::RLIMIT_FSIZE, limits.file_bytes),
        (libc::RLIMIT_CPU, processor_seconds),
        (libc::RLIMIT_CORE, 0),
    ]
    .map(|(resource, amount)| (resource, amount.min(most(resource))))
}

/// What the reader's own limits allow: only root may raise them.
fn most(resource: Resource) -> libc::rlim_t {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a whole `rlimit`, which outlives the call.
    match unsafe { libc::getrlimit(resource, &mut limit) } {
        0 => limit.rlim_max,
        _ => libc::RLIM_INFINITY,
    }
}

/// Begins a session without a terminal: what runs here neither writes to the
/// reader's nor reads what they type, and Ctrl-C doesn't reach it. It goes to
/// the server alone, which then closes the pipe.
pub fn leave_terminal() {
    // SAFETY: `setsid` takes nothing and touches no memory. It fails only for the
    // leader of a process group, which a child isn't when it starts.
    unsafe { libc::setsid() };
}

/// Sets the limits of the calling process. It may be called between fork and
/// exec.
pub fn apply(limits: &[Limit]) -> io::Result<()> {
    for &(resource, amount) in limits {
        let limit = libc::rlimit {
            rlim_cur: amount,
            rlim_max: amount,
        };
        // SAFETY: the pointer is to a whole `rlimit`, which outlives the call.
        let status = unsafe { libc::setrlimit(resource, &limit) };
        // Only Linux limits the address space reliably.
        if status != 0 && cfg!(target_os = "linux") {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
