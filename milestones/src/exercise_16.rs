//! The reactor, milestone by milestone. What is written of a version are the
//! solution's files.
#![allow(dead_code, reason = "nothing uses yet what later milestones need")]

pub mod m1_sources;
pub mod m2_time;

macro_rules! sources {
    () => {
        #[path = "unwritten/accept.rs"]
        mod accept;
        #[path = "../../../solutions/16-reactor/src/connect.rs"]
        mod connect;
        #[path = "../../../solutions/16-reactor/src/context.rs"]
        mod context;
        #[path = "../../../solutions/16-reactor/src/driver.rs"]
        mod driver;
        #[path = "../../../solutions/16-reactor/src/errors.rs"]
        mod errors;
        #[path = "../../../solutions/16-reactor/src/handle.rs"]
        mod handle;
        #[path = "../../../solutions/16-reactor/src/hook.rs"]
        mod hook;
        #[path = "../../../solutions/16-reactor/src/io.rs"]
        mod io;
        #[path = "../../../solutions/16-reactor/src/registrations.rs"]
        mod registrations;
        #[path = "unwritten/shutdown.rs"]
        mod shutdown;
        #[path = "../../../solutions/16-reactor/src/tcp.rs"]
        mod tcp;
        #[cfg(test)]
        #[path = "../../../exercises/16-reactor/src/tests/mod.rs"]
        mod tests;
        #[path = "../../../solutions/16-reactor/src/timers.rs"]
        mod timers;
        #[path = "../../../solutions/16-reactor/src/udp.rs"]
        mod udp;
        #[path = "../../../solutions/16-reactor/src/wake_up.rs"]
        mod wake_up;

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

use sources;
