//! The ways in which a task ends that is listed, and has the last scheduler.

use testkit::WakeCounts;

use super::*;

/// A scheduler that sees what is in its list when the last clone is dropped.
#[derive(Clone)]
pub struct LastOwner {
    place: Arc<Place>,
    _end: Arc<LooksAtTheEnd>,
}

/// What would be freed with the last clone. Here the check keeps it, so that a
/// task that uses it after that does no harm.
pub struct Place {
    list: Option<OwnedTasks<LastOwner>>,
    tasks: Mutex<Vec<Runnable<LastOwner>>>,
    pub was_listed: Mutex<Option<bool>>,
}

struct LooksAtTheEnd(Arc<Place>);

impl Drop for LooksAtTheEnd {
    fn drop(&mut self) {
        let is_listed = self.0.list.as_ref().map(|list| !list.is_empty());
        *self.0.was_listed.lock().unwrap() = is_listed;
    }
}

impl Schedule for LastOwner {
    fn schedule(&self, task: Runnable<Self>) {
        self.place.tasks.lock().unwrap().push(task);
    }

    fn owned(&self) -> Option<&OwnedTasks<Self>> {
        self.place.list.as_ref()
    }
}

impl LastOwner {
    fn new(list: Option<OwnedTasks<Self>>) -> Self {
        let place = Arc::new(Place {
            list,
            tasks: Mutex::default(),
            was_listed: Mutex::default(),
        });
        Self {
            _end: Arc::new(LooksAtTheEnd(place.clone())),
            place,
        }
    }
}

/// A task that waits, and has the last scheduler.
pub struct LastTask {
    pub place: Arc<Place>,
    next_poll: Arc<Mutex<NextPoll>>,
    wakers: mpsc::Receiver<Waker>,
    handle: Arc<Handle>,
}

pub type Handle = Mutex<Option<Arc<JoinHandle<()>>>>;

/// What the task does in its next poll.
#[derive(Clone, Copy)]
enum NextPoll {
    Waits,
    Yields,
    IsReady,
    Panics,
}

impl LastTask {
    /// Spawns it. Its future calls this as it is dropped, with the
    /// task's handle and the wake-ups of the thread that awaits it.
    pub fn new(
        list: Option<OwnedTasks<LastOwner>>,
        as_it_is_dropped: impl FnOnce(&Handle, &WakeCounts) + Send + 'static,
    ) -> Self {
        let scheduler = LastOwner::new(list);
        let place = scheduler.place.clone();
        let next_poll = Arc::new(Mutex::new(NextPoll::Waits));
        let (sender, wakers) = mpsc::channel();
        let does = next_poll.clone();
        let (waker, join_wakes) = CountingWaker::new();
        let handle: Arc<Handle> = Arc::default();
        let (own, wakes) = (handle.clone(), join_wakes.clone());
        let action = move || as_it_is_dropped(&own, &wakes);
        let last = AsItIsDropped(Some(action));
        let future = poll_fn(move |cx| {
            let _with_the_future = &last;
            let _ = sender.send(cx.waker().clone());
            let does = *does.lock().unwrap();
            match does {
                NextPoll::Waits => Poll::Pending,
                NextPoll::Yields => pin!(yield_now()).poll(cx),
                NextPoll::IsReady => Poll::Ready(()),
                NextPoll::Panics => panic!("a task may panic"),
            }
        });
        let (task, mut own) = spawn(future, scheduler);
        task.run();
        let is_unlisted = |list: &OwnedTasks<_>| list.is_empty();
        let is_unlisted = place.list.as_ref().is_some_and(is_unlisted);
        assert!(!is_unlisted, "a task that waits isn't listed");
        assert!(poll(&mut own, &waker).is_pending(), "it waits");
        *handle.lock().unwrap() = Some(Arc::new(own));
        Self {
            place,
            next_poll,
            wakers,
            handle,
        }
    }

    /// Wakes the task, and takes what its scheduler gets.
    #[track_caller]
    fn woken(&self) -> Runnable<LastOwner> {
        let waker = self.wakers.recv().expect("a poll has sent it");
        waker.wake();
        let task = self.place.tasks.lock().unwrap().pop();
        task.expect("a task that waits was woken")
    }

    /// Wakes the task and runs it.
    #[track_caller]
    fn run(&self, next_poll: NextPoll) {
        *self.next_poll.lock().unwrap() = next_poll;
        self.woken().run();
    }

    /// Takes what the scheduler has.
    fn queued(&self) -> Option<Runnable<LastOwner>> {
        self.place.tasks.lock().unwrap().pop()
    }

    /// Takes a scheduler of the task, and lets it wait again.
    fn waiting_owner(&self) -> LastOwner {
        let task = self.woken();
        let owner = task.scheduler().clone();
        task.run();
        owner
    }

    fn detach(&self) {
        *self.handle.lock().unwrap() = None;
    }

    fn close(&self) {
        let list = self.place.list.as_ref().expect("it has one");
        list.close_and_cancel();
    }

    fn abort(&self) {
        // Not under the lock: the future may be dropped here.
        let handle = self.handle.lock().unwrap().clone();
        handle.expect("it has one").abort();
    }

    /// Wakes the task and links it behind another one, of another list.
    fn behind_another(&self) -> Runnable<LastOwner> {
        let (mut first, _) = spawn(ready(()), LastOwner::new(None));
        first.set_next(Some(self.woken()));
        first
    }
}

struct AsItIsDropped<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for AsItIsDropped<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|action| action());
    }
}

/// How a task ends that has waited.
pub type End = fn(&LastTask);

pub const ENDS: &[(&str, End)] = &[
    ("was ready", |task| task.run(NextPoll::IsReady)),
    ("was ready without a handle", |task| {
        task.detach();
        task.run(NextPoll::IsReady);
    }),
    ("panicked", |task| task.run(NextPoll::Panics)),
    ("was aborted as it waited", |task| {
        task.abort();
        task.queued().into_iter().for_each(Runnable::run);
    }),
    ("was aborted, and its `Runnable` dropped", |task| {
        task.abort();
        drop(task.queued());
    }),
    ("was aborted as it was queued", |task| {
        let queued = task.woken();
        task.abort();
        queued.run();
    }),
    ("was dropped as it was queued", |task| drop(task.woken())),
    ("was dropped without a handle", |task| {
        task.detach();
        drop(task.woken());
    }),
    ("was dropped behind another", |task| {
        drop(task.behind_another());
    }),
    ("was linked behind another, which was run", |task| {
        task.behind_another().run();
    }),
];

/// Those that are a matter of the last milestone.
pub const ENDS_WITH_A_LIST: &[(&str, End)] = &[
    ("was ready after a yield", |task| {
        task.run(NextPoll::Yields);
        *task.next_poll.lock().unwrap() = NextPoll::IsReady;
        task.queued().into_iter().for_each(Runnable::run);
    }),
    ("was dropped after a yield", |task| {
        task.run(NextPoll::Yields);
        drop(task.queued());
    }),
    ("waited when its list was closed", |task| {
        // The thread that closes a list has a scheduler.
        let owner = task.waiting_owner();
        task.close();
        drop(owner);
    }),
    (
        "was queued when its list was closed, and then run",
        |task| {
            let queued = task.woken();
            task.close();
            queued.run();
        },
    ),
];
