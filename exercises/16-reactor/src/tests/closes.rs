//! Clause 1: streams of which only one direction has ended.

use super::*;

/// Clause 1: a peer that sends no more may still read, and slowly.
#[test]
fn a_write_waits_for_room_after_the_peer_has_sent_all() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "If the peer has shut down its sending but still reads, a write that finds no \
                  room is pending, and is woken when there's room again.",
        usual_cause: "The write isn't woken, or it ends. At a hang: the end of what the peer sends \
                      closes both directions. Writing then counts as ready forever, so a write \
                      that finds no room tries again and again, within one poll.",
        read: "io/readiness.html#hanging-up",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let (stream, mut peer) = pair();
        peer.shutdown(Shutdown::Write).unwrap();
        assert_eq!(drive(&mut driver, stream.read(&mut [0])).unwrap(), 0);
        let part = vec![7; 1 << 16];
        drive(&mut driver, stream.writable()).unwrap();
        let mut sent = 0;
        let (mut writing, counts) = loop {
            let mut writing = Box::pin(stream.write(&part));
            let (waker, counts) = CountingWaker::new();
            match writing.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(count) => sent += count.unwrap(),
                Poll::Pending => break (writing, counts),
            }
        };
        // Reading is still at its end.
        assert_eq!(drive(&mut driver, stream.read(&mut [0])).unwrap(), 0);
        let reading = thread::spawn(move || {
            let mut bytes = Vec::new();
            peer.read_to_end(&mut bytes).unwrap();
            bytes.len()
        });
        while counts.wakes() == 0 {
            turn(&mut driver);
        }
        sent += drive(&mut driver, writing.as_mut()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let read = reading.join().unwrap();
        assert!(read == sent, "of {sent} bytes sent, the peer read {read}");
    });
}
