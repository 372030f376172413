//! The connections of browsers, and of other clients. One that says
//! nothing, or half of something, or never listens, is closed in time.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};

/// How long the head of a request may take, from the moment when the server waits
/// for it. A browser that had nothing to say for so long connects again.
const HEAD_LIMIT: Duration = Duration::from_secs(10);

/// How long a client may leave unread what it was sent. A page that was put to
/// sleep asks again when it wakes up.
const UNREAD_LIMIT: Duration = Duration::from_secs(20);

/// How long to wait when no connection can be taken: there are too many.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves everyone who connects, and never returns.
pub async fn serve(listener: TcpListener, router: Router) {
    loop {
        match listener.accept().await {
            Ok((connection, _address)) => {
                tokio::spawn(serve_one(connection, router.clone()));
            }
            // The client has given up.
            Err(error) if is_of_the_client(&error) => {}
            Err(_too_many) => sleep(PAUSE).await,
        }
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    [ConnectionAborted, ConnectionRefused, ConnectionReset].contains(&error.kind())
}

async fn serve_one(connection: TcpStream, router: Router) {
    // Output shouldn't wait for more of it; without this it only comes later.
    let _slower = connection.set_nodelay(true);
    let connection = Connection {
        connection,
        unread: None,
    };
    // An error concerns the client alone, which has noticed it as well.
    let _ended = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .serve_connection(TokioIo::new(connection), TowerToHyperService::new(router))
        .await;
}

/// A connection that ends when its client no longer reads.
struct Connection {
    connection: TcpStream,
    /// Runs while there is something to write and no room for it.
    unread: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    fn written(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = write(Pin::new(&mut self.connection), context) {
            self.unread = None;
            return Poll::Ready(written);
        }
        let unread = self
            .unread
            .get_or_insert_with(|| Box::pin(sleep(UNREAD_LIMIT)));
        ready!(unread.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.written(context, |connection, context| {
            connection.poll_write(context, bytes)
        })
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.written(context, |connection, context| {
            connection.poll_write_vectored(context, pieces)
        })
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}
