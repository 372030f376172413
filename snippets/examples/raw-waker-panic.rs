//! A panic on the way through `wake_by_ref`.

use std::mem::{self, ManuallyDrop};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;

struct Bell;

impl Bell {
    fn ring(&self) {
        // A panic without a message.
        resume_unwind(Box::new(()))
    }
}

fn forgets_later(bell: *const Bell) {
    // SAFETY: the pointer came from `Arc::into_raw`; the count is borrowed.
    let bell = unsafe { Arc::from_raw(bell) };
    bell.ring();
    mem::forget(bell);
}

fn forgets_at_once(bell: *const Bell) {
    // SAFETY: the pointer came from `Arc::into_raw`; the count is borrowed.
    let bell = ManuallyDrop::new(unsafe { Arc::from_raw(bell) });
    bell.ring();
}

fn main() {
    let ways: [fn(*const Bell); 2] = [forgets_later, forgets_at_once];
    for wake_by_ref in ways {
        let bell = Arc::new(Bell);
        let pointer = Arc::into_raw(bell.clone());
        let before = Arc::strong_count(&bell);
        let caught = catch_unwind(|| wake_by_ref(pointer)).is_err();
        let after = Arc::strong_count(&bell);
        println!("caught: {caught}, counts: {before}, then {after}");
    }
}
