//! What hyper does with an adapter that's wrong. Each test falls into one trap,
//! and asserts what happens then, or that the trap is where the book says.

use std::convert::Infallible;
use std::future::pending;
use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream as StdStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Sleep, Timer as HyperTimer, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use runtime::net::{TcpListener, TcpStream};
use runtime::{JoinHandle, Runtime, spawn};
use runtime_hyper::{Executor, Io, Timer};
use testkit::{Lesson, check};

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n";
static BODY: &[u8] = b"Hello from a page that's told what happens";

fn lesson(promise: &'static str) -> Lesson {
    Lesson {
        clause: "hyper's traps",
        promise,
        usual_cause: "hyper has changed, and the chapter should say so.",
        read: "io/hyper.html",
    }
}

async fn hello(
    _: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(BODY))))
}

/// Accepts one connection and serves it in a task, by `serve`. The receiver
/// gets how it ended.
fn serve_one<F>(
    runtime: &Runtime,
    serve: impl FnOnce(TcpStream) -> F,
) -> (StdStream, mpsc::Receiver<F::Output>)
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let _inside = runtime.enter();
    let listener = TcpListener::bind(HERE.into()).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let client = StdStream::connect(address).unwrap();
    let (stream, _peer) = runtime.block_on(listener.accept()).unwrap();
    let serving = serve(stream);
    let (sender, ends) = mpsc::channel();
    spawn(async move {
        let _ = sender.send(serving.await);
    });
    (client, ends)
}

fn one_worker() -> Runtime {
    runtime::Builder::new().worker_threads(1).build().unwrap()
}

/// Reads a response with [`BODY`].
fn read_response(client: &mut StdStream) {
    let mut received = Vec::new();
    while !received.ends_with(BODY) {
        let mut bytes = [0; 1_000];
        let count = client.read(&mut bytes).unwrap();
        assert!(count > 0, "the connection has ended");
        received.extend_from_slice(&bytes[..count]);
    }
}

/// How an adapter differs from the right one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Right,
    /// Reads, but doesn't move the cursor.
    Unmoved,
    /// Has only the methods that must be written.
    Minimal,
    /// Says that it writes several parts at once, and leaves that to the
    /// trait's method.
    OnlyClaims,
}

struct Adapter {
    io: Io,
    kind: Kind,
    writes: Arc<Mutex<Vec<Written>>>,
}

/// A call of `poll_write` or `poll_write_vectored` that wrote something.
#[derive(Debug, PartialEq)]
struct Written {
    parts: usize,
    /// Whether one of the parts is the body in its own place, not a copy.
    has_body: bool,
}

impl Adapter {
    fn record(&self, parts: &[&[u8]]) {
        let is_body = |part: &&[u8]| part.as_ptr() == BODY.as_ptr();
        self.writes.lock().unwrap().push(Written {
            parts: parts.len(),
            has_body: parts.iter().any(is_body),
        });
    }
}

impl Read for Adapter {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.kind != Kind::Unmoved {
            return Pin::new(&mut self.io).poll_read(cx, buffer);
        }
        let mut bytes = [0; 8_192];
        let read = self.io.stream().poll_read(cx, &mut bytes);
        read.map_ok(|_count| ())
    }
}

impl Write for Adapter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.io).poll_write(cx, bytes))?;
        self.record(&[bytes]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.kind != Kind::Minimal
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.kind == Kind::OnlyClaims {
            // As the trait's own method does.
            let first = parts.iter().find(|it| !it.is_empty());
            return self.poll_write(cx, first.map_or(&[], |it| &**it));
        }
        let io = Pin::new(&mut self.io);
        let count = ready!(io.poll_write_vectored(cx, parts))?;
        let all: Vec<&[u8]> = parts.iter().map(|it| &**it).collect();
        self.record(&all);
        Poll::Ready(Ok(count))
    }
}

