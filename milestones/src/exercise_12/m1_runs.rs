//! Tasks run to their ends, and are awaited. None is cancelled before.

super::the_rest! {}
super::parts! { right_join = "../../../solutions/12-task/src/join.rs" }
super::without_list_and_yields! {}

mod raw {
    use std::ptr::NonNull;

    use primitives::UnsafeCell;

    use super::cell::Cell;
    use super::header::{Header, Links, Vtable};
    use super::state::State;
    use super::{Runnable, Schedule, memory};

    pub fn allocate<F, S>(future: F, scheduler: S) -> NonNull<Header>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        let header = Header {
            state: State::new(),
            vtable: &Cell::<F, S>::VTABLE,
            queue_link: UnsafeCell::new(None),
            links: Links::new(),
            join_waker: UnsafeCell::new(None),
        };
        let place = memory::place(false);
        // SAFETY: the place is ours, and for a cell of this type.
        unsafe { Cell::<F, S>::write(place, header, scheduler, future) };
        place.cast()
    }

    impl<F, S> Cell<F, S>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
        S: Schedule,
    {
        const VTABLE: Vtable = Vtable {
            poll: Self::poll,
            cancel: |_| todo!(),
            schedule: |task| {
                // SAFETY: the scheduler is an `S`, and the caller may run the
                // task.
                unsafe { Runnable::<S>::from_header(task) }.schedule()
            },
            take_output: Self::take_output,
            drop_output: Self::drop_output,
            free: Self::free,
        };
    }
}

mod join {
    use std::pin::Pin;
    use std::ptr::NonNull;
    use std::task::{Context, Poll};

    use super::header::Header;
    use super::{JoinError, right_join};

    pub struct JoinHandle<T>(right_join::JoinHandle<T>);

    impl<T> JoinHandle<T> {
        pub unsafe fn from_header(task: NonNull<Header>) -> Self {
            // SAFETY: passed on.
            Self(unsafe { right_join::JoinHandle::from_header(task) })
        }

        pub fn abort(&self) {
            todo!()
        }

        pub fn is_finished(&self) -> bool {
            self.0.is_finished()
        }
    }

    impl<T> Future for JoinHandle<T> {
        type Output = Result<T, JoinError>;

        fn poll(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Self::Output> {
            Pin::new(&mut self.0).poll(cx)
        }
    }
}
