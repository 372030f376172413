//! A race in which what one of the threads stores reaches the other one late.

use std::pin::Pin;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Release, SeqCst},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The most stores that are on their way when a poll returns. Once a processor
/// holds as many as it can, it waits.
const MOST_STORES: u32 = 32;
/// The other side goes on at most so many ticks of the clock after those stores.
/// They take about as long to arrive.
const LATEST: u32 = 1_500;
/// By how much these delays of two rounds in a row differ: coprime to the number
/// above, so that the rounds come to all of them.
const STEP: u32 = 37;
/// How far ahead the two threads agree on a moment, in ticks of the clock.
const AHEAD: u64 = 4_000;
/// How often a thread looks for the other before it lets others run.
const LOOKS: u32 = 1_000;
/// After this many looks the answering thread sleeps.
const LOOKS_BEFORE_PARK: u32 = 20_000;
/// In so many rounds both threads have to run at once.
const ENOUGH: u32 = 1_000;
/// Stands for the number of a round that never comes.
const STOP: u32 = u32::MAX;

/// Whose stores arrive late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateSide {
    /// Those of the thread that waits, from the end of its poll on. In every other
    /// round the future wakes itself first, so that it's polled again at once, and
    /// the answer comes just after that poll.
    #[default]
    Waiting,
    /// Those of the thread that wakes: the answer, and what its waker stores. The
    /// future wakes itself first, so that this is its second wake-up, and comes
    /// just before the poll that the first one causes.
    Waking,
}

use LateSide::{Waiting, Waking};

/// Has `wait` wait for one [`LateAnswer`] after the other, a thousand times or
/// until `time` has passed. Another thread answers each just after a poll.
/// However, one of the two threads makes stores first that don't arrive at once,
/// because their cache lines are far away, and the processor makes a thread's
/// stores visible in their order. So what this thread stores next arrives late,
/// too, and meanwhile the thread loads. A program that relies on its store being
/// seen before its next load is made loses the answer in many of these rounds.
///
/// # Panics
///
/// Passes on a panic of `wait` or of a waker.
pub fn race_with_late_stores(side: LateSide, time: Duration, mut wait: impl FnMut(LateAnswer)) {
    race(side, time, &mut wait);
}

/// The same for any way of waiting, so that it's compiled once.
fn race(side: LateSide, time: Duration, wait: &mut dyn FnMut(LateAnswer)) {
    let desk = Arc::new(Desk {
        side,
        ..Desk::default()
    });
    let answering = thread::spawn({
        let desk = desk.clone();
        move || desk.answer_all()
    });
    let own_cpus = cpus::keep_apart(&desk);
    let end = Instant::now() + time;
    let mut round = 0;
    while round < 2 || !cfg!(miri) && desk.met.0.load(SeqCst) < ENOUGH && Instant::now() < end {
        round += 1;
        wait(LateAnswer {
            desk: desk.clone(),
            answering: answering.thread().clone(),
            round,
            is_asked: false,
        });
    }
    desk.ask(STOP, answering.thread());
    answering.join().expect("waking does not panic");
    drop(own_cpus);
}

/// Asks when it's first polled, and is ready once the other thread has answered.
#[derive(Debug)]
pub struct LateAnswer {
    desk: Arc<Desk>,
    answering: Thread,
    round: u32,
    is_asked: bool,
}

/// A value that shares its cache line with no other.
#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Alone<T>(T);

/// What the two threads share.
#[derive(Debug, Default)]
struct Desk {
    side: LateSide,
    /// The waker of the newest question.
    waker: Alone<Mutex<Option<Waker>>>,
    /// The round of the newest question.
    asked: Alone<AtomicU32>,
    /// The newest round in which the answering thread is ready to wake.
    ready: Alone<AtomicU32>,
    /// The moment on which the two threads have agreed.
    moment: Alone<AtomicU64>,
    /// The newest round in which there is such a moment.
    agreed: Alone<AtomicU32>,
    /// The round of the newest answer.
    answered: Alone<AtomicU32>,
    /// The round of the newest wake-up that is over.
    woken: Alone<AtomicU32>,
    /// The number of rounds in which both threads ran at once.
    met: Alone<AtomicU32>,
    cpus: Mutex<cpus::Plan>,
    far_away: [Alone<AtomicU32>; MOST_STORES as usize],
}

impl Desk {
    fn ask(&self, round: u32, answering: &Thread) {
        self.asked.0.store(round, SeqCst);
        answering.unpark();
    }

