//! A socket is closed, and a duplicate of it isn't.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream as Peer};
use std::time::Duration;

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

fn main() -> io::Result<()> {
    let mut poll = Poll::new()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let client = Peer::connect(listener.local_addr()?)?;
    let (mut peer, _) = listener.accept()?;
    client.set_nonblocking(true)?;
    // A child process has such a duplicate, too.
    let duplicate = client.try_clone()?;

    let mut stream = TcpStream::from_std(client);
    let registry = poll.registry();
    registry.register(&mut stream, Token(7), Interest::READABLE)?;
    drop(stream);

    peer.write_all(b"!")?;
    let mut events = Events::with_capacity(8);
    poll.poll(&mut events, Some(Duration::from_millis(100)))?;
    for event in &events {
        println!("an event of {:?}", event.token());
    }
    let mut duplicate = TcpStream::from_std(duplicate);
    let late = poll.registry().deregister(&mut duplicate);
    println!("deregister: {:?}", late.map_err(|it| it.kind()));
    Ok(())
}
