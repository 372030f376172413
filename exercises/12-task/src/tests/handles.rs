//! The output, and the handle.

use super::*;

/// Clause 8: each way to the end has a place where the output is easily
/// forgotten.
#[test]
fn future_and_output_are_dropped_once_whatever_happens() {
    let lesson = Lesson {
        clause: "8. The output",
        promise: "No matter how far a task got and which side gave it up, its future and its output \
                  are dropped once, and nothing is left.",
        usual_cause: "The state says that there is a future, or an output, where there is none any \
                      more, or nothing drops what it says is there.",
        read: "scheduler/task-end.html#future-then-output",
    };
    check(lesson, || {
        for polls in 0..=2 {
            for panics in [false, true] {
                for handle_goes in ["first", "last", "never"] {
                    for end in ["run", "dropped", "aborted"] {
                        go_to_the_end(polls, panics, handle_goes, end);
                    }
                }
            }
        }
    });
}

/// Polls a task that would end at its second poll `polls` times, and then ends
/// it in some way.
#[track_caller]
fn go_to_the_end(polls: usize, panics: bool, handle_goes: &str, end: &str) {
    let before = live_bytes();
    let queue = Queue::default();
    let [(future_probe, future), (output_probe, output)] =
        [(); 2].map(|()| DropProbe::new());
    let (mut output_probe, mut is_first) = (Some(output_probe), true);
    let ballast = [0_u8; LARGE];
    let mut handle = Some(queue.spawn(poll_fn(move |cx| {
        let _with_the_future = black_box((&future_probe, &ballast));
        if std::mem::take(&mut is_first) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        assert!(!panics, "the future panics");
        Poll::Ready(output_probe.take())
    })));
    if handle_goes == "first" {
        handle = None;
    }
    (0..polls).for_each(|_| queue.run_one());
    match (end, &handle) {
        ("dropped", _) => drop(queue.pop()),
        ("aborted", Some(handle)) => handle.abort(),
        _ => {}
    }
    queue.run_all();
    let case = format!(
        "{polls} polls, panics: {panics}, handle goes {handle_goes}, {end}"
    );
    assert!(
        future.count() == 1,
        "{case}: {} drops of the future",
        future.count()
    );
    let is_aborted = end == "aborted" && handle.is_some();
    let is_cut = polls < 2 && (end == "dropped" || is_aborted);
    match (handle_goes, handle.map(|it| (it.is_finished(), it))) {
        ("never", Some((_, handle))) => {
            let is_ready = result(handle).is_ok();
            assert!(
                is_ready != (is_cut || panics),
                "{case}: ready is {is_ready}"
            );
        }
        (_, Some((is_finished, _dropped_here))) => {
            assert!(is_finished, "{case}: it hasn't ended");
        }
        (_, None) => {}
    }
    // An output that never came went with the future.
    assert!(
        output.count() == 1,
        "{case}: {} drops of the output",
        output.count()
    );
    assert_freed(before, &case);
}

/// Clause 8: the output of a task that is never awaited may be large.
#[test]
fn an_unwanted_output_is_dropped_where_it_ends() {
    let lesson = Lesson {
        clause: "8. The output",
        promise: "If the handle is gone, `run` drops the output; if the task has ended, the \
                  handle's drop does. A waker that is left keeps neither alive.",
        usual_cause: "The output is left in the block, to be dropped with it. The thread that \
                      drops the last waker must not have to drop the output.",
        read: "scheduler/task-end.html#future-then-output",
    };
    check(lesson, || {
        for handle_goes_first in [true, false] {
            let queue = Queue::default();
            let (probe, drops) = DropProbe::new();
            let (mut probe, (sender, receiver)) =
                (Some(probe), mpsc::channel());
            let handle = queue.spawn(poll_fn(move |cx| {
                let _ = sender.send(cx.waker().clone());
                Poll::Ready(probe.take())
            }));
            let mut handle = Some(handle);
            if handle_goes_first {
                handle = None;
            }
            let mut last = elsewhere(|| {
                queue.run_one();
                thread::current().id()
            });
            if let Some(handle) = handle {
                assert!(drops.count() == 0, "the handle's output was dropped");
                drop(handle);
                last = thread::current().id();
            }
            let seen = drops.threads();
            assert!(
                seen == [last],
                "{} drops of the output, though only a waker is left",
                seen.len()
            );
            drop(receiver.recv());
        }
    });
}

