//! Lets a program start processes only one by one, and only so many.
//!
//! Counting the processes now and then isn't enough: a program that forks without
//! end makes thousands between two counts, and leaves no CPU time for the thread
//! that counts. So a seccomp filter stops each attempt to start a process until a
//! thread of the launcher, the doorkeeper, has agreed. Threads and all other system
//! calls pass without delay. Once the door is closed, no process starts anymore,
//! and ending the existing ones takes a single round.
//!
//! A write to standard error waits for the doorkeeper as well, who first reads what is
//! in standard output: see [`Streams`].
//!
//! The filter holds for the launcher too, which starts the program through the
//! same door.
//!
//! It also keeps the program from ending the processes that watch over it: without
//! the launcher, what the program has started wouldn't be found. A signal to the
//! launcher or the server, by its number or by `-1` to all processes of the
//! reader, is refused. This is for mistakes; a program that means harm has the
//! reader's rights, and other ways.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::sync::mpsc::SyncSender;
use std::thread;

use super::linux_processes::descendants;
use super::news::News;
use super::protocol::Cause;
use super::streams::Streams;

/// The door through which every new process comes.
#[derive(Default)]
pub struct Door {
    attended: AtomicBool,
    closed: AtomicBool,
}

impl Door {
    /// Installs the filter, and starts the doorkeeper. When more than `most`
    /// processes would be alive, it closes the door and tells `news`.
    ///
    /// # Errors
    ///
    /// When the kernel can't filter system calls in this way.
    pub fn install(
        most: usize,
        news: SyncSender<News>,
        streams: Arc<Streams>,
    ) -> io::Result<Arc<Self>> {
        let door = Arc::new(Self::default());
        let listener = install_filter()?;
        let own = door.clone();
        thread::spawn(move || own.attend(listener, most, &news, &streams));
        // Until it has answered, a fork holds the locks of the allocator. So the
        // doorkeeper must be past everything that allocates before the first.
        // Acquire: pairs with the Release in `attend`.
        while !door.attended.load(Acquire) {
            thread::yield_now();
        }
        Ok(door)
    }

    /// Lets no process in anymore. A process that knocks now waits until it's killed.
    pub fn close(&self) {
        // Release: pairs with the Acquire in `attend`.
        self.closed.store(true, Release);
    }

    fn attend(
        &self,
        listener: libc::c_int,
        most: usize,
        news: &SyncSender<News>,
        streams: &Streams,
    ) {
        // Release: pairs with the Acquire in `install`.
        self.attended.store(true, Release);
        // The processes alive, at most: deaths are noticed only by counting.
        let mut alive = 0;
        while let Some(request) = receive(listener) {
            if WRITES.contains(&libc::c_long::from(request.data.nr)) {
                // This allocates. But no fork of the launcher's waits: it starts only
                // the program, which writes after that.
                streams.drain();
                agree(listener, request.id);
                continue;
            }
            if alive >= most {
                alive = descendants().len();
            }
            // Acquire: pairs with the Release in `close`.
            if self.closed.load(Acquire) {
                return;
            }
            if alive >= most {
                let _over = news.send(News::Ended(Cause::ProcessLimit));
                return;
            }
            alive += 1;
            agree(listener, request.id);
        }
    }
}

/// Waits for the next attempt to start a process or to write an error. Returns
/// `None` when there can be no other.
fn receive(listener: libc::c_int) -> Option<libc::seccomp_notif> {
    loop {
        // SAFETY: all fields are integers, for which zero is a value. The kernel
        // insists on zeros.
        let mut request: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: this request of `ioctl` writes one `seccomp_notif`, which the
        // pointer is to.
        let status = unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &mut request) };
        if status == 0 {
            return Some(request);
        }
        let error = io::Error::last_os_error().raw_os_error();
        // The one who knocked may be gone before the door is opened.
        if ![Some(libc::EINTR), Some(libc::ENOENT)].contains(&error) {
            return None;
        }
    }
}

/// Has the kernel go on with the attempt.
fn agree(listener: libc::c_int, id: u64) {
    let response = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: 0,
        flags: libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
    };
    // SAFETY: this request of `ioctl` reads one `seccomp_notif_resp`, which the
    // pointer is to. An error means that the process that knocked is gone.
    unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &response) };
}