    fn answer_all(&self) {
        for round in 1.. {
            wait_for(&self.asked.0, round);
            if round == 1 {
                cpus::go_apart(&self.cpus);
            }
            if self.asked.0.load(SeqCst) == STOP {
                return;
            }
            let waker = lock(&self.waker.0).take();
            let waker = waker.expect("it was put there first");
            self.ready.0.store(round, SeqCst);
            wait_for(&self.agreed.0, round);
            let mut moment = self.moment.0.load(SeqCst);
            if self.side == Waiting {
                moment += delay(round);
            }
            if now() < moment {
                self.met.0.fetch_add(1, SeqCst);
            }
            wait_until(moment);
            if self.side == Waking {
                store_in(&self.far_away[..stores(round)], round);
            }
            // Release: it's the wake-up that publishes it.
            self.answered.0.store(round, Release);
            waker.wake();
            self.woken.0.store(round, SeqCst);
        }
    }

    /// Sends the cache lines of some of the far stores away.
    fn send_away(&self, stores: usize) {
        for line in &self.far_away[..stores] {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            // SAFETY: any address may be flushed, and this is a reference.
            unsafe {
                std::arch::x86_64::_mm_clflush(std::ptr::from_ref(line).cast());
            }
            #[cfg(any(not(target_arch = "x86_64"), miri))]
            let _ = line;
        }
    }
}

/// How many stores arrive late in this round.
fn stores(round: u32) -> usize {
    (round / 2 % MOST_STORES) as usize
}

/// By how much the other side comes after them, in ticks of the clock.
fn delay(round: u32) -> u64 {
    u64::from((round / 2).wrapping_mul(STEP) % LATEST)
}

/// The time in ticks of the processor's clock, or in nanoseconds.
fn now() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: each x86-64 processor has the instruction.
    let now = unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let now = {
        static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
        START.elapsed().as_nanos() as u64
    };
    now
}

/// Waits for a moment that's near. Not for longer, even if the clocks of two
/// processors differ.
fn wait_until(moment: u64) {
    let start = now();
    while now() < moment && now() - start < 2 * AHEAD {}
}

