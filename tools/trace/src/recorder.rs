//! The recording itself: one buffer for each thread, written by that thread alone and read by the
//! thread that finishes the recording.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicU32};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::attribution;
use crate::buffer::Buffer;
use crate::event::{Event, Kind};
use crate::host;
use crate::trace::{Meta, Trace};

/// Buffers made beforehand for threads that aren't workers.
const SPARE_BUFFERS: usize = 3;

/// The number of the recording that goes on, or 0.
static CURRENT: AtomicU32 = AtomicU32::new(0);

/// The recording that goes on, and the number of the last one.
static SESSION: Mutex<(u32, Option<Arc<Session>>)> = Mutex::new((0, None));

thread_local! {
    /// Where this thread records.
    static LANE: RefCell<Option<Lane>> = const { RefCell::new(None) };
    /// The task that runs on this thread.
    static RUNNING: Cell<TaskId> = const { Cell::new(TaskId::NONE) };
    /// What this thread is known as.
    static ROLE: Cell<Role> = const { Cell::new(Role::Stranger) };
}

/// What a thread is to the recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// No worker.
    Stranger,
    /// A worker, which gets the next number that is free.
    Worker,
    /// A worker whose scheduler has numbered it.
    Numbered(i32),
}

/// A task of one recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskId {
    recording: u32,
    id: u32,
}

impl TaskId {
    pub(crate) const NONE: Self = Self {
        recording: 0,
        id: 0,
    };

    /// Returns `true` if the recording that the task belongs to goes on.
    pub(crate) fn is_recorded(self) -> bool {
        self.id != 0 && self.recording == current()
    }

    /// The task's number in this recording; 0 for a task of another recording.
    fn within(self, recording: u32) -> u32 {
        if self.recording == recording {
            self.id
        } else {
            0
        }
    }
}

/// The number of the current recording, or 0. Inlined, so that without a recording, a check
/// costs only one load.
#[inline]
fn current() -> u32 {
    // Relaxed: a thread that sees an older value records or misses one event more.
    CURRENT.load(Relaxed)
}

/// What all threads of a recording share.
struct Session {
    number: u32,
    start: Instant,
    next_worker: AtomicI32,
    /// The buffers in use, then those that no thread has taken yet.
    buffers: Mutex<Buffers>,
    names: Mutex<Vec<Cow<'static, str>>>,
    marks: Mutex<Vec<Cow<'static, str>>>,
}

struct Buffers {
    used: Vec<Arc<Buffer>>,
    spare: Vec<Arc<Buffer>>,
}

/// A thread's place in a recording.
struct Lane {
    recording: u32,
    start: Instant,
    worker: i32,
    buffer: Arc<Buffer>,
}

/// A recording that goes on until it is finished or dropped.
#[must_use = "what is recorded is lost unless the recording is finished"]
#[derive(Debug)]
pub struct Recording {
    meta: Meta,
}

/// Starts to record. `runtime` names it with its version, `workers` is the number
/// of its threads.
///
/// # Panics
///
/// If another recording goes on in this process.
#[track_caller]
pub fn record(title: impl Into<String>, runtime: impl Into<String>, workers: usize) -> Recording {
    let source = host::source();
    // What one event costs is measured on a recording that isn't shown.
    begin(Session::new(0));
    let event_cost_ns = measure_event_cost();
    end();
    begin(Session::new(workers));
    Recording {
        meta: Meta {
            title: title.into(),
            runtime: runtime.into(),
            workers,
            recorded: host::now(),
            source,
            event_cost_ns,
            ..Meta::default()
        },
    }
}

impl Recording {
    /// Ends the recording and returns what was recorded. Polls that haven't
    /// ended have no end in the trace.
    pub fn finish(mut self) -> Trace {
        let session = end().expect("a recording goes on until it is finished");
        let mut meta = std::mem::take(&mut self.meta);
        std::mem::forget(self);
        let buffers = lock(&session.buffers);
        let mut events = Vec::new();
        for buffer in &buffers.used {
            let start = events.len();
            buffer.read(&mut events);
            attribution::name_tasks(&mut events[start..]);
            if let Some((lost, from_ns)) = buffer.lost() {
                meta.dropped += lost;
                let earliest = meta.dropped_from_ns.unwrap_or(u64::MAX);
                meta.dropped_from_ns = Some(earliest.min(from_ns));
            }
        }
        // The sort is stable: events of a thread keep their order.
        events.sort_by_key(|event| event.time_ns);
        let seen = session.next_worker.load(Relaxed);
        meta.workers = meta.workers.max(usize::try_from(seen).unwrap_or(0));
        meta.marks = texts(&session.marks);
        Trace::new(meta, texts(&session.names), events)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        end();
    }
}