/// Clause 9: a handle moves from one `select` to the next.
#[test]
fn the_handle_wakes_the_waker_of_its_last_poll() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "Of several wakers that polled the handle, the last one is woken, once.",
        usual_cause: "A waker that is already there is kept; or it is woken, and woken again when \
                      the block is freed; or two wakers are compared only by their vtables, which \
                      most wakers share; or the waker stays in its cell when the handle is ready.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, _waker, mut handle) = queue.spawn_waiting();
        let (first, first_counts) = CountingWaker::new();
        let (second, second_counts) = CountingWaker::new();
        for waker in [&first, &first, &second, &second.clone()] {
            assert!(poll(&mut handle, waker).is_pending(), "it isn't over");
        }
        task.complete();
        queue.run_one();
        let wakes = (first_counts.wakes(), second_counts.wakes());
        assert!(
            wakes == (0, 1),
            "the first and the last were woken {wakes:?} times"
        );
        assert!(poll(&mut handle, &first).is_ready(), "the task has ended");
        drop((handle, task, first, second));
        let kept = Arc::strong_count(&first_counts)
            + Arc::strong_count(&second_counts);
        assert!(kept == 2, "the task keeps a waker of its handle");
    });
}

/// Clause 9: a waker may be on the stack, and its clones on the heap.
#[test]
fn wakers_that_look_alike_are_distinguished() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "Of two wakers with the same address, or with the same vtable, the waker of the \
                  last poll is woken.",
        usual_cause: "The next waker is compared with the one that was passed before, of which only a \
                      clone is left: another waker may have its address by now. Or it is compared by \
                      its data pointer only, or by its vtable only. Compare both, with the clone's.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, _waker, mut handle) = queue.spawn_waiting();
        let mut place = StackWakers::new();
        let mut poll_on_the_stack = || {
            place.lend(|waker| assert!(poll(&mut handle, waker).is_pending()))
        };
        let ((), first) = poll_on_the_stack();
        let ((), last) = poll_on_the_stack();
        task.complete();
        queue.run_one();
        let wakes = (first.wakes(), last.wakes());
        assert!(
            wakes == (0, 1),
            "two wakers were at the same address, one after the other; they were woken {wakes:?} \
             times"
        );

        let [(first, first_wakes), (last, last_wakes)] = wakers_without_data();
        let (task, _waker, mut handle) = queue.spawn_waiting();
        for waker in [&first, &last] {
            assert!(poll(&mut handle, waker).is_pending(), "it isn't over");
        }
        task.complete();
        queue.run_one();
        let wakes = (first_wakes.load(SeqCst), last_wakes.load(SeqCst));
        assert!(
            wakes == (0, 1),
            "two wakers had the same data pointer and different vtables; they were woken {wakes:?} \
             times"
        );
    });
}

/// Clause 9: often both ends move at the same time.
#[test]
fn the_handle_can_be_awaited_on_any_thread() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "A thread that awaits the handle while others run the task gets the output.",
        usual_cause: "The waker is stored and the state isn't checked again, so that an end in \
                      between wakes nothing.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        for round in 0..300 {
            let handle = queue.spawn(async move { vec![round; 3] });
            let output = thread::scope(|scope| {
                let awaiting = scope.spawn(|| block_on::block_on(handle));
                (0..round % 64).for_each(|_| std::hint::spin_loop());
                queue.run_one();
                awaiting.join().expect("awaiting doesn't panic")
            });
            let output = output.expect("the task was ready");
            assert!(output == [round; 3], "the output is {output:?}");
        }
    });
}

/// Clause 9: code that doesn't care about a task needn't keep its handle.
#[test]
fn a_dropped_handle_detaches_its_task() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "A task whose handle is dropped runs on, and the handle's waker is released.",
        usual_cause: "Dropping the handle aborts the task, or leaves its waker in the block.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (task, waker, mut handle) = queue.spawn_waiting();
        let (awaiting, counts) = CountingWaker::new();
        assert!(poll(&mut handle, &awaiting).is_pending(), "it isn't over");
        drop((handle, awaiting));
        let kept = Arc::strong_count(&counts) - 1;
        assert!(kept == 0, "the waker of a handle that is gone is kept");
        waker.wake_by_ref();
        queue.run_one();
        task.complete();
        queue.run_one();
        let polls = task.polls();
        assert!(polls == 3, "without a handle it was polled {polls} times");
    });
}

/// Clause 9: there is nothing left to give.
#[test]
fn a_handle_polled_after_its_end_says_so() {
    let lesson = Lesson {
        clause: "9. The handle",
        promise: "Polling a handle that was ready panics, and the message says `after`.",
        usual_cause: "The output is read out of the block again, or the handle waits forever.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        let mut handle = queue.spawn(ready(Box::new(7)));
        queue.run_one();
        assert!(poll(&mut handle, Waker::noop()).is_ready(), "it has ended");
        assert!(handle.is_finished(), "now it is finished, too");
        handle.abort();
        let message = panic_message(|| {
            let _ = poll(&mut handle, Waker::noop());
        });
        let says_so =
            message.as_ref().is_some_and(|text| text.contains("after"));
        assert!(says_so, "the message is {message:?}");
    });
}
