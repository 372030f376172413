//! As in the stub.

use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Instant;

use mio::net::{TcpListener, TcpStream};
use readiness::Direction::Read;

use super::{Io, errors};

pub async fn accept(
    listener: &Io<TcpListener>,
    _paused_until: &Mutex<Option<Instant>>,
) -> io::Result<(TcpStream, SocketAddr)> {
    match listener.run(Read, TcpListener::accept).await {
        Err(error) if errors::is_of_the_system(&error) => todo!(),
        Err(error) if errors::is_of_the_connection(&error) => todo!(),
        accepted => accepted,
    }
}
