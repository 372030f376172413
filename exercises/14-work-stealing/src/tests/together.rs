//! Which workers poll the tasks that were spawned in a row.

use super::*;

/// How many tasks each of the parents spawns: less than any queue holds.
const CHILDREN: usize = 32;
/// An odd number, so that one of them is the median.
const ROUNDS: usize = 5;
/// A child waits this long at most for the other workers to keep pace. Only a
/// task that no worker can take keeps a child waiting for that long.
const PATIENCE: Duration = Duration::from_millis(200);

/// Clause 18: tasks that were spawned in a row often use the same data, and a
/// worker that fetches each task alone from a shared queue waits for the others.
#[test]
fn tasks_spawned_in_a_row_stay_together() {
    let lesson = Lesson {
        clause: "18. Neighbors",
        promise: "While all workers are busy, most of the tasks that one task spawns in a row are \
                  polled by the worker that polled the one before.",
        usual_cause: "All workers take from one queue, one task at a time: each spawn and each \
                      poll waits for the memory that all of them write to. Or a task that a worker \
                      spawns goes to the queue of another worker.",
        read: "scheduler/work-stealing.html#what-one-queue-cant-do",
    };
    check(lesson, || {
        for workers in [2, 4] {
            // A single queue has no interval.
            let runtime = endless(
                Runtime::builder()
                    .worker_threads(workers)
                    .global_queue_interval(127)
                    .build(),
            );
            let mut parted: Vec<_> = (0..ROUNDS)
                .map(|_| parted_neighbors(&runtime, workers))
                .collect();
            parted.sort_unstable();
            let (median, pairs) =
                (parted[ROUNDS / 2], workers * (CHILDREN - 1));
            assert!(
                3 * median <= pairs,
                "with {workers} workers, all of them busy, each of {workers} tasks spawned \
                 {CHILDREN} others in a row: {median} times out of {pairs}, two neighbors were \
                 polled by different workers"
            );
        }
    });
}

/// Has a task on each worker spawn others, one parent after the other, and then
/// lets all workers run at the same pace. Returns how often two neighbors were
/// polled by different workers.
fn parted_neighbors(runtime: &Runtime, workers: usize) -> usize {
    let pace = Arc::new(Pace::new(workers));
    let meeting = Arc::new(Barrier::new(workers));
    let spawning_parent = Arc::new(AtomicUsize::new(0));
    let parents = (0..workers).map(|parent| {
        let (pace, meeting) = (pace.clone(), meeting.clone());
        let spawning_parent = spawning_parent.clone();
        runtime.spawn(async move {
            pace.workers.lock().unwrap().push(thread::current().id());
            meeting.wait();
            while spawning_parent.load(SeqCst) != parent {
                thread::sleep(Duration::from_micros(20));
            }
            let children = (0..CHILDREN).map(|_| {
                let pace = pace.clone();
                spawn(async move { pace.keep() })
            });
            let children: Vec<_> = children.collect();
            fill_slot();
            spawning_parent.fetch_add(1, SeqCst);
            meeting.wait();
            children
        })
    });
    let parents = parents.collect();
    runtime.block_on(async {
        let mut parted = 0;
        for children in all(parents).await {
            let polled_by = all(children).await;
            let pairs = polled_by.windows(2);
            parted += pairs.filter(|pair| pair[0] != pair[1]).count();
        }
        parted
    })
}

/// Lets each worker poll as many children as the others.
struct Pace {
    workers: Mutex<Vec<ThreadId>>,
    polls: Vec<AtomicUsize>,
    /// Set when a child has waited in vain.
    is_free: AtomicBool,
}

impl Pace {
    fn new(workers: usize) -> Self {
        Self {
            workers: Mutex::default(),
            polls: (0..workers).map(|_| AtomicUsize::new(0)).collect(),
            is_free: AtomicBool::new(false),
        }
    }

    /// Counts a poll of this worker, and waits until each of the others has had
    /// as many or has nothing left. Returns this worker's index.
    fn keep(&self) -> Option<usize> {
        let this = thread::current().id();
        let me = self
            .workers
            .lock()
            .unwrap()
            .iter()
            .position(|it| *it == this)?;
        let mine = self.polls[me].fetch_add(1, SeqCst) + 1;
        let begun = Instant::now();
        while !self.is_free.load(SeqCst) && self.others_lag(mine) {
            if begun.elapsed() > PATIENCE {
                self.is_free.store(true, SeqCst);
            }
            thread::sleep(Duration::from_micros(20));
        }
        Some(me)
    }

    fn others_lag(&self, mine: usize) -> bool {
        let polls = self.polls.iter().map(|polls| polls.load(SeqCst));
        let polls: Vec<_> = polls.collect();
        let is_left = polls.iter().sum::<usize>() < polls.len() * CHILDREN;
        is_left && polls.iter().any(|polls| *polls < mine)
    }
}
