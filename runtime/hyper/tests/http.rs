//! hyper on the runtime, over sockets. The HTTP/1 client is written by hand on
//! std's sockets, so that it can do things that a client shouldn't do.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream as StdStream};
use std::pin::pin;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::channel::oneshot;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, header};
use runtime::net::{TcpListener, TcpStream};
use runtime::{Runtime, spawn};
use runtime_hyper::{Executor, Io, Timer};
use testkit::{Lesson, check, live_bytes};

type Body = BoxBody<Bytes, hyper::Error>;

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

fn lesson(promise: &'static str) -> Lesson {
    Lesson {
        clause: "hyper on the runtime",
        promise,
        usual_cause: "The adapter reports the wrong number of bytes, or \
                      waits at the end of a stream.",
        read: "",
    }
}

fn two_workers() -> Runtime {
    runtime::Builder::new().worker_threads(2).build().unwrap()
}

fn full(bytes: impl Into<Bytes>) -> Body {
    let never = |never: Infallible| match never {};
    Full::new(bytes.into()).map_err(never).boxed()
}

/// The service: `/echo` sends the body back as it arrives, `/endless` has an
/// endless body, `/slow` takes 100 ms, `/upgrade` leaves HTTP and then echoes,
/// and all other paths say hello.
async fn answer(
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let path = request.uri().path().to_owned();
    Ok(match (request.method(), &*path) {
        (&Method::POST, "/echo") => Response::new(request.into_body().boxed()),
        (_, "/endless") => {
            let parts = std::iter::repeat_with(|| {
                Ok(Frame::data(Bytes::from_static(&[b'x'; 4_096])))
            });
            let body = StreamBody::new(Always(parts));
            Response::new(body.boxed())
        }
        (_, "/slow") => {
            runtime::sleep(Duration::from_millis(100)).await;
            Response::new(full("slow"))
        }
        (_, "/upgrade") => {
            let upgrading = hyper::upgrade::on(&mut request);
            spawn(async move {
                let upgraded = upgrading.await.unwrap();
                let parts = upgraded.downcast::<Io>().unwrap();
                let stream = parts.io.into_inner();
                stream.write_all(&parts.read_buf).await.unwrap();
                let mut buffer = [0; 100];
                loop {
                    match stream.read(&mut buffer).await.unwrap() {
                        0 => break,
                        count => {
                            stream.write_all(&buffer[..count]).await.unwrap();
                        }
                    }
                }
            });
            let response = Response::builder()
                .status(StatusCode::SWITCHING_PROTOCOLS)
                .header(header::CONNECTION, "upgrade")
                .header(header::UPGRADE, "echo");
            response.body(full("")).unwrap()
        }
        _ => Response::new(full(format!("hello from {path}"))),
    })
}

/// A stream of an iterator's items, which is always ready.
struct Always<I>(I);

impl<I: Iterator + Unpin> futures::Stream for Always<I> {
    type Item = I::Item;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<I::Item>> {
        std::task::Poll::Ready(self.0.next())
    }
}

/// How each connection has ended.
type Ends = mpsc::Receiver<hyper::Result<()>>;

/// Serves HTTP/1. The time for headers is so long that no client exceeds it, no
/// matter how busy the machine is.
fn serve(runtime: &Runtime) -> (SocketAddr, Ends) {
    serve_in_time(runtime, Duration::from_secs(3_600))
}

/// Serves HTTP/1. Headers have to come in so much time.
fn serve_in_time(runtime: &Runtime, time: Duration) -> (SocketAddr, Ends) {
    let (sender, ends) = mpsc::channel();
    let _inside = runtime.enter();
    let listener = TcpListener::bind(HERE.into()).unwrap();
    let address = listener.local_addr().unwrap();
    spawn(async move {
        loop {
            let (stream, _peer) = listener.accept().await.unwrap();
            let sender = sender.clone();
            spawn(async move {
                let end = http1::Builder::new()
                    .timer(Timer::new())
                    .header_read_timeout(time)
                    .serve_connection(Io::new(stream), service_fn(answer))
                    .with_upgrades()
                    .await;
                let _ = sender.send(end);
            });
        }
    });
    (address, ends)
}

