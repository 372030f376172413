//! Durations that are long as a [`Duration`], and short as a number.

use std::time::Duration;

/// Makes the durations that are 2^32 or 2^64 nanoseconds, microseconds,
/// milliseconds or seconds, the shortest first, as far as a [`Duration`] goes.
/// Truncated to an integer of that many bits, each of them is zero.
pub fn durations_that_wrap() -> Vec<Duration> {
    const NANOS: u128 = 1_000_000_000;
    let nanos_in_a_unit = [1, 1_000, 1_000_000, NANOS];
    let as_durations = |bits: u32| {
        nanos_in_a_unit.into_iter().filter_map(move |unit| {
            let nanos = unit << bits;
            let secs = u64::try_from(nanos / NANOS).ok()?;
            Some(Duration::new(secs, (nanos % NANOS) as u32))
        })
    };
    [32, 64].into_iter().flat_map(as_durations).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_zero_in_one_unit_and_none_is_short() {
        let durations = durations_that_wrap();
        assert_eq!(durations.len(), 7);
        for duration in durations {
            assert!(duration > Duration::from_secs(4), "{duration:?}");
            let (secs, millis) = (duration.as_secs(), duration.as_millis());
            let (micros, nanos) = (duration.as_micros(), duration.as_nanos());
            let wraps = secs as u32 == 0
                || [millis, micros, nanos]
                    .iter()
                    .any(|&n| n as u32 == 0 || n as u64 == 0);
            assert!(wraps, "{duration:?}");
        }
    }
}
