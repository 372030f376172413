//! What schedulers and their queues need.

use super::ways::{ENDS, ENDS_WITH_A_LIST, LastTask};
use super::*;

/// Runs each task at once, and checks whether it is alive afterward.
#[derive(Clone)]
struct AtOnce {
    mark: u64,
}

const MARK: u64 = 0x1122_3344_5566_7788;

impl Schedule for AtOnce {
    fn schedule(&self, task: Runnable<Self>) {
        task.run();
        assert!(
            self.mark == MARK,
            "the scheduler reads {:#x} of itself",
            self.mark
        );
    }
}

/// Clause 13: another worker may finish the task before `schedule` returns.
#[test]
fn the_scheduler_may_end_the_task_before_it_returns() {
    let lesson = Lesson {
        clause: "13. Handed over",
        promise: "A scheduler that runs the task to its end at once is alive until its call \
                  returns.",
        usual_cause: "The scheduler in the block is called. The thread that runs the task may free \
                      the block while the call goes on: call a clone.",
        read: "scheduler/task.html#who-may-poll-the-task",
    };
    check(lesson, || {
        let (sender, receiver) = mpsc::channel();
        let mut is_first = true;
        let waits = poll_fn(move |cx| match std::mem::take(&mut is_first) {
            true => {
                let _ = sender.send(cx.waker().clone());
                Poll::Pending
            }
            false => Poll::Ready(()),
        });
        let (task, handle) = spawn(waits, AtOnce { mark: MARK });
        drop(handle);
        task.run();
        receiver.recv().expect("its first poll has sent it").wake();

        let (task, handle) = spawn(Yields(2), AtOnce { mark: MARK });
        drop(handle);
        task.run();
        let (task, handle) = spawn(yield_now(), AtOnce { mark: MARK });
        drop(handle);
        task.run();
        let (task, handle) = spawn(pending::<()>(), AtOnce { mark: MARK });
        task.run();
        handle.abort();
        assert_cancelled(handle);
    });
}

/// Clause 13: a scheduler may want cache lines of its own.
#[test]
fn a_scheduler_of_any_alignment_is_found() {
    let lesson = Lesson {
        clause: "13. Handed over",
        promise: "A scheduler that is aligned to more than a header is found where it is, and called \
                  there.",
        usual_cause: "The scheduler is assumed to be right behind the header. There may be padding \
                      between them: ask `offset_of!` of a `#[repr(C)]` struct of both.",
        read: "scheduler/task.html#one-block",
    };
    #[derive(Clone)]
    #[repr(align(128))]
    struct Aligned {
        mark: u64,
        seen: mpsc::Sender<(usize, u64)>,
    }
    impl Schedule for Aligned {
        fn schedule(&self, task: Runnable<Self>) {
            let address = std::ptr::from_ref(self).addr();
            let _ = self.seen.send((address, self.mark));
            drop(task);
        }
    }
    check(lesson, || {
        let (seen, receiver) = mpsc::channel();
        let scheduler = Aligned { mark: MARK, seen };
        let (task, handle) = spawn(yield_now(), scheduler);
        let (address, block) =
            (std::ptr::from_ref(task.scheduler()).addr(), task.into_raw());
        assert!(
            address.is_multiple_of(align_of::<Aligned>()),
            "a scheduler with the alignment {} is said to be at {address:#x}",
            align_of::<Aligned>()
        );
        // SAFETY: `into_raw` of the same type has made it.
        let task = unsafe { Runnable::<Aligned>::from_raw(block) };
        let mark = task.scheduler().mark;
        assert!(mark == MARK, "the scheduler reads {mark:#x} of itself");
        task.run();
        let (address, mark) = receiver.recv().expect("the task has yielded");
        assert!(
            address.is_multiple_of(align_of::<Aligned>()) && mark == MARK,
            "the scheduler is called at {address:#x}, and reads {mark:#x} of itself"
        );
        assert_cancelled(handle);
    });
}

