//! Aborts, drops and panics.

use super::*;

#[track_caller]
fn assert_panicked<T>(handle: JoinHandle<T>, message: &str) {
    let error = result(handle).err().expect("it panicked");
    assert!(error.is_panic(), "the handle says: {error}");
    let thrown = error.into_panic();
    let text = thrown.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| thrown.downcast_ref::<String>().cloned());
    assert!(
        text.as_deref() == Some(message),
        "the first panic was {message:?}, and the handle gives {text:?}"
    );
}

/// Clause 10: nothing polls a waiting task of its own accord.
#[test]
fn an_abort_ends_a_task_that_waits_or_is_queued() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "After an abort a task isn't polled, its future is dropped, and its handle says \
                  that it was cancelled.",
        usual_cause: "The abort of a task that waits sets a flag that no thread will look at; or a \
                      queued task is scheduled a second time; or `run` checks the flag after the \
                      poll, or doesn't if there's a notification, too.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        // It waits; it's queued; it's queued, and was woken since.
        for wakes in 0..=2 {
            let queue = Queue::default();
            let (task, waker, handle) = queue.spawn_waiting();
            (0..wakes).for_each(|_| waker.wake_by_ref());
            handle.abort();
            handle.abort();
            let queued = queue.lock().len();
            assert!(queued <= 1, "it is in the queue {queued} times");
            queue.run_all();
            let polls = task.polls();
            assert!(
                polls == 1,
                "a task that waited was woken {wakes} times and then aborted, and was polled {} \
                 more times",
                polls - 1
            );
            assert_cancelled(handle);
            waker.wake_by_ref();
            assert!(queue.pop().is_none(), "it was scheduled after its end");
        }
        let queue = Queue::default();
        let (future, task) = ManualFuture::new();
        let handle = queue.spawn(future);
        handle.abort();
        queue.run_all();
        assert!(
            task.polls() == 0,
            "a task aborted before its start was polled"
        );
        assert_cancelled(handle);
    });
}

/// Clause 10: the poll has the future by `&mut`.
#[test]
fn an_abort_during_a_poll_waits_for_its_end() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "A task that is aborted while it is polled ends when the poll returns; if that was \
                  ready, the output counts.",
        usual_cause: "The abort drops the future at once, even if another thread has it; or the \
                      flag is checked only when a poll begins, and this task waits forever; or it \
                      is checked before the output, and a poll that was ready counts as cancelled.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let abort = |_: &Waker, handle: &JoinHandle<()>| handle.abort();
        let wake_too = |waker: &Waker, handle: &JoinHandle<()>| {
            waker.wake_by_ref();
            handle.abort();
        };
        for action in [&abort as &dyn Fn(&Waker, &JoinHandle<()>), &wake_too] {
            let (handle, drops) =
                in_the_middle_of_a_poll(&queue, || Poll::<()>::Pending, action);
            queue.run_all();
            let drops = drops.count();
            assert!(drops == 1, "the future was dropped {drops} times");
            assert_cancelled(handle);
        }
        let (handle, _) =
            in_the_middle_of_a_poll(&queue, || Poll::Ready(()), abort);
        result(handle).expect("it was ready first");
    });
}

