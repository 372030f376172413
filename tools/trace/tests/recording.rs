//! What is recorded, and what it costs.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use testkit::{CountingWaker, Yields, allocations};
use trace::document::Document;
use trace::queue::{self, Queue};
use trace::{Recording, Trace};

/// A process has one recording at a time, and its tests run in parallel.
fn record() -> (Recording, MutexGuard<'static, ()>) {
    static ONE: Mutex<()> = Mutex::new(());
    let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    (trace::record("a test", "by hand", 1), turn)
}

/// Ends the recording, and checks what holds of every document.
#[track_caller]
fn finish(recording: Recording) -> Trace {
    let trace = recording.finish();
    let document = Document::read(&trace.to_json());
    assert!(document.is_ok(), "{document:?}");
    trace
}

/// The events' kinds, workers, tasks and arguments, without their times.
fn events(trace: &Trace) -> Vec<String> {
    let json = trace.to_json();
    let (_, events) = json.split_once("\"events\":[\n").expect("some events");
    let rows = events.trim_end().trim_end_matches("]}").lines();
    let without_time = |row: &str| row.split_once(',').map(|(_, rest)| rest.to_owned());
    rows.filter_map(without_time)
        .map(|row| row.trim_end_matches(',').replace(['"', ']'], ""))
        .collect()
}

fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

#[test]
fn polls_and_wakes_are_told_in_their_order() {
    let (recording, _turn) = record();
    trace::thread_start();
    let mut task = pin!(trace::task("A", Yields(1)));
    assert!(poll(task.as_mut(), Waker::noop()).is_pending());
    assert!(poll(task.as_mut(), Waker::noop()).is_ready());
    let trace = finish(recording);
    let expected = [
        "spawn,0,1,0",
        "poll+,0,1,0",
        "wake,0,1,1",
        "poll-,0,1,0",
        "poll+,0,1,0",
        "poll-,0,1,1",
    ];
    assert_eq!(events(&trace), expected);
    let polls = trace.polls("A");
    assert_eq!(polls.len(), 2);
    assert!(polls[1].is_ready && polls[1].asked_by == 1);
    assert_eq!(
        polls[1].waited_ns,
        polls[0].end_ns.map(|end| polls[1].start_ns - end),
        "a task that is woken while it runs waits from the end of that poll"
    );
}

#[test]
fn a_part_of_a_task_lies_within_it_and_knows_its_parent() {
    let (recording, _turn) = record();
    let whole = trace::task("whole", async {
        let part = trace::task("part", async { trace::span("work", || 6 * 7) });
        trace::mark("before");
        part.await
    });
    assert_eq!(poll(pin!(whole), Waker::noop()), Poll::Ready(42));
    let expected = [
        "spawn,-1,1,0",
        "poll+,-1,1,0",
        "spawn,-1,2,1",
        "mark,-1,1,0",
        "poll+,-1,2,0",
        "job,-1,3,2",
        "poll+,-1,3,0",
        "poll-,-1,3,1",
        "poll-,-1,2,1",
        "poll-,-1,1,1",
    ];
    assert_eq!(events(&finish(recording)), expected);
}

#[test]
fn it_is_told_who_wakes_whom() {
    let (recording, _turn) = record();
    let slot: Mutex<Option<Waker>> = Mutex::new(None);
    let mut sleeper = pin!(trace::task(
        "sleeper",
        poll_fn(|cx| {
            *slot.lock().unwrap() = Some(cx.waker().clone());
            Poll::<()>::Pending
        })
    ));
    assert!(poll(sleeper.as_mut(), Waker::noop()).is_pending());
    let waker = slot.lock().unwrap().clone().unwrap();
    let by_task = trace::task("other", async { waker.wake_by_ref() });
    assert!(poll(pin!(by_task), Waker::noop()).is_ready());
    std::thread::scope(|scope| {
        // This thread hasn't said that it's a worker.
        scope.spawn(|| waker.wake_by_ref());
    });
    trace::thread_start();
    waker.wake();
    let trace = finish(recording);
    let mut wakes = events(&trace);
    wakes.retain(|event| event.starts_with("wake"));
    assert_eq!(wakes, ["wake,-1,1,2", "wake,-1,1,0", "wake,0,1,0"]);
}

