//! A chat server: it sends each line of a client to all other clients. With an
//! address as its argument, it listens there (try `nc`). Without one, three
//! clients in this program talk:
//!
//! ```sh
//! cargo run -p runtime --example chat [127.0.0.1:7000]
//! ```

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::channel::mpsc::{Receiver, Sender, channel};
use runtime::net::{TcpListener, TcpStream};
use runtime::{Runtime, select, spawn};

/// The most lines that wait for a slow client. A client that falls further
/// behind misses lines, so that it neither delays the others nor makes the
/// queue grow without a bound.
const LINES: usize = 100;

/// The connected clients, each with the queue of its lines.
type Room = Arc<Mutex<HashMap<SocketAddr, Sender<Arc<str>>>>>;

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    Runtime::new()?.block_on(async {
        match address.map(|it| it.parse().map_err(io::Error::other)) {
            Some(address) => serve(TcpListener::bind(address?)?).await,
            None => demonstrate().await,
        }
    })
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    let room = Room::default();
    loop {
        let (stream, peer) = listener.accept().await?;
        let (sender, lines) = channel(LINES);
        room.lock().unwrap().insert(peer, sender);
        let room = room.clone();
        spawn(async move {
            // If the client is gone, either the read or the write ends first,
            // and `select` drops the other one.
            let reading = read(&stream, peer, &room);
            select(reading, write(&stream, lines)).await;
            room.lock().unwrap().remove(&peer);
        });
    }
}

async fn read(
    stream: &TcpStream,
    peer: SocketAddr,
    room: &Room,
) -> io::Result<()> {
    let mut received = Vec::new();
    let mut buffer = [0; 1_024];
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        received.extend_from_slice(&buffer[..count]);
        while let Some(end) = received.iter().position(|it| *it == b'\n') {
            let rest = received.split_off(end + 1);
            let line = std::mem::replace(&mut received, rest);
            let line: Arc<str> = String::from_utf8_lossy(&line).into();
            // This guard is dropped before the next `.await`.
            let mut room = room.lock().unwrap();
            for (_, sender) in room.iter_mut().filter(|(it, _)| **it != peer) {
                let _ = sender.try_send(line.clone());
            }
        }
    }
}

async fn write(
    stream: &TcpStream,
    mut lines: Receiver<Arc<str>>,
) -> io::Result<()> {
    while let Some(line) = lines.next().await {
        stream.write_all(line.as_bytes()).await?;
    }
    Ok(())
}

async fn demonstrate() -> io::Result<()> {
    let listener = TcpListener::bind(([127, 0, 0, 1], 0).into())?;
    let address = listener.local_addr()?;
    let serving = spawn(serve(listener));
    let mut clients = Vec::new();
    for _ in 0..3 {
        let client = TcpStream::connect(address).await?;
        clients.push(client);
    }
    // Once ann has heard a line of each of the others, all three are in the
    // room.
    let [ann, ben, cid] = &clients[..] else {
        unreachable!("there are three")
    };
    for (talker, line) in [(ben, "ben: hello\n"), (cid, "cid: hello\n")] {
        talker.write_all(line.as_bytes()).await?;
        let mut heard = vec![0; line.len()];
        ann.read_exact(&mut heard).await?;
        print!("ann hears {}", String::from_utf8_lossy(&heard));
    }
    let line = "ann: hello, both of you\n";
    ann.write_all(line.as_bytes()).await?;
    let mut heard = vec![0; "cid: hello\n".len() + line.len()];
    ben.read_exact(&mut heard).await?;
    print!("ben hears {}", String::from_utf8_lossy(&heard));
    serving.abort();
    Ok(())
}
