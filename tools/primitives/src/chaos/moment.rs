//! Something that happens at one moment of a call.

use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;

use super::{ONLY_MOMENTS, SEED};

/// What happens before one of the next operations of this thread.
struct Planned {
    operations_before: usize,
    happens: Box<dyn FnOnce()>,
}

std::thread_local! {
    static PLANNED: RefCell<Option<Planned>> = const { RefCell::new(None) };
}

/// Runs `body`, and meanwhile, before the operation with the index `moment` that this thread makes
/// on a type of this module, calls `happens`. Also returns whether there were that many operations.
///
/// With `moment` counting up from zero, something happens at each moment of `body` at which other
/// threads could tell the difference. `happens` runs on this thread, which may hold a lock at that
/// moment. If it has another thread do something, it must not wait for a thread that sleeps.
pub fn at_moment<R>(
    moment: usize,
    happens: impl FnOnce() + 'static,
    body: impl FnOnce() -> R,
) -> (R, bool) {
    struct Off(u64);
    impl Drop for Off {
        fn drop(&mut self) {
            SEED.store(self.0, Relaxed);
            PLANNED.take();
        }
    }
    // Operations look for what is planned only while there's a seed.
    let seed = SEED.load(Relaxed);
    let _off = Off(seed);
    if seed == 0 {
        SEED.store(ONLY_MOMENTS, Relaxed);
    }
    PLANNED.set(Some(Planned {
        operations_before: moment,
        happens: Box::new(happens),
    }));
    let result = body();
    let has_happened = PLANNED.with_borrow(Option::is_none);
    (result, has_happened)
}

/// Like [`at_moment`], for whatever this thread does next, such as what a worker does after the
/// poll of a task that calls this. A later plan of the same thread replaces this one.
pub fn plan_moment(moment: usize, happens: impl FnOnce() + 'static) {
    // Operations look for what is planned only while there's a seed.
    let _ = SEED.compare_exchange(0, ONLY_MOMENTS, Relaxed, Relaxed);
    PLANNED.set(Some(Planned {
        operations_before: moment,
        happens: Box::new(happens),
    }));
}

/// Counts an operation of this thread.
pub(super) fn pass() {
    // `try_with`: threads also lock while their locals are destroyed.
    let reached = PLANNED.try_with(|planned| {
        let mut planned = planned.borrow_mut();
        match planned.as_mut()?.operations_before.checked_sub(1) {
            Some(left) => {
                planned.as_mut()?.operations_before = left;
                None
            }
            None => planned.take(),
        }
    });
    // Not borrowed meanwhile, because this may make operations, too.
    if let Ok(Some(planned)) = reached {
        (planned.happens)();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::super::{Mutex, atomic::AtomicU32};
    use super::*;

    #[test]
    fn something_happens_before_each_operation_in_turn() {
        let _alone = super::super::tests::ALONE.lock();
        let mut seen = Vec::new();
        for moment in 0.. {
            let made = Rc::new(Cell::new(0));
            let (made_before, value) = (Rc::new(Cell::new(0)), AtomicU32::new(0));
            let (counted, noted) = (made.clone(), made_before.clone());
            let ((), has_happened) = at_moment(
                moment,
                move || noted.set(counted.get()),
                || {
                    value.load(Relaxed);
                    made.set(1);
                    drop(Mutex::new(()).lock());
                    made.set(2);
                    value.fetch_add(1, Relaxed);
                    made.set(3);
                },
            );
            if !has_happened {
                break;
            }
            seen.push(made_before.get());
        }
        assert_eq!(seen, [0, 1, 2], "there are three operations");
        assert_eq!(SEED.load(Relaxed), 0, "it's over");
    }
}
