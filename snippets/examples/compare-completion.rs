//! A kernel in miniature, with one socket, that can be asked in two ways.

#[derive(Default)]
struct Kernel {
    /// What has arrived, and no read has taken.
    socket: Vec<u8>,
    /// The buffer of a read that waits for data.
    waiting: Option<Vec<u8>>,
    /// The buffer of a read that's complete.
    complete: Option<Vec<u8>>,
}

impl Kernel {
    fn arrive(&mut self, bytes: &[u8]) {
        match self.waiting.take() {
            Some(mut buffer) => {
                buffer.extend(bytes);
                self.complete = Some(buffer);
            }
            None => self.socket.extend(bytes),
        }
    }

    /// As under epoll: borrows the buffer, for as long as the call takes.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<(), &'static str> {
        if self.socket.is_empty() {
            return Err("WouldBlock");
        }
        buffer.append(&mut self.socket);
        Ok(())
    }

    /// As under io_uring: takes the buffer, and keeps it.
    fn submit(&mut self, buffer: Vec<u8>) {
        self.waiting = Some(buffer);
    }

    fn cancel(&mut self) -> Result<(), &'static str> {
        match self.waiting.take() {
            Some(_buffer) => Ok(()),
            None => Err("the read is complete"),
        }
    }
}

fn main() {
    let mut kernel = Kernel::default();
    println!("1. read: {:?}", kernel.read(&mut Vec::new()));
    println!("   a timeout: there's nothing to cancel");
    kernel.arrive(b"hello");
    println!("   left in the socket: {} bytes", kernel.socket.len());

    let mut kernel = Kernel::default();
    kernel.submit(Vec::new());
    println!("2. a timeout, then cancel: {:?}", kernel.cancel());
    kernel.arrive(b"hello");
    println!("   left in the socket: {} bytes", kernel.socket.len());

    let mut kernel = Kernel::default();
    kernel.submit(Vec::new());
    kernel.arrive(b"hello");
    println!("3. a timeout, then cancel: {:?}", kernel.cancel());
    println!("   left in the socket: {} bytes", kernel.socket.len());
    let buffer = kernel.complete.unwrap();
    println!("   and in a buffer: {:?}", String::from_utf8_lossy(&buffer));
}