#[test]
fn the_waker_stays_the_same_as_long_as_the_executors_does() {
    let (recording, _turn) = record();
    let mut kept: Option<Waker> = None;
    let mut same = Vec::new();
    let mut task = pin!(trace::task(
        "A",
        poll_fn(|cx| {
            same.push(kept.as_ref().map(|kept| kept.will_wake(cx.waker())));
            kept = Some(cx.waker().clone());
            Poll::<()>::Pending
        })
    ));
    let (one, one_counts) = CountingWaker::new();
    let (other, other_counts) = CountingWaker::new();
    for waker in [&one, &one, &other] {
        assert!(poll(task.as_mut(), waker).is_pending());
    }
    assert_eq!(same, [None, Some(true), Some(false)]);
    kept.expect("the last waker").wake();
    assert_eq!((one_counts.wakes(), other_counts.wakes()), (0, 1));
    finish(recording);
}

#[test]
fn a_waker_outlives_its_recording() {
    let (recording, turn) = record();
    let (waker, counts) = CountingWaker::new();
    let mut kept = None;
    let mut task = pin!(trace::task(
        "A",
        poll_fn(|cx| {
            kept = Some(cx.waker().clone());
            Poll::<()>::Pending
        })
    ));
    assert!(poll(task.as_mut(), &waker).is_pending());
    finish(recording);
    drop(turn);
    let (recording, _turn) = record();
    trace::mark("the next recording");
    // Its task isn't one of this recording's.
    assert!(poll(task.as_mut(), &waker).is_pending());
    kept.expect("a waker").wake();
    assert_eq!(counts.wakes(), 1, "it wakes all the same");
    assert_eq!(events(&finish(recording)), ["mark,-1,0,0"]);
}

#[test]
fn a_task_does_not_keep_its_executors_waker() {
    struct Bell;
    impl Wake for Bell {
        fn wake(self: Arc<Self>) {}
    }
    let (recording, _turn) = record();
    let bell = Arc::new(Bell);
    let waker = Waker::from(bell.clone());
    let mut task = pin!(trace::task("A", Yields(2)));
    let before = Arc::strong_count(&bell);
    assert!(poll(task.as_mut(), &waker).is_pending());
    assert_eq!(
        Arc::strong_count(&bell),
        before,
        "a task that its waker keeps alive would never be dropped"
    );
    finish(recording);
}

#[test]
fn a_panic_ends_the_poll() {
    let (recording, _turn) = record();
    let mut task = pin!(trace::task("A", async { panic!("as meant") }));
    let caught = catch_unwind(AssertUnwindSafe(|| poll(task.as_mut(), Waker::noop())));
    assert!(caught.is_err());
    trace::mark("after");
    let expected = [
        "spawn,-1,1,0",
        "poll+,-1,1,0",
        "poll-,-1,1,0",
        "mark,-1,0,0",
    ];
    assert_eq!(events(&finish(recording)), expected);
}

#[test]
fn the_newest_are_lost_when_there_is_no_room_and_counted() {
    const MORE_THAN_FIT: u64 = 50_000;
    let (recording, _turn) = record();
    trace::span("A", || (0..MORE_THAN_FIT).for_each(|_| trace::yielded()));
    let trace = finish(recording);
    let kept = events(&trace);
    assert_eq!(kept[..3], ["job,-1,1,0", "poll+,-1,1,0", "yield,-1,1,0"]);
    // `job`, `poll+` and `poll-` beside the yields.
    assert_eq!(kept.len() as u64 + trace.dropped(), MORE_THAN_FIT + 3);
    assert!(trace.dropped() > 0 && kept.len() > 10_000, "{}", kept.len());
    let told = trace.sentences().pop().unwrap_or_default();
    assert!(told.contains("events were lost, from "), "{told}");
}