fn begin(session: Session) {
    let mut current = lock(&SESSION);
    if current.1.is_some() {
        drop(current);
        panic!("another recording goes on: finish it first");
    }
    let number = current.0 + 1;
    *current = (
        number,
        Some(Arc::new(Session {
            number,
            start: Instant::now(),
            ..session
        })),
    );
    // Relaxed: a thread that sees it takes the lock before it records anything.
    CURRENT.store(number, Relaxed);
}

fn end() -> Option<Arc<Session>> {
    let mut current = lock(&SESSION);
    CURRENT.store(0, Relaxed);
    current.1.take()
}

fn texts(of: &Mutex<Vec<Cow<'static, str>>>) -> Vec<String> {
    lock(of).iter().map(|text| text.to_string()).collect()
}

/// A panic while a lock of ours is held leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cheapest of several rounds: what else the machine does isn't ours.
fn measure_event_cost() -> u64 {
    const ROUNDS: u32 = 8;
    const EVENTS: u32 = 256;
    let round = |_| {
        let start = Instant::now();
        for _ in 0..EVENTS {
            push(current(), Kind::Mark, 0, 0, 0);
        }
        start.elapsed().as_nanos()
    };
    let total = (0..ROUNDS).map(round).min().unwrap_or(0);
    u64::try_from(total.div_ceil(EVENTS.into())).unwrap_or(u64::MAX)
}

impl Session {
    fn new(workers: usize) -> Self {
        let buffer = |_| Arc::new(Buffer::new());
        let count = workers + SPARE_BUFFERS;
        Self {
            number: 0,
            start: Instant::now(),
            next_worker: AtomicI32::new(0),
            buffers: Mutex::new(Buffers {
                used: Vec::with_capacity(count),
                spare: (0..count).map(buffer).collect(),
            }),
            names: Mutex::new(Vec::with_capacity(256)),
            marks: Mutex::new(Vec::with_capacity(16)),
        }
    }

    /// Gives this thread a place in the recording.
    fn admit(&self) -> Lane {
        let mut buffers = lock(&self.buffers);
        let buffer = buffers
            .spare
            .pop()
            .unwrap_or_else(|| Arc::new(Buffer::new()));
        buffers.used.push(buffer.clone());
        drop(buffers);
        let worker = match ROLE.get() {
            Role::Stranger => -1,
            Role::Worker => self.next_worker.fetch_add(1, Relaxed),
            Role::Numbered(worker) => {
                self.next_worker.fetch_max(worker + 1, Relaxed);
                worker
            }
        };
        Lane {
            recording: self.number,
            start: self.start,
            worker,
            buffer,
        }
    }
}

/// Records an event, if this recording goes on.
#[inline]
fn push(recording: u32, kind: Kind, task: u32, arg: u32, count: u32) {
    if recording == 0 || recording != current() {
        return;
    }
    let now = Instant::now();
    // A thread that is shutting down records no more.
    let _too_late = LANE.try_with(|lane| {
        let mut lane = lane.borrow_mut();
        let is_elsewhere = |lane: &Lane| lane.recording != recording;
        if lane.as_ref().is_none_or(is_elsewhere) {
            *lane = join();
        }
        // The recording may have ended just now, and another begun.
        if let Some(lane) = lane.as_ref().filter(|lane| lane.recording == recording) {
            lane.push(now, kind, task, arg, count);
        }
    });
}

#[cold]
fn join() -> Option<Lane> {
    lock(&SESSION).1.as_ref().map(|session| session.admit())
}

impl Lane {
    #[inline]
    fn push(&self, now: Instant, kind: Kind, task: u32, arg: u32, count: u32) {
        let time = now.saturating_duration_since(self.start);
        let time_ns = time.as_secs() * 1_000_000_000 + u64::from(time.subsec_nanos());
        let worker = self.worker;
        self.buffer.push(Event {
            time_ns,
            kind,
            worker,
            task,
            arg,
            count,
        });
    }
}

/// Names a task, and records that the one that runs now has made it.
pub(crate) fn spawn(name: impl Into<Cow<'static, str>>) -> TaskId {
    make(Kind::Spawn, name.into())
}