/// Clause 10: what the task owns may be needed elsewhere, and the queue may be long.
#[test]
fn an_abort_during_a_poll_cancels_when_the_poll_returns() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "A task that is aborted during a poll that is pending and doesn't yield is cancelled \
                  by that `run`, whether or not it was woken, too.",
        usual_cause: "Where the task is let go, the abort counts as a wake-up, and the task goes to \
                      its scheduler, to be cancelled by the next `run`. Until then, it keeps \
                      what it owns. Check the abort flag there, and before the notification.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        for is_woken in [false, true] {
            let queue = Queue::default();
            let own = Arc::new(Mutex::new(None::<JoinHandle<()>>));
            let in_poll = own.clone();
            let (probe, drops) = DropProbe::new();
            let handle = queue.spawn(poll_fn(move |cx| {
                let _with_the_future = &probe;
                if is_woken {
                    cx.waker().wake_by_ref();
                }
                let handle = in_poll.lock().unwrap();
                handle.as_ref().expect("just spawned").abort();
                Poll::<()>::Pending
            }));
            *own.lock().unwrap() = Some(handle);
            queue.run_one();
            let handle = own.lock().unwrap().take().expect("just spawned");
            let (is_finished, drops, scheduled) =
                (handle.is_finished(), drops.count(), queue.scheduled());
            let also = if is_woken { "woken and " } else { "" };
            assert!(
                is_finished && drops == 1 && scheduled == 0,
                "a task was {also}aborted in its poll, and `run` has returned. It is finished: \
                 {is_finished}; its future was dropped {drops} times, and it was scheduled \
                 {scheduled} times"
            );
            assert_cancelled(handle);
        }
    });
}

/// Clause 10: an abort requests the end, but isn't the end.
#[test]
fn a_handle_waits_for_the_end_of_an_aborted_task() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "A task that is aborted while it is queued or polled ends later, and its handle isn't \
                  ready before its future is dropped.",
        usual_cause: "`is_finished` or the poll of the handle takes the abort flag for the end. \
                      The future is still there, with everything that it owns, and may yet be \
                      ready. Check the flag that is set when the result is there.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        for first_polls in [0, 1] {
            let (probe, drops) = DropProbe::new();
            let mut handle = queue.spawn(poll_fn(move |cx| {
                let _with_the_future = &probe;
                cx.waker().wake_by_ref();
                Poll::<()>::Pending
            }));
            (0..first_polls).for_each(|_| queue.run_one());
            let (waker, counts) = CountingWaker::new();
            assert!(poll(&mut handle, &waker).is_pending(), "it is queued");
            handle.abort();
            let is_finished = handle.is_finished();
            let is_ready = poll(&mut handle, &waker).is_ready();
            assert!(
                !is_finished && !is_ready,
                "a queued task was aborted, its future dropped {} times, and its handle is finished: \
                 {is_finished}, ready: {is_ready}",
                drops.count()
            );
            queue.run_all();
            assert!(handle.is_finished(), "it was run, and hasn't ended");
            let wakes = counts.wakes();
            assert!(wakes == 1, "its handle was woken {wakes} times");
            assert_cancelled(handle);
        }
        let abort_and_look = |_: &Waker, handle: &JoinHandle<()>| {
            handle.abort();
            let is_finished = handle.is_finished();
            assert!(
                !is_finished,
                "a task that is still being polled has ended"
            );
        };
        let (handle, _) =
            in_the_middle_of_a_poll(&queue, || Poll::Ready(()), abort_and_look);
        result(handle).expect("it was ready first");
    });
}

/// Clause 16: a yield is scheduled through a path of its own.
#[test]
fn an_abort_during_a_poll_that_yields_counts() {
    let lesson = Lesson {
        clause: "16. Yield",
        promise: "A task that is aborted, or whose list is closed, while it is polled, and then \
                  yields, isn't polled again.",
        usual_cause: "A task that yields is marked as queued without regard to its state, which \
                      overwrites an abort that came during the poll. Keep its flag, and check it \
                      when the next poll would begin.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        for ends_by in ["abort", "close_and_cancel"] {
            let queue = Queue::with_list();
            let own = Arc::new(Mutex::new(None::<JoinHandle<()>>));
            let (handle, list) = (own.clone(), queue.clone());
            let (polls, (sender, receiver)) =
                (Arc::new(AtomicUsize::new(0)), mpsc::channel());
            let counted = polls.clone();
            let future = poll_fn(move |cx| {
                match counted.fetch_add(1, SeqCst) {
                    // It waits, so it is listed.
                    0 => sender.send(cx.waker().clone()).unwrap(),
                    1 => {
                        match (ends_by, &*handle.lock().unwrap()) {
                            ("abort", Some(handle)) => handle.abort(),
                            _ => list.list().close_and_cancel(),
                        }
                        assert!(pin!(yield_now()).poll(cx).is_pending());
                    }
                    _ => {}
                }
                Poll::<()>::Pending
            });
            *own.lock().unwrap() = Some(queue.spawn(future));
            queue.run_one();
            receiver.recv().expect("its first poll has sent it").wake();
            queue.run_all();
            let polls = polls.load(SeqCst);
            assert!(
                polls == 2,
                "a poll that yields saw `{ends_by}`, and the task was polled {} more times",
                polls - 2
            );
            let handle = own.lock().unwrap().take();
            assert_cancelled(handle.expect("just spawned"));
        }
    });
}

