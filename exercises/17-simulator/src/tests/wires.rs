//! Clauses 7 to 9: the wire.

use super::*;

/// What [`Wire::receive`] returns, with the bytes.
fn receive(wire: &mut Wire, time: Duration, length: usize) -> Option<Vec<u8>> {
    let mut buffer = vec![0; length];
    let count = wire.receive(time, &mut buffer)?;
    assert!(count <= length, "`receive` put {count} bytes into {length}");
    buffer.truncate(count);
    Some(buffer)
}

fn text(bytes: Option<Vec<u8>>) -> String {
    bytes.map_or("nothing".into(), |bytes| {
        format!("{:?}", String::from_utf8_lossy(&bytes))
    })
}

#[track_caller]
fn assert_read(wire: &mut Wire, time: u32, length: usize, expected: &str) {
    let bytes = text(receive(wire, time * MS, length));
    assert!(
        bytes == expected,
        "at {time} ms, a buffer of {length} bytes got {bytes}, not {expected}"
    );
}

/// Clause 7: TCP's promise, on a network that delays each segment on its own.
#[test]
fn no_byte_overtakes_another() {
    let lesson = Lesson {
        clause: "7. In order",
        promise: "Bytes are read in the order in which they were sent, even if those that were \
                  sent later arrive earlier.",
        usual_cause: "The segments are sorted by their arrival, as if each were a datagram.",
        read: "io/simulator.html#a-network-in-memory",
    };
    check(lesson, || {
        let mut wire = Wire::new();
        wire.send(b"abc", 30 * MS);
        wire.send(b"def", 10 * MS);
        wire.send(b"ghi", 40 * MS);
        assert_read(&mut wire, 20, 16, "nothing");
        assert_read(&mut wire, 30, 16, "\"abcdef\"");
        assert_read(&mut wire, 39, 16, "nothing");
        assert_read(&mut wire, 40, 16, "\"ghi\"");
    });
}

/// Clause 7: the sender writes many, the reader reads few.
#[test]
fn a_short_read_leaves_the_rest() {
    let lesson = Lesson {
        clause: "7. In order",
        promise: "A read that's shorter than what has arrived leaves the rest for the next one.",
        usual_cause: "A segment is dropped after it was read in part, or its beginning is read \
                      again.",
        read: "io/simulator.html#a-network-in-memory",
    };
    check(lesson, || {
        let mut wire = Wire::new();
        wire.send(b"abcde", MS);
        wire.send(b"fg", MS);
        assert_read(&mut wire, 1, 2, "\"ab\"");
        assert_read(&mut wire, 1, 1, "\"c\"");
        assert_read(&mut wire, 2, 3, "\"def\"");
        assert_read(&mut wire, 2, 3, "\"g\"");
        assert_read(&mut wire, 2, 3, "nothing");
    });
}

/// Clause 8: even if its own segment is faster.
#[test]
fn the_end_comes_after_all_bytes() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "The end of the stream overtakes no byte, and isn't early.",
        usual_cause: "`receive` looks at the end first, or the end has only its own arrival.",
        read: "io/simulator.html#a-network-in-memory",
    };
    check(lesson, || {
        let mut wire = Wire::new();
        wire.send(b"ab", 30 * MS);
        wire.end(10 * MS);
        assert_read(&mut wire, 20, 4, "nothing");
        assert_read(&mut wire, 30, 1, "\"a\"");
        assert_read(&mut wire, 30, 1, "\"b\"");
        assert_read(&mut wire, 30, 4, "\"\"");

        let mut wire = Wire::new();
        wire.send(b"ab", 10 * MS);
        wire.end(30 * MS);
        assert_read(&mut wire, 20, 4, "\"ab\"");
        assert_read(&mut wire, 29, 4, "nothing");
        assert_read(&mut wire, 30, 4, "\"\"");
    });
}

/// Clause 8: a reader may ask again.
#[test]
fn nothing_comes_after_the_end() {
    let lesson = Lesson {
        clause: "8. The end",
        promise: "After the end, each `receive` returns `Some(0)`, whatever is sent.",
        usual_cause: "The end is taken out when it's read, so the next read waits forever, or \
                      `send` doesn't look whether the stream has ended.",
        read: "io/simulator.html#a-network-in-memory",
    };
    check(lesson, || {
        let mut wire = Wire::new();
        wire.send(b"ab", MS);
        wire.end(2 * MS);
        wire.send(b"cd", 3 * MS);
        wire.end(90 * MS);
        assert_read(&mut wire, 2, 4, "\"ab\"");
        for time in [2, 3, 100] {
            assert_read(&mut wire, time, 4, "\"\"");
        }
        wire.send(b"ef", 3 * MS);
        assert_read(&mut wire, 200, 4, "\"\"");
    });
}

