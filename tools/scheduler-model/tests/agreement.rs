//! That this crate and the page's script do the same, event by event.
//!
//! `npm test` in `web` compares `digests.txt` with what the script does. After a change
//! of the rules, on both sides, this writes the file:
//!
//! ```sh
//! cargo run -p scheduler-model --example digests > tools/scheduler-model/digests.txt
//! ```

use scheduler_model::digests;

#[test]
fn the_rules_do_what_the_digests_say() {
    let kept: Vec<_> = include_str!("../digests.txt").lines().collect();
    let now = digests();
    assert_eq!(kept.len(), now.lines().count());
    for (block, (kept, now)) in kept.into_iter().zip(now.lines()).enumerate() {
        assert_eq!(now, kept, "in line {} of digests.txt", block + 1);
    }
}