/// Clause 15: another thread may look at the handle at any moment.
#[test]
fn a_finished_task_has_left_everything() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "Once a handle says that its task has finished, the task isn't listed anymore, \
                  and its future is dropped.",
        usual_cause: "The task is marked as complete before it leaves the list, or before its \
                      future is dropped. Mark it last.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    check(lesson, || {
        for way in ["is ready", "panics", "was aborted", "is dropped unrun"] {
            for moment in 0.. {
                if !look_as_it_ends(way, moment) {
                    break;
                }
            }
        }
    });
}

/// Ends a task, and looks at it at one moment of that. Returns `false` if
/// there's no such moment.
fn look_as_it_ends(way: &'static str, moment: usize) -> bool {
    let queue = Queue::with_list();
    let (probe, log) = DropProbe::new();
    let (future, task) = ManualFuture::new();
    let handle = queue.spawn(async move {
        let _probe = probe;
        future.await;
        assert!(way != "panics", "boom");
    });
    queue.run_one();
    match way {
        "was aborted" => handle.abort(),
        _ => task.complete(),
    }
    let list = queue.clone();
    let look = move || {
        let state = || (log.count(), list.list().is_empty());
        handle.is_finished().then(state)
    };
    let (sender, looks) = mpsc::channel();
    let happens = move || sender.send(start_elsewhere(look)).unwrap();
    let end = || match way {
        "is dropped unrun" => drop(queue.pop()),
        _ => queue.run_all(),
    };
    let ((), has_happened) = at_moment(moment, happens, end);
    let Ok(look) = looks.recv() else {
        return has_happened;
    };
    if let Some((drops, is_empty)) = look.join().unwrap() {
        let says = format!("the task {way}, and its handle says `finished`");
        assert!(drops == 1, "{says}, but its future isn't dropped");
        assert!(is_empty, "{says}, but it's still listed");
    }
    has_happened
}

/// Clause 10: for some tasks it always comes too late.
#[test]
fn an_abort_after_the_end_changes_nothing() {
    let lesson = Lesson {
        clause: "10. Abort",
        promise: "A task that has ended keeps its output, and isn't scheduled.",
        usual_cause: "The abort doesn't check whether the task is complete, and takes the task \
                      although its future is gone.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let handle = queue.spawn(ready(7));
        queue.run_one();
        handle.abort();
        // Not to be dropped: there is nothing left to cancel.
        let is_queued = queue.pop().map(std::mem::forget).is_some();
        assert!(!is_queued, "it was scheduled after its end");
        let output = result(handle);
        assert!(output.is_ok_and(|it| it == 7), "the output is gone");
    });
}

