//! Breaks clause 6: Time goes on.
//! Caught by: sleeps_end_though_all_workers_sleep
//!
//! A thread for all sleeps: it takes one after the other from a channel, sleeps
//! until its time has come, and wakes it. Sleeps of the same length come in the
//! order of their ends, and in a first trial all of them are. One of an hour keeps
//! all that come after it waiting.

use ::{run_queue, sleepers, task};

super::parts! {
    builder context end right handle injector owner runtime search shared
    slot start worker all others
}

/// Has a timer of its own.
mod handle {
    use std::pin::Pin;
    use std::sync::{Arc, LazyLock, Mutex, mpsc};
    use std::task::{Context, Poll, Waker};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::context;
    pub use super::right::{
        BlockingHandle, Handle, JoinHandle, spawn, spawn_blocking,
    };

    type Place = Arc<Mutex<Option<Waker>>>;

    static TIMER: LazyLock<mpsc::Sender<(Instant, Place)>> =
        LazyLock::new(|| {
            let (sender, receiver) = mpsc::channel::<(Instant, Place)>();
            thread::spawn(move || {
                for (end, place) in receiver {
                    thread::sleep(
                        end.saturating_duration_since(Instant::now()),
                    );
                    if let Some(waker) = place.lock().unwrap().take() {
                        waker.wake();
                    }
                }
            });
            sender
        });

    /// Is ready once its time has come.
    pub struct Sleep {
        end: Instant,
        place: Option<Place>,
    }

    /// Makes a future that is ready once `duration` has passed.
    ///
    /// # Panics
    ///
    /// If this thread has entered no runtime.
    #[track_caller]
    pub fn sleep(duration: Duration) -> Sleep {
        // SAFETY: the reference is not used.
        let _ = unsafe { context::expect_current() };
        Sleep {
            end: Instant::now() + duration,
            place: None,
        }
    }

    impl Future for Sleep {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            if Instant::now() >= self.end {
                return Poll::Ready(());
            }
            let waker = Some(cx.waker().clone());
            if let Some(place) = &self.place {
                *place.lock().unwrap() = waker;
            } else {
                let place = Arc::new(Mutex::new(waker));
                TIMER.send((self.end, place.clone())).unwrap();
                self.place = Some(place);
            }
            Poll::Pending
        }
    }
}

pub use handle::Sleep;
