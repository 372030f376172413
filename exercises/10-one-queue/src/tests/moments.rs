//! What happens at each moment of a worker that runs out of tasks. A moment is what lies between
//! two of its operations on the types of `primitives`.

use super::*;

/// How long a thread that may hold a lock waits for another one.
const SHORT: Duration = Duration::from_millis(5);
/// How often a check looks whether a worker sleeps.
const LOOK: Duration = Duration::from_millis(1);
/// A task that hasn't begun by then waits forever.
const PATIENCE: Duration = Duration::from_secs(5);
/// A worker may look for tasks for so many operations before it sleeps. Further ones aren't tried.
const MOST: usize = 100;

/// Clause 3: "that worker is awake and will find it" holds for one task.
#[test]
fn tasks_that_come_as_a_worker_runs_out_of_them_run_together() {
    let lesson = Lesson {
        clause: "3. All workers",
        promise: "As many tasks as there are workers come at any moment at which one worker runs \
                  out of tasks and the others sleep. They run together.",
        usual_cause: "A push notifies no worker while one that has run out of tasks still looks \
                      for the next. But that worker takes one task, and then it polls: nothing \
                      notifies a worker for the others. Let each push notify one, or let a \
                      worker that takes a task notify the next if it leaves any.",
        read: "scheduler/one-queue.html#whom-to-wake",
    };
    check(lesson, || {
        for workers in [2, 3] {
            for are_woken in [false, true] {
                let pool = Pool::new(workers);
                let probes = meet(&pool, workers);
                for moment in 0..MOST {
                    if !come_at(moment, &pool, &probes, are_woken) {
                        break;
                    }
                }
            }
        }
    });
}

/// Spawns or wakes tasks at this moment of a worker, counted from the end of a poll, and checks
/// that they run together. Returns `false` if that worker slept before.
fn come_at(
    moment: usize,
    pool: &Pool,
    probes: &[ThreadProbe],
    are_woken: bool,
) -> bool {
    let count = probes.len();
    let (begun, begins) = mpsc::channel();
    let opener = Opener::new();
    let task = |waits: Option<ManualFuture>| {
        let (begun, gate) = (begun.clone(), opener.gate());
        async move {
            if let Some(waits) = waits {
                waits.await;
            }
            // The check may be over.
            let _ = begun.send(());
            gate.wait();
        }
    };
    let (mut tasks, mut manuals) = (Vec::new(), Vec::new());
    if are_woken {
        for _ in 0..count {
            let (future, manual) = ManualFuture::new();
            tasks.push(pool.spawn(task(Some(future))));
            manual.wait_until_polled();
            manuals.push(manual);
        }
    }

    probes.iter().for_each(wait_until_asleep);
    let (come, comes) = mpsc::channel();
    let (have_come, came) = mpsc::channel();
    let (sender, worker) = mpsc::channel();
    tasks.push(pool.spawn(async move {
        plan_moment(moment, move || {
            // If this worker holds a lock, the tasks may have to wait for it.
            if come.send(()).is_ok() {
                let _ = came.recv_timeout(SHORT);
            }
        });
        sender.send(ThreadProbe::here()).expect("it's received");
    }));
    let worker = worker.recv().expect("it's sent");
    let mut looks = 0;
    let is_awake = loop {
        match comes.recv_timeout(LOOK) {
            Ok(()) => break true,
            Err(_) if looks == 3 => break false,
            Err(_) => looks += usize::from(worker.is_asleep() != Some(false)),
        }
    };
    match are_woken {
        true => manuals.iter().for_each(ManualHandle::complete),
        false => tasks.extend((0..count).map(|_| pool.spawn(task(None)))),
    }
    let _ = have_come.send(());
    let have_begun = (0..count)
        .take_while(|_| begins.recv_timeout(PATIENCE).is_ok())
        .count();
    let how = if are_woken { "woken" } else { "spawned" };
    let when = match is_awake {
        true => "as one of the workers had run out of tasks",
        false => "while all workers slept",
    };
    assert!(
        have_begun == count,
        "{count} tasks were {how} {when}, and wait for one another in their polls. After \
         {PATIENCE:?}, {have_begun} of them had begun, and the other workers of {count} slept"
    );
    is_awake
}

/// Like the probe's own, with shorter looks.
fn wait_until_asleep(worker: &ThreadProbe) {
    for _ in 0..1_000 {
        if worker.is_asleep() != Some(false) {
            return;
        }
        thread::sleep(Duration::from_micros(50));
    }
}
