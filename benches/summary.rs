//! What many measurements come to: quantiles, the median and its spread.

/// The median of the rounds, and the middle half of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Half of the rounds are below.
    pub median: f64,
    /// A quarter of the rounds are below.
    pub lower: f64,
    /// A quarter of the rounds are above.
    pub upper: f64,
}

impl Summary {
    /// Summarizes the rounds. Returns `None` if there are none.
    pub fn of(mut rounds: Vec<f64>) -> Option<Self> {
        rounds.retain(|round| !round.is_nan());
        rounds.sort_by(f64::total_cmp);
        let at = |part| quantile(&rounds, part);
        Some(Self {
            median: at(0.5)?,
            lower: at(0.25)?,
            upper: at(0.75)?,
        })
    }
}

/// Returns the least of the `sorted` values that at least this part of them
/// doesn't exceed. `None` if there are no values.
pub fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Writes nanoseconds in a unit that suits them, with two or three digits. What
/// never happened took infinitely long.
pub fn time(ns: f64) -> String {
    if ns.is_infinite() {
        return "never".to_owned();
    }
    let (value, unit) = in_unit(ns);
    format!("{} {unit}", digits(value))
}

/// Writes a median with the middle half of its rounds, all in one unit.
pub fn time_with_spread(summary: Summary) -> String {
    let Summary {
        median,
        lower,
        upper,
    } = summary;
    if median.is_infinite() {
        return time(median);
    }
    let (_, unit) = in_unit(median);
    let scaled = |ns: f64| match ns.is_infinite() {
        true => "never".to_owned(),
        false => digits(ns / scale(unit)),
    };
    let (lower, upper) = (scaled(lower), scaled(upper));
    format!("{} [{lower}–{upper}]", time(median))
}

/// Writes a number with two or three digits that count.
pub fn digits(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        value if value >= 10.0 => format!("{value:.0}"),
        value if value >= 1.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

fn in_unit(ns: f64) -> (f64, &'static str) {
    let unit = ["s", "ms", "µs"]
        .into_iter()
        .find(|unit| ns >= scale(unit))
        .unwrap_or("ns");
    (ns / scale(unit), unit)
}

/// Returns how many nanoseconds the unit has.
fn scale(unit: &str) -> f64 {
    match unit {
        "s" => 1e9,
        "ms" => 1e6,
        "µs" => 1e3,
        _ => 1.0,
    }
}