/// Sends a request to a server with such an adapter. Returns what the client
/// received until the end, how the connection ended for the server, and what
/// it wrote.
fn ask(kind: Kind) -> (Vec<u8>, hyper::Result<()>, Vec<Written>) {
    let runtime = one_worker();
    let writes = Arc::new(Mutex::new(Vec::new()));
    let recorded = writes.clone();
    let (mut client, ends) = serve_one(&runtime, |stream| {
        let io = Io::new(stream);
        let writes = recorded;
        http1::Builder::new()
            .timer(Timer::new())
            .serve_connection(Adapter { io, kind, writes }, service_fn(hello))
    });
    client
        .write_all(b"GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    let end = ends.recv().unwrap();
    let writes = std::mem::take(&mut *writes.lock().unwrap());
    (received, end, writes)
}

#[test]
fn a_cursor_that_is_not_moved_is_the_end_of_the_stream() {
    check(
        lesson("A read that moves no cursor is a clean end, not an error."),
        || {
            let (received, end, writes) = ask(Kind::Unmoved);
            assert_eq!(received, b"");
            assert!(end.is_ok(), "{end:?}");
            assert_eq!(writes, []);
        },
    );
}

#[test]
fn without_vectored_writes_the_body_is_copied() {
    check(
        lesson("Only vectored writes send a body from where it is."),
        || {
            let (received, _, writes) = ask(Kind::Right);
            assert!(received.ends_with(BODY));
            let (parts, has_body) = (2, true);
            assert_eq!(writes, [Written { parts, has_body }]);

            let (received, _, writes) = ask(Kind::Minimal);
            assert!(received.ends_with(BODY));
            let (parts, has_body) = (1, false);
            assert_eq!(writes, [Written { parts, has_body }]);
        },
    );
}

#[test]
fn a_claim_of_vectored_writes_alone_makes_two_writes() {
    check(
        lesson("The trait's own vectored write sends the first part only."),
        || {
            let (received, _, writes) = ask(Kind::OnlyClaims);
            assert!(received.ends_with(BODY));
            let one = |has_body| Written { parts: 1, has_body };
            assert_eq!(writes, [one(false), one(true)]);
        },
    );
}

/// Aborts its task when it's dropped, as the tasks of some runtimes do.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[derive(Clone)]
struct Aborting;

impl<F> hyper::rt::Executor<F> for Aborting
where
    F: Future + Send + 'static,
{
    fn execute(&self, future: F) {
        let _task = AbortOnDrop(spawn(async move {
            future.await;
        }));
    }
}

#[test]
fn a_stream_of_http_2_ends_with_its_task() {
    check(
        lesson("A task that's aborted by its handle resets the stream."),
        || {
            let runtime = one_worker();
            let (client, _ends) = serve_one(&runtime, |stream| {
                // A stream that isn't aborted waits forever.
                let never =
                    |_| pending::<Result<Response<Full<Bytes>>, Infallible>>();
                http2::Builder::new(Aborting)
                    .timer(Timer::new())
                    .serve_connection(Io::new(stream), service_fn(never))
            });
            let error = runtime.block_on(async {
                let stream = TcpStream::from_std(client).unwrap();
                let client =
                    hyper::client::conn::http2::Builder::new(Executor::new());
                let (mut sender, connection) =
                    client.handshake(Io::new(stream)).await.unwrap();
                spawn(connection);
                let request = Request::get("http://here/");
                let request = request.body(Full::new(Bytes::new())).unwrap();
                sender.send_request(request).await.unwrap_err()
            });
            let error = format!("{error:?}");
            assert!(error.contains("CANCEL"), "{error}");
        },
    );
}

/// A clock that moves only when the test moves it.
#[derive(Clone)]
struct Clock {
    state: Arc<(Mutex<State>, Condvar)>,
    start: Instant,
    /// Whether `now` is this clock's, or std's as by default.
    is_whole: bool,
}

#[derive(Default)]
struct State {
    passed: Duration,
    /// The deadlines of all sleeps so far, from `start` on.
    deadlines: Vec<Duration>,
    resets: usize,
    waiting: Vec<Waker>,
}

impl Clock {
    fn new() -> Self {
        Self {
            state: Arc::default(),
            start: Instant::now(),
            is_whole: true,
        }
    }

    fn advance(&self, time: Duration) {
        let mut state = self.state.0.lock().unwrap();
        state.passed += time;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Blocks until so many sleeps were created, and the last of them is
    /// waiting.
    fn wait_for(&self, count: usize) -> Vec<Duration> {
        let (state, changed) = &*self.state;
        let mut state = state.lock().unwrap();
        while state.deadlines.len() < count || state.waiting.is_empty() {
            state = changed.wait(state).unwrap();
        }
        state.deadlines.clone()
    }
}

struct VirtualSleep {
    clock: Clock,
    deadline: Instant,
}

impl Future for VirtualSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let (state, changed) = &*self.clock.state;
        let mut state = state.lock().unwrap();
        if self.deadline <= self.clock.start + state.passed {
            return Poll::Ready(());
        }
        state.waiting.push(cx.waker().clone());
        changed.notify_all();
        Poll::Pending
    }
}

