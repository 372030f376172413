//! What `primitives` offers, used in each of its backends: what a reader's program
//! compiles with over std must also compile over the model checkers.
//!
//! ```sh
//! cargo test -p primitives
//! cargo test -p primitives --features chaos
//! cargo test -p primitives --features shuttle
//! cargo test -p primitives --features loom
//! ```

use std::sync::PoisonError;
use std::time::Duration;

use primitives::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use primitives::atomic::{AtomicBool, AtomicPtr};
use primitives::{Arc, Barrier, Condvar, Mutex, RwLock, UnsafeCell, mpsc, thread};

/// Runs `body` as the backend does: once, or in every interleaving.
fn run(body: fn()) {
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    primitives::model(move || {
        // shuttle refuses to try the interleavings of a single thread.
        let other = thread::spawn(thread::yield_now);
        body();
        other.join().unwrap();
    });
    #[cfg(not(any(feature = "loom", feature = "shuttle")))]
    body();
}

/// As far as one thread can tell.
macro_rules! integer {
    ($($name:ident $value:ty;)*) => {
        $({
            use primitives::atomic::$name;
            let mut atomic = $name::from(1);
            atomic.store(2, Release);
            assert_eq!(atomic.load(Acquire), 2);
            assert_eq!(atomic.swap(3, AcqRel), 2);
            assert_eq!(atomic.compare_exchange(3, 4, AcqRel, Acquire), Ok(3));
            assert_eq!(atomic.compare_exchange_weak(3, 5, AcqRel, Relaxed), Err(4));
            assert_eq!(atomic.fetch_add(3, Relaxed), 4);
            assert_eq!(atomic.fetch_sub(1, Relaxed), 7);
            assert_eq!(atomic.fetch_and(4, Relaxed), 6);
            assert_eq!(atomic.fetch_or(3, Relaxed), 4);
            assert_eq!(atomic.fetch_xor(1, Relaxed), 7);
            assert_eq!(atomic.fetch_max(9, Relaxed), 6);
            assert_eq!(atomic.fetch_min(8, Relaxed), 9);
            assert_eq!(atomic.fetch_nand(8, Relaxed), 8);
            assert_eq!(atomic.swap(1, Relaxed), !8);
            assert_eq!(atomic.fetch_update(SeqCst, SeqCst, |n| n.checked_add(1)), Ok(1));
            assert_eq!(atomic.try_update(SeqCst, SeqCst, |_| None), Err(2));
            assert_eq!(atomic.update(SeqCst, SeqCst, |n| n + 1), 2);
            *atomic.get_mut() += 1;
            assert_eq!(atomic.into_inner(), 4);
            assert_eq!($name::default().into_inner(), <$value>::default());
        })*
    };
}

#[test]
fn integers() {
    run(|| {
        integer! {
            AtomicI8 i8; AtomicI16 i16; AtomicI32 i32; AtomicI64 i64; AtomicIsize isize;
            AtomicU8 u8; AtomicU16 u16; AtomicU32 u32; AtomicU64 u64; AtomicUsize usize;
        }
    });
}

#[test]
fn other_atomics() {
    run(|| {
        let mut flag = AtomicBool::from(false);
        flag.store(true, SeqCst);
        assert!(flag.load(SeqCst) && flag.swap(false, SeqCst));
        assert_eq!(
            flag.compare_exchange(true, false, AcqRel, Acquire),
            Err(false)
        );
        assert_eq!(
            flag.compare_exchange_weak(true, false, AcqRel, Acquire),
            Err(false)
        );
        assert!(!flag.fetch_not(Relaxed) && flag.fetch_and(true, Relaxed));
        assert!(flag.fetch_or(false, Relaxed) && flag.fetch_nand(true, Relaxed));
        assert!(!flag.fetch_xor(true, Relaxed));
        assert_eq!(
            flag.fetch_update(Relaxed, Relaxed, |flag| Some(!flag)),
            Ok(true)
        );
        assert!(!flag.update(Relaxed, Relaxed, |flag| !flag));
        *flag.get_mut() = false;
        assert!(!flag.into_inner());

        let mut number = 7;
        let here: *mut i32 = &mut number;
        let mut pointer = AtomicPtr::<i32>::default();
        assert!(pointer.swap(here, AcqRel).is_null());
        assert_eq!(
            pointer.compare_exchange(here, here, AcqRel, Acquire),
            Ok(here)
        );
        assert_eq!(pointer.fetch_update(AcqRel, Acquire, |_| None), Err(here));
        *pointer.get_mut() = std::ptr::null_mut();
        assert!(pointer.into_inner().is_null());
        primitives::atomic::fence(SeqCst);
    });
}

