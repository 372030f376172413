//! The limits that the kernel itself enforces on each process.

use std::io;

use super::Limits;

/// Which resource, and how much of it.
pub type Limit = (Resource, libc::rlim_t);

// The C libraries do not agree on the type of this number.
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
