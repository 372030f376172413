//! Clause 3: what happens at each moment of a worker that runs out of work. A
//! moment is what lies between two of its operations on the types of
//! `primitives`.

use super::*;

/// How long a thread that may hold a lock waits for another one.
const SHORT: Duration = Duration::from_millis(5);
/// A task that hasn't begun by then waits forever.
const PATIENCE: Duration = Duration::from_secs(5);

/// Clause 3: a worker's last look, and the queues that it looks at.
#[test]
fn tasks_that_a_worker_spawns_as_another_falls_asleep_are_stolen() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "A task spawns two tasks at any moment at which another worker falls asleep. While \
                  the task is in its poll, the other worker runs one of the two.",
        usual_cause: "A worker announces that it parks, and after that looks only into the global \
                      queue: into those of the other workers it looked before. What was spawned in \
                      between notified nobody, because this worker was still searching. Look into \
                      all queues again.",
        read: "scheduler/sleepers.html#the-last-look",
    };
    check(lesson, || {
        let runtime = runtime(2);
        let mut moment = 0;
        while spawn_two_at(moment, &runtime) {
            moment += 1;
        }
    });
}

/// Has a task on one worker spawn two tasks at this moment of the other worker,
/// counted from the end of a poll. Returns `false` if that worker slept before.
fn spawn_two_at(moment: usize, runtime: &Runtime) -> bool {
    let (order, ordered) = mpsc::channel();
    let (spawned, are_spawned) = mpsc::channel();
    let (ran, has_run) = mpsc::channel();
    let begun = Arc::new(Gate::new());
    let signal = begun.clone();
    let spawning = runtime.spawn(async move {
        signal.open();
        ordered.recv().expect("it's sent");
        for _ in 0..2 {
            let ran = ran.clone();
            drop(spawn(async move {
                // The check may be over.
                let _ = ran.send(());
            }));
        }
        let _ = spawned.send(());
        has_run.recv_timeout(PATIENCE).is_ok()
    });
    begun.wait();
    // The other worker polls this one.
    let (sender, worker) = mpsc::channel();
    let has_happened = Arc::new(AtomicBool::new(false));
    let (happened, ordering) = (has_happened.clone(), order.clone());
    drop(runtime.spawn(async move {
        plan_moment(moment, move || {
            happened.store(true, SeqCst);
            // If this worker holds a lock, the tasks may have to wait for it.
            if ordering.send(()).is_ok() {
                let _ = are_spawned.recv_timeout(SHORT);
            }
        });
        sender.send(ThreadProbe::here()).expect("it's received");
    }));
    let worker = worker.recv().expect("it's sent");
    let mut naps = 0;
    while !has_happened.load(SeqCst) && naps < 3 {
        thread::sleep(Duration::from_millis(1));
        naps += usize::from(worker.is_asleep() != Some(false));
    }
    let is_awake = has_happened.load(SeqCst);
    // It may have slept all along, and must then be woken.
    let _ = order.send(());
    let has_run = runtime.block_on(spawning).expect("the task returns");
    let (when, what) = match is_awake {
        true => ("as another worker fell asleep", "that worker sleeps"),
        false => ("while another worker slept", "that worker sleeps on"),
    };
    assert!(
        has_run,
        "a task spawned two tasks {when}, and goes on. None of the two has begun for {PATIENCE:?}: \
         {what}"
    );
    is_awake
}