/// Names a job, likewise.
pub(crate) fn submit(name: impl Into<Cow<'static, str>>) -> TaskId {
    make(Kind::Job, name.into())
}

fn make(kind: Kind, name: Cow<'static, str>) -> TaskId {
    let Some(session) = lock(&SESSION).1.clone() else {
        return TaskId::NONE;
    };
    let mut names = lock(&session.names);
    names.push(name);
    let id = u32::try_from(names.len()).unwrap_or(u32::MAX);
    drop(names);
    let recording = session.number;
    let by = RUNNING.get().within(recording);
    push(recording, kind, id, by, 0);
    TaskId { recording, id }
}

/// Records that a task is woken, and by which.
pub(crate) fn wake(task: TaskId) {
    if task.is_recorded() {
        // A waker may be called while its thread shuts down.
        let by = RUNNING.try_with(Cell::get).unwrap_or(TaskId::NONE);
        let by = by.within(task.recording);
        push(task.recording, Kind::Wake, task.id, by, 0);
    }
}

/// The time during which a task runs on this thread.
pub(crate) struct Running {
    task: TaskId,
    outer: TaskId,
    is_ready: bool,
}

impl Running {
    /// Begins it.
    pub(crate) fn begin(task: TaskId) -> Self {
        let outer = RUNNING.replace(task);
        push(task.recording, Kind::PollBegin, task.id, 0, 0);
        Self {
            task,
            outer,
            is_ready: false,
        }
    }

    /// Ends it. A panic ends it, too, and then the task isn't ready.
    pub(crate) fn end(mut self, is_ready: bool) {
        self.is_ready = is_ready;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let TaskId { recording, id } = self.task;
        let is_ready = u32::from(self.is_ready);
        push(recording, Kind::PollEnd, id, is_ready, 0);
        RUNNING.set(self.outer);
    }
}

/// Records that the task that runs on this thread yields.
pub fn yielded() {
    let task = RUNNING.get();
    push(task.recording, Kind::Yield, task.id, 0, 0);
}

/// Records a remark, which is shown where and when it is made.
pub fn mark(text: impl Into<Cow<'static, str>>) {
    let Some(session) = lock(&SESSION).1.clone() else {
        return;
    };
    let mut marks = lock(&session.marks);
    let index = u32::try_from(marks.len()).unwrap_or(u32::MAX);
    marks.push(text.into());
    drop(marks);
    let task = RUNNING.get().within(session.number);
    push(session.number, Kind::Mark, task, index, 0);
}

/// Makes this thread the next worker. For the hook of a runtime that is called when one of its
/// threads starts, or for the first line of a thread of your own.
pub fn thread_start() {
    if ROLE.get() == Role::Stranger {
        be(Role::Worker);
    } else if current() != 0 {
        rejoin(false);
    }
}

/// Makes this thread the worker of this number.
pub(crate) fn thread_is(worker: usize) {
    let number = i32::try_from(worker).expect("a worker has a smaller number");
    be(Role::Numbered(number));
}

fn be(role: Role) {
    let is_new = ROLE.replace(role) != role;
    rejoin(is_new);
}

/// Takes a place in the current recording, unless this thread has one and its role is unchanged.
fn rejoin(is_new: bool) {
    let recording = current();
    LANE.with_borrow_mut(|lane| {
        let is_known = lane
            .as_ref()
            .is_some_and(|lane| lane.recording == recording);
        if recording != 0 && (is_new || !is_known) {
            *lane = join();
        }
    });
}

/// Records that this worker parks for lack of work.
#[inline]
pub fn thread_park() {
    if current() != 0 {
        park(Kind::Park);
    }
}

/// Records that this worker is awake again.
#[inline]
pub fn thread_unpark() {
    if current() != 0 {
        park(Kind::Unpark);
    }
}

/// A thread that parks is a worker.
fn park(kind: Kind) {
    thread_start();
    push(current(), kind, 0, 0, 0);
}

/// Records what a scheduler does. While nothing is recorded, that is one load.
#[inline]
pub(crate) fn tell(kind: Kind, arg: u32, count: usize) {
    let recording = current();
    if recording != 0 {
        told(recording, kind, arg, count);
    }
}

/// Apart, so that what is inlined into a scheduler is small.
#[inline(never)]
fn told(recording: u32, kind: Kind, arg: u32, count: usize) {
    push(
        recording,
        kind,
        0,
        arg,
        u32::try_from(count).unwrap_or(u32::MAX),
    );
}