/// Clause 11: a scheduler that is dropped drops its queue.
#[test]
fn a_runnable_that_is_dropped_cancels_its_task() {
    let lesson = Lesson {
        clause: "11. Dropped unrun",
        promise: "The future is dropped with the `Runnable`, those linked behind it likewise, and the \
                  handles say that they were cancelled.",
        usual_cause: "A `Runnable` is a pointer without `Drop`; or it drops what is linked behind it \
                      by recursion, and a long queue overflows the stack.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    const MANY: usize = 100_000;
    check(lesson, || {
        let queue = Queue::default();
        let (probe, drops) = DropProbe::new();
        let (task, mut handle) = spawn(
            async move {
                let _with_the_future = probe;
                pending::<()>().await;
            },
            queue.clone(),
        );
        let (waker, counts) = CountingWaker::new();
        assert!(poll(&mut handle, &waker).is_pending(), "it hasn't run");
        drop(task);
        let seen = (drops.count(), counts.wakes());
        assert!(seen == (1, 1), "(drops of the future, wakes) is {seen:?}");
        assert_cancelled(handle);

        let mut first = None;
        let mut handles = Vec::with_capacity(MANY);
        for _ in 0..MANY {
            let (mut task, handle) = spawn(ready(()), queue.clone());
            task.set_next(first.take());
            first = Some(task);
            handles.push(handle);
        }
        drop(first);
        handles.into_iter().for_each(assert_cancelled);
    });
}

/// Clause 11: the link is for queues, and a queue may forget a link.
#[test]
fn what_is_linked_behind_a_runnable_that_runs_is_cancelled() {
    let lesson = Lesson {
        clause: "11. Dropped unrun",
        promise: "If a task is run with another still linked behind it, the linked task is \
                  cancelled before the poll, whether the first then waits, has ended, panics, or \
                  was aborted.",
        usual_cause: "`run` ignores the link. A task that has ended is freed with its link, and \
                      the tasks linked there are never run, dropped or freed. Or `run` checks it \
                      for the tasks that it polls, and returns earlier for a task that was \
                      aborted. If the link is taken first and dropped last: a variable that's \
                      never used, even `_link`, lives until the end of the function.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        for first in ["ends", "waits", "panics", "is aborted"] {
            let queue = Queue::default();
            let before = live_bytes();
            let (future, waiting) = ManualFuture::new();
            let ballast = [0_u8; LARGE];
            let (probe, drops) = DropProbe::new();
            let linked = async move {
                black_box((ballast, probe));
            };
            let (linked, linked_handle) = spawn(linked, queue.clone());
            let drops_by_the_poll = Arc::new(AtomicUsize::new(1));
            let seen = drops_by_the_poll.clone();
            let (mut task, handle) = spawn(
                async move {
                    seen.store(drops.count(), SeqCst);
                    match first {
                        "waits" => future.await,
                        "panics" => panic!("a task may panic"),
                        _ => (),
                    }
                },
                queue.clone(),
            );
            task.set_next(Some(linked));
            if first == "is aborted" {
                handle.abort();
            }
            task.run();
            let has_ended = linked_handle.is_finished();
            assert!(
                has_ended,
                "a task that {first} was run, and what was linked behind it hasn't ended"
            );
            let drops = drops_by_the_poll.load(SeqCst);
            assert!(
                drops == 1,
                "a task that {first} was polled, and what was linked behind it had been dropped \
                 {drops} times by then"
            );
            assert_cancelled(linked_handle);
            waiting.complete();
            queue.run_all();
            let is_ok = result(handle).is_ok();
            assert!(
                is_ok == matches!(first, "ends" | "waits"),
                "the output of a task that {first}: {is_ok}"
            );
            assert_freed(
                before,
                &format!("after a run of a task that {first}, with a link"),
            );
        }
    });
}

/// Clause 12: a server carries on when one request fails.
#[test]
fn a_panic_of_the_future_reaches_the_handle() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "`run` returns when the future panics, in a poll or as it is dropped, and the \
                  handle gives the panic's payload.",
        usual_cause: "The poll isn't in a `catch_unwind`, or the drop of the future is outside of \
                      it, or the task stays running after the panic. If the handle says that the \
                      task was cancelled: the future panicked as the cancellation dropped it, and \
                      its payload was thrown away; the payload comes before \"cancelled\".",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        let queue = Queue::default();
        let (probe, drops) = DropProbe::new();
        let handle = queue.spawn(poll_fn(move |_| -> Poll<()> {
            let _with_the_future = &probe;
            panic!("boom")
        }));
        queue.run_one();
        assert!(
            drops.count() == 1,
            "the future was dropped {} times",
            drops.count()
        );
        assert_panicked(handle, "boom");

        for polls in 0..=2 {
            let bomb = PanicOnDrop;
            let mut yields = Yields(1);
            let handle = queue.spawn(poll_fn(move |cx| {
                let _with_the_future = &bomb;
                Pin::new(&mut yields).poll(cx)
            }));
            (0..polls).for_each(|_| queue.run_one());
            drop(queue.pop());
            assert_panicked(handle, PanicOnDrop::MESSAGE);
        }
    });
}

