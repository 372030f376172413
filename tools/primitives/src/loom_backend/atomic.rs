//! loom's atomics, and what is needed to try every order of their accesses and no order that is
//! impossible.
//!
//! # Loads that were not tried
//!
//! Of a load, and a write by another thread, loom 0.7 tries both orders only if the write's thread
//! hasn't loaded the same atomic in between: it keeps the last access of an atomic, and not the
//! last of each thread (tokio-rs/loom#166, #392). Within
//! [`model_every_load`](super::model_every_load) each access of an atomic comes after an RMW of a
//! shadow, an atomic whose value nothing depends on. loom orders RMWs in every way, and since these
//! are Relaxed they publish nothing.
//!
//! # Stores that came out lost
//!
//! An RMW reads the value that its own replaces: nothing comes in between. loom 0.7 forgets that if
//! a plain store of another thread is executed after it. It takes the two writes for unordered, so
//! that after `store(true)` concurrent with `swap(false)`, and a join, a second `swap` may find
//! `false` although the first one did, too (tokio-rs/loom#254, #282, #389). A parker loses its
//! token that way, and a spin lock is never unlocked.
//!
//! Here a store that replaces what another thread has written, of an atomic that has seen an RMW,
//! first looks at what it replaces, with a compare-exchange that fails. No other thread comes
//! between the two: loom decides which thread is next before both, at a change of the shadow. The
//! compare-exchange orders the store after everything that the thread has seen. It is Relaxed, and
//! the store stays a store: unlike a swap it doesn't continue the release sequence of what it
//! replaces, so that a missing release is still found.
//!
//! Two things are lost, both for atomics that are stored to and modified by several threads:
//! executions in which a store comes *before* an RMW in the modification order, and yet after it in
//! every interleaving of the threads (two threads, two atomics, each written by both); and an
//! acquire fence after such a store also acquires what the store replaced.

pub use std::sync::atomic::Ordering;

use std::cell::Cell;
use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize as AtomicUsizeOfStd;

use crate::record::{self, Begun, Id};

use Ordering::{Relaxed, SeqCst};

/// Like std's.
#[track_caller]
pub fn fence(ordering: Ordering) {
    let begun = record::begin_alone("fence", &[ordering]);
    loom::sync::atomic::fence(ordering);
    begun.done();
}

/// After a write of which every later load is to know.
fn publish() {
    if record::wants_newest() {
        loom::sync::atomic::fence(SeqCst);
    }
}

std::thread_local! {
    /// Whether each access of the atomics that are made on this thread touches
    /// their shadow. loom runs all threads of a model on one.
    static EVERY_ACCESS: Cell<bool> = const { Cell::new(false) };
}

/// For the atomics that are made while `body` runs, each access counts.
pub(super) fn with_every_access(body: impl FnOnce()) {
    struct Restored(bool);
    impl Drop for Restored {
        fn drop(&mut self) {
            EVERY_ACCESS.set(self.0);
        }
    }
    let _restored = Restored(EVERY_ACCESS.replace(true));
    body();
}

loom::thread_local! {
    /// Distinguishes the threads of a model.
    static NUMBER: usize = {
        static COUNT: AtomicUsizeOfStd = AtomicUsizeOfStd::new(0);
        COUNT.fetch_add(1, Relaxed)
    };
}

/// The calling thread's number, unless its locals are gone.
fn number() -> Option<usize> {
    NUMBER.try_with(|number| *number).ok()
}

/// What is known of an atomic's writes, in the order in which they are executed.
struct Writes<V> {
    last: V,
    writer: Option<usize>,
    /// Whether one of them was an RMW.
    are_modified: bool,
}

/// The writes of one atomic. loom runs one thread at a time, so there is no contention for the
/// lock.
struct History<V>(std::sync::Mutex<Writes<V>>);

impl<V: Copy> History<V> {
    fn new(value: V) -> Self {
        Self(std::sync::Mutex::new(Writes {
            last: value,
            writer: None,
            are_modified: false,
        }))
    }

