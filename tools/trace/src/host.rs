//! What a document says about the machine and the time.

use std::fs;
use std::panic::Location;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::json::Text;

/// The machine, as JSON.
pub(crate) fn host() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        r#"{{"os":{},"cpu":{},"cores":{cores}}}"#,
        Text(std::env::consts::OS),
        Text(&cpu())
    )
}

/// The processor's name where the system provides it in a file, or its kind.
fn cpu() -> String {
    let known = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = known.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// The caller's file, as the compiler was given it.
#[track_caller]
pub(crate) fn source() -> String {
    Location::caller().file().replace('\\', "/")
}

/// The time of day, UTC, as `2026-11-21T12:00:00Z`.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    date(since.map_or(0, |since| since.as_secs()))
}

fn date(seconds: u64) -> String {
    let (days, seconds) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March end with the leap day; eras have 400 of them.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!(
        "{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z",
        era * 400 + year + carry
    )
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // As `date -u -d @SECONDS` prints them.
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(4_107_542_400), "2100-03-01T00:00:00Z");
        assert_eq!(date(1_795_262_400), "2026-11-21T12:00:00Z");
    }
}
