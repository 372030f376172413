//! What `block_on` does with the future itself.

use super::*;

/// Clause 6: an `async` block may hold references into itself.
#[test]
fn the_future_does_not_move_between_polls() {
    let lesson = Lesson {
        clause: "6. Pinned",
        promise: "Once polled, the future stays at its address until it is dropped.",
        usual_cause: "The future is moved by value after its first poll, or stored elsewhere \
                      between two polls: pin it once, with `std::pin::pin!`, and poll it through \
                      `as_mut`. Or it is taken out of its place to be dropped (`Option::take`), so \
                      that its destructor runs at another address: drop it in place.",
        read: "one-future/block-on.html#pin-it-first",
    };
    check(lesson, || {
        block_on(MustNotMove::new(3));
        block_on(WrittenMeanwhile::default());
    });
}

/// Clause 6: the only bound on the future's type is `Future`.
#[test]
fn a_future_may_borrow_and_be_bound_to_its_thread() {
    let lesson = Lesson {
        clause: "6. Pinned",
        promise: "The future may borrow from the caller, and doesn't have to be `Send` or `Unpin`.",
        usual_cause: "The future is moved to another thread or into a `'static` box.",
        read: "one-future/block-on.html#pin-it-first",
    };
    check(lesson, || {
        let local = String::from("borrowed");
        let not_send = Rc::new(Cell::new(0));
        let length = block_on(async {
            let _not_unpin = PhantomPinned;
            Yields(1).await;
            not_send.set(local.len());
            Yields(1).await;
            not_send.get()
        });
        assert!(length == local.len(), "the future returned {length}");
    });
}

/// Clause 7: a future may hold a lock, a file or a connection.
#[test]
fn the_future_is_dropped_once_before_block_on_returns() {
    let lesson = Lesson {
        clause: "7. One drop",
        promise: "When `block_on` returns, the future has been dropped, once, on the calling thread.",
        usual_cause: "The future is leaked to get a `'static` or pinned reference to it \
                      (`Box::leak`, `ManuallyDrop`, `mem::forget`).",
        read: "one-future/block-on.html#one-drop",
    };
    check(lesson, || {
        let (probe, log) = DropProbe::new();
        let mut yields = pin!(Yields(2));
        block_on(poll_fn(move |cx| {
            let _held = &probe;
            yields.as_mut().poll(cx)
        }));
        assert!(
            log.count() == 1,
            "the future has been dropped {} times",
            log.count()
        );
        assert!(
            log.threads() == [thread::current().id()],
            "the future was dropped on another thread"
        );
    });
}

/// Clause 7: the same holds when the future panics, and afterward the thread
/// can block again.
#[test]
fn a_panic_of_the_future_reaches_the_caller() {
    let lesson = Lesson {
        clause: "7. One drop",
        promise: "When the future panics, it is dropped once, and the panic comes out of \
                  `block_on`. The next call works.",
        usual_cause: "The panic is caught, or it leaves a guard or a flag behind.",
        read: "one-future/block-on.html#one-drop",
    };
    check(lesson, || {
        let (probe, log) = DropProbe::new();
        let mut yields = pin!(Yields(1));
        // Not an `async` block, which drops its variables when it panics.
        let future = poll_fn(move |cx| {
            let _held = &probe;
            match yields.as_mut().poll(cx) {
                Poll::Ready(()) => panic!("the future panics"),
                Poll::Pending => Poll::<()>::Pending,
            }
        });
        let caught = catch_unwind(AssertUnwindSafe(|| block_on(future)));
        assert!(caught.is_err(), "the panic did not come out of `block_on`");
        assert!(
            log.count() == 1,
            "the future has been dropped {} times",
            log.count()
        );
        block_on(Yields(2));
    });
}
