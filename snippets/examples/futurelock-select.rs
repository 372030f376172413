//! A line for a journal has to wait, so a note about that is written first.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, oneshot};
use tokio::time::sleep;

type Journal = Mutex<Vec<&'static str>>;

async fn append(journal: &Journal, line: &'static str) {
    journal.lock().await.push(line);
    println!("written: {line}");
}

async fn report(journal: &Journal) {
    let mut first = pin!(append(journal, "the report"));
    tokio::select! {
        () = &mut first => return,
        () = sleep(Duration::from_millis(50)) => {
            println!("the report is late");
            append(journal, "a note").await;
        }
    }
    first.await;
}

/// Keeps the journal locked for three tenths of a second.
async fn back_up(journal: Arc<Journal>, locked: oneshot::Sender<()>) {
    let _guard = journal.lock().await;
    locked.send(()).unwrap();
    sleep(Duration::from_millis(300)).await;
    println!("the backup is done");
}

#[tokio::main]
async fn main() {
    let journal = Arc::new(Journal::default());
    let (locked, is_locked) = oneshot::channel();
    tokio::spawn(back_up(journal.clone(), locked));
    is_locked.await.unwrap();
    report(&journal).await;
    println!("done");
}
