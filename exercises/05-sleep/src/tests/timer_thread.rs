//! The timer thread.

use super::*;

/// Clause 10: a thread that sleeps costs a stack and a context switch.
#[test]
fn ten_thousand_sleeps_share_one_thread() {
    let lesson = Lesson {
        clause: "10. One thread",
        promise: "No matter how many sleeps there are, one thread named `timer` serves them all.",
        usual_cause: "A thread that is named `None` has no name: start it with `thread::Builder`. \
                      Or each sleep has a thread of its own, or each calling thread has one.",
        read: "blocking/sleep.html#a-thread-for-them-all",
    };
    const SLEEPS: usize = 10_000;
    check(lesson, || {
        let before = thread_count();
        let (announce, announced) = mpsc::channel();
        let waker = HostileWaker::new(move || {
            let name = thread::current().name().map(str::to_owned);
            let _ = announce.send((thread::current().id(), name));
        });
        let begin_half = |waker: Waker| {
            let durations =
                (0..SLEEPS as u32 / 2).map(|index| MS * (index % 20));
            let mut sleeps: Vec<_> = durations.map(sleep).collect();
            sleeps.retain_mut(|sleep| !poll(sleep, &waker));
            sleeps
        };
        let elsewhere = waker.clone();
        let there = thread::spawn(move || begin_half(elsewhere));
        let here = begin_half(waker);
        let there = there.join().expect("polling doesn't panic");
        if let (Some(before), Some(after)) = (before, thread_count()) {
            let more = after.saturating_sub(before);
            assert!(more <= 2, "{SLEEPS} sleeps started {more} threads");
        }
        let mut threads = Vec::new();
        for _ in 0..here.len() + there.len() {
            let announced = announced.recv();
            let (id, name) =
                announced.expect("a sleep keeps its waker until it is woken");
            assert!(
                name.as_deref() == Some("timer"),
                "a waker was called by a thread named {name:?}"
            );
            if !threads.contains(&id) {
                threads.push(id);
            }
        }
        let count = threads.len();
        assert!(count <= 1, "{count} threads called the wakers");
    });
}

/// Clause 10: a server's workers start at the same moment.
#[test]
fn callers_that_come_at_once_start_one_thread() {
    let lesson = Lesson {
        clause: "10. One thread",
        promise: "No matter how many threads make the first call of `sleep` at the same time, one \
                  thread named `timer` is started.",
        usual_cause: "A caller checks whether the timers exist, and starts them if they don't. If \
                      two callers check at the same time, both start a thread. Start it in \
                      `OnceLock::get_or_init` or a `LazyLock`, or hold a lock meanwhile.",
        read: "blocking/sleep.html#a-thread-for-them-all",
    };
    const CALLERS: usize = 8;
    check(lesson, || {
        let ready = Arc::new(AtomicUsize::new(0));
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| {
                let ready = ready.clone();
                thread::spawn(move || {
                    ready.fetch_add(1, SeqCst);
                    while ready.load(SeqCst) < CALLERS {
                        thread::yield_now();
                    }
                    wait_for(with_slow_allocations(|| sleep(MS)));
                })
            })
            .collect();
        for caller in callers {
            caller.join().expect("sleeping doesn't panic");
        }
        let count = threads_named("timer");
        assert!(
            count <= 1,
            "{CALLERS} threads called `sleep` at once, and then {count} threads were named `timer`"
        );
    });
}

/// How many threads of this process have that name; 0 on systems that don't
/// show it.
fn threads_named(name: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let names = tasks
        .flatten()
        .flat_map(|task| std::fs::read_to_string(task.path().join("comm")));
    names.filter(|it| it.trim_end() == name).count()
}

/// Clause 10: one bad task must not stop the timers of all the others.
#[test]
fn the_timer_thread_survives_a_waker_that_panics() {
    let lesson = Lesson {
        clause: "10. One thread",
        promise: "After a waker has panicked on the timer thread, sleeps still end.",
        usual_cause: "The panic ends the thread. Catch it where the waker is called.",
        read: "blocking/sleep.html#wakers-are-strangers",
    };
    check(lesson, || {
        for _ in 0..3 {
            let mut hostile = sleep(MS);
            let is_ready = poll(&mut hostile, &HostileWaker::panicking());
            wait_for(sleep(3 * MS));
            let is_ready = is_ready || poll(&mut hostile, Waker::noop());
            assert!(is_ready, "the sleep whose waker panicked has not fired");
        }
    });
}

/// Clause 11: the thread sleeps when the short one comes.
#[test]
fn a_short_sleep_interrupts_a_long_one() {
    let lesson = Lesson {
        clause: "11. Interruptible",
        promise: "While the timer thread sleeps until a distant deadline, a short sleep ends in \
                  time.",
        usual_cause: "The thread sleeps with `thread::sleep`, which nothing can end early. Or the \
                      new deadline doesn't unpark the thread, or unparks it before the deadline is \
                      in the list.",
        read: "blocking/sleep.html#an-earlier-deadline",
    };
    check(lesson, || {
        let timer_thread = probe_timer_thread();
        for long in [HOUR, SECOND * 600, SECOND * 60] {
            let (_long, wakes) = begin(sleep(long));
            timer_thread.wait_until_asleep();
            wait_for(sleep(5 * MS));
            assert!(wakes.wakes() == 0, "the long sleep was woken");
        }
    });
}

