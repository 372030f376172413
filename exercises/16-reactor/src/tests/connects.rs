//! Clause 5: attempts to connect.

use super::*;

/// Clause 5: a socket becomes writable when the attempt is over, however it
/// ended.
#[test]
fn a_connection_that_is_refused_is_an_error() {
    let lesson = Lesson {
        clause: "5. Connect",
        promise: "If an attempt to connect is refused, `connect` returns that error.",
        usual_cause: "A writable socket is taken for a connected one, without a look at \
                      `take_error`.",
        read: "io/reactor.html#connecting-and-accepting",
    };
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            // Nothing listens there, and no client has this port: an attempt to connect to
            // one's own port would succeed.
            let address = (Ipv4Addr::LOCALHOST, 1).into();
            for _ in 0..20 {
                let refused = TcpStream::connect(address).await;
                let kind = refused.map(drop).map_err(|error| error.kind());
                assert!(
                    kind == Err(ErrorKind::ConnectionRefused),
                    "nothing listens there, and `connect` returned `{kind:?}`"
                );
            }
        });
    });
}

/// Clause 5: the stream can be used at once.
#[test]
fn a_connection_that_is_made_can_be_used() {
    let lesson = Lesson {
        clause: "5. Connect",
        promise: "`connect` returns a connected stream: it has a peer, and carries bytes.",
        usual_cause: "`connect` returns before the attempt is over. At a hang: the source is \
                      registered with the poller before the driver has an entry for it, and an \
                      event that comes in between is lost.",
        read: "io/reactor.html#connecting-and-accepting",
    };
    check(lesson, || {
        let runtime = runtime(1);
        runtime.block_on(async {
            let listener = StdListener::bind(HERE).unwrap();
            let address = listener.local_addr().unwrap();
            for _ in 0..50 {
                let stream = TcpStream::connect(address).await.unwrap();
                assert_eq!(stream.peer_addr().unwrap(), address);
                let (mut peer, _) = listener.accept().unwrap();
                peer.write_all(b"!").unwrap();
                assert_eq!(stream.read(&mut [0]).await.unwrap(), 1);
            }
        });
    });
}

/// Clause 5: what `connect` needs first is a descriptor.
#[test]
#[cfg(unix)]
fn a_connect_without_a_descriptor_is_an_error() {
    let lesson = Lesson {
        clause: "5. Connect",
        promise: "While there's no descriptor, each `connect` gives the error of the system. \
                  After that it works again.",
        usual_cause: "The attempt is repeated until there's a descriptor, or the error is kept.",
        read: "io/reactor.html#connecting-and-accepting",
    };
    check(lesson, || {
        let runtime = runtime(1);
        let listener = StdListener::bind(HERE).unwrap();
        let address = listener.local_addr().unwrap();
        accepts::limit_descriptors(accepts::lowest_free() + 10);
        let connecting = runtime.spawn(async move {
            for _ in 0..3 {
                let mut streams = Vec::new();
                let error = loop {
                    match TcpStream::connect(address).await {
                        Ok(stream) => streams.push(stream),
                        Err(error) => break error,
                    }
                };
                assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
                // What watches this check has files open at times.
                let count = streams.len();
                assert!((3..=15).contains(&count), "{count} connections");
            }
        });
        runtime.block_on(connecting).unwrap();
    });
}