/// Installs the filter for this thread and all it starts, and returns the
/// descriptor by which the kernel asks.
fn install_filter() -> io::Result<libc::c_int> {
    let mut filter = filter();
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // Without this only root may install a filter: nothing that is started may
    // gain rights that the launcher doesn't have.
    // SAFETY: this option of `prctl` takes integers and touches no memory.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // Older kernels would slow down all that runs behind a filter, against leaks
    // through speculation. Here there is nothing to leak: it has the reader's rights.
    // SAFETY: `program` points to as many instructions as it says, and both
    // outlive the call.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW,
            &program,
        )
    };
    match libc::c_int::try_from(listener) {
        Ok(listener) if listener >= 0 => Ok(listener),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The names of processors in the kernel's audit interface.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// The system calls that start a process and nothing else.
#[cfg(target_arch = "x86_64")]
const FORKS: &[libc::c_long] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(target_arch = "aarch64")]
const FORKS: &[libc::c_long] = &[];

// Offsets in the kernel's `seccomp_data`.
const CALL_NUMBER: u32 = 0;
const CALL_ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

/// The system calls that send a signal to the process, or to the thread, that
/// their first argument names, and the one that makes a descriptor to do it with.
const SIGNALS: [libc::c_long; 6] = [
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
];

/// The system calls that write to the descriptor that their first argument names.
const WRITES: [libc::c_long; 2] = [libc::SYS_write, libc::SYS_writev];

/// The processes to which the program may not send signals, as the kernel sees
/// the first argument.
fn protected() -> [u32; 4] {
    let this = std::process::id();
    let server = std::os::unix::process::parent_id();
    let group = this.wrapping_neg();
    let everyone = 1_u32.wrapping_neg();
    [this, server, group, everyone]
}

/// The program that the kernel runs at each system call.
fn filter() -> Vec<libc::sock_filter> {
    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
    const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
    let mut filter = vec![
        // Calls by the numbers of another processor don't exist.
        load(CALL_ARCHITECTURE),
        skip_if(libc::BPF_JEQ, ARCHITECTURE, 1),
        answer(ABSENT),
        load(CALL_NUMBER),
    ];
    if cfg!(target_arch = "x86_64") {
        // Nor do those of the variant with short pointers.
        filter.extend([skip_unless(libc::BPF_JGE, 0x4000_0000, 1), answer(ABSENT)]);
    }
    for write in WRITES {
        filter.extend([
            skip_unless(libc::BPF_JEQ, write as u32, 4),
            load(FIRST_ARGUMENT),
            skip_unless(libc::BPF_JEQ, libc::STDERR_FILENO as u32, 1),
            answer(ASK),
            answer(ALLOW),
        ]);
    }
    let protected = protected();
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    for signal in SIGNALS {
        let length = 2 + 2 * protected.len() as u8;
        filter.push(skip_unless(libc::BPF_JEQ, signal as u32, length));
        filter.push(load(FIRST_ARGUMENT));
        for process in protected {
            filter.extend([skip_unless(libc::BPF_JEQ, process, 1), answer(refused)]);
        }
        filter.push(answer(ALLOW));
    }
    for &fork in FORKS {
        filter.extend([skip_unless(libc::BPF_JEQ, fork as u32, 1), answer(ASK)]);
    }
    filter.extend([
        // The flags of `clone3` are in memory, where a filter can't look. The C
        // library falls back to `clone`.
        skip_unless(libc::BPF_JEQ, libc::SYS_clone3 as u32, 1),
        answer(ABSENT),
        skip_unless(libc::BPF_JEQ, libc::SYS_clone as u32, 3),
        load(FIRST_ARGUMENT),
        skip_if(libc::BPF_JSET, libc::CLONE_THREAD as u32, 1),
        answer(ASK),
        answer(ALLOW),
    ]);
    filter
}

fn load(offset: u32) -> libc::sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0)
}

/// Skips so many instructions if the comparison of the loaded value holds.
fn skip_if(comparison: u32, with: u32, skipped: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | comparison | libc::BPF_K, with, skipped, 0)
}

/// Skips so many instructions if it doesn't.
fn skip_unless(comparison: u32, with: u32, skipped: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | comparison | libc::BPF_K, with, 0, skipped)
}

fn answer(what: u32) -> libc::sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, what, 0, 0)
}

fn instruction(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    let code = code as u16;
    libc::sock_filter { code, jt, jf, k }
}