/// The thread that calls the wakers.
fn probe_timer_thread() -> ThreadProbe {
    let (announce, announced) = mpsc::channel();
    let waker =
        HostileWaker::new(move || _ = announce.send(ThreadProbe::here()));
    let _sleep = begin_soon(&waker);
    announced.recv().expect("the waker is called")
}

/// A short sleep that was polled before it was over, which may take a few tries
/// on a busy machine.
fn begin_soon(waker: &Waker) -> Sleep {
    for tries in 0..10 {
        let mut short = sleep(2 * MS * (1 << tries));
        if !poll(&mut short, waker) {
            return short;
        }
    }
    panic!("ten sleeps were ready at their first polls, the last of 1 s");
}

/// Clause 12: an idle program should use no battery.
#[test]
fn the_thread_rests_while_nothing_is_due() {
    let lesson = Lesson {
        clause: "12. Idle",
        promise: "While all deadlines are distant, or there are none, the thread sleeps.",
        usual_cause: "The thread looks again now and then, to be safe, or polls its list in a loop.",
        read: "blocking/sleep.html#the-next-deadline",
    };
    const MOST_SLEEPS: u64 = 3;
    check(lesson, || {
        let timer_thread = probe_timer_thread();
        // A thread that looks again ten times a second is detected within one
        // second.
        for (far, window) in [(None, MS * 100), (Some(HOUR), SECOND)] {
            let far = far.map(|duration| begin(sleep(duration)));
            timer_thread.wait_until_asleep();
            let Some(cost) = idle_cost(&timer_thread, window) else {
                return;
            };
            assert!(
                cost.sleeps < MOST_SLEEPS && cost.cpu < window / 5,
                "in {window:?} the thread woke up {} times and used {:.1?} of CPU time",
                cost.sleeps,
                cost.cpu
            );
            drop(far);
        }
    });
}

/// Clause 12: a thread may easily spin through the last millisecond.
#[test]
fn the_thread_does_not_spin_toward_a_deadline() {
    let lesson = Lesson {
        clause: "12. Idle",
        promise: "The thread sleeps even in the last millisecond before a deadline.",
        usual_cause: "The time that is left is rounded down to whole milliseconds, which makes \
                      zero, so the thread doesn't wait, and looks again and again.",
        read: "blocking/sleep.html#never-early",
    };
    check(lesson, || {
        let timer_thread = probe_timer_thread();
        let Some(before) = timer_thread.cost() else {
            return;
        };
        let chain = Arc::new(Chain::default());
        let _first = begin_soon(&chain.clone().into());
        chain.end.wait();
        let Some(after) = timer_thread.cost() else {
            return;
        };
        let cpu = after.cpu - before.cpu;
        let whole = Chain::DURATION * Chain::LENGTH as u32;
        assert!(
            cpu < whole / 4,
            "in {whole:.0?} of sleeps the thread used {cpu:.1?} of CPU time"
        );
    });
}

/// Sleeps one after another, each begun where the one before has ended, which
/// is on the timer thread. Therefore that thread waits for no other thread, and
/// if it spins, it spins until the last sleep has ended, no matter how busy the
/// machine is.
#[derive(Default)]
struct Chain {
    begun: Mutex<Vec<Sleep>>,
    end: Gate,
}

impl Chain {
    const LENGTH: usize = 100;
    const DURATION: Duration = Duration::from_micros(900);

    fn begun(&self) -> MutexGuard<'_, Vec<Sleep>> {
        self.begun.lock().expect("no code panics here")
    }
}

impl Wake for Chain {
    fn wake(self: Arc<Self>) {
        while self.begun().len() < Self::LENGTH {
            let mut next = sleep(Self::DURATION);
            let is_ready = poll(&mut next, &self.clone().into());
            self.begun().push(next);
            if !is_ready {
                return;
            }
        }
        self.end.open();
    }
}

/// Clause 13: tasks move, and what they own moves with them.
#[test]
fn a_sleep_may_move_to_another_thread() {
    fn assert_anywhere<T: Send + Sync + Unpin + 'static>(_: &T) {}
    let lesson = Lesson {
        clause: "13. Anywhere",
        promise: "A sleep that was polled here may be moved, and may be polled and dropped on \
                  another thread.",
        usual_cause: "The sleep keeps something that belongs to the thread or the address where it \
                      was first polled.",
        read: "blocking/sleep.html#whose-waker",
    };
    check(lesson, || {
        let short = begin_soon(Waker::noop());
        let (long, _wakes) = begin(sleep(HOUR));
        assert_anywhere(&short);
        let moved = Box::new((short, long));
        let elsewhere = thread::spawn(move || {
            let (short, long) = *moved;
            panic_message(|| {
                wait_for(short);
                drop(long);
            })
        });
        let message = elsewhere.join().expect("panics are caught");
        assert!(
            message.is_none(),
            "on another thread, the sleep panicked: {message:?}"
        );
        wait_for(sleep(MS));
    });
}
