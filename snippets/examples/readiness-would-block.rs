//! A socket that doesn't block its thread: it says `WouldBlock` instead.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Two ends of a connection on this machine.
fn connection() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    Ok((listener.accept()?.0, client))
}

fn main() -> io::Result<()> {
    let (mut server, mut client) = connection()?;
    server.set_nonblocking(true)?;
    let writer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        client.write_all(b"hello")
    });
    let (mut buffer, mut tries) = ([0; 16], 0);
    let count = loop {
        tries += 1;
        match server.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            outcome => break outcome?,
        }
    };
    println!("{count} bytes in try {tries}");
    writer.join().expect("the writer doesn't panic")
}