#[test]
fn recording_allocates_nothing() {
    let (recording, _turn) = record();
    trace::thread_start();
    let mut task = pin!(trace::task("A", Yields(1_001)));
    // The first poll makes the waker.
    assert!(poll(task.as_mut(), Waker::noop()).is_pending());
    let ((), counted) = allocations(|| {
        for _ in 0..1_000 {
            assert!(poll(task.as_mut(), Waker::noop()).is_pending());
            trace::thread_park();
            trace::thread_unpark();
        }
    });
    assert_eq!(counted.count, 0);
    assert_eq!(finish(recording).polls("A").len(), 1_001);
}

#[test]
fn an_event_costs_little_more_than_reading_the_clock() {
    const EVENTS: u32 = 1_000;
    const ROUNDS: u32 = 12;
    let (recording, _turn) = record();
    let time = |work: &dyn Fn()| {
        let start = Instant::now();
        (0..EVENTS).for_each(|_| work());
        start.elapsed()
    };
    let (event, clock) = trace::span("A", || {
        let mut least = (Duration::MAX, Duration::MAX);
        // In turns, so that what else the machine does hits both alike.
        for _ in 0..ROUNDS {
            least.0 = least.0.min(time(&trace::yielded));
            least.1 = least.1.min(time(&|| {
                std::hint::black_box(Instant::now());
            }));
        }
        least
    });
    let trace = finish(recording);
    assert_eq!(trace.dropped(), 0, "what is lost costs less");
    assert!(
        event <= clock * 4,
        "an event takes {event:?} / {EVENTS}, reading the clock {clock:?} / {EVENTS}"
    );
}

#[test]
fn there_is_one_recording_at_a_time() {
    let (recording, _turn) = record();
    let second = catch_unwind(|| trace::record("a second", "by hand", 1));
    let message = second.map(drop).expect_err("the second panics");
    let message = message.downcast_ref::<&str>().copied().unwrap_or_default();
    assert!(message.contains("finish it first"), "{message}");
    drop(recording);
    finish_with_a_mark(trace::record("a third", "by hand", 1));
}

fn finish_with_a_mark(recording: Recording) {
    trace::mark("here");
    assert_eq!(events(&finish(recording)), ["mark,-1,0,0"]);
}

#[test]
fn what_happens_while_nothing_is_recorded_is_left_alone() {
    let (recording, _turn) = record();
    drop(recording);
    trace::thread_start();
    let mut task = pin!(trace::task("A", Yields(1)));
    let (waker, counts) = CountingWaker::new();
    assert!(poll(task.as_mut(), &waker).is_pending());
    trace::mark("no recording");
    assert_eq!(trace::span("B", || 7), 7);
    assert_eq!(counts.wakes(), 1);
    let recording = trace::record("later", "by hand", 0);
    // This thread said before that it's a worker; the task isn't one of ours.
    assert!(poll(task.as_mut(), &waker).is_ready());
    trace::mark("here");
    assert_eq!(events(&finish(recording)), ["mark,0,0,0"]);
}

#[test]
fn a_job_is_told_from_a_task() {
    let (recording, _turn) = record();
    trace::thread_start();
    assert!(poll(pin!(trace::task("A", Yields(0))), Waker::noop()).is_ready());
    trace::span("work", || std::thread::sleep(Duration::from_millis(1)));
    let told = finish(recording).sentences();
    assert!(
        told[0].starts_with("1 task was polled once, and 1 job ran, on 1 worker"),
        "{told:?}"
    );
    assert!(
        told[1].starts_with("The longest job took ") && told[1].contains("`work`"),
        "{told:?}"
    );
}

