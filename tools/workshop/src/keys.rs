//! Keys that are pressed while a command goes on, without Enter after them.

#[cfg(unix)]
pub use on_unix::Keys;

#[cfg(not(unix))]
pub use elsewhere::Keys;

#[cfg(unix)]
mod on_unix {
    use std::io::{self, IsTerminal};
    use std::os::fd::{AsRawFd, RawFd};

    /// The terminal that standard input comes from. Until this is dropped, it passes
    /// each key on at once, and shows none.
    #[derive(Debug)]
    pub struct Keys {
        terminal: RawFd,
        before: libc::termios,
    }

    impl Keys {
        /// Listens to the keys; `None` where standard input is no terminal.
        pub fn open() -> Option<Self> {
            let input = io::stdin();
            let terminal = input.as_raw_fd();
            if !input.is_terminal() {
                return None;
            }
            // SAFETY: zeroes are a value of this structure of integers.
            let mut before: libc::termios = unsafe { std::mem::zeroed() };
            // SAFETY: the pointer is to a `termios`, which the call writes.
            if unsafe { libc::tcgetattr(terminal, &mut before) } != 0 {
                return None;
            }
            let mut now = before;
            // Ctrl-C is still a signal.
            now.c_lflag &= !(libc::ICANON | libc::ECHO);
            // A look returns at once.
            now.c_cc[libc::VMIN] = 0;
            now.c_cc[libc::VTIME] = 0;
            let keys = Self { terminal, before };
            keys.set(&now).then_some(keys)
        }

        /// The next key that was pressed, if there is one.
        pub fn pressed(&self) -> Option<char> {
            let mut byte = 0_u8;
            // SAFETY: the pointer is to one byte, which is as many as are asked for.
            let count = unsafe { libc::read(self.terminal, (&raw mut byte).cast(), 1) };
            (count == 1).then_some(char::from(byte))
        }

        fn set(&self, settings: &libc::termios) -> bool {
            // SAFETY: the pointer is to a `termios`, which the call reads.
            unsafe { libc::tcsetattr(self.terminal, libc::TCSANOW, settings) == 0 }
        }
    }

    impl Drop for Keys {
        fn drop(&mut self) {
            // If the terminal is gone, it needs nothing.
            self.set(&self.before);
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    /// Keys can't be listened to here.
    #[derive(Debug)]
    pub enum Keys {}

    impl Keys {
        pub fn open() -> Option<Self> {
            None
        }

        pub fn pressed(&self) -> Option<char> {
            match *self {}
        }
    }
}
