//! What becomes of the count.

use std::sync::Arc;
use std::task::{Wake, Waker};

struct Bell;

impl Wake for Bell {
    fn wake(self: Arc<Self>) {}
}

fn main() {
    let bell = Arc::new(Bell);
    let count = |when| println!("{when}: {}", Arc::strong_count(&bell));

    count("at first");
    let waker = Waker::from(bell.clone());
    count("one waker");
    let clone = waker.clone();
    count("and a clone");
    waker.wake_by_ref();
    count("after `wake_by_ref`");
    waker.wake();
    count("after `wake`");
    drop(clone);
    count("after a drop");
}