/// Clause 14: queues hold pointers, and lists need links.
#[test]
fn a_runnable_is_one_word_and_has_a_link() {
    let lesson = Lesson {
        clause: "14. Queues without memory",
        promise: "A `Runnable` is as large as a pointer, converts to one and back, and can link to \
                  another `Runnable`.",
        usual_cause: "It contains a fat pointer or the scheduler beside the task; or a link that \
                      is replaced is forgotten.",
        read: "scheduler/task.html#one-block",
    };
    check(lesson, || {
        let size = size_of::<Runnable<Queue>>();
        assert!(size == size_of::<usize>(), "a `Runnable` has {size} bytes");
        let queue = Queue::default();
        let spawn_one = |number| spawn(ready(number), queue.clone());
        let (mut first, first_handle) = spawn_one(1);
        let (second, second_handle) = spawn_one(2);
        let (third, third_handle) = spawn_one(3);
        assert!(first.take_next().is_none(), "a new task has a link");
        first.set_next(Some(second));
        first.set_next(Some(third));
        assert_cancelled(second_handle);
        let raw = first.into_raw();
        // SAFETY: `into_raw` of the same type has made it.
        let mut first = unsafe { Runnable::<Queue>::from_raw(raw) };
        let same = Arc::ptr_eq(&first.scheduler().0, &queue.0);
        assert!(same, "the scheduler of the task is a different one");
        let third = first.take_next().expect("it was linked");
        assert!(first.take_next().is_none(), "what was taken is still there");
        first.set_next(None);
        elsewhere(|| [first, third].map(Runnable::run));
        let outputs = [first_handle, third_handle].map(|it| result(it).ok());
        assert!(outputs == [Some(1), Some(3)], "the outputs are {outputs:?}");
    });
}

/// Clause 15: most tasks never wait, and cost the list nothing.
#[test]
fn a_task_is_listed_while_it_may_wait() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "A task is listed when it first waits, once, and no longer when it has ended.",
        usual_cause: "A task that ends, is aborted or panics is left in the list, or only the \
                      first or the last task of the list can be taken out. Or a task leaves the \
                      list only after it has told its handle that it has ended.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    check(lesson, || {
        let queue = Queue::with_list();
        let handle = queue.spawn(ready(()));
        queue.run_one();
        assert!(
            handle.is_finished() && queue.list().is_empty(),
            "it never waited"
        );
        // Out of the middle, the end and the beginning of three.
        for order in [[1, 0, 2], [0, 2, 1], [2, 1, 0]] {
            let mut tasks = [(); 3].map(|()| Some(queue.spawn_waiting()));
            for at in order {
                assert!(
                    !queue.list().is_empty(),
                    "a task that waits isn't listed"
                );
                let (task, waker, handle) =
                    tasks[at].take().expect("each once");
                waker.wake_by_ref();
                queue.run_one();
                match at {
                    0 => handle.abort(),
                    _ => task.complete(),
                }
                queue.run_all();
                assert!(handle.is_finished(), "it has ended");
            }
            assert!(queue.list().is_empty(), "a task that has ended is listed");
        }
        // Its end is what the handle's waker tells of.
        for aborts in [false, true] {
            let (task, waker, mut handle) = queue.spawn_waiting();
            let (seen, list) = (Arc::new(AtomicBool::new(true)), queue.clone());
            let is_empty = seen.clone();
            let joins = HostileWaker::new(move || {
                is_empty.store(list.list().is_empty(), SeqCst);
            });
            assert!(poll(&mut handle, &joins).is_pending(), "it waits");
            waker.wake_by_ref();
            match aborts {
                true => handle.abort(),
                false => task.complete(),
            }
            queue.run_all();
            let is_empty = seen.load(SeqCst);
            assert!(
                handle.is_finished() && is_empty,
                "when the waker of the handle was called, the task was still listed"
            );
        }
    });
}

