//! Every short history of calls, compared with what the contract says.

use super::*;

/// What can happen to two pools: a, with two threads, and b, with one.
#[derive(Clone, Copy, Debug)]
enum Step {
    SubmitToA,
    SubmitToB,
    EndTheOldestOfA,
    EndTheNewestOfA,
}

const STEPS: [Step; 4] = [
    Step::SubmitToA,
    Step::SubmitToB,
    Step::EndTheOldestOfA,
    Step::EndTheNewestOfA,
];

impl Step {
    fn in_words(self) -> &'static str {
        match self {
            Step::SubmitToA => "a job for pool a",
            Step::SubmitToB => "a job for pool b",
            Step::EndTheOldestOfA => "the oldest job of a that runs ends",
            Step::EndTheNewestOfA => "the newest job of a that runs ends",
        }
    }
}

/// All sequences of at most `longest` items, the shortest first.
pub(super) fn sequences<T: Copy>(
    items: &[T],
    longest: u32,
) -> impl Iterator<Item = Vec<T>> {
    let count = items.len();
    let of_length = move |length| {
        (0..count.pow(length)).map(move |number| {
            let item = |index| items[number / count.pow(index) % count];
            (0..length).map(item).collect()
        })
    };
    (1..=longest).flat_map(of_length)
}

/// Clause 3: which jobs run now follows from which came and which ended,
/// no matter in which order, and what another pool does.
#[test]
fn after_each_step_the_jobs_run_that_should() {
    let lesson = Lesson {
        clause: "3. In parallel",
        promise: "After any jobs have come and ended, in any order, the oldest jobs run, as many as \
                  the pool may have threads.",
        usual_cause: "A count of threads is wrong after some steps: who is idle, who is coming, or \
                      who has left. Or two pools share a count.",
        read: "blocking/spawn-blocking.html#whom-to-wake",
    };
    const LONGEST: [(Duration, u32); 2] = [(HOUR, 4), (Duration::ZERO, 3)];
    check(lesson, || {
        for (keep_alive, longest) in LONGEST {
            for steps in sequences(&STEPS, longest) {
                // A step without an effect adds nothing.
                let starts = steps.first();
                if matches!(starts, Some(Step::SubmitToA | Step::SubmitToB)) {
                    run_steps(&steps, keep_alive);
                }
            }
        }
    });
}

/// A pool, and what should be so.
struct Subject {
    pool: Pool,
    max: usize,
    jobs: Vec<Submitted>,
    /// The jobs that have begun.
    begun: Arc<Mutex<Vec<usize>>>,
}

struct Submitted {
    handle: Option<JoinHandle<usize>>,
    opener: Option<Opener>,
}

impl Subject {
    fn new(max: usize, keep_alive: Duration) -> Self {
        Self {
            pool: Pool::new(max, keep_alive),
            max,
            jobs: Vec::new(),
            begun: Arc::default(),
        }
    }

    /// Every other job panics, and of every other one the handle is dropped.
    fn submit(&mut self) {
        let (number, opener) = (self.jobs.len(), Opener::new());
        let (begun, gate) = (self.begun.clone(), opener.gate());
        let handle = self.pool.spawn_blocking(move || {
            begun.lock().expect("nothing panics").push(number);
            gate.wait();
            if number % 2 == 1 {
                std::panic::resume_unwind(Box::new("boom"));
            }
            number
        });
        self.jobs.push(Submitted {
            handle: (number % 4 < 2).then_some(handle),
            opener: Some(opener),
        });
    }

    fn running(&self) -> Vec<usize> {
        let has_not_ended =
            |number: &usize| self.jobs[*number].opener.is_some();
        let left = (0..self.jobs.len()).filter(has_not_ended);
        left.take(self.max).collect()
    }

    fn end(&mut self, number: Option<usize>) {
        let Some(number) = number else { return };
        let job = &mut self.jobs[number];
        job.opener = None;
        let Some(handle) = job.handle.take() else {
            return;
        };
        let result = block_on(handle);
        let is_right = match result {
            Ok(output) => output == number && number % 2 == 0,
            Err(error) => error.is_panic() && number % 2 == 1,
        };
        assert!(is_right, "a handle gave the result of another job");
    }

    /// Waits until the jobs run that should. Returns what is wrong if they
    /// don't.
    fn differs(&self) -> Option<String> {
        let ended = self.jobs.iter().filter(|job| job.opener.is_none());
        let expected = ended.count() + self.running().len();
        for look in 0..LOOKS {
            let mut begun = self.begun.lock().expect("nothing panics").clone();
            begun.sort_unstable();
            if begun.iter().copied().eq(0..expected) {
                return None;
            }
            if begun.len() > expected || look + 1 == LOOKS {
                return Some(format!(
                    "jobs {begun:?} have begun, and {expected} should have"
                ));
            }
            // Mostly it takes a few microseconds.
            match look {
                0..1_000 => thread::yield_now(),
                _ => thread::sleep(Duration::from_millis(1)),
            }
        }
        None
    }
}