/// Clause 7: its place must not look as if the future were still there.
#[test]
fn a_future_that_panics_as_it_is_dropped_is_dropped_once() {
    let lesson = Lesson {
        clause: "7. Freed",
        promise: "If the future panics as it is dropped, it is dropped once, no matter whether it \
                  was ready, has panicked, was aborted, or was never run.",
        usual_cause: "The future is dropped in its place, and the place is overwritten after that. \
                      The panic comes in between, and the clean-up finds a future there. \
                      Overwrite the place by an assignment, which drops what was there and writes \
                      the new value even if the drop panics.",
        read: "scheduler/task-end.html#future-then-output",
    };
    /// Owns nothing, so that it does no harm to drop it again.
    struct CountsAndPanics(&'static AtomicUsize);
    impl Drop for CountsAndPanics {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
            panic!("{}", PanicOnDrop::MESSAGE);
        }
    }
    check(lesson, || {
        for how in ["ready", "panicked", "aborted", "dropped"] {
            let drops: &AtomicUsize = Box::leak(Box::default());
            let queue = Queue::default();
            let counts = CountsAndPanics(drops);
            let handle = queue.spawn(poll_fn(move |_| {
                let _with_the_future = &counts;
                match how {
                    "ready" => Poll::Ready(()),
                    _ => panic!("boom"),
                }
            }));
            match how {
                "aborted" => {
                    handle.abort();
                    queue.run_one();
                }
                "dropped" => drop(queue.pop()),
                _ => queue.run_one(),
            }
            drop(handle);
            let count = drops.load(SeqCst);
            assert!(
                count == 1,
                "a task was {how}, and its future, which panics as it is dropped, was dropped \
                 {count} times"
            );
        }
    });
}

/// Clause 12: the thread that runs tasks must survive all of them.
#[test]
fn what_panics_as_it_is_dropped_does_no_harm() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "An output that panics as it is dropped harms neither `run` nor the thread that \
                  drops the handle. Of two panics, the handle returns the first.",
        usual_cause: "The output is dropped outside of `catch_unwind`, or a second panic comes \
                      while the first one unwinds, which aborts the process. If the handle gives \
                      another payload than that of the first panic: the panic of the future's \
                      destructor has replaced that of its poll.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    /// Panics twice when it is polled or dropped: as a whole, and in a part.
    struct Bombs(Option<PanicOnDrop>);
    impl Drop for Bombs {
        fn drop(&mut self) {
            let bomb = self.0.take();
            let caught = panic_message(|| drop(bomb));
            panic!("{caught:?}");
        }
    }
    check(lesson, || {
        let queue = Queue::default();
        let before = live_bytes();
        for handle_goes_first in [true, false] {
            let mut handle = Some(queue.spawn(ready(PanicOnDrop)));
            if handle_goes_first {
                handle = None;
            }
            queue.run_one();
            drop(handle);
        }
        let bombs = Bombs(Some(PanicOnDrop));
        let handle = queue.spawn(poll_fn(move |_| -> Poll<()> {
            let _with_the_future = &bombs;
            panic!("boom")
        }));
        queue.run_one();
        assert_panicked(handle, "boom");
        // The future panics as it is dropped, and then its output does.
        let bomb = PanicOnDrop;
        let handle = queue.spawn(poll_fn(move |_| {
            let _with_the_future = &bomb;
            Poll::Ready(PanicOnDrop)
        }));
        queue.run_one();
        let is_panic = result(handle).is_err_and(|error| error.is_panic());
        assert!(is_panic, "the panic of the future's destructor is lost");
        assert_freed(before, "after all panics");
    });
}

