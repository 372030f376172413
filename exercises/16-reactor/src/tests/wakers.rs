//! Clause 12: what a waker may do.

use super::*;

/// A waker that uses the driver.
struct Busy {
    handle: Handle,
    dropped: Mutex<Option<TcpStream>>,
    bound: Mutex<Option<UdpSocket>>,
    wakes: AtomicUsize,
}

impl Busy {
    /// `dropped` is dropped by the first wake-up.
    fn new(handle: &Handle, dropped: TcpStream) -> Arc<Self> {
        Arc::new(Self {
            handle: handle.clone(),
            dropped: Mutex::new(Some(dropped)),
            bound: Mutex::new(None),
            wakes: AtomicUsize::new(0),
        })
    }
}

impl Wake for Busy {
    fn wake(self: Arc<Self>) {
        drop(self.dropped.lock().unwrap().take());
        let bound = UdpSocket::bind_on(&self.handle, HERE.into());
        *self.bound.lock().unwrap() = bound.ok();
        self.wakes.fetch_add(1, SeqCst);
    }
}

/// Clause 12: a waker may poll its task at once, and that task may do anything.
#[test]
fn a_waker_may_use_the_driver() {
    let lesson = Lesson {
        clause: "12. Free wakers",
        promise: "A waker that `dispatch` calls may drop a source and register another one.",
        usual_cause: "The lock around the registrations is held while the wakers are called.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let mut driver = driver();
        let handle = driver.handle();
        let _entered = handle.enter();
        let ((stream, mut peer), (other, _peer)) = (pair(), pair());
        let busy = Busy::new(&handle, other);
        let waker = Waker::from(busy.clone());
        let mut waiting = pin!(stream.readable());
        let mut cx = Context::from_waker(&waker);
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        peer.write_all(b"!").unwrap();
        while busy.wakes.load(SeqCst) == 0 {
            turn(&mut driver);
        }
        assert!(busy.bound.lock().unwrap().is_some());
    });
}

/// Clause 9: the wakers that the shutdown calls are free, too.
#[test]
fn a_waker_may_use_the_driver_at_its_end() {
    let lesson = Lesson {
        clause: "9. Shut down",
        promise: "A waker that the shutdown calls may drop a source, and may try to register \
                  another one, which is refused.",
        usual_cause: "The lock around the registrations is held while the wakers are called, or \
                      the table is closed only after that.",
        read: "io/reactor.html#the-end",
    };
    check(lesson, || {
        let driver = driver().into_inner();
        let handle = driver.handle();
        let _entered = handle.enter();
        let ((stream, _peer), (other, _other_peer)) = (pair(), pair());
        let busy = Busy::new(&handle, other);
        let waker = Waker::from(busy.clone());
        let mut waiting = pin!(stream.readable());
        let mut cx = Context::from_waker(&waker);
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        drop(driver);
        assert!(busy.wakes.load(SeqCst) > 0, "the task wasn't woken");
        assert!(
            busy.bound.lock().unwrap().is_none(),
            "a source was registered while the tasks were being woken"
        );
    });
}

/// Clause 12: a waker may be any code of the program.
#[test]
fn a_waker_that_panics_takes_no_worker_with_it() {
    let lesson = Lesson {
        clause: "12. Free wakers",
        promise: "After a panic of a waker that isn't a task's, the driver goes on: sockets wake \
                  their tasks.",
        usual_cause: "The panic ends the thread that has the driver. At a hang: the panic of a \
                      waker has ended that thread. `dispatch` doesn't catch the panic, or it drops \
                      the payload, whose destructor may panic, too.",
        read: "io/reactor.html#a-thousand-events-one-queue",
    };
    check(lesson, || {
        struct Panics(AtomicBool, fn() -> Box<dyn Any + Send>);
        impl Wake for Panics {
            fn wake(self: Arc<Self>) {
                self.0.store(true, SeqCst);
                // Not `panic!`: no hook is to report it.
                std::panic::resume_unwind(self.1());
            }
        }
        let runtime = runtime(1);
        let payloads: [fn() -> Box<dyn Any + Send>; 2] =
            [|| Box::new("this waker panics"), || Box::new(PanicOnDrop)];
        for round in 0..10 {
            let payload = payloads[round / 5];
            let panics = Arc::new(Panics(AtomicBool::new(false), payload));
            let waker = Waker::from(panics.clone());
            let mut cx = Context::from_waker(&waker);
            let ((stream, mut peer), (other, mut other_peer)) =
                runtime.block_on(async { (pair(), pair()) });
            let mut waiting = Box::pin(stream.readable());
            assert!(waiting.as_mut().poll(&mut cx).is_pending());
            peer.write_all(b"!").unwrap();
            while !panics.0.load(SeqCst) {
                thread::yield_now();
            }
            other_peer.write_all(b"!").unwrap();
            let count = runtime.block_on(async {
                other.read(&mut [0]).await?;
                stream.read(&mut [0]).await
            });
            assert_eq!(count.unwrap(), 1);
        }
    });
}

/// Clause 12: a batch has more events than the one whose waker panics.
#[test]
fn a_panic_of_a_waker_costs_no_other_task_its_event() {
    let lesson = Lesson {
        clause: "12. Free wakers",
        promise: "If a waker panics, `dispatch` goes on with the next event of the batch.",
        usual_cause: "The panic leaves `dispatch`. At a hang: the panic is caught around the whole \
                      loop of `dispatch`. The events behind it are forgotten, and edge-triggered \
                      events aren't repeated.",
        read: "io/reactor.html#a-thousand-events-one-queue",
    };
    check(lesson, || {
        for most in [1, usize::MAX] {
            let mut driver = driver();
            let _entered = driver.handle().enter();
            let pairs = [(); 10].map(|()| pair());
            let panicking: Vec<_> = pairs.iter().map(|_| panicking()).collect();
            let mut waiting: Vec<_> =
                pairs.iter().map(|one| Box::pin(one.0.readable())).collect();
            for (one, (waker, _)) in waiting.iter_mut().zip(&panicking) {
                let mut cx = Context::from_waker(waker);
                assert!(one.as_mut().poll(&mut cx).is_pending());
            }
            for (_, peer) in &pairs {
                let mut peer = peer;
                peer.write_all(b"!").unwrap();
            }
            while panicking.iter().any(|(_, it)| !it.load(SeqCst)) {
                driver.wait();
                while driver.dispatch(most) {}
            }
        }
    });
}

/// Returns a waker that panics, and whether it did.
pub fn panicking() -> (Waker, Arc<AtomicBool>) {
    struct Panics(Arc<AtomicBool>);
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            self.0.store(true, SeqCst);
            // Not `panic!`: no hook is to report it.
            std::panic::resume_unwind(Box::new("this waker panics"));
        }
    }
    let has_panicked = Arc::new(AtomicBool::new(false));
    let waker = Arc::new(Panics(has_panicked.clone()));
    (waker.into(), has_panicked)
}
