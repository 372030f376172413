//! Four things that happen to a connection, and what mio says of each.

use std::io;
use std::net::{Shutdown, TcpListener};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

/// Waits for one event, and prints what it says.
fn report(what: &str, poll: &mut Poll) -> io::Result<()> {
    let mut events = Events::with_capacity(1);
    poll.poll(&mut events, None)?;
    for event in &events {
        let said = [
            (event.is_readable(), "readable"),
            (event.is_writable(), "writable"),
            (event.is_read_closed(), "read_closed"),
            (event.is_write_closed(), "write_closed"),
            (event.is_error(), "error"),
        ];
        let said = said.iter().filter(|(is_set, _)| *is_set);
        let names: Vec<_> = said.map(|(_, name)| *name).collect();
        println!("{what}: {}", names.join(", "));
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let mut poll = Poll::new()?;
    let both = Interest::READABLE | Interest::WRITABLE;

    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    poll.registry().register(&mut client, Token(0), both)?;
    report("it's connected", &mut poll)?;
    let (server, _) = listener.accept()?;
    server.shutdown(Shutdown::Write)?;
    report("the peer sends no more", &mut poll)?;
    client.shutdown(Shutdown::Write)?;
    report("neither side sends", &mut poll)?;

    let address = listener.local_addr()?;
    drop(listener);
    let mut refused = TcpStream::connect(address)?;
    poll.registry().register(&mut refused, Token(1), both)?;
    report("no one listens", &mut poll)
}
