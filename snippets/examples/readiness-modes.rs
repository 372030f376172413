//! The same four moments, reported in three ways.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use polling::{Event, Events, PollMode, Poller};

fn connection() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    Ok((listener.accept()?.0, client))
}

/// Whether an event comes within 50 ms.
fn is_told(poller: &Poller) -> io::Result<&'static str> {
    let mut events = Events::new();
    poller.wait(&mut events, Some(Duration::from_millis(50)))?;
    Ok(if events.is_empty() { "-" } else { "event" })
}

fn moments(mode: PollMode) -> io::Result<[&'static str; 4]> {
    let (mut server, mut client) = connection()?;
    server.set_nonblocking(true)?;
    let poller = Poller::new()?;
    // SAFETY: it's deleted below, before it's closed.
    unsafe { poller.add_with_mode(&server, Event::readable(0), mode)? };

    client.write_all(b"abc")?;
    let data_has_come = is_told(&poller)?;
    server.read_exact(&mut [0; 1])?;
    let some_is_left = is_told(&poller)?;
    server.read_exact(&mut [0; 2])?;
    let nothing_is_left = is_told(&poller)?;
    client.write_all(b"d")?;
    let more_has_come = is_told(&poller)?;

    poller.delete(&server)?;
    Ok([data_has_come, some_is_left, nothing_is_left, more_has_come])
}

fn main() -> io::Result<()> {
    println!("          abc came  a read  abc read  d came");
    for (name, mode) in [
        ("level", PollMode::Level),
        ("edge", PollMode::Edge),
        ("one-shot", PollMode::Oneshot),
    ] {
        let [came, some, nothing, more] = moments(mode)?;
        println!("{name:<9} {came:<9} {some:<7} {nothing:<9} {more}");
    }
    Ok(())
}