/// Clause 12: the payload of a panic is a value like any other, with a destructor.
#[test]
fn what_is_thrown_may_panic_as_it_is_dropped() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "If a future, an output or a waker panics with a payload that panics in turn when \
                  it is dropped, neither `run` nor the drop of the handle panics.",
        usual_cause: "What `catch_unwind` has caught is dropped outside of it, as in `let _ = \
                      catch_unwind(..)`; or the error that isn't taken is. Drop it inside a second \
                      `catch_unwind`.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    /// Panics with it when it is dropped.
    struct ThrowsOnDrop;
    impl Drop for ThrowsOnDrop {
        fn drop(&mut self) {
            panic_any(PanicOnDrop);
        }
    }
    #[track_caller]
    fn assert_calm(when: &str, action: impl FnOnce()) {
        let thrown = panic_message(action);
        assert!(thrown.is_none(), "{when} panicked: {thrown:?}");
    }
    check(lesson, || {
        for handle_goes_first in [true, false] {
            let queue = Queue::default();
            let throws = || poll_fn(|_| -> Poll<()> { panic_any(PanicOnDrop) });
            let mut future = Some(queue.spawn(throws()));
            let mut output = Some(queue.spawn(ready(ThrowsOnDrop)));
            let mut is_awaited = Some(queue.spawn(ready(())));
            let waker = HostileWaker::new(|| panic_any(PanicOnDrop));
            let _ = poll(is_awaited.as_mut().expect("just spawned"), &waker);
            let go = |queue: &Queue| {
                for what in ["future", "output", "waker"] {
                    let when = format!("`run` of a task whose {what} panics");
                    assert_calm(&when, || queue.run_one());
                }
            };
            if !handle_goes_first {
                go(&queue);
            }
            assert_calm("the drop of a handle", || drop(future.take()));
            assert_calm("the drop of a handle", || drop(output.take()));
            if handle_goes_first {
                go(&queue);
            }
            drop(is_awaited);
        }
    });
}

/// Clause 12: the waker of the handle is foreign code.
#[test]
fn a_panicking_waker_of_the_handle_does_no_harm() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "`run` survives a waker of the handle that panics, and the output is there. So \
                  does the thread that drops the handle, with a waker that panics when it is \
                  dropped.",
        usual_cause: "The waker is called outside of `catch_unwind`, or before the task is \
                      complete; or the drop of the handle drops the waker outside of \
                      `catch_unwind`.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        let before = live_bytes();
        let queue = Queue::default();
        let (waker, mut handle) = queue.spawn_large();
        assert!(poll(&mut handle, &HostileWaker::panicking()).is_pending());
        waker.wake();
        queue.run_one();
        result(handle).expect("it was ready");
        assert_freed(before, "after the panic of a waker");

        let (waker, mut handle) = queue.spawn_large();
        let bomb = PanicOnDrop;
        let bomb = HostileWaker::new(move || {
            let _with_the_waker = &bomb;
        });
        assert!(poll(&mut handle, &bomb).is_pending(), "it waits");
        // The handle has the last clone.
        drop(bomb);
        let thrown = panic_message(|| drop(handle));
        assert!(
            thrown.is_none(),
            "the handle was dropped, its waker panicked, and so did the drop: {thrown:?}"
        );
        waker.wake();
        queue.run_one();
        assert_freed(before, "after the panic of a waker that was dropped");
    });
}

