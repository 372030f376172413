//! What happens to a task at each moment of a call of its handle, with wakers that panic.

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
const ENDS: [&str; 4] =
    ["is ready", "panics", "is aborted", "is dropped unrun"];

/// What the thread with the handle does meanwhile.
const CALLS: [&str; 3] = ["poll", "drop", "abort"];

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
    let old = [
        None,
        Some(Wakes),
        Some(PanicsWhenWoken),
        Some(PanicsWhenDropped),
    ];
    let new = [Wakes, PanicsWhenCloned, PanicsWhenWoken];
    check(lesson, move || {
        for end in ENDS {
            for old in old {
                for call in CALLS {
                    for new in new {
                        let all = (0..).map(|moment| Case {
                            end,
                            old,
                            call,
                            new,
                            moment,
                        });
                        all.take_while(Case::run).for_each(drop);
                        if call != "poll" {
                            break;
                        }
                    }
                }
            }
        }
    });
}

#[derive(Clone, Copy)]
struct Case {
    end: &'static str,
    old: Option<Kind>,
    call: &'static str,
    new: Kind,
    moment: usize,
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
        } = *self;
        let queue = Queue::default();
        let (future, task) = ManualFuture::new();
        let (probe, output) = DropProbe::new();
        let mut handle = Some(queue.spawn(async move {
            future.await;
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
            ("is dropped unrun", _) => own_waker.wake_by_ref(),
            _ => task.complete(),
        }
        let (runs, (sender, threads)) = (queue.clone(), mpsc::channel());
        let run = move || match end {
            "is dropped unrun" => drop(runs.pop()),
            _ => runs.run_one(),
        };
        let happens =
            move || sender.send(start_elsewhere(run)).expect("it's received");
        let (new_waker, new_wakes) = new.make();
        let mut polled = None;
        let call_it = || match (call, &mut handle) {
            ("poll", Some(handle)) => polled = Some(poll(handle, &new_waker)),
            ("abort", Some(handle)) => handle.abort(),
            _ => drop(handle.take()),
        };
        let (panic, has_happened) =
            at_moment(moment, happens, || panic_message(call_it));
        let Ok(thread) = threads.recv() else {
            drop(queue.pop());
            return false;
        };
        let ran = thread.join();
        drop(new_waker);
        let may_panic = call == "poll"
            && (old == Some(PanicsWhenDropped) || new == PanicsWhenCloned);
        let seen = match (&ran, &panic, &polled) {
            (Err(_), ..) => {
                Some("the run or drop of the `Runnable` panicked".to_owned())
            }
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
                (_, None) => call == "drop",
                (_, Some(Poll::Pending)) => false,
                // The abort may come first.
                (_, Some(Poll::Ready(Err(error))))
                    if call == "abort" && error.is_cancelled() =>
                {
                    true
                }
                ("is ready", Some(Poll::Ready(result))) => result.is_ok(),
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
        if let Some(seen) = seen {
            let had = match old {
                None => "had no waker".to_owned(),
                Some(old) => format!("had a waker that {old}"),
            };
            let call = match call {
                "poll" => format!("was polled with a waker that {new}"),
                "drop" => "was dropped".to_owned(),
                _ => "was used to abort".to_owned(),
            };
            panic!(
                "a handle {had}, and {call}; at the moment {moment} of that, its task, which {end}, \
                 ended: {seen}"
            );
        }
        has_happened
    }
}