#[test]
fn locks() {
    run(|| {
        let mut mutex = Mutex::new(1);
        assert!(mutex.try_lock().is_ok_and(|guard| *guard == 1));
        *mutex.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        *mutex.get_mut().unwrap() += 1;
        assert_eq!(mutex.into_inner().unwrap(), 3);

        let mut lock = RwLock::new(1);
        assert_eq!(*lock.read().unwrap(), 1);
        assert!(lock.try_read().is_ok_and(|guard| *guard == 1));
        *lock.write().unwrap() += 1;
        assert!(lock.try_write().is_ok_and(|guard| *guard == 2));
        *lock.get_mut().unwrap() += 1;
        assert_eq!(lock.into_inner().unwrap(), 3);

        let cell = UnsafeCell::new(1);
        // SAFETY: no other thread knows the cell.
        cell.with_mut(|value| unsafe { *value += 1 });
        // SAFETY: as above.
        assert_eq!(cell.with(|value| unsafe { *value }), 2);
        assert_eq!(cell.into_inner(), 2);
    });
}

#[test]
fn waiting_for_a_condition() {
    run(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let other = shared.clone();
        let partner = thread::spawn(move || {
            let (count, changed) = &*other;
            *count.lock().unwrap() += 1;
            changed.notify_all();
            drop(
                changed
                    .wait_while(count.lock().unwrap(), |count| *count < 2)
                    .unwrap(),
            );
        });
        let (count, changed) = &*shared;
        let day = Duration::from_secs(24 * 60 * 60);
        let waited = changed.wait_timeout_while(count.lock().unwrap(), day, |count| *count < 1);
        let (mut guard, result) = waited.unwrap();
        assert!(!result.timed_out());
        *guard += 1;
        drop(guard);
        changed.notify_one();
        partner.join().unwrap();
    });
}

#[test]
fn threads() {
    run(|| {
        let here = thread::current();
        assert_eq!(here.id(), thread::current().id());
        let there = thread::Builder::new()
            .name("there".into())
            .stack_size(1 << 16);
        let there = there.spawn(move || {
            assert_eq!(thread::current().name(), Some("there"));
            thread::yield_now();
            here.unpark();
            thread::park();
            thread::current().id()
        });
        let there = there.unwrap();
        assert_eq!(there.thread().name(), Some("there"));
        let id = there.thread().id();
        assert_ne!(id, thread::current().id());
        thread::park_timeout(Duration::from_secs(24 * 60 * 60));
        there.thread().unpark();
        assert_eq!(there.join().unwrap(), id);
        thread::sleep(Duration::from_nanos(1));
        assert!(!thread::panicking());
    });
}

#[test]
fn channels_and_barriers() {
    run(|| {
        let (sender, receiver) = mpsc::channel();
        let barrier = Arc::new(Barrier::new(2));
        let meeting = barrier.clone();
        let partner = thread::spawn(move || {
            let second = sender.clone();
            sender.send(1).unwrap();
            second.send(2).unwrap();
            meeting.wait().is_leader()
        });
        let leads = barrier.wait().is_leader();
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(receiver.recv(), Ok(2));
        assert!(partner.join().unwrap() ^ leads);
        assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Disconnected));
        assert_eq!(receiver.recv(), Err(mpsc::RecvError));
        assert_eq!(receiver.try_iter().count() + receiver.iter().count(), 0);

        let (sender, receiver) = mpsc::channel();
        // A zero limit is over at once in a model of loom, too.
        #[cfg(not(feature = "shuttle"))]
        assert_eq!(
            receiver.recv_timeout(Duration::ZERO),
            Err(mpsc::RecvTimeoutError::Timeout)
        );
        drop(receiver);
        assert!(sender.send(()).is_err());
    });
}

primitives::thread_local! {
    static COUNT: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

#[test]
fn locals_and_counted_references() {
    run(|| {
        COUNT.with(|count| count.set(count.get() + 1));
        assert_eq!(COUNT.try_with(std::cell::Cell::get).ok(), Some(1));
        COUNT.with(|count| count.set(0));

        let mut one = Arc::new(1);
        assert_eq!(Arc::get_mut(&mut one), Some(&mut 1));
        let two = Arc::clone(&one);
        assert!(Arc::ptr_eq(&one, &two) && Arc::strong_count(&one) == 2);
        let raw = Arc::into_raw(two);
        // SAFETY: it came out of `into_raw`.
        let two = unsafe { Arc::from_raw(raw) };
        let one = Arc::try_unwrap(one).expect_err("there are two");
        drop(two);
        assert!(Arc::try_unwrap(one).is_ok_and(|value| value == 1));
        primitives::hint::spin_loop();
    });
}