/// Clause 15: this is how a runtime ends.
#[test]
fn closing_the_list_cancels_the_tasks_that_wait() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "`close_and_cancel` drops the waiting futures; those that are queued follow when \
                  they are run, without a poll.",
        usual_cause: "The lock of the list, or another lock of the close, is held while futures \
                      are dropped, and a destructor needs it, because it may close the list again; \
                      or tasks are only marked; or only those that wait are, and not those that \
                      are queued; or queued tasks are cancelled by two threads at once.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    check(lesson, || {
        let queue = Queue::with_list();
        let (queued, waker, queued_handle) = queue.spawn_waiting();
        let (waiting, _, waiting_handle) = queue.spawn_waiting();
        // Its destructor ends another task that is listed.
        let (_other, other_waker, other) = queue.spawn_waiting();
        let other = Arc::new(other);
        let aborts = AbortOnDrop(other.clone(), queue.clone());
        let last = queue.spawn(async move {
            let _with_the_future = aborts;
            pending::<()>().await
        });
        queue.run_one();
        waker.wake_by_ref();
        queue.list().close_and_cancel();
        let ended = [&waiting_handle, &last].map(JoinHandle::is_finished);
        assert!(ended == [true; 2], "a task that waited hasn't ended");
        queue.run_all();
        let polls = (queued.polls(), waiting.polls());
        assert!(polls == (1, 1), "a task was polled after it was cancelled");
        other_waker.wake();
        assert!(other.is_finished() && queue.list().is_empty());
        for handle in [queued_handle, waiting_handle, last] {
            assert_cancelled(handle);
        }
    });
}

struct AbortOnDrop(Arc<JoinHandle<()>>, Queue);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
        let _ = self.1.list().is_empty();
        self.1.list().close_and_cancel();
    }
}

/// Clause 15: there are as many tasks as a server has connections.
#[test]
fn closing_the_list_finds_each_of_many_tasks() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "`close_and_cancel` cancels each task that waits, no matter how many there are, and \
                  in which order others have ended.",
        usual_cause: "A task that is taken out of the list takes others along: its neighbors aren't \
                      linked to each other, or the first isn't replaced. Or the walk along the list ends at a \
                      task that is queued.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    const TASKS: usize = 1_000;
    check(lesson, || {
        let queue = Queue::with_list();
        let mut waiting: Vec<_> =
            (0..TASKS).map(|_| queue.spawn_waiting()).collect();
        // One in three, from all over the list.
        for step in 0..TASKS / 3 {
            let index = step * 7_919 % waiting.len();
            let (task, _, handle) = waiting.swap_remove(index);
            task.complete();
            queue.run_all();
            assert!(handle.is_finished(), "a task that was woken hasn't ended");
        }
        // Some are queued, and these follow when they are run.
        let (queued, waiting): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .enumerate()
            .partition(|it| it.0 % 10 == 5);
        queued.iter().for_each(|(_, task)| task.1.wake_by_ref());
        queue.list().close_and_cancel();
        let is_left = |it: &&(usize, (_, _, JoinHandle<()>))| {
            let (_, (_, _, handle)) = it;
            !handle.is_finished()
        };
        let (left, count) =
            (waiting.iter().filter(is_left).count(), waiting.len());
        assert!(
            left == 0,
            "of {TASKS} tasks {count} waited and {} were queued; {left} of those that waited \
             weren't cancelled",
            queued.len()
        );
        queue.run_all();
        let left = queued.iter().filter(is_left).count();
        assert!(
            left == 0,
            "{left} of those that were queued weren't cancelled"
        );
        assert!(queue.list().is_empty(), "the list still has tasks");
    });
}

