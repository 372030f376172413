//! Runs a thread one machine instruction at a time, with the trap flag of x86-64: while it is set
//! the processor traps after each instruction, and Linux turns that into a signal. On other systems
//! no thread can be stepped.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};

static IS_ON: AtomicBool = AtomicBool::new(false);
static STEPS: AtomicU32 = AtomicU32::new(0);
static STOP_AT: AtomicU32 = AtomicU32::new(0);
static MAX_STEPS: AtomicU32 = AtomicU32::new(0);
static LOCKED: AtomicU32 = AtomicU32::new(0);
/// The steps that were followed by an access of memory that may be shared.
static ACCESSES: [AtomicU32; MOST_ACCESSES] = [const { AtomicU32::new(0) }; MOST_ACCESSES];
/// Beside the number of a step.
const ON_STACK: u32 = 1 << 31;
static ACCESS_COUNT: AtomicUsize = AtomicUsize::new(0);
/// There may be more, which are forgotten.
const MOST_ACCESSES: usize = 4_096;

/// How many steps have been taken since [`start`] or [`reset`].
pub(crate) fn steps() -> u32 {
    STEPS.load(SeqCst)
}

/// How many of these steps were read-modify-writes that the processor makes
/// atomic: a `lock` prefix, or an exchange with memory, which needs none.
pub(crate) fn locked_steps() -> u32 {
    LOCKED.load(SeqCst)
}

/// Resets the numbers of steps.
pub(crate) fn reset() {
    STEPS.store(0, SeqCst);
    LOCKED.store(0, SeqCst);
    ACCESS_COUNT.store(0, SeqCst);
}

/// After which steps the stepped thread was about to touch memory that other threads may use, too.
/// Between two of these, no other thread can tell the difference. The second list is of those that
/// touch the thread's own stack, through a pointer: other threads hardly ever do.
pub(crate) fn accesses() -> [Vec<u32>; 2] {
    let count = ACCESS_COUNT.load(SeqCst).min(MOST_ACCESSES);
    let noted = ACCESSES[..count].iter().map(|noted| noted.load(SeqCst));
    let (on_stack, others): (Vec<_>, Vec<_>) = noted.partition(|noted| noted & ON_STACK != 0);
    [
        others,
        on_stack
            .into_iter()
            .map(|noted| noted & !ON_STACK)
            .collect(),
    ]
}

/// Notes that such a one comes after this step.
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
fn note_access(is_on_stack: bool) {
    let at = ACCESS_COUNT.fetch_add(1, SeqCst);
    if let Some(access) = ACCESSES.get(at) {
        access.store(steps() | if is_on_stack { ON_STACK } else { 0 }, SeqCst);
    }
}

/// Steps through what this thread does next. After `stop_at` steps, the function that [`install`]
/// was given is called on this thread, and then the thread runs on as usual; it also runs on after
/// `max_steps` steps.
#[inline(never)]
pub(crate) fn start(stop_at: u32, max_steps: u32) {
    STOP_AT.store(stop_at, SeqCst);
    MAX_STEPS.store(max_steps, SeqCst);
    reset();
    IS_ON.store(true, SeqCst);
    machine::set_trap_flag();
}

/// Lets the stepped thread run on as usual.
pub(crate) fn stop() {
    IS_ON.store(false, SeqCst);
}

pub(crate) use machine::install;

