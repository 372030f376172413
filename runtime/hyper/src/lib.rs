//! The adapter for hyper 1 on the [`runtime`]: [`Io`] for streams, [`Executor`]
//! for tasks, and [`Timer`] for timeouts.
//!
//! hyper itself does no I/O and has no timers. Its connections are futures that
//! use the traits of [`hyper::rt`], and this crate implements those traits.
//! Give each HTTP/1 server a timer. Without one, hyper's default timeout for
//! the headers of a request (30 seconds) has no effect, and a timeout that you
//! set yourself makes hyper panic.
//!
//! Dropping a connection's future closes the connection, and with it the
//! requests that aren't answered yet. Call hyper's `graceful_shutdown` to have
//! them answered first.
//!
//! ```
//! # use std::convert::Infallible;
//! # use hyper::body::Incoming;
//! # use hyper::{Request, Response};
//! # use http_body_util::Full;
//! # use bytes::Bytes;
//! use hyper::server::conn::http1;
//! use hyper::service::service_fn;
//! use runtime::net::TcpStream;
//! use runtime_hyper::{Io, Timer};
//!
//! async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
//!     Ok(Response::new(Full::new(Bytes::from_static(b"hello"))))
//! }
//!
//! async fn serve(stream: TcpStream) -> hyper::Result<()> {
//!     let mut server = http1::Builder::new();
//!     server.timer(Timer::new());
//!     server.serve_connection(Io::new(stream), service_fn(hello)).await
//! }
//! # fn main() {}
//! ```

mod executor;
mod io;
mod timer;

pub use executor::Executor;
pub use io::Io;
pub use timer::Timer;
