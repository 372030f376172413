//! What happens after the last generation of an index. Reaching it takes four
//! billion sources, so this test begins just before it.

use std::sync::Arc;

use super::{HALF, Registered, Registrations};
use readiness::Readiness;

const LAST: usize = (1 << HALF) - 1;

fn source() -> Registered {
    Registered {
        readiness: Arc::new(Readiness::new()),
        is_stream: true,
    }
}

/// Registers three sources. The second has the last generation of its index.
fn with_the_last_generation() -> (Registrations, [usize; 3]) {
    let mut registrations = Registrations::default();
    let mut insert = || registrations.insert(source()).unwrap();
    let [first, second, third] = [insert(), insert(), insert()];
    registrations.remove(second).unwrap();
    registrations.entries[1].generation = LAST;
    let last = registrations.insert(source()).unwrap();
    assert_eq!(last, 1 | LAST << HALF, "the index is reused");
    (registrations, [first, last, third])
}

#[test]
fn the_generation_after_the_last_is_the_first() {
    let (mut registrations, [first, last, third]) = with_the_last_generation();
    let kept =
        [first, third].map(|key| registrations.get(key).unwrap().clone());
    registrations.remove(last).unwrap();
    let next = registrations.insert(source()).unwrap();
    assert_eq!(next, 1, "the key with index 1 and generation 0");
    assert!(
        registrations.get(last).is_none(),
        "the old key finds a source"
    );
    assert!(
        registrations.remove(last).is_none(),
        "the old key removes it"
    );
    assert!(registrations.get(next).is_some());
    for (key, kept) in [first, third].into_iter().zip(kept) {
        let found = registrations.get(key).unwrap();
        assert!(
            Arc::ptr_eq(&found.readiness, &kept.readiness),
            "another entry has changed"
        );
    }
}
