//! Three ways to write the note without the deadlock.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, oneshot};
use tokio::time::sleep;
use tokio::{join, select};

type Journal = Arc<Mutex<Vec<&'static str>>>;

const PATIENCE: Duration = Duration::from_millis(50);

async fn append(journal: Journal, line: &'static str) {
    journal.lock().await.push(line);
}

// ANCHOR: ways
async fn drop_it(journal: Journal) {
    let first = append(journal.clone(), "the report");
    select! {
        () = first => {}
        () = sleep(PATIENCE) => append(journal, "a note").await,
    }
}

async fn poll_both(journal: Journal) {
    let mut first = pin!(append(journal.clone(), "the report"));
    select! {
        () = &mut first => {}
        () = sleep(PATIENCE) => {
            join!(first, append(journal, "a note"));
        }
    }
}

async fn spawn_it(journal: Journal) {
    let mut first = tokio::spawn(append(journal.clone(), "the report"));
    select! {
        ended = &mut first => ended.unwrap(),
        () = sleep(PATIENCE) => {
            append(journal, "a note").await;
            first.await.unwrap();
        }
    }
}
// ANCHOR_END: ways

/// Keeps the journal locked for three tenths of a second.
async fn back_up(journal: Journal, locked: oneshot::Sender<()>) {
    let _guard = journal.lock().await;
    locked.send(()).unwrap();
    sleep(Duration::from_millis(300)).await;
}

async fn run(name: &str, report: impl AsyncFnOnce(Journal)) {
    let journal = Journal::default();
    let (locked, is_locked) = oneshot::channel();
    tokio::spawn(back_up(journal.clone(), locked));
    is_locked.await.unwrap();
    report(journal.clone()).await;
    println!("{name}: {}", journal.lock().await.join(", "));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run("dropped", drop_it).await;
    run("both polled", poll_both).await;
    run("spawned", spawn_it).await;
}