/// Clause 15: a runtime waits until its list is empty.
#[test]
fn a_list_that_is_closed_empties_as_its_tasks_end() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "While `close_and_cancel` drops the futures, the list isn't empty before the last of \
                  them.",
        usual_cause: "The tasks are taken off the list where they are claimed, and their futures are \
                      dropped later: the list is empty, and what they own is still there. Take a task \
                      off where it ends.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    // Several, however many lists there are internally.
    const TASKS: usize = 1_000;
    check(lesson, || {
        let queue = Queue::with_list();
        let looks = Arc::new(Mutex::new(Vec::new()));
        let spawn = || {
            let look = LookOnDrop(queue.clone(), looks.clone());
            let handle = queue.spawn(async move {
                let _with_the_future = look;
                pending::<()>().await
            });
            queue.run_one();
            handle
        };
        let _handles: Vec<_> = (0..TASKS).map(|_| spawn()).collect();
        queue.list().close_and_cancel();
        let looks = looks.lock().unwrap();
        assert!(
            looks.len() == TASKS,
            "of {TASKS} futures {} were dropped",
            looks.len()
        );
        for (dropped, is_empty) in looks[..TASKS - 1].iter().enumerate() {
            let left = TASKS - 1 - dropped;
            assert!(
                !is_empty,
                "the list was empty, and {left} futures weren't dropped yet"
            );
        }
    });
}

/// Checks whether the list is empty.
struct LookOnDrop(Queue, Arc<Mutex<Vec<bool>>>);

impl Drop for LookOnDrop {
    fn drop(&mut self) {
        let is_empty = self.0.list().is_empty();
        self.1.lock().unwrap().push(is_empty);
    }
}

/// Clause 15: a task may be polled while the runtime ends.
#[test]
fn a_task_that_waits_after_the_close_is_cancelled() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "A task that is polled while the list is closed, or later, is cancelled instead of \
                  waiting.",
        usual_cause: "A closed list is noticed only when a task is spawned; the task is left \
                      waiting where nothing will end it.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    check(lesson, || {
        let queue = Queue::with_list();
        let close =
            |_: &Waker, _: &JoinHandle<()>| queue.list().close_and_cancel();
        let (handle, drops) =
            in_the_middle_of_a_poll(&queue, || Poll::<()>::Pending, close);
        assert!(
            drops.count() == 1,
            "its future was dropped {} times",
            drops.count()
        );
        assert_cancelled(handle);
        let handle = queue.spawn(pending::<()>());
        queue.run_all();
        assert_cancelled(handle);
        assert!(queue.list().is_empty(), "a cancelled task is listed");
        let handle = queue.spawn(ready(7));
        queue.run_all();
        assert!(
            result(handle).is_ok(),
            "a task that never waits was cancelled"
        );
    });
}

/// Clause 15: a runtime may be gone before its tasks, and the list with it.
#[test]
fn the_last_task_leaves_its_list_before_it_drops_the_scheduler() {
    let lesson = Lesson {
        clause: "15. Listed",
        promise: "The list belongs to the scheduler, and may be freed with it. A task that has the \
                  last scheduler isn't listed anymore when it drops it, no matter how it ends.",
        usual_cause: "A task that ends drops its scheduler, and leaves the list after that: it \
                      locks and changes a list that may have been freed. Leave the list first. At \
                      a hang: the scheduler is dropped while the list is locked, so the unlock \
                      comes after the free.",
        read: "scheduler/task-end.html#tasks-that-wait",
    };
    check(lesson, || {
        for (how, end) in ENDS.iter().chain(ENDS_WITH_A_LIST) {
            let task = LastTask::new(Some(OwnedTasks::new()), |_, _| ());
            let place = task.place.clone();
            end(&task);
            drop(task);
            let was_listed = place.was_listed.lock().unwrap().take();
            let Some(was_listed) = was_listed else {
                panic!(
                    "a task {how}, its handle and its wakers are gone, and it hasn't dropped its \
                     scheduler"
                );
            };
            assert!(
                !was_listed,
                "a task {how}, and dropped the last scheduler, to which the list belongs, while it \
                 was still listed there"
            );
        }
    });
}
