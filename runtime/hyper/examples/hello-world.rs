//! A web server that says hello, with a graceful shutdown: at the end of its
//! input it stops accepting connections, and then answers the requests that
//! have come.
//!
//! ```sh
//! cargo run --release -p runtime-hyper --example hello-world [127.0.0.1:3000]
//! ```
//!
//! Then, in another terminal, `curl http://127.0.0.1:3000`, or
//! `wrk -c 50 http://127.0.0.1:3000`.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::channel::oneshot;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use runtime::net::{TcpListener, TcpStream};
use runtime::{
    Either, JoinHandle, Runtime, select, spawn, spawn_blocking, timeout,
};
use runtime_hyper::{Io, Timer};

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:3000");
    let address = address.parse().map_err(io::Error::other)?;
    Runtime::new()?.block_on(async {
        let listener = TcpListener::bind(address)?;
        println!("http://{address}, until the end of the input (Ctrl+D)");
        // In a task, so that a worker accepts connections without unparking
        // this thread.
        let (stop, stopped) = oneshot::channel();
        let accepting = spawn(accept(listener, stopped));
        let read = || io::copy(&mut io::stdin(), &mut io::sink());
        let _ = spawn_blocking(read).await;
        drop(stop);
        accepting.await.map_err(io::Error::other)
    })
}

// ANCHOR: accept
async fn accept(listener: TcpListener, stopped: oneshot::Receiver<()>) {
    let stopped = stopped.map(drop).shared();
    let mut connections = Vec::new();
    loop {
        let accepting = pin!(listener.accept());
        match select(accepting, stopped.clone()).await {
            Either::Left(Ok((stream, _peer))) => {
                if connections.len() % 1_024 == 1_023 {
                    let is_open = |it: &JoinHandle<()>| !it.is_finished();
                    connections.retain(is_open);
                }
                connections.push(spawn(serve(stream, stopped.clone())));
            }
            Either::Left(Err(error)) => eprintln!("no connection: {error}"),
            Either::Right(()) => break,
        }
    }
    let all = runtime::join_all(connections);
    if timeout(Duration::from_secs(10), all).await.is_err() {
        eprintln!("some requests have taken too long");
    }
}
// ANCHOR_END: accept

// ANCHOR: serve
async fn serve(stream: TcpStream, stopped: impl Future<Output = ()>) {
    let mut server = http1::Builder::new();
    server.timer(Timer::new());
    let service = service_fn(hello);
    let mut connection =
        pin!(server.serve_connection(Io::new(stream), service));
    let result = match select(connection.as_mut(), stopped).await {
        Either::Left(result) => result,
        Either::Right(()) => {
            // hyper answers the request that it's serving, and then closes the
            // connection.
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        eprintln!("a connection ended: {error}");
    }
}
// ANCHOR_END: serve

async fn hello(
    _: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(
        b"Hello, world!\n",
    ))))
}