/// Reads a response that has a `Content-Length`. Returns its head, in lower
/// case, and its body.
fn read_response(stream: &mut StdStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let length = head
        .lines()
        .find_map(|it| it.strip_prefix("content-length: "));
    let length = length.map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

#[test]
fn a_connection_is_kept_for_the_next_request() {
    check(lesson("Many requests go over one connection."), || {
        let runtime = two_workers();
        let (address, ends) = serve(&runtime);
        let mut client = StdStream::connect(address).unwrap();
        for number in 0..100 {
            let request =
                format!("GET /{number} HTTP/1.1\r\nhost: here\r\n\r\n");
            client.write_all(request.as_bytes()).unwrap();
            let (head, body) = read_response(&mut client);
            assert!(head.starts_with("http/1.1 200"), "{head}");
            assert_eq!(body, format!("hello from /{number}").as_bytes());
        }
        drop(client);
        ends.recv().unwrap().unwrap();
    });
}

#[test]
fn requests_that_come_at_once_are_answered_in_turn() {
    check(lesson("Requests may be pipelined."), || {
        let runtime = two_workers();
        let (address, _ends) = serve(&runtime);
        let mut client = StdStream::connect(address).unwrap();
        let requests: String = (0..200)
            .map(|it| format!("GET /{it} HTTP/1.1\r\nhost: here\r\n\r\n"))
            .collect();
        client.write_all(requests.as_bytes()).unwrap();
        for number in 0..200 {
            let (_head, body) = read_response(&mut client);
            assert_eq!(body, format!("hello from /{number}").as_bytes());
        }
    });
}

#[test]
fn bodies_in_chunks_go_both_ways_as_they_come() {
    check(lesson("A body is streamed, not collected first."), || {
        let runtime = two_workers();
        let (address, _ends) = serve(&runtime);
        let mut client = StdStream::connect(address).unwrap();
        client
            .write_all(
                b"POST /echo HTTP/1.1\r\nhost: here\r\n\
                  transfer-encoding: chunked\r\n\r\n",
            )
            .unwrap();
        // The head of the response comes with the first chunk, or before it.
        let mut received = Vec::new();
        for number in 0..50 {
            let chunk = format!("chunk {number};");
            let sent = format!("{:x}\r\n{chunk}\r\n", chunk.len());
            client.write_all(sent.as_bytes()).unwrap();
            // The answer to this chunk has to come before the next chunk is
            // sent.
            let ends =
                |it: &[u8]| it.ends_with(format!("{chunk}\r\n").as_bytes());
            while !ends(&received) {
                let mut buffer = [0; 1_024];
                let count = client.read(&mut buffer).unwrap();
                assert!(count > 0, "the connection has ended");
                received.extend_from_slice(&buffer[..count]);
            }
        }
        client.write_all(b"0\r\n\r\n").unwrap();
        while !received.ends_with(b"\r\n0\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).unwrap();
            received.push(byte[0]);
        }
    });
}

#[test]
fn a_connection_leaves_http_by_an_upgrade() {
    check(
        lesson("After an upgrade, the service owns the stream."),
        || {
            let runtime = two_workers();
            let (address, _ends) = serve(&runtime);
            let mut client = StdStream::connect(address).unwrap();
            // The first bytes of the new protocol come with the request.
            client
                .write_all(
                    b"GET /upgrade HTTP/1.1\r\nhost: here\r\n\
                  connection: upgrade\r\nupgrade: echo\r\n\r\nearly",
                )
                .unwrap();
            let (head, _) = read_response(&mut client);
            assert!(head.starts_with("http/1.1 101"), "{head}");
            let mut early = [0; 5];
            client.read_exact(&mut early).unwrap();
            assert_eq!(&early, b"early");
            for _ in 0..100 {
                client.write_all(b"ping").unwrap();
                let mut answer = [0; 4];
                client.read_exact(&mut answer).unwrap();
                assert_eq!(&answer, b"ping");
            }
        },
    );
}

#[test]
fn a_client_that_asks_for_it_gets_an_end() {
    check(lesson("`Connection: close` ends the connection."), || {
        let runtime = two_workers();
        let (address, ends) = serve(&runtime);
        let mut client = StdStream::connect(address).unwrap();
        let request =
            b"GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
        client.write_all(request).unwrap();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert!(all.ends_with(b"hello from /"));
        ends.recv().unwrap().unwrap();
    });
}

#[test]
fn large_bodies_pass_a_client_that_reads_late() {
    check(
        lesson("A large body waits until its reader reads, both ways."),
        || {
            let runtime = two_workers();
            let (address, _ends) = serve(&runtime);
            let length = 24 << 20;
            let body: Vec<u8> =
                (0..length).map(|it: u32| (it % 251) as u8).collect();
            let sent = body.clone();
            let mut client = StdStream::connect(address).unwrap();
            let mut writer = client.try_clone().unwrap();
            let writing = thread::spawn(move || {
                let head = format!(
                    "POST /echo HTTP/1.1\r\nhost: here\r\ncontent-length: {length}\r\n\r\n"
                );
                writer.write_all(head.as_bytes()).unwrap();
                writer.write_all(&sent).unwrap();
            });
            // Gives all the buffers time to fill.
            thread::sleep(Duration::from_millis(200));
            let (_head, received) = read_response(&mut client);
            assert!(received == body, "the body has changed on its way");
            writing.join().unwrap();
        },
    );
}

#[test]
fn a_request_may_come_byte_by_byte() {
    check(lesson("A request may arrive in any parts."), || {
        let runtime = two_workers();
        let (address, _ends) = serve(&runtime);
        let mut client = StdStream::connect(address).unwrap();
        client.set_nodelay(true).unwrap();
        let request = b"POST /echo HTTP/1.1\r\nhost: here\r\ncontent-length: 5\r\n\r\nslow!";
        for byte in request {
            client.write_all(&[*byte]).unwrap();
            thread::sleep(Duration::from_micros(300));
        }
        let (_head, body) = read_response(&mut client);
        assert_eq!(body, b"slow!");
    });
}

#[cfg(unix)]
#[test]
fn a_reset_in_a_response_ends_that_connection_only() {
    check(
        lesson("When a client goes away, its connection ends."),
        || {
            let runtime = two_workers();
            let (address, ends) = serve(&runtime);
            for _ in 0..20 {
                let mut client = StdStream::connect(address).unwrap();
                let request = b"GET /endless HTTP/1.1\r\nhost: here\r\n\r\n";
                client.write_all(request).unwrap();
                client.read_exact(&mut [0; 10_000]).unwrap();
                // Dropping a socket with unread bytes resets the connection.
                drop(client);
                assert!(ends.recv().unwrap().is_err());
            }
            let mut client = StdStream::connect(address).unwrap();
            client
                .write_all(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
                .unwrap();
            assert_eq!(read_response(&mut client).1, b"hello from /");
        },
    );
}

#[test]
fn headers_that_do_not_come_end_the_connection_in_time() {
    check(
        lesson("The timeout for headers works, and isn't early."),
        || {
            let runtime = two_workers();
            let (address, ends) =
                serve_in_time(&runtime, Duration::from_millis(300));
            let mut client = StdStream::connect(address).unwrap();
            let start = Instant::now();
            // The second request has its timeout, too.
            client
                .write_all(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
                .unwrap();
            read_response(&mut client);
            client.write_all(b"GET / HTTP/1.1\r\nho").unwrap();
            let mut rest = Vec::new();
            client.read_to_end(&mut rest).unwrap();
            assert!(start.elapsed() >= Duration::from_millis(300));
            assert!(ends.recv().unwrap().unwrap_err().is_timeout());
        },
    );
}

#[test]
fn a_graceful_shutdown_lets_the_response_end() {
    check(
        lesson("A graceful shutdown answers the current requests."),
        || {
            let runtime = two_workers();
            let _inside = runtime.enter();
            let listener = TcpListener::bind(HERE.into()).unwrap();
            let address = listener.local_addr().unwrap();
            let client = thread::spawn(move || {
                let mut client = StdStream::connect(address).unwrap();
                let request = b"GET /slow HTTP/1.1\r\nhost: here\r\n\r\n";
                client.write_all(request).unwrap();
                let (head, body) = read_response(&mut client);
                assert!(head.contains("connection: close"), "{head}");
                assert_eq!(body, b"slow");
                assert_eq!(client.read(&mut [0]).unwrap(), 0, "it goes on");
            });
            runtime.block_on(async {
                let (stream, _peer) = listener.accept().await.unwrap();
                // The request has arrived, and the service holds its answer
                // back.
                let (begin, begun) = oneshot::channel();
                let (end, ended) = oneshot::channel::<()>();
                let gates = Mutex::new(Some((begin, ended)));
                let service = service_fn(move |_| {
                    let gates = gates.lock().unwrap().take();
                    async move {
                        let (begin, ended) = gates.expect("it's one request");
                        begin.send(()).unwrap();
                        ended.await.unwrap();
                        Ok::<_, Infallible>(Response::new(full("slow")))
                    }
                });
                let mut server = http1::Builder::new();
                server.timer(Timer::new());
                let connection =
                    server.serve_connection(Io::new(stream), service);
                let mut connection = pin!(connection);
                let first = runtime::select(connection.as_mut(), begun).await;
                assert!(matches!(first, runtime::Either::Right(Ok(()))));
                connection.as_mut().graceful_shutdown();
                end.send(()).unwrap();
                connection.await.unwrap();
            });
            client.join().unwrap();
        },
    );
}

#[test]
fn an_idle_connection_keeps_two_buffers_and_little_else() {
    let lesson = Lesson {
        clause: "hyper on the runtime",
        promise: "An idle connection takes less than 3 KiB beside hyper's two \
                  buffers of 8 KiB each, no matter how many requests it had.",
        usual_cause: "The adapter has a buffer of its own, or each request \
                      leaves a sleep behind.",
        read: "",
    };
    check(lesson, || {
        const COUNT: usize = 50;
        const BUFFERS: isize = 2 * 8_192;
        let runtime = two_workers();
        let (address, ends) = serve(&runtime);
        let mut clients = Vec::with_capacity(COUNT);
        let before = live_bytes();
        for _ in 0..COUNT {
            let mut client = StdStream::connect(address).unwrap();
            for _ in 0..10 {
                let request = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n";
                client.write_all(request).unwrap();
                read_response(&mut client);
            }
            clients.push(client);
        }
        let each = (live_bytes() - before) / COUNT as isize;
        assert!(each < BUFFERS + 3_072, "it takes {each} bytes");
        drop(clients);
        for _ in 0..COUNT {
            ends.recv().unwrap().unwrap();
        }
    });
}

#[test]
fn many_streams_share_a_connection_of_http_2() {
    check(lesson("The streams of HTTP/2 run concurrently."), || {
        let runtime = two_workers();
        runtime.block_on(async {
            let listener = TcpListener::bind(HERE.into()).unwrap();
            let address = listener.local_addr().unwrap();
            let serving = spawn(async move {
                let (stream, _peer) = listener.accept().await.unwrap();
                http2::Builder::new(Executor::new())
                    .timer(Timer::new())
                    .max_concurrent_streams(1_000)
                    .serve_connection(Io::new(stream), service_fn(answer))
                    .await
            });
            let stream = TcpStream::connect(address).await.unwrap();
            let client =
                hyper::client::conn::http2::Builder::new(Executor::new());
            let handshake = client.handshake::<_, Body>(Io::new(stream));
            let (mut sender, connection) = handshake.await.unwrap();
            let connection = spawn(connection);
            let tasks: Vec<_> = (0..300_usize)
                .map(|number| {
                    let mut sender = sender.clone();
                    spawn(async move {
                        let body = vec![number as u8; 100 * number];
                        let request =
                            Request::post(format!("http://{address}/echo"));
                        let request = request.body(full(body.clone())).unwrap();
                        let response =
                            sender.send_request(request).await.unwrap();
                        let received = response.into_body().collect().await;
                        assert!(received.unwrap().to_bytes() == body);
                    })
                })
                .collect();
            // After the others, a slow request is answered, too.
            let request = Request::get(format!("http://{address}/slow"));
            let request = request.body(full("")).unwrap();
            let slow = sender.send_request(request).await.unwrap();
            let slow = slow.into_body().collect().await.unwrap();
            assert_eq!(slow.to_bytes(), "slow");
            for task in tasks {
                task.await.unwrap();
            }
            drop(sender);
            connection.await.unwrap().unwrap();
            serving.await.unwrap().unwrap();
        });
    });
}

#[test]
fn the_client_of_hyper_works_too() {
    check(lesson("hyper's client works on the runtime."), || {
        let runtime = two_workers();
        let (address, _ends) = serve(&runtime);
        runtime.block_on(async {
            let stream = TcpStream::connect(address).await.unwrap();
            let handshake =
                hyper::client::conn::http1::handshake(Io::new(stream));
            let (mut sender, connection) = handshake.await.unwrap();
            spawn(connection);
            for number in 0..50 {
                sender.ready().await.unwrap();
                let request = Request::get(format!("/{number}"));
                let request = request.header(header::HOST, "here");
                let request = request.body(full("")).unwrap();
                let response = sender.send_request(request).await.unwrap();
                let body = response.into_body().collect().await.unwrap();
                assert_eq!(body.to_bytes(), format!("hello from /{number}"));
            }
        });
    });
}