/// What to do after a step.
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
enum Step {
    GoOn,
    RunOn,
    Stop,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
fn step() -> Step {
    if !IS_ON.load(SeqCst) {
        return Step::RunOn;
    }
    let steps = STEPS.fetch_add(1, SeqCst) + 1;
    if steps >= MAX_STEPS.load(SeqCst) {
        stop();
        Step::RunOn
    } else if steps == STOP_AT.load(SeqCst) {
        stop();
        Step::Stop
    } else {
        Step::GoOn
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
mod machine {
    use std::arch::asm;
    use std::ffi::{c_int, c_void};
    use std::ptr;
    use std::sync::OnceLock;

    use super::{LOCKED, SeqCst, Step, note_access, step, steps};
    use crate::instruction::{Memory, memory_of};

    static AT_STOP: OnceLock<fn()> = OnceLock::new();

    /// Linux's `struct sigaction`, as the C library has it on x86-64.
    #[repr(C)]
    struct SigAction {
        handler: extern "C" fn(c_int, *mut c_void, *mut c_void),
        mask: [u64; 16],
        flags: c_int,
        restorer: usize,
    }

    const SIGTRAP: c_int = 5;
    const SA_SIGINFO: c_int = 4;
    /// Where the instruction pointer is in a `ucontext_t`: behind a word, a pointer, a stack of
    /// three words and sixteen registers. The flags follow.
    const INSTRUCTION: usize = 8 * (1 + 1 + 3 + 16);
    const FLAGS: usize = INSTRUCTION + 8;
    const REGISTERS: usize = 8 * (1 + 1 + 3);
    /// Where each register is among them, by the numbers that instructions have for them: `rax`,
    /// `rcx`, `rdx`, `rbx`, `rsp`, `rbp`, `rsi`, `rdi`, and `r8` to `r15`.
    const PLACES: [usize; 16] = [13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7];
    const STACK_POINTER: usize = 4;
    /// How far from the top of the stack an address is taken for one on it.
    const MOST_OF_STACK: usize = 64 * 1024;
    const TRAP_FLAG: u64 = 0x100;

    unsafe extern "C" {
        fn sigaction(signal: c_int, new: *const SigAction, old: *mut SigAction) -> c_int;
    }

    /// Prepares to step threads of this process. Returns `false` where the trap doesn't come, as in
    /// some emulators.
    pub(crate) fn install(at_stop: fn()) -> bool {
        AT_STOP.get_or_init(|| at_stop);
        let action = SigAction {
            handler: on_trap,
            mask: [0; 16],
            flags: SA_SIGINFO,
            restorer: 0,
        };
        // SAFETY: `action` is what the C library expects, and its handler does only what a handler may.
        let is_installed = unsafe { sigaction(SIGTRAP, &action, ptr::null_mut()) } == 0;
        if !is_installed {
            return false;
        }
        super::start(u32::MAX, u32::MAX);
        std::hint::black_box(());
        super::stop();
        steps() > 0
    }

    #[inline(always)]
    pub(super) fn set_trap_flag() {
        // SAFETY: sets a bit of the flags register, which `install` has a handler for; the stack is as before.
        unsafe {
            asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq");
        }
    }

    extern "C" fn on_trap(_signal: c_int, _info: *mut c_void, context: *mut c_void) {
        let step = step();
        if matches!(step, Step::GoOn) {
            // SAFETY: the pointer is inside the context, which is as large as that.
            let next = unsafe { context.byte_add(INSTRUCTION) }.cast::<*const u8>();
            // SAFETY: the kernel gives this thread's context to this handler alone.
            let next = unsafe { *next };
            // SAFETY: it is the instruction that this thread executes next.
            let memory = unsafe { memory_of(next) };
            if memory == Memory::Locked {
                LOCKED.fetch_add(1, SeqCst);
            }
            let is_on_stack = match memory {
                Memory::Own => return,
                Memory::Locked | Memory::Shared(None) => false,
                Memory::Shared(Some(base)) => {
                    // SAFETY: the registers are inside the context, which is as large as that.
                    let registers = unsafe { context.byte_add(REGISTERS) };
                    // SAFETY: the kernel gives this thread's context to this handler alone.
                    let registers = unsafe { &*registers.cast::<[usize; 16]>() };
                    let [base, stack] =
                        [usize::from(base), STACK_POINTER].map(|it| registers[PLACES[it]]);
                    (stack..stack + MOST_OF_STACK).contains(&base)
                }
            };
            note_access(is_on_stack);
            return;
        }
        // SAFETY: the flags register is inside the context, which is as large as that.
        let flags = unsafe { context.byte_add(FLAGS) }.cast::<u64>();
        // SAFETY: the kernel gives this thread's context to this handler alone, aligned for its words.
        unsafe { *flags &= !TRAP_FLAG };
        if let (Step::Stop, Some(at_stop)) = (step, AT_STOP.get()) {
            at_stop();
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
mod machine {
    pub(crate) fn install(_at_stop: fn()) -> bool {
        false
    }

    pub(super) fn set_trap_flag() {}
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    static STOPS: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn a_thread_stops_once_and_runs_on() {
        if !install(|| _ = STOPS.fetch_add(1, SeqCst)) {
            return;
        }
        start(20, 1_000);
        let mut sum = 0;
        for number in 0..10_000_u64 {
            sum = std::hint::black_box(sum + number);
        }
        stop();
        assert_eq!(sum, 49_995_000, "the stepped code does what it always does");
        assert_eq!(STOPS.load(SeqCst), 1, "it stopped");
        assert_eq!(steps(), 20, "from there on it ran as usual");
    }
}
