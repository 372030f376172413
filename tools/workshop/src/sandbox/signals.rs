//! What signals mean, in words.

/// Names a signal, and says what it mostly comes from.
pub fn spoken(signal: i32) -> String {
    let known = MEANINGS.iter().find(|(number, ..)| *number == signal);
    match known {
        Some((_, name, meaning)) => format!("{name} ({meaning})"),
        None => format!("signal {signal}"),
    }
}

#[cfg(unix)]
const MEANINGS: [(i32, &str, &str); 14] = [
    (libc::SIGHUP, "SIGHUP", "its terminal was closed"),
    (libc::SIGINT, "SIGINT", "Ctrl-C was pressed"),
    (
        libc::SIGQUIT,
        "SIGQUIT",
        "it was asked to end and leave a trace",
    ),
    (
        libc::SIGILL,
        "SIGILL",
        "it came to an instruction that is none, as where std aborts",
    ),
    (libc::SIGTRAP, "SIGTRAP", "it came to a breakpoint"),
    (
        libc::SIGABRT,
        "SIGABRT",
        "it aborted, as after a panic within a panic",
    ),
    (
        libc::SIGBUS,
        "SIGBUS",
        "it read or wrote memory that isn't there",
    ),
    (libc::SIGFPE, "SIGFPE", "it calculated what has no result"),
    (
        libc::SIGKILL,
        "SIGKILL",
        "another program killed it, or the system, for want of memory",
    ),
    (
        libc::SIGSEGV,
        "SIGSEGV",
        "it read or wrote memory that isn't its own, or its stack overflowed",
    ),
    (
        libc::SIGPIPE,
        "SIGPIPE",
        "it wrote to a pipe that nothing reads",
    ),
    (libc::SIGTERM, "SIGTERM", "another program asked it to end"),
    (
        libc::SIGXCPU,
        "SIGXCPU",
        "it used more processor time than it may",
    ),
    (
        libc::SIGXFSZ,
        "SIGXFSZ",
        "it wrote a larger file than it may",
    ),
];

#[cfg(not(unix))]
const MEANINGS: [(i32, &str, &str); 0] = [];

#[cfg(all(test, unix))]
mod tests {
    use super::super::protocol::Cause;

    #[test]
    fn what_ends_a_program_is_said_in_words() {
        let causes = [
            (Cause::Signal(11), "was ended by SIGSEGV (it read or wrote"),
            (Cause::Signal(6), "was ended by SIGABRT (it aborted"),
            (Cause::Signal(64), "was ended by signal 64"),
            (Cause::OutputLimit, "printed too much"),
            (Cause::Exited(101), "ended with status 101"),
        ];
        for (cause, words) in causes {
            assert!(cause.to_string().starts_with(words), "{cause}");
        }
    }
}