    fn writes(&self) -> std::sync::MutexGuard<'_, Writes<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a store of the calling thread.
    fn note_store(&self, value: V) {
        let mut writes = self.writes();
        writes.last = value;
        writes.writer = number();
    }

    /// Records an RMW of the calling thread.
    fn note_modification(&self, value: V) {
        self.note_store(value);
        self.writes().are_modified = true;
    }

    /// The value of the last write.
    fn last(&self) -> V {
        self.writes().last
    }

    /// The last write, if a store of the calling thread has to look at it.
    fn to_look_at(&self) -> Option<V> {
        let writes = self.writes();
        let is_own = || writes.writer.is_some() && writes.writer == number();
        (writes.are_modified && !is_own()).then_some(writes.last)
    }
}

/// An atomic's value, reached without an operation; goes back when dropped.
struct Reached<V: Copy, F: FnMut(V)> {
    value: V,
    put_back: F,
}

impl<V: Copy, F: FnMut(V)> Deref for Reached<V, F> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<V: Copy, F: FnMut(V)> DerefMut for Reached<V, F> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.value
    }
}

impl<V: Copy, F: FnMut(V)> Drop for Reached<V, F> {
    fn drop(&mut self) {
        (self.put_back)(self.value);
    }
}

/// Within this, no other thread comes next.
struct Undisturbed;

impl Undisturbed {
    fn begin() -> Self {
        loom::stop_exploring();
        Self
    }
}

impl Drop for Undisturbed {
    fn drop(&mut self) {
        // A panic makes loom give up the execution, and everything that it keeps about it.
        if !std::thread::panicking() {
            loom::explore();
        }
    }
}

