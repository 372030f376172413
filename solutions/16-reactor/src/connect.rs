//! How an attempt to connect ends.

use std::io;

// ANCHOR: has_connected
/// Returns `WouldBlock` if the attempt to connect isn't over.
pub fn has_connected(stream: &mio::net::TcpStream) -> io::Result<()> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    // After a spurious event there's neither an error nor a peer.
    match stream.peer_addr() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        Err(error) => Err(error),
    }
}
// ANCHOR_END: has_connected