/// Clause 12: the handle's waker is cloned and dropped, too.
#[test]
fn a_waker_that_panics_in_a_poll_of_the_handle_is_not_kept() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "After a panic of a waker that the handle cloned or dropped, the handle can be \
                  polled again, and no waker is left once the handle is gone.",
        usual_cause: "The handle takes its old waker back, and then clones the new one. If that \
                      panics, the old waker is in its cell, and neither side considers it its own. \
                      Clone first, and drop the old waker last. Or the new waker is assigned to \
                      the cell, which drops the old one, after the handle has recorded that it \
                      left the new one and before the flag says so. Take the old one out with \
                      `replace`, publish the new one, and drop the old one last.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || {
        let queue = Queue::default();
        for panics_when in ["cloned", "dropped"] {
            for is_polled_again in [false, true] {
                let (task, _waker, mut handle) = queue.spawn_waiting();
                let (good, counts) = CountingWaker::new();
                // What is there before, and what comes.
                let (old, new) = match panics_when {
                    "cloned" => {
                        (good.clone(), HostileWaker::panicking_when_cloned())
                    }
                    _ => {
                        let bomb = PanicOnDrop;
                        let old = HostileWaker::new(move || {
                            let _with_the_waker = &bomb;
                        });
                        (old, good.clone())
                    }
                };
                assert!(poll(&mut handle, &old).is_pending(), "it waits");
                // The handle has the last clone.
                let dropped = panic_message(|| drop(old));
                assert!(dropped.is_none(), "the handle keeps no clone");
                let _ = panic_message(|| _ = poll(&mut handle, &new));
                drop(new);
                if is_polled_again {
                    assert!(poll(&mut handle, &good).is_pending(), "it waits");
                    task.complete();
                    queue.run_one();
                    let wakes = counts.wakes();
                    assert!(
                        wakes == 1,
                        "after a waker panicked as it was {panics_when}, the next one was woken \
                         {wakes} times"
                    );
                }
                drop((handle, good));
                let kept = Arc::strong_count(&counts) - 1;
                assert!(
                    kept == 0,
                    "a waker panicked as it was {panics_when}, and {kept} clones of another are \
                     kept without a handle"
                );
            }
        }
    });
}

/// Clause 12: cloning a waker runs foreign code, which may run the task.
#[test]
fn a_waker_that_ends_the_task_as_it_is_cloned_loses_no_output() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "If the task ends as the handle clones a waker, and the clone panics when it is \
                  dropped, the handle gives the output in that poll, or when it is polled again.",
        usual_cause: "The handle takes the output, and after that drops the clone that came too \
                      late, whose panic loses the output. Drop the clone first.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    /// What is behind the waker: what it does when it is cloned.
    type Action = Mutex<Option<Box<dyn FnOnce() + Send>>>;
    static BOMB: RawWakerVTable = RawWakerVTable::new(
        |_| RawWaker::new(std::ptr::null(), &BOMB),
        |_| panic!("this waker panics when it is dropped"),
        |_| (),
        |_| panic!("this waker panics when it is dropped"),
    );
    static PASSED: RawWakerVTable = RawWakerVTable::new(
        |action| {
            // SAFETY: wakers with this vtable are only made below, where the action outlives them.
            let action = unsafe { &*action.cast::<Action>() };
            let action = action.lock().unwrap().take();
            action.into_iter().for_each(|action| action());
            RawWaker::new(std::ptr::null(), &BOMB)
        },
        |_| (),
        |_| (),
        |_| (),
    );
    check(lesson, || {
        for has_older in [false, true] {
            let queue = Queue::default();
            let (task, _waker, mut handle) = queue.spawn_waiting();
            let (good, _) = CountingWaker::new();
            if has_older {
                assert!(poll(&mut handle, &good).is_pending(), "it waits");
            }
            let end = move || {
                task.complete();
                queue.run_one();
            };
            let action: Action = Mutex::new(Some(Box::new(end)));
            // SAFETY: the functions only use their pointer to the action, which
            // is there until the end of this round.
            let new =
                unsafe { Waker::new((&raw const action).cast(), &PASSED) };
            let mut polled = None;
            let _ = panic_message(|| polled = Some(poll(&mut handle, &new)));
            if let Some(Poll::Pending) | None = polled {
                let again = panic_message(|| {
                    polled = Some(poll(&mut handle, &good));
                });
                assert!(
                    again.is_none(),
                    "a waker panicked in a poll of the handle, and so did the next poll: {again:?}"
                );
            }
            assert!(
                matches!(polled, Some(Poll::Ready(Ok(())))),
                "the task has ended, and its handle says {polled:?}"
            );
        }
    });
}

