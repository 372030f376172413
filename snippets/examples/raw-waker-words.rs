//! What is inside a `Waker`.

use std::ptr;
use std::sync::Arc;
use std::task::{Wake, Waker};

struct Bell;

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        println!("ding");
    }
}

fn main() {
    println!("words: {}", size_of::<Waker>() / size_of::<usize>());

    let bell = Arc::new(Bell);
    let address = Arc::as_ptr(&bell).cast();
    let waker = Waker::from(bell);
    println!("the first points at the bell: {}", waker.data() == address);

    let clone = waker.clone();
    let same = [
        clone.data() == waker.data(),
        ptr::eq(clone.vtable(), waker.vtable()),
    ];
    println!("the clone has the same words: {same:?}");
    clone.wake();
}
