//! Two events in one batch, and the file descriptor as the key.

use std::collections::HashMap;
use std::io::{self, Read};
use std::net::TcpListener;

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

/// Its file descriptor; on Windows, its handle.
fn key_of(stream: &TcpStream) -> usize {
    #[cfg(unix)]
    return std::os::fd::AsRawFd::as_raw_fd(stream) as usize;
    #[cfg(windows)]
    return std::os::windows::io::AsRawSocket::as_raw_socket(stream) as usize;
}

fn connect(poll: &Poll, at: &TcpListener) -> io::Result<TcpStream> {
    let stream = std::net::TcpStream::connect(at.local_addr()?)?;
    stream.set_nonblocking(true)?;
    let mut stream = TcpStream::from_std(stream);
    let key = Token(key_of(&stream));
    let registry = poll.registry();
    registry.register(&mut stream, key, Interest::READABLE)?;
    Ok(stream)
}

fn main() -> io::Result<()> {
    let mut poll = Poll::new()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut streams = HashMap::new();
    for _ in 0..2 {
        let stream = connect(&poll, &listener)?;
        streams.insert(key_of(&stream), stream);
        drop(listener.accept()?); // The peer hangs up.
    }
    let mut batch = Events::with_capacity(8);
    poll.poll(&mut batch, None)?;
    let keys: Vec<_> = batch.iter().map(|event| event.token().0).collect();
    println!("events of {keys:?}");

    // The task that the first event wakes gives up the other connection,
    // properly, and makes a new one, whose peer doesn't hang up.
    let mut old = streams.remove(&keys[1]).expect("it's registered");
    poll.registry().deregister(&mut old)?;
    drop(old);
    let new = connect(&poll, &listener)?;
    println!("{} is closed, {} is new", keys[1], key_of(&new));
    streams.insert(key_of(&new), new);

    // The second event of the batch.
    let event = batch.iter().nth(1).expect("there are two");
    let is_closed = event.is_read_closed();
    println!("event of {}: closed = {is_closed}", keys[1]);
    let mut found = &streams[&keys[1]];
    let read = found.read(&mut [0]);
    println!("read of {}: {:?}", keys[1], read.map_err(|it| it.kind()));
    Ok(())
}
