//! Every short history of calls, and every moment of a call.

use super::*;

/// A timeout that's over at once, but not before the thread has slept.
const SHORT: Duration = Duration::from_micros(1);

/// What can happen in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    UnparkA,
    LookAtA,
    ParkInA,
    ParkInAElsewhere,
    UnparkB,
    ParkInB,
    UnparkThread,
}

const CALLS: [Call; 7] = [
    Call::UnparkA,
    Call::LookAtA,
    Call::ParkInA,
    Call::ParkInAElsewhere,
    Call::UnparkB,
    Call::ParkInB,
    Call::UnparkThread,
];

impl Call {
    fn in_words(self) -> &'static str {
        match self {
            Call::UnparkA => "unpark parker a",
            Call::LookAtA => "call a.park_timeout(ZERO)",
            Call::ParkInA => "park in a, for 1 µs if it has no token",
            Call::ParkInAElsewhere => "the same on another thread",
            Call::UnparkB => "unpark parker b",
            Call::ParkInB => "park in b, for 1 µs if it has no token",
            Call::UnparkThread => "unpark the thread",
        }
    }
}

/// Clause 1: a mistake may show only after some calls in a row, in which each
/// by itself did what it should.
#[test]
fn calls_in_any_order_leave_one_token_or_none() {
    let lesson = Lesson {
        clause: "1. One token",
        promise: "After any calls, in any order and on any thread, a parker has a token if it was \
                  unparked since it took the last one.",
        usual_cause: "A call leaves something behind that only a later call finds: a state, the \
                      handle of a thread, or a token in what the parker sleeps on.",
        read: "one-future/parker.html#three-states",
    };
    const LONGEST: u32 = 3;
    check(lesson, || {
        let mut elsewhere = Elsewhere::new();
        let count = CALLS.len();
        for length in 1..=LONGEST {
            for number in 0..count.pow(length) {
                let calls = (0..length)
                    .map(|index| CALLS[number / count.pow(index) % count]);
                make(calls, &mut elsewhere);
            }
        }
    });
}

/// Makes these calls, and compares what each returns with what it should.
#[track_caller]
fn make(calls: impl Iterator<Item = Call> + Clone, elsewhere: &mut Elsewhere) {
    let mut parkers = [Parker::new(), Parker::new()];
    let unparkers = parkers.each_ref().map(Parker::unparker);
    // Whether each has a token.
    let mut tokens = [false; 2];
    let mut made = Vec::new();
    let looks = [Call::LookAtA, Call::ParkInB, Call::LookAtA];
    for call in calls.chain(looks) {
        made.push(call.in_words());
        let (index, took) = match call {
            Call::UnparkA | Call::UnparkB => {
                let index = usize::from(call == Call::UnparkB);
                unparkers[index].clone().unpark();
                tokens[index] = true;
                continue;
            }
            Call::UnparkThread => {
                thread::current().unpark();
                continue;
            }
            Call::LookAtA => (0, parkers[0].park_timeout(Duration::ZERO)),
            Call::ParkInA => (0, park_or_time_out(&parkers[0], tokens[0])),
            Call::ParkInB => (1, park_or_time_out(&parkers[1], tokens[1])),
            Call::ParkInAElsewhere => {
                let parker = std::mem::take(&mut parkers[0]);
                let (parker, took) = elsewhere.park(parker, tokens[0]);
                parkers[0] = parker;
                (0, took)
            }
        };
        let token = std::mem::replace(&mut tokens[index], false);
        let found = if took { "a token" } else { "no token" };
        assert!(
            took == token,
            "the last of these calls found {found}: {}",
            made.join("; ")
        );
    }
}

/// Parks for good if there has to be a token.
fn park_or_time_out(parker: &Parker, has_token: bool) -> bool {
    if has_token {
        parker.park();
        true
    } else {
        parker.park_timeout(SHORT)
    }
}

/// Another thread, which parks when it's told to.
struct Elsewhere {
    to: mpsc::Sender<(Parker, bool)>,
    from: mpsc::Receiver<(Parker, bool)>,
}

impl Elsewhere {
    fn new() -> Self {
        let (to, told) = mpsc::channel();
        let (tell, from) = mpsc::channel();
        thread::spawn(move || {
            for (parker, has_token) in told {
                let took = park_or_time_out(&parker, has_token);
                // Nobody listens anymore if the check has failed.
                let _ = tell.send((parker, took));
            }
        });
        Self { to, from }
    }

    fn park(&mut self, parker: Parker, has_token: bool) -> (Parker, bool) {
        let sent = self.to.send((parker, has_token));
        sent.expect("the thread runs");
        self.from.recv().expect("parking doesn't panic")
    }
}

/// Clause 5: what comes between two operations of a timed park, one after the
/// other, on the way into its sleep and out of it.
pub(super) fn unpark_at_each_moment_of_a_timed_park() {
    const TIMEOUTS: [Duration; 2] = [Duration::ZERO, SHORT];
    for (timeout, has_token) in
        TIMEOUTS.into_iter().flat_map(|t| [(t, false), (t, true)])
    {
        for moment in 0.. {
            let parker = Parker::new();
            let unparker = parker.unparker();
            if has_token {
                unparker.unpark();
            }
            let (sender, unparking) = mpsc::channel();
            let unpark = move || {
                let unparking = start_elsewhere(move || unparker.unpark());
                let _ = sender.send(unparking);
            };
            let (took, has_come) =
                at_moment(moment, unpark, || parker.park_timeout(timeout));
            if let Ok(unparking) = unparking.try_recv() {
                unparking.join().expect("unparking doesn't panic");
            }
            let took_then = parker.park_timeout(Duration::ZERO);
            let took_again = parker.park_timeout(Duration::ZERO);
            let when = format!(
                "within `park_timeout({timeout:?})`, just before its operation {moment}"
            );
            let taken = [took, took_then, took_again];
            let count = taken.iter().filter(|took| **took).count();
            let unparks = usize::from(has_token) + usize::from(has_come);
            assert!(
                count <= unparks && !took_again,
                "of {unparks} tokens, one of which came {when}, {count} were taken"
            );
            assert!(
                took || !has_token,
                "there was a token, and another came {when}, but it took none"
            );
            assert!(
                count > 0 || unparks == 0,
                "a token that came {when} was taken neither by this call nor by the next"
            );
            if !has_come {
                break;
            }
        }
    }
}

/// Clause 5: the same with a call of `unpark`, in which the parker's thread
/// parks.
pub(super) fn park_at_each_moment_of_an_unpark() {
    for has_token in [false, true] {
        for moment in 0.. {
            let parker = Parker::new();
            let unparker = parker.unparker();
            if has_token {
                unparker.unpark();
            }
            let (sender, parking) = mpsc::channel();
            let park = move || {
                let parking = start_elsewhere(move || {
                    let took = parker.park_timeout(SHORT);
                    (parker, took)
                });
                let _ = sender.send(parking);
            };
            let unpark = || unparker.unpark();
            let (_, has_come) = at_moment(moment, park, unpark);
            if !has_come {
                break;
            }
            let parking = parking.recv().expect("it has been sent");
            let (parker, took) = parking.join().expect("parking doesn't panic");
            let took_then = parker.park_timeout(Duration::ZERO);
            let took_again = parker.park_timeout(Duration::ZERO);
            let when = format!(
                "a `park_timeout` came within `unpark`, just before its operation {moment}"
            );
            assert!(
                (took || took_then) && !took_again,
                "{when}: it took a token: {took}, the next: {took_then}, the one after that: \
                 {took_again}"
            );
            assert!(took || !has_token, "{when}: it took no token");
        }
    }
}
