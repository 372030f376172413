//! Clause 1: datagrams. Each call receives one, no matter how long it is.

use super::*;

/// Clause 1: a short datagram says nothing about the ones behind it.
#[test]
fn datagrams_that_came_at_once_are_received_one_by_one() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "Datagrams that arrived together are received one after the other, even if they \
                  are shorter than the buffer.",
        usual_cause: "The bytes of two datagrams are mixed up. At a hang: a datagram that's \
                      shorter than the buffer clears the readiness, as a short read of a stream \
                      does. But other datagrams may be behind it, and they cause no new event.",
        read: "io/readiness.html#level-edge-one-shot",
    };
    check(lesson, || {
        for is_connected in [false, true] {
            let mut driver = driver();
            let _entered = driver.handle().enter();
            let socket = UdpSocket::bind(HERE.into()).unwrap();
            let peer = StdUdpSocket::bind(HERE).unwrap();
            peer.connect(socket.local_addr().unwrap()).unwrap();
            if is_connected {
                socket.connect(peer.local_addr().unwrap()).unwrap();
            }
            let lengths = [5, 0, 8, 1, 5];
            for (number, length) in lengths.into_iter().enumerate() {
                peer.send(&vec![number as u8; length]).unwrap();
            }
            for (number, length) in lengths.into_iter().enumerate() {
                let mut buffer = [0xFF; 8];
                let count = drive(&mut driver, async {
                    if is_connected {
                        return socket.recv(&mut buffer).await;
                    }
                    let (count, from) = socket.recv_from(&mut buffer).await?;
                    assert_eq!(from, peer.local_addr()?);
                    Ok(count)
                });
                let received = &buffer[..count.unwrap()];
                assert!(
                    received == vec![number as u8; length],
                    "datagram {number}, of length {length}, was received as {received:?}"
                );
            }
        }
    });
}
