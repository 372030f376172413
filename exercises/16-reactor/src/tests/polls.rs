//! Clauses 1 and 3: the methods that are polls.

use super::*;

/// Clause 1: the caller of a poll keeps no future that could keep its waker.
#[test]
fn a_poll_that_is_pending_has_kept_its_waker() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "If `poll_read` or `poll_write` is pending, the waker of the newest poll is woken \
                  once there are bytes, or once there's room.",
        usual_cause: "The waker belongs to a future that `poll_bytes` makes and drops again. At a \
                      hang: the waker is stored in a future that `poll_bytes` makes, polls once \
                      and drops, and the drop takes the waker out again. `poll_ready` keeps it.",
        read: "io/readiness.html#many-tasks-one-source",
    };
    check(lesson, || {
        let mut driver = driver();
        let _entered = driver.handle().enter();
        let (stream, mut peer) = pair();
        for round in 0..3 {
            let (waker, counts) = CountingWaker::new();
            let mut cx = Context::from_waker(&waker);
            assert!(stream.poll_read(&mut cx, &mut [0]).is_pending());
            peer.write_all(b"!").unwrap();
            while counts.wakes() == 0 {
                turn(&mut driver);
            }
            let read = poll_fn(|cx| stream.poll_read(cx, &mut [0]));
            let count = drive(&mut driver, read).unwrap();
            assert!(count == 1, "in round {round}, {count} bytes were read");
        }
        let part = vec![7; 1 << 16];
        drive(&mut driver, stream.writable()).unwrap();
        let (waker, counts) = CountingWaker::new();
        let mut cx = Context::from_waker(&waker);
        let mut sent = 0;
        while let Poll::Ready(count) = stream.poll_write(&mut cx, &part) {
            sent += count.unwrap();
        }
        let reading = thread::spawn(move || {
            let mut bytes = Vec::new();
            peer.read_to_end(&mut bytes).unwrap();
            bytes.len()
        });
        while counts.wakes() == 0 {
            turn(&mut driver);
        }
        let write = poll_fn(|cx| stream.poll_write(cx, &part));
        sent += drive(&mut driver, write).unwrap();
        drop(stream);
        let read = reading.join().unwrap();
        assert!(read == sent, "of {sent} bytes sent, the peer read {read}");
    });
}

/// Clause 1: what was written as a whole leaves room, perhaps.
#[test]
fn many_small_writes_find_room() {
    let lesson = Lesson {
        clause: "1. Ready",
        promise: "As long as there's room in the kernel's buffer, writes go on, in small parts or \
                  in many slices.",
        usual_cause: "The bytes aren't those that were written. At a hang: a write that was taken \
                      whole clears the readiness, or one that the system limits to 1,024 slices \
                      counts as short. There's room left, so no event comes.",
        read: "io/readiness.html#level-edge-one-shot",
    };
    check(lesson, || {
        const COUNT: usize = 3_000;
        let mut driver = driver();
        let _entered = driver.handle().enter();
        for is_vectored in [false, true] {
            let (stream, mut peer) = pair();
            let bytes: Vec<_> = (0..COUNT).map(|it| it as u8).collect();
            let mut parts: Vec<_> = bytes.chunks(1).map(IoSlice::new).collect();
            drive(&mut driver, async {
                if !is_vectored {
                    for byte in bytes.chunks(1).take(300) {
                        stream.write_all(byte).await.unwrap();
                    }
                    for byte in bytes[300..].chunks(1) {
                        let write = poll_fn(|cx| stream.poll_write(cx, byte));
                        assert_eq!(write.await.unwrap(), 1);
                    }
                    return;
                }
                while !parts.is_empty() {
                    let count = poll_fn(|cx| {
                        // Nothing else writes, so each part has one byte.
                        stream.poll_write_vectored(cx, &parts)
                    });
                    parts.drain(..count.await.unwrap());
                }
            });
            let mut read = vec![0; COUNT];
            peer.read_exact(&mut read).unwrap();
            assert!(read == bytes, "the peer has read other bytes");
        }
    });
}

/// Clause 3: a poll that's pending at the end of a time slice has moved nothing.
#[test]
fn a_poll_that_yields_has_moved_nothing() {
    let lesson = Lesson {
        clause: "3. Nothing lost",
        promise: "If `poll_read` or `poll_write` is pending because the task's time slice is over, \
                  it hasn't moved any byte.",
        usual_cause: "In `poll_bytes`, the checkpoint comes after the operation. What was read is \
                      lost then, and what was written is written again.",
        read: "scheduler/cancellation.html",
    };
    check(lesson, || {
        const COUNT: usize = 5_000;
        let runtime = runtime(1);
        let (stream, mut peer) = runtime.block_on(async { pair() });
        let bytes: Vec<_> = (0..COUNT).map(|it| it as u8).collect();
        peer.write_all(&bytes).unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        let moving = async move {
            let (mut read, mut byte) = (Vec::new(), [0]);
            while poll_fn(|cx| stream.poll_read(cx, &mut byte)).await.unwrap()
                > 0
            {
                read.push(byte[0]);
            }
            for byte in &read {
                let byte = std::slice::from_ref(byte);
                let write = poll_fn(|cx| stream.poll_write(cx, byte));
                assert_eq!(write.await.unwrap(), 1);
            }
            read
        };
        let slice = Duration::from_micros(1);
        let task = runtime.spawn(budget::with_budget(slice, moving));
        let read = runtime.block_on(task).unwrap();
        let mut echoed = Vec::new();
        peer.read_to_end(&mut echoed).unwrap();
        assert!(read == bytes, "of {COUNT} bytes, {} were read", read.len());
        assert!(
            echoed == bytes,
            "of {COUNT} bytes, {} have arrived at the peer",
            echoed.len()
        );
    });
}
