//! What a terminal can show: colors, and a line that says how far something is.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::panic;

/// Goes to the line's beginning and clears it.
pub const CLEAR_LINE: &str = "\r\x1b[K";

/// Turns on bold type, until [`RESET`].
pub const BOLD: &str = "\x1b[1m";
/// Turns on faint type.
pub const DIM: &str = "\x1b[2m";
/// Turns on red.
pub const RED: &str = "\x1b[31m";
/// Turns on green.
pub const GREEN: &str = "\x1b[32m";
/// Turns on yellow.
pub const YELLOW: &str = "\x1b[33m";
/// Ends all of them.
pub const RESET: &str = "\x1b[0m";

/// Where the width can't be asked for.
const USUAL_COLUMNS: u16 = 80;

/// The width of a bar, without its brackets.
const BAR_COLUMNS: usize = 24;

/// Lets a command end without a word when the program that reads its output has
/// ended, as `head` does after a few lines. It unwinds all the same, so nothing it
/// has started is left behind.
pub fn end_quietly_with_the_reader() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        let is_closed = message.starts_with("failed printing to std");
        if !(is_closed && message.contains("Broken pipe")) {
            usual(info);
        }
    }));
}

/// Whether a line can be written over again: only on a terminal, and not on one
/// that knows no commands.
pub fn is_live(stream: &impl IsTerminal) -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|kind| kind == "dumb");
    stream.is_terminal() && !is_dumb
}

/// Whether to print colors: on such a terminal, unless the reader has set
/// `NO_COLOR`.
pub fn colors_wanted(stream: &impl IsTerminal) -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    is_live(stream) && !refused
}

/// The text in this color, if colors are wanted.
pub fn paint(color: &str, text: &str, colors: bool) -> String {
    match colors && !text.is_empty() && !color.is_empty() {
        true => format!("{color}{text}{RESET}"),
        false => text.to_owned(),
    }
}

/// The text with its end cut off if it is longer than the width.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let Some(kept) = width.checked_sub(1) else {
        return String::new();
    };
    let mut cut: String = text.chars().take(kept).collect();
    cut.push('…');
    cut
}

/// The text with its control characters shown instead of sent: a terminal obeys
/// some of them, and any program can print them.
pub fn harmless(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for character in text.replace("\r\n", "\n").chars() {
        match character {
            '\n' | '\t' => harmless.push(character),
            control if control.is_control() => harmless.extend(control.escape_default()),
            other => harmless.push(other),
        }
    }
    harmless
}

/// The width of the terminal that standard error goes to.
pub fn columns() -> u16 {
    asked_columns()
        .filter(|columns| *columns > 0)
        .unwrap_or(USUAL_COLUMNS)
}

#[cfg(unix)]
fn asked_columns() -> Option<u16> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: this request of `ioctl` writes one `winsize`, which the pointer is to.
    let status = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &mut size) };
    (status == 0).then_some(size.ws_col)
}

#[cfg(not(unix))]
fn asked_columns() -> Option<u16> {
    None
}

/// How far something is: `[=====>      ] 5/12`.
pub fn bar(done: usize, total: usize) -> String {
    let filled = match total {
        0 => 0,
        total => BAR_COLUMNS * done.min(total) / total,
    };
    let mut bar = "=".repeat(filled);
    if filled < BAR_COLUMNS {
        bar.push('>');
    }
    format!("[{bar:<BAR_COLUMNS$}] {done}/{total}")
}

/// The last line of the terminal. It says how far something is, is written over,
/// and goes when there is something to say that stays. Elsewhere nothing is shown.
#[derive(Debug)]
pub struct StatusLine {
    live: bool,
    shown: bool,
}

impl StatusLine {
    /// Creates one that nothing is in.
    pub fn new(live: bool) -> Self {
        Self { live, shown: false }
    }

    /// Shows this in place of what was shown before.
    ///
    /// # Errors
    ///
    /// When it can't be written.
    pub fn show(&mut self, out: &mut impl Write, text: &str) -> io::Result<()> {
        if !self.live {
            return Ok(());
        }
        self.shown = true;
        // A line that breaks couldn't be taken back.
        let room = usize::from(columns()).saturating_sub(1);
        let text: String = text.chars().take(room).collect();
        write!(out, "{CLEAR_LINE}{text}")?;
        out.flush()
    }

    /// Makes room for what stays.
    ///
    /// # Errors
    ///
    /// When it can't be written.
    pub fn clear(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !std::mem::take(&mut self.shown) {
            return Ok(());
        }
        write!(out, "{CLEAR_LINE}")?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::{StatusLine, bar};

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let text = super::harmless("a\u{1b}]0;title\u{7}b\u{9b}2J\r\nc\td");
        assert_eq!(text, "a\\u{1b}]0;title\\u{7}b\\u{9b}2J\nc\td");
    }

    #[test]
    fn what_is_cut_is_no_longer_than_the_width() {
        let cut = |width| super::cut("ready", width);
        assert_eq!([cut(6), cut(5), cut(4)], ["ready", "ready", "rea…"]);
        assert_eq!([cut(1), cut(0)], ["…", ""]);
    }

    #[test]
    fn a_bar_grows_from_nothing_to_all() {
        let empty = format!("[>{}] 0/12", " ".repeat(23));
        let half = format!("[{}>{}] 6/12", "=".repeat(12), " ".repeat(11));
        let full = format!("[{}] 12/12", "=".repeat(24));
        assert_eq!([bar(0, 12), bar(6, 12), bar(12, 12)], [empty, half, full]);
        assert!(bar(0, 0).ends_with("0/0"));
        assert!(bar(3, 2).starts_with(&format!("[{}]", "=".repeat(24))));
    }

    #[test]
    fn only_a_terminal_gets_a_line_that_is_taken_back() {
        let mut text = Vec::new();
        let mut line = StatusLine::new(true);
        line.clear(&mut text).unwrap();
        line.show(&mut text, "one").unwrap();
        line.clear(&mut text).unwrap();
        line.clear(&mut text).unwrap();
        assert_eq!(text, b"\r\x1b[Kone\r\x1b[K");

        let mut text = Vec::new();
        StatusLine::new(false).show(&mut text, "one").unwrap();
        assert!(text.is_empty());
    }
}
