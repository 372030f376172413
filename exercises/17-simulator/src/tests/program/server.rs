//! The server.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::lines::Lines;
use super::store::{Request, Store};
use super::world::{self, TcpListener, TcpStream};

/// Accepts connections, forever.
pub async fn serve(listener: TcpListener, store: Arc<Store>) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            world::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let store = store.clone();
        let connection = async move {
            // After an error, the client comes back on a new connection.
            let _ = answer(stream, &store).await;
        };
        drop(world::spawn(format!("connection of {peer}"), connection));
    }
}

/// Answers one request after the other.
async fn answer(stream: TcpStream, store: &Store) -> io::Result<()> {
    let mut lines = Lines::new(stream);
    while let Some(line) = lines.next().await? {
        let Some(request) = Request::parse(&line) else {
            break;
        };
        let id = request.id;
        let Some(value) = store.handle(request).await else {
            break;
        };
        lines.send(&format!("{id} {value}")).await?;
    }
    Ok(())
}
