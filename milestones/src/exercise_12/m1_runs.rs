//! Tasks run to their ends, and are awaited. None is cancelled before.

super::the_rest! {}
super::parts! {
    right_holder = "../../../solutions/12-task/src/holder.rs",
    right_join = "../../../solutions/12-task/src/join.rs"
}
super::without_list_and_yields! {}

mod holder {
    use std::ptr::NonNull;

    use super::Schedule;
    use super::cell::Header;

    pub use super::right_holder::{run, schedule};

    pub unsafe fn give_up<S: Schedule>(_: NonNull<Header>) {
        todo!()
    }
}

mod join {
    use std::pin::Pin;
    use std::ptr::NonNull;
    use std::task::{Context, Poll};

    use super::cell::Header;
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