/// One of loom's atomics, with its history and perhaps a shadow. The history
/// has a `$key` for each value; `$other` makes of it a value of another key.
macro_rules! atomic {
    (
        $name:ident $(<$parameter:ident>)?, $value:ty,
        $to_key:expr => $key:ty, $other:expr
    ) => {
        #[doc = concat!("loom's `", stringify!($name), "`, which loses no store.")]
        pub struct $name $(<$parameter>)? {
            atomic: loom::sync::atomic::$name $(<$parameter>)?,
            history: History<$key>,
            shadow: loom::sync::atomic::AtomicUsize,
            every_access_counts: bool,
            id: Id,
        }

        impl $(<$parameter>)? $name $(<$parameter>)? {
            /// Makes an atomic with this value.
            #[track_caller]
            pub fn new(value: $value) -> Self {
                let id = Id::with_value(stringify!($name), || $to_key(value).to_string());
                Self::with_id(value, id)
            }

            #[track_caller]
            fn with_id(value: $value, id: Id) -> Self {
                Self {
                    atomic: loom::sync::atomic::$name::new(value),
                    history: History::new($to_key(value)),
                    shadow: loom::sync::atomic::AtomicUsize::new(0),
                    every_access_counts: EVERY_ACCESS.get(),
                    id,
                }
            }

            /// Before every operation but a store.
            #[track_caller]
            fn touch_shadow(&self) {
                if self.every_access_counts {
                    // Relaxed: an access that others depend on, and nothing more.
                    self.shadow.fetch_add(1, Relaxed);
                }
            }

            /// Like std's.
            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $value {
                let begun = self.id.begin_ordered("load", &[ordering]);
                self.touch_shadow();
                let mut value = self.atomic.load(ordering);
                if record::wants_newest() && $to_key(value) != self.history.last() {
                    loom::sync::atomic::fence(SeqCst);
                    value = self.atomic.load(ordering);
                }
                begun.read(|| self.found(value));
                value
            }

            /// A value that was read, and the newest.
            fn found(&self, value: $value) -> (String, String) {
                ($to_key(value).to_string(), self.history.last().to_string())
            }

            /// Says that a write has replaced a value.
            fn note_replaced(&self, begun: Begun, before: $value, new: $key) {
                begun.read(|| self.found(before));
                begun.wrote(|| new.to_string());
                self.history.note_modification(new);
                publish();
            }

            /// Like std's.
            #[track_caller]
            pub fn store(&self, value: $value, ordering: Ordering) {
                let begun = self.id.begin_ordered("store", &[ordering]);
                // Relaxed, as in `touch_shadow`. Here loom decides which thread comes next.
                self.shadow.fetch_add(1, Relaxed);
                let _undisturbed = Undisturbed::begin();
                if let Some(last) = self.history.to_look_at() {
                    let other = $other(last);
                    // Relaxed: it determines what comes before the store, and publishes nothing.
                    let _seen = self.atomic.compare_exchange(other, other, Relaxed, Relaxed);
                }
                self.atomic.store(value, ordering);
                begun.wrote(|| $to_key(value).to_string());
                self.history.note_store($to_key(value));
                publish();
            }

            /// Like std's.
            #[track_caller]
            pub fn swap(&self, value: $value, ordering: Ordering) -> $value {
                let begun = self.id.begin_ordered("swap", &[ordering]);
                self.touch_shadow();
                let before = self.atomic.swap(value, ordering);
                self.note_replaced(begun, before, $to_key(value));
                before
            }

            /// Like std's.
            ///
            /// # Errors
            ///
            /// The value found, if it is a different one.
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                let begun = self.id.begin_ordered("compare_exchange", &[success, failure]);
                self.touch_shadow();
                let mut found = self.atomic.compare_exchange(current, new, success, failure);
                if record::wants_newest()
                    && found.is_err_and(|value| $to_key(value) != self.history.last())
                {
                    loom::sync::atomic::fence(SeqCst);
                    found = self.atomic.compare_exchange(current, new, success, failure);
                }
                match found {
                    Ok(before) => self.note_replaced(begun, before, $to_key(new)),
                    Err(value) => begun.found(|| self.found(value)),
                }
                found
            }

            /// Like [`compare_exchange`](Self::compare_exchange): loom's doesn't fail spuriously.
            ///
            /// # Errors
            ///
            /// The value found, if it is a different one.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Like std's.
            ///
            /// # Errors
            ///
            /// The value for which `change` returned `None`.
            #[track_caller]
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut value = self.load(failure);
                while let Some(new) = change(value) {
                    match self.compare_exchange(value, new, success, failure) {
                        Ok(before) => return Ok(before),
                        Err(found) => value = found,
                    }
                }
                Err(value)
            }

            /// Like std's.
            ///
            /// # Errors
            ///
            /// The value for which `change` returned `None`.
            #[track_caller]
            pub fn try_update(
                &self,
                success: Ordering,
                failure: Ordering,
                change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                self.fetch_update(success, failure, change)
            }

            /// Like std's.
            #[track_caller]
            pub fn update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut change: impl FnMut($value) -> $value,
            ) -> $value {
                match self.fetch_update(success, failure, |value| Some(change(value))) {
                    Ok(before) | Err(before) => before,
                }
            }

            /// Returns the value: no other thread can reach it.
            #[track_caller]
            pub fn into_inner(self) -> $value {
                let begun = self.id.begin("into_inner");
                let newest = self.history.last();
                let value = self.atomic.into_inner();
                begun.read(|| ($to_key(value).to_string(), newest.to_string()));
                value
            }

            /// Like std's, through a guard that writes the value back.
            #[track_caller]
            pub fn get_mut(&mut self) -> impl DerefMut<Target = $value> {
                let begun = self.id.begin("get_mut");
                let placeholder = loom::sync::atomic::$name::new($other(self.history.last()));
                let value = mem::replace(&mut self.atomic, placeholder).into_inner();
                Reached {
                    value,
                    put_back: move |value| {
                        *self = Self::with_id(value, self.id);
                        begun.wrote(|| $to_key(value).to_string());
                    },
                }
            }
        }

        impl $(<$parameter>)? fmt::Debug for $name $(<$parameter>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.atomic.fmt(f)
            }
        }

        impl $(<$parameter>)? From<$value> for $name $(<$parameter>)? {
            #[track_caller]
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

/// Adds operations that loom has under the same name.
macro_rules! fetch {
    ($name:ident, $value:ty, $($method:ident = $new:expr),+ $(,)?) => {
        impl $name {
            $(
                /// Like std's.
                #[track_caller]
                pub fn $method(&self, value: $value, ordering: Ordering) -> $value {
                    let begun = self.id.begin_ordered(stringify!($method), &[ordering]);
                    self.touch_shadow();
                    let before = self.atomic.$method(value, ordering);
                    self.note_replaced(begun, before, $new(before, value));
                    before
                }
            )+
        }
    };
}

macro_rules! integers {
    ($($name:ident, $value:ident;)*) => {
        $(
            atomic!($name, $value, $value::from => $value, |last: $value| !last);
            fetch!(
                $name,
                $value,
                fetch_add = $value::wrapping_add,
                fetch_sub = $value::wrapping_sub,
                fetch_and = |a, b| a & b,
                fetch_nand = |a: $value, b: $value| !(a & b),
                fetch_or = |a, b| a | b,
                fetch_xor = |a, b| a ^ b,
                fetch_max = Ord::max,
                fetch_min = Ord::min,
            );
        )*
    };
}

integers! {
    AtomicI8, i8;
    AtomicI16, i16;
    AtomicI32, i32;
    AtomicI64, i64;
    AtomicIsize, isize;
    AtomicU8, u8;
    AtomicU16, u16;
    AtomicU32, u32;
    AtomicU64, u64;
    AtomicUsize, usize;
}
atomic!(AtomicBool, bool, bool::from => bool, |last: bool| !last);
fetch!(
    AtomicBool,
    bool,
    fetch_and = |a, b| a & b,
    fetch_nand = |a: bool, b: bool| !(a & b),
    fetch_or = |a, b| a | b,
    fetch_xor = |a, b| a ^ b,
);
atomic!(
    AtomicPtr<T>, *mut T,
    <*mut T>::addr => usize, |last: usize| std::ptr::without_provenance_mut(!last)
);

impl AtomicBool {
    /// Like std's.
    #[track_caller]
    pub fn fetch_not(&self, ordering: Ordering) -> bool {
        self.fetch_xor(true, ordering)
    }
}
macro_rules! with_default {
    ($($name:ident)*) => {
        $(impl Default for $name {
            #[track_caller]
            fn default() -> Self {
                Self::new(Default::default())
            }
        })*
    };
}

with_default!(AtomicBool AtomicI8 AtomicI16 AtomicI32 AtomicI64 AtomicIsize);
with_default!(AtomicU8 AtomicU16 AtomicU32 AtomicU64 AtomicUsize);

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc as StdArc, Mutex as StdMutex};

    use super::Ordering::{Acquire, Relaxed, Release, SeqCst};
    use super::{AtomicBool, AtomicU32};
    use crate::{Arc, UnsafeCell, hint, model, model_every_load, thread};

    /// What a load may see while another thread loads and then stores.
    fn seen_by(model: fn(Box<dyn Fn() + Send + Sync>)) -> BTreeSet<bool> {
        let seen = StdArc::new(StdMutex::new(BTreeSet::new()));
        let values = seen.clone();
        model(Box::new(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let storing = thread::spawn(move || {
                let _ = other.load(Relaxed);
                other.store(true, Relaxed);
            });
            let value = flag.load(Relaxed);
            storing.join().unwrap();
            values.lock().unwrap().insert(value);
        }));
        seen.lock().unwrap().clone()
    }

    #[test]
    fn every_load_is_tried_before_and_after_a_store() {
        assert_eq!(seen_by(model_every_load), BTreeSet::from([false, true]));
        assert_eq!(
            seen_by(model),
            BTreeSet::from([false]),
            "loom tries both now, so the shadows can go"
        );
    }

    /// Runs a `store(true)` and a `swap(false)` beside each other, and then
    /// `last`. Returns what the swap and `last` found.
    fn found_by(
        model: fn(Box<dyn Fn() + Send + Sync>),
        last: fn(&AtomicBool) -> bool,
    ) -> BTreeSet<(bool, bool)> {
        let seen = StdArc::new(StdMutex::new(BTreeSet::new()));
        let found = seen.clone();
        model(Box::new(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let storing = thread::spawn(move || other.store(true, SeqCst));
            let first = flag.swap(false, SeqCst);
            storing.join().unwrap();
            found.lock().unwrap().insert((first, last(&flag)));
        }));
        seen.lock().unwrap().clone()
    }

    /// tokio-rs/loom#254.
    #[test]
    fn a_store_beside_a_swap_is_not_lost() {
        let one_of_both = BTreeSet::from([(false, true), (true, false)]);
        for model in [model as fn(Box<dyn Fn() + Send + Sync>), model_every_load] {
            assert_eq!(
                found_by(model, |flag| flag.swap(false, SeqCst)),
                one_of_both
            );
            assert_eq!(found_by(model, |flag| flag.load(SeqCst)), one_of_both);
        }
    }

    #[test]
    fn loom_still_loses_a_store_beside_a_swap() {
        use loom::sync::atomic::AtomicBool;
        let seen = StdArc::new(StdMutex::new(BTreeSet::new()));
        let found = seen.clone();
        loom::model(move || {
            let flag = loom::sync::Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let storing = loom::thread::spawn(move || other.store(true, SeqCst));
            let first = flag.swap(false, SeqCst);
            storing.join().unwrap();
            found
                .lock()
                .unwrap()
                .insert((first, flag.swap(false, SeqCst)));
        });
        assert!(
            seen.lock().unwrap().contains(&(false, false)),
            "loom loses no store now, so the compare-exchange before a store can go"
        );
    }

    /// Nothing of what the store replaces is published: a swap would continue its release sequence.
    #[test]
    #[should_panic(expected = "Causality violation")]
    fn a_store_publishes_nothing_of_what_it_replaces() {
        model(|| {
            let shared = Arc::new((UnsafeCell::new(0), AtomicU32::new(0)));
            let writer = shared.clone();
            let writing = thread::spawn(move || {
                // SAFETY: wrong on purpose: the reader may be there, too, and loom reports it.
                writer.0.with_mut(|value| unsafe { *value = 1 });
                writer.1.swap(1, Release);
            });
            let replacer = shared.clone();
            let replacing = thread::spawn(move || {
                if replacer.1.load(Relaxed) == 1 {
                    replacer.1.store(2, Relaxed);
                }
            });
            if shared.1.load(Acquire) == 2 {
                // SAFETY: as above.
                shared.0.with(|value| unsafe { *value });
            }
            writing.join().unwrap();
            replacing.join().unwrap();
        });
    }

    #[test]
    fn a_spin_lock_by_swap_is_unlocked() {
        model(|| {
            let shared = Arc::new((AtomicBool::new(false), UnsafeCell::new(0)));
            let count = |shared: &(AtomicBool, UnsafeCell<u32>)| {
                while shared.0.swap(true, Acquire) {
                    hint::spin_loop();
                }
                // SAFETY: the lock is held.
                shared.1.with_mut(|value| unsafe { *value += 1 });
                shared.0.store(false, Release);
            };
            let other = shared.clone();
            let counting = thread::spawn(move || count(&other));
            count(&shared);
            counting.join().unwrap();
            // SAFETY: the other thread has ended.
            assert_eq!(shared.1.with(|value| unsafe { *value }), 2);
        });
    }

    #[test]
    fn what_is_reached_without_an_operation_is_put_back() {
        model(|| {
            let mut number = AtomicU32::new(1);
            *number.get_mut() += 1;
            assert_eq!(number.swap(5, Relaxed), 2);
            assert_eq!(number.into_inner(), 5);
        });
    }
}