/// Clause 9: the reader's task sleeps until then.
#[test]
fn the_next_arrival_is_when_a_read_returns() {
    let lesson = Lesson {
        clause: "9. The next arrival",
        promise: "`next_arrival` returns the time from which `receive` returns `Some`.",
        usual_cause: "It returns the latest arrival, or the segment's own arrival although a byte \
                      before it arrives later, or nothing for the end. The reader would be woken \
                      too late, or never.",
        read: "io/simulator.html#a-network-in-memory",
    };
    check(lesson, || {
        let mut wire = Wire::new();
        // A time in the past means: now.
        let next = |wire: &Wire, now: Duration| {
            let arrival = wire.next_arrival();
            arrival.map(|it| it.max(now).as_millis())
        };
        let mut seen = vec![next(&wire, Duration::ZERO)];
        wire.send(b"", 5 * MS);
        seen.push(next(&wire, Duration::ZERO));
        wire.send(b"abc", 30 * MS);
        wire.send(b"def", 10 * MS);
        wire.send(b"ghi", 50 * MS);
        seen.push(next(&wire, Duration::ZERO));
        for time in [30, 30, 50] {
            receive(&mut wire, time * MS, 4);
            seen.push(next(&wire, time * MS));
        }
        wire.end(70 * MS);
        seen.push(next(&wire, 50 * MS));
        let expected =
            [None, None, Some(30), Some(30), Some(50), None, Some(70)];
        assert!(
            seen == expected,
            "at first, after `send` of no byte, after three `send`s, after each of three reads, \
             and after `end`, the next arrivals were {seen:?} ms, not {expected:?}"
        );
    });
}

/// Clause 7: many calls, with bytes that show their order.
#[test]
fn every_byte_arrives_once_and_in_time() {
    let lesson = Lesson {
        clause: "7. In order",
        promise: "`receive` returns as many bytes as have arrived and fit, and then the end, and \
                  `next_arrival` tells when.",
        usual_cause: "It returns the bytes of one segment only, or a `send` of no bytes delays \
                      the bytes that follow, or what is sent after the end changes something.",
        read: "io/simulator.html#a-network-in-memory",
    };
    check(lesson, || {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let mut wire = Wire::new();
            // Each byte with its arrival.
            let mut sent: Vec<(u8, Duration)> = Vec::new();
            let (mut read_count, mut last) = (0, Duration::ZERO);
            let mut end = None;
            for step in 0..60_u32 {
                let time = step * MS;
                let arrival = time + random.duration(MS..20 * MS);
                let most = if random.one_in(20) { 400 } else { 4 };
                let bytes: Vec<_> = (0..random.below(most))
                    .map(|_| random.bits() as u8)
                    .collect();
                wire.send(&bytes, arrival);
                if end.is_none() && !bytes.is_empty() {
                    last = last.max(arrival);
                    sent.extend(bytes.iter().map(|&byte| (byte, last)));
                }
                if random.one_in(40) {
                    let arrival = time + random.duration(MS..20 * MS);
                    wire.end(arrival);
                    end.get_or_insert(last.max(arrival));
                }
                let most = if random.one_in(20) { 600 } else { 6 };
                let length = 1 + random.below(most) as usize;
                let bytes = receive(&mut wire, time, length);
                let expected: Vec<_> = sent[read_count..]
                    .iter()
                    .take_while(|(_, arrival)| *arrival <= time)
                    .take(length)
                    .map(|(byte, _)| *byte)
                    .collect();
                read_count += expected.len();
                let is_over = read_count == sent.len()
                    && end.is_some_and(|end| end <= time);
                let is_some = !expected.is_empty() || is_over;
                let expected = is_some.then_some(expected);
                assert!(
                    bytes == expected,
                    "seed {seed}, at {time:?}: a buffer of {length} bytes got {bytes:?}, not \
                     {expected:?}"
                );
                // A time in the past means: now.
                let next = wire.next_arrival().map(|it| it.max(time));
                let first = sent.get(read_count).map(|it| it.1).or(end);
                let first = first.map(|it| it.max(time));
                assert!(
                    next == first,
                    "seed {seed}, after `receive` at {time:?}: the next arrival is {next:?}, not \
                     {first:?}"
                );
            }
        }
    });
}
