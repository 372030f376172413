//! Three ways to receive the messages of a connection and lose no byte.

use std::io;
use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::select;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

type Message = [u8; 4];
type Commands = Receiver<&'static str>;

// ANCHOR: kept
async fn read_one(connection: &mut DuplexStream) -> io::Result<Message> {
    let mut message = Message::default();
    connection.read_exact(&mut message).await?;
    Ok(message)
}

async fn keep_the_future(mut connection: DuplexStream, mut commands: Commands) {
    loop {
        let mut read = pin!(read_one(&mut connection));
        let message = loop {
            select! {
                message = &mut read => break message,
                Some(command) = commands.recv() => print!(" {command}"),
            }
        };
        let Ok(message) = message else { return };
        print!(" {}", message.escape_ascii());
    }
}
// ANCHOR_END: kept

// ANCHOR: outside
/// A connection, and the bytes of the message that is on its way.
struct Messages {
    connection: DuplexStream,
    bytes: Vec<u8>,
}

impl Messages {
    /// Cancellation-safe.
    async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.bytes.first_chunk().copied() {
                self.bytes.drain(..message.len());
                return Some(message);
            }
            if self.connection.read_buf(&mut self.bytes).await.ok()? == 0 {
                return None;
            }
        }
    }
}
// ANCHOR_END: outside

async fn state_outside(connection: DuplexStream, mut commands: Commands) {
    let bytes = Vec::new();
    let mut messages = Messages { connection, bytes };
    loop {
        select! {
            message = messages.next() => match message {
                Some(message) => print!(" {}", message.escape_ascii()),
                None => return,
            },
            Some(command) = commands.recv() => print!(" {command}"),
        }
    }
}

// ANCHOR: task
async fn a_task_of_its_own(
    mut connection: DuplexStream,
    mut commands: Commands,
) {
    let (sender, mut messages) = channel(4);
    tokio::spawn(async move {
        while let Ok(message) = read_one(&mut connection).await {
            let _ = sender.send(message).await;
        }
    });
    loop {
        select! {
            message = messages.recv() => match message {
                Some(message) => print!(" {}", message.escape_ascii()),
                None => return,
            },
            Some(command) = commands.recv() => print!(" {command}"),
        }
    }
}
// ANCHOR_END: task

async fn send(mut connection: DuplexStream, commands: Sender<&'static str>) {
    let pause = || sleep(Duration::from_millis(20));
    connection.write_all(b"AAAABB").await.unwrap();
    pause().await;
    commands.send("report").await.unwrap();
    pause().await;
    connection.write_all(b"BBCCCC").await.unwrap();
}

async fn run(name: &str, receive: impl AsyncFnOnce(DuplexStream, Commands)) {
    let (client, server) = duplex(64);
    let (commander, commands) = channel(1);
    tokio::spawn(send(client, commander));
    print!("{name}:");
    receive(server, commands).await;
    println!();
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    run("the future is kept", keep_the_future).await;
    run("the state is outside", state_outside).await;
    run("a task of its own", a_task_of_its_own).await;
}