impl Drop for VirtualSleep {
    fn drop(&mut self) {
        // There's one connection, and so one sleep at a time.
        self.clock.state.0.lock().unwrap().waiting.clear();
    }
}

impl Sleep for VirtualSleep {}

impl HyperTimer for Clock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        let time = deadline.saturating_duration_since(self.start);
        self.state.0.lock().unwrap().deadlines.push(time);
        let clock = self.clone();
        Box::pin(VirtualSleep { clock, deadline })
    }

    fn now(&self) -> Instant {
        if self.is_whole {
            self.start + self.state.0.lock().unwrap().passed
        } else {
            Instant::now()
        }
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        self.state.0.lock().unwrap().resets += 1;
        *sleep = self.sleep_until(deadline);
    }
}

type Ends = mpsc::Receiver<hyper::Result<()>>;

/// Serves a connection with hyper's default settings and this clock.
fn serve_by(clock: &Clock, runtime: &Runtime) -> (StdStream, Ends) {
    serve_one(runtime, |stream| {
        http1::Builder::new()
            .timer(clock.clone())
            .serve_connection(Io::new(stream), service_fn(hello))
    })
}

const THIRTY: Duration = Duration::from_secs(30);

#[test]
fn a_request_has_thirty_seconds_for_its_headers() {
    check(
        lesson("With a timer, hyper's default timeout is 30 seconds."),
        || {
            let (runtime, clock) = (one_worker(), Clock::new());
            let (mut client, ends) = serve_by(&clock, &runtime);
            client.write_all(b"GET / HTTP/1.1\r\nho").unwrap();
            assert_eq!(clock.wait_for(1), [THIRTY]);
            clock.advance(THIRTY);
            let end = ends.recv().unwrap();
            assert!(end.unwrap_err().is_timeout());
        },
    );
}

#[test]
fn an_idle_connection_has_thirty_seconds_too() {
    check(
        lesson("The timeout for headers also ends connections kept alive."),
        || {
            let (runtime, clock) = (one_worker(), Clock::new());
            let (mut client, ends) = serve_by(&clock, &runtime);
            client.write_all(REQUEST).unwrap();
            read_response(&mut client);
            let deadlines = clock.wait_for(2);
            assert_eq!(deadlines, [THIRTY, THIRTY]);
            clock.advance(THIRTY);
            assert!(ends.recv().unwrap().unwrap_err().is_timeout());
            assert_eq!(client.read(&mut [0]).unwrap(), 0, "it goes on");
        },
    );
}

#[test]
fn each_request_has_a_sleep_of_its_own() {
    check(
        lesson("HTTP/1 creates a sleep for each request, and resets none."),
        || {
            let (runtime, clock) = (one_worker(), Clock::new());
            let (mut client, _ends) = serve_by(&clock, &runtime);
            for number in 1..=10 {
                clock.wait_for(number);
                client.write_all(REQUEST).unwrap();
                read_response(&mut client);
            }
            assert_eq!(clock.wait_for(11).len(), 11);
            assert_eq!(clock.state.0.lock().unwrap().resets, 0);
        },
    );
}

#[test]
fn a_now_of_another_clock_ends_each_connection_at_once() {
    check(
        lesson("hyper adds its timeouts to the timer's own `now`."),
        || {
            let mut clock = Clock::new();
            clock.advance(Duration::from_secs(3_600));
            let runtime = one_worker();
            // With the clock's own time, the connection waits.
            let (_client, ends) = serve_by(&clock, &runtime);
            clock.wait_for(1);
            assert!(ends.try_recv().is_err());
            // With std's, it has waited for almost an hour too long already.
            clock.is_whole = false;
            let (_client, ends) = serve_by(&clock, &runtime);
            assert!(ends.recv().unwrap().unwrap_err().is_timeout());
        },
    );
}

#[test]
fn a_timeout_without_a_timer_panics() {
    check(
        lesson("A timeout that's set needs a timer, or hyper panics."),
        || {
            let runtime = one_worker();
            let panicked = serve_one(&runtime, |stream| async move {
                let serve = || {
                    let _never_polled = http1::Builder::new()
                        .header_read_timeout(THIRTY)
                        .serve_connection(Io::new(stream), service_fn(hello));
                };
                let panic = catch_unwind(AssertUnwindSafe(serve)).unwrap_err();
                panic.downcast_ref::<String>().cloned()
            });
            let message = panicked.1.recv().unwrap().unwrap();
            assert!(message.contains("no timer"), "{message}");
        },
    );
}