#[track_caller]
fn run_steps(steps: &[Step], keep_alive: Duration) {
    let mut a = Subject::new(2, keep_alive);
    let mut b = Subject::new(1, keep_alive);
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::SubmitToA => a.submit(),
            Step::SubmitToB => b.submit(),
            Step::EndTheOldestOfA => a.end(a.running().first().copied()),
            Step::EndTheNewestOfA => a.end(a.running().last().copied()),
        }
        for (name, subject) in [("a", &a), ("b", &b)] {
            if let Some(difference) = subject.differs() {
                let made = steps[..=index].iter().map(|step| step.in_words());
                let made: Vec<_> = made.collect();
                panic!(
                    "with a keep-alive of {keep_alive:?}, in pool {name} {difference}, after these \
                     steps: {}",
                    made.join("; ")
                );
            }
        }
    }
    for mut subject in [a, b] {
        for job in &mut subject.jobs {
            job.opener = None;
        }
        drop(subject.pool);
        let begun = subject.begun.lock().expect("nothing panics").len();
        let count = subject.jobs.len();
        assert!(begun == count, "{begun} jobs of {count} ran, once each");
    }
}

/// What can happen to a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    PollWithA,
    PollWithACloneOfA,
    PollWithB,
    End,
}

const USES: [Use; 4] = [
    Use::PollWithA,
    Use::PollWithACloneOfA,
    Use::PollWithB,
    Use::End,
];

impl Use {
    fn in_words(self) -> &'static str {
        match self {
            Use::PollWithA => "poll with waker a",
            Use::PollWithACloneOfA => "poll with a clone of a",
            Use::PollWithB => "poll with waker b",
            Use::End => "the job ends",
        }
    }
}

/// Clause 6: a handle may be polled by one task and then by another, before its
/// job ends and after it.
#[test]
fn a_handle_wakes_who_polled_it_last_no_matter_what_came_before() {
    let lesson = Lesson {
        clause: "6. The handle",
        promise: "A handle is pending until its job ends and ready from then on, and wakes the \
                  waker of its last poll.",
        usual_cause: "A poll keeps an older waker, or takes the one that is there for its own. Or \
                      it takes the result away before it's polled, or a dropped handle's waker is \
                      woken in place of another's.",
        read: "blocking/spawn-blocking.html#where-the-result-meets-the-waker",
    };
    const LONGEST: u32 = 3;
    check(lesson, || {
        let pool = Pool::new(1, HOUR);
        for first in sequences(&USES, LONGEST) {
            use_handles(&pool, &first);
        }
    });
}

/// Uses a handle so, with two more beside it: one that's never polled, and one
/// that's dropped after a poll.
#[track_caller]
fn use_handles(pool: &Pool, uses: &[Use]) {
    let opener = Opener::new();
    let wait = waiting_job(&opener);
    let (a, b) = (CountingWaker::new(), CountingWaker::new());
    let mut job = pool.spawn_blocking(move || {
        wait();
        7
    });
    let mut dropped = pool.spawn_blocking(|| ());
    let (of_dropped, _) = CountingWaker::new();
    poll_once(&mut dropped, &of_dropped);
    drop(dropped);
    let unpolled = pool.spawn_blocking(|| 8);
    let mut opener = Some(opener);
    let mut last: Option<&Arc<WakeCounts>> = None;
    let end = |opener: &mut Option<Opener>| {
        drop(opener.take());
        // The pool's only thread has ended the first job before it runs another.
        let next = block_on(pool.spawn_blocking(|| ()));
        assert!(next.is_ok(), "the next job runs");
    };
    for (index, it) in uses.iter().enumerate() {
        let made: Vec<_> =
            uses[..=index].iter().map(|it| it.in_words()).collect();
        let made = made.join("; ");
        let mut poll = |waker: &Waker| {
            Pin::new(&mut job).poll(&mut Context::from_waker(waker))
        };
        let polled = match it {
            Use::PollWithA => poll(&a.0),
            Use::PollWithACloneOfA => poll(&a.0.clone()),
            Use::PollWithB => poll(&b.0),
            Use::End => {
                let is_first = opener.is_some();
                let wakes_before = last.map(|counts| counts.wakes());
                end(&mut opener);
                let wakes = last.map(|counts| counts.wakes());
                assert!(
                    !is_first || last.is_none() || wakes > wakes_before,
                    "the waker of the last poll wasn't woken: {made}"
                );
                continue;
            }
        };
        last = Some(match it {
            Use::PollWithB => &b.1,
            _ => &a.1,
        });
        let has_ended = opener.is_none();
        assert!(
            polled.is_ready() == has_ended,
            "the last of these polls was {}: {made}",
            if has_ended { "pending" } else { "ready" }
        );
        if let Poll::Ready(result) = polled {
            let is_right = result.is_ok_and(|output| output == 7);
            assert!(is_right, "it's not what the job returned: {made}");
            // What comes after that is left open.
            break;
        }
    }
    end(&mut opener);
    let output = block_on(unpolled);
    assert!(output.is_ok_and(|output| output == 8), "of another job");
}
