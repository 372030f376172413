//! A connection delivers messages of four bytes each, but not always four bytes
//! at a time. Beside them, commands arrive.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

async fn receive(
    mut connection: DuplexStream,
    mut commands: Receiver<&'static str>,
) {
    let mut message = [0; 4];
    loop {
        tokio::select! {
            read = connection.read_exact(&mut message) => match read {
                Ok(_) => println!("message: {}", message.escape_ascii()),
                Err(error) => return println!("error: {error}"),
            },
            Some(command) = commands.recv() => println!("command: {command}"),
        }
    }
}

async fn send(mut connection: DuplexStream, commands: Sender<&'static str>) {
    let pause = || sleep(Duration::from_millis(20));
    connection.write_all(b"AAAA").await.unwrap();
    connection.write_all(b"BB").await.unwrap();
    pause().await;
    commands.send("report").await.unwrap();
    pause().await;
    connection.write_all(b"BB").await.unwrap();
    connection.write_all(b"CCCC").await.unwrap();
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (client, server) = duplex(64);
    let (commander, commands) = channel(1);
    tokio::spawn(send(client, commander));
    receive(server, commands).await;
}
