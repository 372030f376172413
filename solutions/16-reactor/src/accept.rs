//! How a listener accepts, also while the system lacks a resource.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};

use super::Io;
use super::errors::{is_of_the_connection, is_of_the_system};
use readiness::Direction::Read;

/// How long a listener pauses when the system lacks a resource for a
/// connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts a connection. `paused_until` is the listener's: it's the time of the
/// next attempt, after an attempt that lacked a resource.
pub async fn accept(
    listener: &Io<TcpListener>,
    paused_until: &Mutex<Option<Instant>>,
) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        let deadline = *lock(paused_until);
        if let Some(deadline) = deadline {
            listener.handle().pause_until(deadline).await?;
            // Another call may have begun a new pause.
            lock(paused_until).take_if(|newest| *newest == deadline);
        }
        match listener.run(Read, TcpListener::accept).await {
            // The connection ended before it was accepted.
            Err(error) if is_of_the_connection(&error) => {}
            Err(error) => {
                // The connection still waits, so the listener stays ready, and
                // without a pause the next attempt would fail at once.
                if is_of_the_system(&error) {
                    *lock(paused_until) = Some(Instant::now() + PAUSE);
                }
                return Err(error);
            }
            accepted => return accepted,
        }
    }
}

fn lock(
    paused_until: &Mutex<Option<Instant>>,
) -> MutexGuard<'_, Option<Instant>> {
    paused_until.lock().unwrap_or_else(PoisonError::into_inner)
}
