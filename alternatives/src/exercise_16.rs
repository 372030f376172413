//! Other correct versions of the reactor. What is given to the reader is the
//! solution's in all of them.
#![allow(
    dead_code,
    reason = "a version has the whole of a part that it takes from the solution"
)]

pub mod driver_thread;
#[cfg(unix)]
pub mod level_triggered;
#[cfg(unix)]
pub mod one_shot;

/// The files that are given to the reader, those that are the solution's in all
/// versions, and the tests.
macro_rules! common_parts {
    () => {
        #[path = "../../../solutions/16-reactor/src/accept.rs"]
        mod accept;
        #[path = "../../../solutions/16-reactor/src/connect.rs"]
        mod connect;
        #[path = "../../../solutions/16-reactor/src/context.rs"]
        mod context;
        #[path = "../../../solutions/16-reactor/src/deadlines.rs"]
        mod deadlines;
        #[path = "../../../solutions/16-reactor/src/errors.rs"]
        mod errors;
        #[path = "../../../solutions/16-reactor/src/hook.rs"]
        mod hook;
        #[path = "../../../solutions/16-reactor/src/sleep.rs"]
        mod sleep;
        #[path = "../../../solutions/16-reactor/src/tcp.rs"]
        mod tcp;
        #[cfg(test)]
        #[path = "../../../exercises/16-reactor/src/tests/mod.rs"]
        mod tests;
        #[path = "../../../solutions/16-reactor/src/timers.rs"]
        mod timers;
        #[path = "../../../solutions/16-reactor/src/udp.rs"]
        mod udp;

        use accept::accept;
        use connect::has_connected;
        use errors::shut_down_error;
        use io::Io;

        pub use self::sleep::{Sleep, sleep, sleep_until};
        pub use context::EnterGuard;
        pub use driver::Driver;
        pub use handle::Handle;
        pub use tcp::{TcpListener, TcpStream};
        pub use udp::UdpSocket;
    };
}

/// What the versions have in common that ask only for what tasks wait for.
#[cfg(unix)]
macro_rules! armed_parts {
    () => {
        #[path = "armed/driver.rs"]
        mod driver;
        #[path = "armed/handle.rs"]
        mod handle;
        #[path = "armed/io.rs"]
        mod io;
    };
}

#[cfg(unix)]
use armed_parts;
use common_parts;