/// Stores in each of these places, and nowhere else: unoptimized code would
/// store on its stack, too, until the processor holds no more.
fn store_in(places: &[Alone<AtomicU32>], value: u32) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if !places.is_empty() {
        // SAFETY: the loop stores in the first four bytes of each place, which are an atomic.
        unsafe {
            std::arch::asm!(
                "2:",
                "mov dword ptr [{place}], {value:e}",
                "add {place}, {size}",
                "dec {left}",
                "jnz 2b",
                place = inout(reg) places.as_ptr() => _,
                left = inout(reg) places.len() => _,
                value = in(reg) value,
                size = const size_of::<Alone<AtomicU32>>(),
                options(nostack),
            );
        }
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    for place in places {
        // Relaxed: publishes nothing; only takes its time.
        place.0.store(value, std::sync::atomic::Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the other thread has come to the round. Sleeps in the end, so
/// that all threads are seen to sleep if that never comes.
fn wait_for(place: &AtomicU32, round: u32) {
    let mut looks = 0_u32;
    while place.load(SeqCst) < round {
        looks = looks.saturating_add(1);
        match looks {
            LOOKS_BEFORE_PARK.. => thread::park(),
            _ if looks.is_multiple_of(LOOKS) => thread::yield_now(),
            _ => {}
        }
    }
}

impl Future for LateAnswer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let desk = &self.desk;
        if desk.answered.0.load(SeqCst) == self.round {
            return Poll::Ready(());
        }
        if self.is_asked {
            return Poll::Pending;
        }
        *lock(&desk.waker.0) = Some(cx.waker().clone());
        desk.ask(self.round, &self.answering);
        // Doesn't sleep, because the thread's token is the executor's.
        while desk.ready.0.load(SeqCst) < self.round {
            thread::yield_now();
        }
        let stores = stores(self.round);
        desk.send_away(stores);
        if desk.side == Waking || self.round.is_multiple_of(2) {
            cx.waker().wake_by_ref();
        }
        let moment = now() + AHEAD;
        desk.moment.0.store(moment, SeqCst);
        desk.agreed.0.store(self.round, SeqCst);
        self.answering.unpark();
        match desk.side {
            Waiting => wait_until(moment),
            Waking => wait_until(moment + delay(self.round)),
        }
        self.is_asked = true;
        if self.desk.side == Waiting {
            store_in(&self.desk.far_away[..stores], self.round);
        }
        Poll::Pending
    }
}

/// Keeps the two threads on different processors: on one, no store is late.
#[cfg(all(target_os = "linux", not(miri)))]
mod cpus {
    use std::ffi::{c_int, c_ulong};
    use std::sync::{Mutex, PoisonError};

    /// A set of processors, as the system call has it.
    type Set = [c_ulong; 16];
    const BITS: usize = c_ulong::BITS as usize;

    /// Where the answering thread is to run.
    pub(super) type Plan = Option<Set>;

    unsafe extern "C" {
        fn sched_getaffinity(thread: c_int, size: usize, set: *mut Set) -> c_int;
        fn sched_setaffinity(thread: c_int, size: usize, set: *const Set) -> c_int;
    }

    fn go_to(set: &Set) {
        // SAFETY: the pointer is to a set of that size, which is only read. If it fails, the thread
        // stays where it is.
        unsafe { sched_setaffinity(0, size_of::<Set>(), set) };
    }

    /// Gives the calling thread back the processors that it had.
    pub(super) struct Restored(Set);

    impl Drop for Restored {
        fn drop(&mut self) {
            go_to(&self.0);
        }
    }

    /// Keeps the calling thread on one processor. Says on which the other is to run.
    pub(super) fn keep_apart(desk: &super::Desk) -> Option<Restored> {
        let mut own = Set::default();
        // SAFETY: the pointer is to a set of that size.
        let is_known = unsafe { sched_getaffinity(0, size_of::<Set>(), &raw mut own) } >= 0;
        let mut both = (0..own.len() * BITS).filter(|cpu| own[cpu / BITS] >> (cpu % BITS) & 1 == 1);
        let (first, second) = (both.next()?, both.next()?);
        let only = |cpu: usize| {
            let mut set = Set::default();
            set[cpu / BITS] = 1 << (cpu % BITS);
            set
        };
        if !is_known {
            return None;
        }
        *desk.cpus.lock().unwrap_or_else(PoisonError::into_inner) = Some(only(second));
        go_to(&only(first));
        Some(Restored(own))
    }

    /// Moves the calling thread to where it is to run.
    pub(super) fn go_apart(plan: &Mutex<Plan>) {
        if let Some(set) = &*plan.lock().unwrap_or_else(PoisonError::into_inner) {
            go_to(set);
        }
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
mod cpus {
    pub(super) type Plan = ();

    pub(super) fn keep_apart(_: &super::Desk) {}

    pub(super) fn go_apart(_: &std::sync::Mutex<Plan>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
    use std::task::Wake;

    struct Signal {
        is_woken: AtomicBool,
        /// Sets the flag. Returns whether the thread has to be unparked.
        set: fn(&AtomicBool) -> bool,
        thread: Thread,
    }

    impl Wake for Signal {
        fn wake(self: Arc<Self>) {
            if (self.set)(&self.is_woken) {
                self.thread.unpark();
            }
        }
    }

    const SWAP: fn(&AtomicBool) -> bool = |flag| !flag.swap(true, SeqCst);

    /// Returns whether a wake-up was lost.
    fn loses(
        answer: LateAnswer,
        set: fn(&AtomicBool) -> bool,
        clear: impl Fn(&AtomicBool),
    ) -> bool {
        let desk = answer.desk.clone();
        let signal = Arc::new(Signal {
            is_woken: AtomicBool::new(false),
            set,
            thread: thread::current(),
        });
        let waker = signal.clone().into();
        let mut cx = Context::from_waker(&waker);
        let round = answer.round;
        let mut answer = std::pin::pin!(answer);
        let mut is_lost = false;
        while answer.as_mut().poll(&mut cx).is_pending() {
            while !is_lost && !signal.is_woken.load(Acquire) {
                thread::park_timeout(Duration::from_millis(1));
                // Only this thread clears the flag.
                let is_over = desk.woken.0.load(SeqCst) == round;
                is_lost = is_over && !signal.is_woken.load(SeqCst);
            }
            clear(&signal.is_woken);
        }
        is_lost
    }

    #[test]
    fn a_flag_that_is_swapped_loses_nothing() {
        for side in [Waiting, Waking] {
            race_with_late_stores(side, Duration::from_millis(20), |answer| {
                let is_lost = loses(answer, SWAP, |flag| _ = flag.swap(false, SeqCst));
                assert!(!is_lost, "it's woken");
            });
        }
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn a_flag_that_is_cleared_by_a_store_loses_a_wake_up_now_and_then() {
        assert_some_are_lost(Waiting, SWAP, |flag| flag.store(false, Release));
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn a_flag_that_is_only_loaded_loses_a_wake_up_now_and_then() {
        let look = |flag: &AtomicBool| !flag.load(SeqCst) && !flag.swap(true, SeqCst);
        assert_some_are_lost(Waking, look, |flag| _ = flag.swap(false, SeqCst));
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn assert_some_are_lost(side: LateSide, set: fn(&AtomicBool) -> bool, clear: fn(&AtomicBool)) {
        // On one processor no store is late.
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            return;
        }
        let (mut met, mut lost) = (0, 0);
        let end = Instant::now() + Duration::from_secs(5);
        while lost == 0 && Instant::now() < end {
            let mut last = None;
            race_with_late_stores(side, Duration::from_millis(100), |answer| {
                last = Some(answer.desk.clone());
                lost += u32::from(loses(answer, set, clear));
            });
            met += last.map_or(0, |desk| desk.met.0.load(SeqCst));
        }
        println!("{lost} lost, both threads ran in {met} rounds");
        // A busy machine seldom runs both at once, and a store isn't late then.
        assert!(lost > 0 || met < ENOUGH, "none of {met} was lost");
    }
}
