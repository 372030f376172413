//! What happens to a task at each moment of a call of its handle, and the reverse, with wakers that
//! panic.

use std::fmt;

use testkit::HostileClone;

use super::*;

/// What a waker of the handle does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Wakes,
    PanicsWhenCloned,
    PanicsWhenWoken,
    PanicsWhenDropped,
}

use Kind::*;

/// The wake-ups of a waker, which keeps a clone of the `Arc`.
type WakeUps = Arc<AtomicUsize>;

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wakes => "does as it should",
            PanicsWhenCloned => "panics when it is cloned",
            PanicsWhenWoken => "panics when it is woken",
            PanicsWhenDropped => "panics when it is dropped",
        })
    }
}

impl Kind {
    fn make(self) -> (Waker, WakeUps) {
        let wakes = WakeUps::default();
        let counted = wakes.clone();
        let count = move || _ = counted.fetch_add(1, SeqCst);
        let waker = match self {
            Wakes => HostileWaker::new(count),
            PanicsWhenWoken => HostileWaker::new(move || {
                count();
                panic!("this waker panics when it is woken");
            }),
            PanicsWhenDropped => {
                let bomb = PanicOnDrop;
                HostileWaker::new(move || {
                    let _with_the_waker = &bomb;
                    count();
                })
            }
            PanicsWhenCloned => {
                return HostileClone::counted(|| {
                    panic!("this waker panics when it is cloned")
                });
            }
        };
        (waker, wakes)
    }
}

/// How the task ends meanwhile.
const ENDS: [&str; 5] = [
    "is ready",
    "panics",
    "is aborted",
    "is dropped unrun",
    // It goes on to wait, and ends later.
    "is pending",
];

/// What the thread with the handle does meanwhile.
const CALLS: [&str; 5] = ["poll", "drop", "abort", "wake", "give up"];

/// Clause 12: two threads, and foreign code in the hands of both.
#[test]
fn a_task_may_end_at_any_moment_of_a_call_of_its_handle() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "If a task ends at any moment of a call of its handle, the waker of the last poll \
                  is woken, or the poll is ready; no waker is kept, and neither is lost what \
                  the task gives. That also holds if the old waker or the new one panics when it \
                  is cloned, woken or dropped, as soon as the handle is polled again.",
        usual_cause: "The old waker is dropped, or the new one cloned, when the waker cell belongs \
                      to neither side, or when the output was already taken. Clone first, put the \
                      new waker in its place, and drop the old one when all is done.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || try_all(false));
}

/// Clause 12: which of the two is interrupted makes a difference.
#[test]
fn a_handle_may_be_used_at_any_moment_of_the_end_of_its_task() {
    let lesson = Lesson {
        clause: "12. Panics",
        promise: "If a handle is polled or dropped, or its task is aborted or woken, at any moment \
                  of a `run` or of the drop of a `Runnable`, the task ends as it should, the waker \
                  of the last poll is woken, or the poll is ready, and all that the task has is \
                  dropped once and freed, no matter which wakers panic.",
        usual_cause: "The end of a task takes several steps, and a handle that comes in between \
                      sees only some of them. For example, the task is marked as complete and \
                      then asks in a second step whether it has a waker to wake; or it gives \
                      its reference back and then takes the waker out of a block that the handle \
                      may have freed.",
        read: "scheduler/task-end.html#the-handle-and-its-waker",
    };
    check(lesson, || try_all(true));
}

