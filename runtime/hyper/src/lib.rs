//! hyper 1 on the [`runtime`]: [`Io`] for its streams, [`Executor`] for its
//! tasks, and [`Timer`] for its timeouts.
//!
//! hyper does no I/O and has no clock. A connection is a future that asks for
//! bytes by the traits of [`hyper::rt`], and this crate implements these. Give
//! each connection a timer: without one, hyper's own timeout for the headers of
//! a request (30 seconds) doesn't work, and one that you set panics.
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
