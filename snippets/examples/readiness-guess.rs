//! Two readers of one socket are told that it's ready.

use std::io;
use std::net::UdpSocket;

use polling::{Event, Events, PollMode, Poller};

fn main() -> io::Result<()> {
    let first = UdpSocket::bind("127.0.0.1:0")?;
    first.set_nonblocking(true)?;
    // The same socket, as another task may have it.
    let readers = [first.try_clone()?, first];

    let poller = Poller::new()?;
    for (key, reader) in readers.iter().enumerate() {
        let interest = Event::readable(key);
        // SAFETY: both are deleted below, before they're closed.
        unsafe { poller.add_with_mode(reader, interest, PollMode::Level)? };
    }

    let sender = UdpSocket::bind("127.0.0.1:0")?;
    sender.send_to(b"one datagram", readers[0].local_addr()?)?;
    let mut events = Events::new();
    poller.wait(&mut events, None)?;
    for event in events.iter() {
        println!("reader {}: readable", event.key);
    }
    for event in events.iter() {
        let outcome = readers[event.key].recv(&mut [0; 16]);
        println!(
            "reader {}: {:?}",
            event.key,
            outcome.map_err(|it| it.kind())
        );
    }
    readers.iter().try_for_each(|reader| poller.delete(reader))
}