#[track_caller]
fn try_all(steps_the_end: bool) {
    let old = [
        None,
        Some(Wakes),
        Some(PanicsWhenWoken),
        Some(PanicsWhenDropped),
    ];
    let new = [Wakes, PanicsWhenCloned, PanicsWhenWoken];
    for end in ENDS {
        for call in CALLS {
            // A task that has no waker and no handle waits forever.
            let is_left = call == "give up" && end == "is pending";
            if is_left || call == "wake" && end != "is pending" {
                continue;
            }
            for old in old {
                for new in new {
                    let all = (0..).map(|moment| Case {
                        end,
                        old,
                        call,
                        new,
                        moment,
                        steps_the_end,
                    });
                    all.take_while(Case::run).for_each(drop);
                    if call != "poll" {
                        break;
                    }
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Case {
    end: &'static str,
    old: Option<Kind>,
    call: &'static str,
    new: Kind,
    moment: usize,
    /// Whether the moment is one of the end of the task, and not of the call.
    steps_the_end: bool,
}

impl Case {
    /// Returns `false` if the call has no such moment.
    fn run(&self) -> bool {
        let Self {
            end,
            old,
            call,
            new,
            moment,
            steps_the_end,
        } = *self;
        let before = live_bytes();
        let queue = Queue::default();
        let (future, task) = ManualFuture::new();
        let (probe, output) = DropProbe::new();
        let ballast = [0_u8; LARGE];
        let mut handle = Some(queue.spawn(async move {
            future.await;
            black_box(&ballast);
            assert!(end != "panics", "a task may panic");
            probe
        }));
        queue.run_one();
        // It keeps the block.
        let (own_waker, _) = task.wait_until_polled();
        let old_wakes = old.map(|old| {
            let (waker, wakes) = old.make();
            let handle = handle.as_mut().expect("just spawned");
            assert!(poll(handle, &waker).is_pending(), "it waits");
            drop(waker);
            wakes
        });
        match (end, &handle) {
            ("is aborted", Some(handle)) => {
                // It's queued, so that it isn't cancelled by the abort.
                own_waker.wake_by_ref();
                handle.abort();
            }
            ("is dropped unrun" | "is pending", _) => own_waker.wake_by_ref(),
            _ => task.complete(),
        }
        let runs = queue.clone();
        let run = move || {
            panic_message(|| match end {
                "is dropped unrun" => drop(runs.pop()),
                _ => runs.run_one(),
            })
        };
        let (new_waker, new_wakes) = new.make();
        // Only when it's given up, nothing else keeps the block.
        let task = Arc::new(Mutex::new(Some((task, own_waker))));
        let own = task.clone();
        let call_it = move || {
            let mut polled = None;
            let panic = panic_message(|| match (call, &mut handle) {
                ("poll", Some(handle)) => {
                    polled = Some(poll(handle, &new_waker));
                }
                ("abort", Some(handle)) => handle.abort(),
                ("wake", _) => own
                    .lock()
                    .unwrap()
                    .as_ref()
                    .expect("it's there")
                    .0
                    .complete(),
                ("give up", _) => {
                    drop(own.lock().unwrap().take());
                    drop(handle.take());
                }
                _ => drop(handle.take()),
            });
            drop(new_waker);
            (handle, polled, panic)
        };
        let both = match steps_the_end {
            false => together(moment, run, call_it),
            true => together(moment, call_it, run)
                .map(|(ran, called, has_happened)| (called, ran, has_happened)),
        };
        let Some((ran, (mut handle, mut polled, panic), has_happened)) = both
        else {
            // A task that waits would keep itself.
            if end == "is pending"
                && let Some((task, _)) = &*task.lock().unwrap()
            {
                task.complete();
            }
            drop(queue.pop());
            return false;
        };
        if end == "is pending" {
            // If it was aborted, it may be there to be cancelled.
            queue.run_all();
            if call != "abort" {
                let task = task.lock().unwrap();
                task.as_ref().expect("it's there").0.complete();
                queue.run_all();
            }
        }
        let may_panic = call == "poll"
            && (old == Some(PanicsWhenDropped) || new == PanicsWhenCloned);
        let seen = match (&ran, &panic, &polled) {
            (Some(message), ..) => Some(format!(
                "the run or drop of the `Runnable` panicked: {message}"
            )),
            (_, Some(message), _) if !may_panic => {
                Some(format!("the call panicked: {message}"))
            }
            (.., Some(Poll::Pending)) if new_wakes.load(SeqCst) == 0 => Some(
                "the poll was pending, and its waker wasn't woken".to_owned(),
            ),
            _ => None,
        };
        let seen = seen.or_else(|| {
            if let (Some(Poll::Pending) | None, Some(handle)) =
                (&polled, &mut handle)
            {
                let again = panic_message(|| {
                    polled = Some(poll(handle, Waker::noop()))
                });
                if let Some(again) = again {
                    return Some(format!(
                        "the next poll of the handle panicked: {again}"
                    ));
                }
            }
            let is_right = match (end, &polled) {
                (_, None) => matches!(call, "drop" | "give up"),
                (_, Some(Poll::Pending)) => false,
                // The abort may come first.
                (_, Some(Poll::Ready(Err(error))))
                    if call == "abort" && error.is_cancelled() =>
                {
                    true
                }
                ("is pending", Some(Poll::Ready(_))) if call == "abort" => {
                    false
                }
                ("is ready" | "is pending", Some(Poll::Ready(result))) => {
                    result.is_ok()
                }
                ("panics", Some(Poll::Ready(Err(error)))) => error.is_panic(),
                (_, Some(Poll::Ready(result))) => {
                    result.as_ref().is_err_and(JoinError::is_cancelled)
                }
            };
            (!is_right)
                .then(|| format!("in the end the handle gave {polled:?}"))
        });
        let seen = seen.or_else(|| {
            drop(polled);
            let all = [("old", old_wakes), ("new", Some(new_wakes))];
            all.into_iter().find_map(|(which, wakes)| {
                let wakes = wakes?;
                let (woken, kept) =
                    (wakes.load(SeqCst), Arc::strong_count(&wakes) - 1);
                let drops = output.count();
                match (woken, kept, drops) {
                    (0 | 1, 0, 1) => None,
                    (0 | 1, 0, _) => {
                        Some(format!("the output was dropped {drops} times"))
                    }
                    (0 | 1, ..) => Some(format!("the {which} waker is kept")),
                    _ => Some(format!(
                        "the {which} waker was woken {woken} times"
                    )),
                }
            })
        });
        let seen = seen.or_else(|| {
            // Captured messages take memory, too, so it's compared just before
            // and after.
            let kept = task.lock().unwrap().take()?;
            let with = live_bytes();
            if with - before < LARGE as isize / 2 {
                return Some("the block was freed before its waker".to_owned());
            }
            drop(kept);
            let is_left = with - live_bytes() < LARGE as isize / 2;
            is_left.then(|| "the block was left".to_owned())
        });
        if let Some(seen) = seen {
            let had = match old {
                None => "had no waker".to_owned(),
                Some(old) => format!("had a waker that {old}"),
            };
            let call = match call {
                "poll" => format!("was polled with a waker that {new}"),
                "drop" => "was dropped".to_owned(),
                "give up" => {
                    "was dropped, after all wakers of its task".to_owned()
                }
                "wake" => "waited while its task was woken".to_owned(),
                _ => "was used to abort".to_owned(),
            };
            let which = match steps_the_end {
                false => format!(
                    "at the moment {moment} of that, its task, which {end}, was run or dropped"
                ),
                true => format!(
                    "that was at the moment {moment} of a run or drop of its task, which {end}"
                ),
            };
            panic!("a handle {had}, and {call}; {which}: {seen}");
        }
        has_happened
    }
}

/// Has another thread do something at a moment of `body`. Returns `None` if
/// there's no such moment.
fn together<R: Send + 'static, B>(
    moment: usize,
    elsewhere: impl FnOnce() -> R + Send + 'static,
    body: impl FnOnce() -> B,
) -> Option<(R, B, bool)> {
    let (sender, threads) = mpsc::channel();
    let happens = move || {
        sender
            .send(start_elsewhere(elsewhere))
            .expect("it's received");
    };
    let (here, has_happened) = at_moment(moment, happens, body);
    let thread = threads.recv().ok()?;
    let there = thread.join().expect("it catches its panics");
    Some((there, here, has_happened))
}
