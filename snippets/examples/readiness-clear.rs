//! A task clears the readiness, and an event has come in between.

use std::cell::Cell;

/// What is known about a socket.
#[derive(Default)]
struct Readiness {
    is_ready: Cell<bool>,
}

impl Readiness {
    /// The driver has got an event.
    fn set_ready(&self) {
        self.is_ready.set(true);
    }

    /// A task has got `WouldBlock`.
    fn clear(&self) {
        self.is_ready.set(false);
    }
}

/// The socket: how many bytes have arrived.
#[derive(Default)]
struct Socket {
    bytes: Cell<usize>,
}

impl Socket {
    fn read(&self) -> Result<usize, &'static str> {
        match self.bytes.take() {
            0 => Err("WouldBlock"),
            count => Ok(count),
        }
    }
}

fn main() {
    let (readiness, socket) = (Readiness::default(), Socket::default());
    readiness.set_ready();
    // 1. The task sees that the socket is ready, and reads.
    println!("the task reads: {:?}", socket.read());
    // 2. On another thread, data arrives, and the driver reports it.
    socket.bytes.set(5);
    readiness.set_ready();
    // 3. The task goes on.
    readiness.clear();

    let (bytes, is_ready) = (socket.bytes.get(), readiness.is_ready.get());
    println!("{bytes} bytes to read, and the socket is ready: {is_ready}");
}