#[test]
fn queue_events_name_the_tasks_that_moved() {
    let (recording, _turn) = record();
    queue::started(0);
    let [mut a, mut b] = ["A", "B"].map(|name| Box::pin(trace::task(name, Yields(1))));
    for _task in [&a, &b] {
        queue::pushed(Queue::Global);
    }
    queue::took(2);
    queue::popped(Queue::Local);
    assert!(poll(a.as_mut(), Waker::noop()).is_pending());
    queue::pushed(Queue::Slot);
    queue::popped(Queue::Local);
    assert!(poll(b.as_mut(), Waker::noop()).is_pending());
    queue::pushed(Queue::Slot);
    queue::pushed(Queue::Local);
    queue::popped(Queue::Slot);
    queue::pushed(Queue::Local); // it is the turn of the queue
    queue::popped(Queue::Local);
    assert!(poll(b.as_mut(), Waker::noop()).is_ready());
    queue::popped(Queue::Local);
    assert!(poll(a.as_mut(), Waker::noop()).is_ready());
    let mut queues = events(&finish(recording));
    queues.retain(|event| {
        ["push", "pop", "take"]
            .iter()
            .any(|it| event.starts_with(it))
    });
    let expected = [
        "push,0,1,2", // A, just made
        "push,0,2,2",
        "take,0,0,0,2",
        "pop,0,1,0",
        "push,0,1,1", // A has woken itself
        "pop,0,2,0",
        "push,0,2,1", // so has B, which puts A out of the slot
        "push,0,1,0",
        "pop,0,0,1",
        "push,0,2,0",
        "pop,0,2,0",
        "pop,0,1,0",
    ];
    assert_eq!(queues, expected);
}

#[test]
fn a_push_is_nobodys_if_nothing_tells_whose() {
    let (recording, _turn) = record();
    queue::started(0);
    // The task of a `block_on` enters no queue.
    let whole = trace::task("whole", async {
        let _part = trace::task("part", async {});
        queue::pushed(Queue::Local);
        queue::pushed(Queue::Local);
    });
    assert!(poll(pin!(whole), Waker::noop()).is_ready());
    queue::pushed(Queue::Local);
    let mut pushes = events(&finish(recording));
    pushes.retain(|event| event.starts_with("push"));
    assert_eq!(pushes, ["push,0,2,0", "push,0,0,0", "push,0,0,0"]);
}

#[test]
fn workers_keep_their_schedulers_numbers() {
    let (recording, _turn) = record();
    std::thread::scope(|scope| {
        for worker in [3, 1] {
            scope.spawn(move || {
                queue::started(worker);
                queue::searches();
                queue::searched(true);
                queue::stole(4 - worker, 2);
                trace::thread_park();
            });
        }
    });
    let trace = finish(recording);
    let mut told = events(&trace);
    told.sort();
    let expected = [
        "park,1,0,0",
        "park,3,0,0",
        "search+,1,0,0",
        "search+,3,0,0",
        "search-,1,0,1",
        "search-,3,0,1",
        "steal,1,0,3,2",
        "steal,3,0,1,2",
    ];
    assert_eq!(told, expected);
    let sentences = trace.sentences().join(" ");
    let queues = "The queues: 2 steals of 4 tasks; 2 searches, 2 with success.";
    assert!(sentences.contains(queues), "{sentences}");
}

#[test]
fn telling_of_queues_costs_next_to_nothing_while_nothing_is_recorded() {
    const TIMES: u32 = 1_000;
    let (recording, _turn) = record();
    drop(recording);
    let time = |work: &dyn Fn()| {
        let start = Instant::now();
        (0..TIMES).for_each(|_| work());
        start.elapsed()
    };
    let mut least = (Duration::MAX, Duration::MAX);
    for _round in 0..12 {
        least.0 = least.0.min(time(&|| queue::pushed(Queue::Local)));
        least.1 = least.1.min(time(&|| {
            std::hint::black_box(Instant::now());
        }));
    }
    let (telling, clock) = least;
    // A load and a branch, even where nothing is optimized.
    assert!(
        telling * 2 <= clock,
        "telling takes {telling:?} / {TIMES}, reading the clock {clock:?} / {TIMES}"
    );
}
