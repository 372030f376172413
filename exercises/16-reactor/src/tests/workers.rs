//! Clause 11, with the workers of a runtime.

use super::*;

/// Clause 11: a worker that leaves the driver with work hands it on.
#[test]
fn a_worker_that_stays_in_a_poll_has_handed_the_driver_on() {
    let lesson = Lesson {
        clause: "11. In two steps",
        promise: "While one worker blocks in the poll of a task that an event woke, the other \
                  worker waits for events.",
        usual_cause: "The wait wakes tasks while its worker still counts as parked, or doesn't \
                      return when it's unparked.",
        read: "io/reactor.html#handing-on",
    };
    check(lesson, || {
        for _ in 0..100 {
            let runtime = runtime(2);
            let ((first, mut first_peer), (second, mut second_peer)) =
                runtime.block_on(async { (pair(), pair()) });
            let (is_in_poll, in_poll) = mpsc::channel();
            let meeting = Arc::new(Barrier::new(2));
            let tasks = [first, second].map(|stream| {
                let (is_in_poll, meeting) =
                    (is_in_poll.clone(), meeting.clone());
                runtime.spawn(async move {
                    stream.read(&mut [0]).await.unwrap();
                    is_in_poll.send(()).unwrap();
                    meeting.wait();
                })
            });
            first_peer.write_all(b"!").unwrap();
            in_poll.recv().unwrap();
            second_peer.write_all(b"!").unwrap();
            for task in tasks {
                runtime.block_on(task).unwrap();
            }
        }
    });
}

/// Keeps all workers of a runtime busy with tasks that yield, until it's
/// dropped.
struct KeptBusy(Arc<AtomicBool>);

impl KeptBusy {
    fn new(runtime: &Runtime) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..4 {
            let is_over = is_over.clone();
            drop(runtime.spawn(async move {
                while !is_over.load(SeqCst) {
                    yield_now().await;
                }
            }));
        }
        Self(is_over)
    }
}

impl Drop for KeptBusy {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Clause 11: the tasks of a large batch go to more than one queue.
#[test]
fn both_of_two_busy_workers_poll_what_a_batch_has_woken() {
    let lesson = Lesson {
        clause: "11. In two steps",
        promise: "If one look finds many events, two busy workers share the tasks that these \
                  events wake.",
        usual_cause: "`dispatch` wakes the tasks of all events, no matter how many it's told. All \
                      the tasks go to the queue of the worker that had the driver.",
        read: "io/reactor.html#a-thousand-events-one-queue",
    };
    check(lesson, || {
        const COUNT: usize = 200;
        if fetched_by_one_look(COUNT) < COUNT {
            // Each look finds few events, which one worker may keep.
            return;
        }
        let runtime = runtime(2);
        let pairs: Vec<_> =
            runtime.block_on(async { (0..COUNT).map(|_| pair()).collect() });
        let (sender, polled_on) = mpsc::channel::<ThreadId>();
        let begun = Arc::new(AtomicUsize::new(0));
        let mut peers = Vec::new();
        for (stream, peer) in pairs {
            peers.push(peer);
            let (sender, begun) = (sender.clone(), begun.clone());
            drop(runtime.spawn(async move {
                let mut byte = [0];
                let mut reading = Box::pin(stream.read(&mut byte));
                poll_fn(|cx| {
                    let polled = reading.as_mut().poll(cx);
                    begun.fetch_add(1, SeqCst);
                    polled
                })
                .await
                .unwrap();
                spin(Duration::from_micros(300));
                sender.send(thread::current().id()).unwrap();
            }));
        }
        while begun.load(SeqCst) < COUNT {
            thread::yield_now();
        }
        let busy = KeptBusy::new(&runtime);
        // Both workers are in a poll until all the events are there.
        let opener = Opener::new();
        let (is_in_poll, in_poll) = mpsc::channel();
        for _ in 0..2 {
            let (gate, is_in_poll) = (opener.gate(), is_in_poll.clone());
            drop(runtime.spawn(async move {
                is_in_poll.send(()).unwrap();
                gate.wait();
            }));
        }
        in_poll.iter().take(2).for_each(drop);
        for peer in &mut peers {
            peer.write_all(b"!").unwrap();
        }
        drop(opener);
        let threads: Vec<_> = polled_on.iter().take(COUNT).collect();
        drop(busy);
        let first = threads.iter().filter(|it| **it == threads[0]).count();
        assert!(
            (20..=COUNT - 20).contains(&first),
            "one worker has polled {first} of {COUNT} tasks"
        );
    });
}

/// Returns how many of so many events one look fetches.
fn fetched_by_one_look(count: usize) -> usize {
    let mut driver = driver();
    let _entered = driver.handle().enter();
    let pairs: Vec<_> = (0..count).map(|_| pair()).collect();
    let mut waiting: Vec<_> =
        pairs.iter().map(|one| Box::pin(one.0.readable())).collect();
    let counts: Vec<_> = waiting.iter_mut().map(begin).collect();
    for (_, peer) in &pairs {
        let mut peer = peer;
        peer.write_all(b"!").unwrap();
    }
    driver.look();
    while driver.dispatch(usize::MAX) {}
    counts.iter().filter(|one| one.wakes() > 0).count()
}

/// Clause 11: busy workers look at the driver, too.
#[test]
fn an_event_is_seen_though_all_workers_are_busy() {
    let lesson = Lesson {
        clause: "11. In two steps",
        promise: "Reads make progress while tasks that yield keep all workers busy.",
        usual_cause: "`look` finds nothing, or `dispatch` forgets what it found.",
        read: "io/reactor.html#which-thread-waits",
    };
    check(lesson, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let _busy = KeptBusy::new(&runtime);
            let (stream, mut peer) = runtime.block_on(async { pair() });
            let reading = runtime.spawn(async move {
                for _ in 0..20 {
                    stream.read(&mut [0]).await.unwrap();
                    stream.write_all(b"!").await.unwrap();
                }
            });
            for _ in 0..20 {
                peer.write_all(b"!").unwrap();
                peer.read_exact(&mut [0]).unwrap();
            }
            runtime.block_on(reading).unwrap();
        }
    });
}

/// Clause 1: without a driver there's nothing that could tell a task.
#[test]
fn without_a_driver_there_is_a_panic_that_says_so() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "A function that needs a driver panics on a thread that has entered none, with a \
                  message that says so.",
        usual_cause: "This code is given: did you change `context`?",
        read: "scheduler/runtime.html#the-runtimes-edge",
    };
    check(lesson, || {
        let driver = driver();
        let thrown = panic_message(|| drop(TcpListener::bind(HERE.into())));
        let thrown = thrown.unwrap_or_default();
        assert!(thrown.contains("runtime with I/O"), "it said `{thrown}`");
        assert!(Handle::try_current().is_none());
        let entered = driver.handle().enter();
        assert!(Handle::try_current().is_some());
        drop(driver.handle().enter());
        assert!(
            Handle::try_current().is_some(),
            "the drop of an inner guard has left the outer handle, too"
        );
        drop(entered);
        assert!(
            Handle::try_current().is_none(),
            "a handle is entered after its guard was dropped"
        );
    });
}
