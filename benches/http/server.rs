//! The servers: the same service on several runtimes.

use std::convert::Infallible;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::pin::Pin;
use std::process;
use std::task::{Context, Poll, ready};
use std::thread;
use std::time::{Duration, Instant};

use async_executor::Executor;
use async_io::Async;
use futures::io::{AsyncRead, AsyncWrite};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::rt::{Read as HyperRead, ReadBufCursor, Write as HyperWrite};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use runtime_hyper::{Io, Timer};

/// The runtimes, each with its number of worker threads.
pub const CONTENDERS: [&str; 5] = ["solution/1", "solution/2", "tokio/1", "tokio/2", "smol/2"];

/// How long a slow handler computes.
const SLOW: Duration = Duration::from_millis(1);

pub const BODY: &str = "Hello, world!\n";

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// Serves until the input ends. First prints the address.
pub fn serve(contender: &str) {
    raise_limit();
    thread::spawn(|| {
        let _ = io::stdin().read(&mut [0]);
        process::exit(0);
    });
    let (name, workers) = contender.split_once('/').expect("a name and a number");
    let workers = workers.parse().expect("a number");
    let served = match name {
        "solution" => solution(workers),
        "tokio" => tokio(workers),
        "smol" => smol(workers),
        _ => panic!("there's no contender `{contender}`"),
    };
    served.expect("it serves");
}

async fn hello(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path() == "/slow" {
        let begun = Instant::now();
        while begun.elapsed() < SLOW {}
    }
    Ok(Response::new(Full::new(Bytes::from_static(
        BODY.as_bytes(),
    ))))
}

fn solution(workers: usize) -> io::Result<()> {
    let runtime = runtime::Builder::new().worker_threads(workers).build()?;
    let accepting = runtime.spawn(async {
        let listener = runtime::net::TcpListener::bind(HERE.into())?;
        say(listener.local_addr()?);
        loop {
            let (stream, _peer) = listener.accept().await?;
            stream.set_nodelay(true)?;
            runtime::spawn(async move {
                let mut server = http1::Builder::new();
                server.timer(Timer::new());
                server
                    .serve_connection(Io::new(stream), service_fn(hello))
                    .await
            });
        }
    });
    runtime.block_on(accepting).map_err(io::Error::other)?
}

fn tokio(workers: usize) -> io::Result<()> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(workers).enable_all().build()?;
    let accepting = runtime.spawn(async {
        let listener = tokio::net::TcpListener::bind(SocketAddr::from(HERE)).await?;
        say(listener.local_addr()?);
        loop {
            let (stream, _peer) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(async move {
                let mut server = http1::Builder::new();
                server.timer(TokioTimer::new());
                let service = service_fn(hello);
                server.serve_connection(TokioIo::new(stream), service).await
            });
        }
    });
    runtime.block_on(accepting).map_err(io::Error::other)?
}

/// smol consists of these two crates. hyper gets no timer here, so this server has
/// no timeout for the headers, which saves it some work.
fn smol(workers: usize) -> io::Result<()> {
    static EXECUTOR: Executor<'_> = Executor::new();
    for _ in 0..workers {
        let run = || async_io::block_on(EXECUTOR.run(std::future::pending::<()>()));
        thread::spawn(run);
    }
    let accepting = EXECUTOR.spawn(async {
        let listener = Async::<StdListener>::bind(HERE)?;
        say(listener.get_ref().local_addr()?);
        loop {
            let (stream, _peer) = listener.accept().await?;
            stream.get_ref().set_nodelay(true)?;
            let served = async move {
                let server = http1::Builder::new();
                let service = service_fn(hello);
                server.serve_connection(OfFutures(stream), service).await
            };
            EXECUTOR.spawn(served).detach();
        }
    });
    pollster::block_on(accepting)
}

fn say(address: SocketAddr) {
    println!("{address}");
}

/// hyper's I/O traits, for a stream with the traits of `futures`.
struct OfFutures<S>(S);

impl<S: AsyncRead + Unpin> HyperRead for OfFutures<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let unfilled = buffer.initialize_unfilled();
        let count = ready!(Pin::new(&mut self.0).poll_read(cx, unfilled))?;
        // SAFETY: `initialize_unfilled` has initialized the whole unfilled part. The
        // count isn't greater than its length: `S` is always `Async`, which passes
        // on the kernel's count.
        unsafe { buffer.advance(count) };
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> HyperWrite for OfFutures<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, parts)
    }
}

/// Raises this process's limit of open descriptors to the maximum that it may set.
pub fn raise_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        // If this fails, some rows fail with an error that says so.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}
