//! A thread that's held at one moment after its time was up.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread is held if nothing releases it. It may hold a lock that
/// the one who would release it waits for.
const LONGEST: Duration = Duration::from_millis(100);
/// How often a thread that's held without a lock looks whether it's released.
pub(super) const TICK: Duration = Duration::from_millis(1);

/// How many threads are to be held, in the whole process.
static PLANNED: AtomicUsize = AtomicUsize::new(0);

std::thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// A thread's side of its hold.
struct Own {
    shared: Arc<Shared>,
    moment: usize,
    /// Whether the thread's time has been up.
    is_up: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Coming,
    HeldUntil(Instant),
    Released,
    Ended,
}

/// A thread that's to be held: see [`hold_after_timeout`].
pub struct Hold(Arc<Shared>);

/// Plans that this thread is held once, after the first of its timed waits that
/// ends because its time is up. With `moment` zero, it's held as the wait ends,
/// before it takes the mutex again; with `moment` one, before the next operation
/// that it makes on a type of this module, and so on.
///
/// So a test can do something at each moment at which other threads could tell
/// that this one has run out of time. A thread that may hold a lock at such a
/// moment is released after 100 ms.
pub fn hold_after_timeout(moment: usize) -> Hold {
    let shared = Arc::<Shared>::default();
    let own = Own {
        shared: shared.clone(),
        moment,
        is_up: false,
    };
    PLANNED.fetch_add(1, Relaxed);
    OWN.set(Some(own));
    Hold(shared)
}

impl Hold {
    /// Waits until the thread is held, and returns `true`. Returns `false` if
    /// the thread ends before.
    pub fn is_reached(&self) -> bool {
        let reached = self.0.wait_while(|state| *state == State::Coming);
        reached != State::Ended
    }

    /// Lets the thread go on, or not be held at all.
    pub fn release(&self) {
        self.0.change(|state| match state {
            State::Ended => State::Ended,
            _ => State::Released,
        });
    }

    /// Waits until the thread has ended.
    pub fn wait_for_end(&self) {
        self.0.wait_while(|state| *state != State::Ended);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.release();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        PLANNED.fetch_sub(1, Relaxed);
        self.shared.change(|_| State::Ended);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, to: impl FnOnce(State) -> State) {
        let mut state = self.state();
        *state = to(*state);
        drop(state);
        self.changed.notify_all();
    }

    fn wait_while(&self, is: impl FnMut(&mut State) -> bool) -> State {
        let state = self.changed.wait_while(self.state(), is);
        *state.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that's held now.
pub(super) struct Held(Arc<Shared>);

impl Held {
    pub(super) fn lasts(&self) -> bool {
        match *self.0.state() {
            State::HeldUntil(end) => Instant::now() < end,
            _ => false,
        }
    }
}

/// Notes that a timed wait of this thread has ended because its time was up.
/// The caller waits as long as what this returns [lasts](Held::lasts).
pub(super) fn at_timeout() -> Option<Held> {
    reach(|own| {
        own.is_up = true;
        own.moment == 0
    })
}

/// Counts an operation of this thread, and holds it if that's the moment.
pub(super) fn pass() {
    let reached = reach(|own| {
        own.moment -= usize::from(own.is_up && own.moment > 0);
        own.is_up && own.moment == 0
    });
    if let Some(held) = reached {
        while held.lasts() {
            std::thread::sleep(TICK);
        }
    }
}

fn reach(is_moment: impl FnOnce(&mut Own) -> bool) -> Option<Held> {
    if PLANNED.load(Relaxed) == 0 {
        return None;
    }
    // `try_with`: threads also lock while their locals are destroyed.
    let reached = OWN.try_with(|own| {
        let mut own = own.borrow_mut();
        let own = own.as_mut()?;
        if !is_moment(own) {
            return None;
        }
        let end = Instant::now() + LONGEST;
        let is_coming = *own.shared.state() == State::Coming;
        is_coming.then(|| {
            own.shared.change(|_| State::HeldUntil(end));
            Held(own.shared.clone())
        })
    });
    reached.ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::{Condvar, Mutex, thread};
    use super::*;

    const SHORT: Duration = Duration::from_millis(1);

    #[test]
    fn a_thread_is_held_at_each_moment_after_its_time_was_up() {
        let _alone = super::super::tests::ALONE.lock();
        type Wait = fn(&(Mutex<()>, Condvar));
        let on_condvar: Wait = |(mutex, condvar)| {
            let guard = mutex.lock().expect("no thread panics");
            let (_guard, result) = condvar
                .wait_timeout(guard, SHORT)
                .expect("no thread panics");
            assert!(result.timed_out());
        };
        let in_park: Wait = |_| thread::park_timeout(SHORT);
        for wait in [on_condvar, in_park] {
            for moment in 0.. {
                let shared = Arc::new((Mutex::new(()), Condvar::new()));
                let is_over = Arc::new(AtomicBool::new(false));
                let (its, over) = (shared.clone(), is_over.clone());
                let (sender, receiver) = std::sync::mpsc::channel();
                let held = std::thread::spawn(move || {
                    sender
                        .send(hold_after_timeout(moment))
                        .expect("the test receives it");
                    wait(&its);
                    drop(its.0.lock());
                    over.store(true, Relaxed);
                });
                let hold = receiver.recv().expect("the thread sends it");
                let is_reached = hold.is_reached();
                assert_eq!(
                    is_reached,
                    moment < 2,
                    "there's one operation after the wait"
                );
                if is_reached {
                    drop(shared.0.lock());
                    assert!(!is_over.load(Relaxed), "it's held, without the lock");
                    hold.release();
                }
                hold.wait_for_end();
                held.join().expect("it doesn't panic");
                if !is_reached {
                    break;
                }
            }
        }
    }
}