/// Clause 12: a scheduler is foreign code, like a future.
#[test]
fn a_panic_of_the_scheduler_cancels_the_task() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "If a call of the scheduler panics, in `clone`, `schedule`, `schedule_yielded` or \
                  `owned`, the handle says that the task was cancelled, and nothing is left of it.",
        usual_cause: "Between a poll and the step that lets the task go, or between a wake-up or \
                      an abort and the call of the scheduler, the task is a bare \
                      pointer: if the scheduler panics then, the task stays running forever, and \
                      its handle waits. Have a `Runnable` in hand when you call what may panic, \
                      because its drop cancels the task. Or `wake` schedules the task and then \
                      gives back the waker's reference, which a panic skips.",
        read: "scheduler/task-end.html#the-end-of-a-task",
    };
    check(lesson, || {
        for (panics_in, by) in [
            (Call::Clone, "a wake-up in its poll"),
            (Call::Clone, "a wake-up"),
            (Call::Clone, "a wake-up by reference"),
            (Call::Clone, "an abort"),
            (Call::Schedule, "a wake-up"),
            (Call::Schedule, "a wake-up by reference"),
            (Call::Schedule, "an abort"),
            (Call::Yielded, "a wake-up in its poll"),
            (Call::Owned, "a poll"),
        ] {
            let before = live_bytes();
            let ballast = [0_u8; LARGE];
            let (sender, receiver) = mpsc::channel();
            let future = poll_fn(move |cx| {
                black_box(&ballast);
                if by == "a wake-up in its poll" {
                    cx.waker().wake_by_ref();
                }
                let _ = sender.send(cx.waker().clone());
                Poll::<()>::Pending
            });
            let (task, handle) = spawn(future, Faulty { panics_in });
            let thrown = panic_message(|| {
                task.run();
                let waker = receiver.recv().expect("the poll has sent it");
                match by {
                    "a wake-up" => waker.wake(),
                    "a wake-up by reference" => waker.wake_by_ref(),
                    "an abort" => handle.abort(),
                    _ => {}
                }
            });
            drop(receiver);
            // What keeps the block alive need not clone, an abort need not
            // schedule, and a wake-up in a poll may use either method. What the
            // scheduler gets without a panic, it drops, which cancels it, too.
            let is_optional = matches!(panics_in, Call::Clone | Call::Yielded)
                || by == "an abort";
            let has_ended = handle.is_finished();
            assert!(
                (thrown.is_some() || is_optional) && has_ended,
                "after {by}, with a scheduler that panics in {panics_in:?}, the caller saw \
                 {thrown:?}; the task has ended: {has_ended}"
            );
            assert_cancelled(handle);
            let when = format!("after {by} and a panic in {panics_in:?}");
            assert_freed(before, &when);
        }
    });
}

/// A scheduler that panics in one of its calls, and drops what it is given in
/// the others.
struct Faulty {
    panics_in: Call,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Clone,
    Schedule,
    Yielded,
    Owned,
}

impl Faulty {
    fn enter(&self, call: Call) {
        assert!(self.panics_in != call, "the scheduler panics");
    }
}

impl Clone for Faulty {
    fn clone(&self) -> Self {
        self.enter(Call::Clone);
        Self { ..*self }
    }
}

impl Schedule for Faulty {
    fn schedule(&self, _task: Runnable<Self>) {
        self.enter(Call::Schedule);
    }

    fn schedule_yielded(&self, _task: Runnable<Self>) {
        self.enter(Call::Yielded);
        self.enter(Call::Schedule);
    }

    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        self.enter(Call::Owned);
        None
    }
}
