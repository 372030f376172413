//! The checks of exercise 13, one or more for each clause of the contract.

use testkit::{Lesson, check};

use super::Sleepers;

/// Clause 3: the throttle.
#[test]
fn nobody_is_named_while_one_searches() {
    let lesson = Lesson {
        clause: "3. One is enough",
        promise: "After `notify` has named a worker it names nobody else before that one has stopped \
                  searching.",
        usual_cause: "The one that is named is not counted as searching.",
        read: "scheduler/sleepers.html#one-is-enough",
    };
    check(lesson, || {
        let sleepers = Sleepers::new(2);
        assert!(sleepers.sleep(0, false));
        assert!(sleepers.sleep(1, false));
        assert!(sleepers.notify().is_some());
        assert_eq!(sleepers.notify(), None);
    });
}
