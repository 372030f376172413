//! The tables of the cells.

use super::rounds::Samples;
use super::{Cell, Sample};
use crate::summary::{Summary, digits, quantile, time, time_with_spread};

/// A table of a cell, with a row for each contender.
struct Table {
    title: &'static str,
    columns: Vec<Column>,
}

/// A column, the first of which is compared with tokio's.
#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    unit: Unit,
    value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Time,
    Number,
    Percent,
}

#[derive(Clone, Copy)]
enum Value {
    /// Of a series: the median of the rounds' quantiles, or the quantile of all
    /// rounds together where a round has too few samples.
    Quantile { series: usize, part: f64 },
    /// One of the figures: the median of the rounds.
    Figure(usize),
}

const fn figure(title: &'static str, unit: Unit, number: usize) -> Column {
    Column {
        title,
        unit,
        value: Value::Figure(number),
    }
}

fn quantiles(series: usize) -> Vec<Column> {
    let titles = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];
    let column = |(title, part)| Column {
        title,
        unit: Unit::Time,
        value: Value::Quantile { series, part },
    };
    titles.map(column).into()
}

fn tables(cell: Cell) -> Vec<Table> {
    use Unit::{Number, Percent, Time};
    let cores = |number| figure("cores", Number, number);
    let with = |mut columns: Vec<_>, last| {
        columns.push(last);
        columns
    };
    let table = |title, columns| Table { title, columns };
    match cell {
        Cell::Latency(_) => vec![
            table("remote spawn", with(quantiles(0), cores(0))),
            table("remote wake-up", quantiles(1)),
        ],
        Cell::Mixed => vec![table("response time", with(quantiles(0), cores(0)))],
        Cell::Hoarding => vec![table(
            "",
            vec![
                figure("until the end", Time, 0),
                figure("most on one", Number, 1),
                figure("workers", Number, 2),
                figure("CPU time", Time, 3),
            ],
        )],
        Cell::Fairness(_) => vec![table(
            "",
            vec![
                figure("smaller part", Percent, 2),
                figure("local polls", Number, 0),
                figure("remote polls", Number, 1),
                cores(3),
            ],
        )],
        Cell::Burst(_) | Cell::Release(_) => vec![table(
            "",
            vec![
                figure("second worker", Time, 1),
                figure("first worker", Time, 0),
                figure("all spawned", Time, 2),
                figure("all ended", Time, 3),
                figure("CPU time", Time, 4),
                figure("parks while ready", Number, 5),
            ],
        )],
        Cell::Turns(_) => vec![table(
            "",
            vec![
                figure("least turns", Number, 0),
                figure("median", Number, 1),
                figure("most", Number, 2),
                figure("between two", Time, 3),
                cores(4),
            ],
        )],
    }
}

/// Prints a cell's tables.
pub fn print(cell: Cell, workers: usize, names: &[String], samples: &Samples) {
    println!("\n{cell}, {workers} workers: {}", cell.what());
    let tokio = names.iter().position(|name| name == "tokio");
    for mut table in tables(cell) {
        let all = || samples.iter().flatten();
        table
            .columns
            .retain(|column| all().any(|one| column.of(std::slice::from_ref(one)).is_some()));
        if table.columns.is_empty() {
            continue;
        }
        print!("{:<18}", table.title);
        for column in &table.columns {
            print!("{:>22}", column.title);
        }
        let first = table.columns[0];
        println!("{:>12}", "of tokio's");
        let base = tokio.and_then(|tokio| first.of(&samples[tokio]));
        for (name, samples) in names.iter().zip(samples) {
            if samples.is_empty() {
                continue;
            }
            print!("{name:<18}");
            for column in &table.columns {
                print!("{:>22}", column.cell(samples));
            }
            let ratio = first.of(samples).zip(base);
            let ratio = ratio.map(|(own, base)| own.median / base.median);
            let ratio = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
            let ratio = ratio.map_or("–".into(), |ratio| format!("{} ×", digits(ratio)));
            println!("{ratio:>12}");
        }
    }
}

impl Column {
    fn of(&self, samples: &[Sample]) -> Option<Summary> {
        Summary::of(match self.value {
            Value::Figure(number) => samples.iter().map(|one| one.figures[number]).collect(),
            Value::Quantile { series, part } => {
                let series = samples.iter().map(|one| one.waits[series].clone());
                let of = |mut waits: Vec<f64>| {
                    waits.sort_by(f64::total_cmp);
                    quantile(&waits, part)
                };
                match part > 0.99 {
                    true => of(series.flatten().collect()).into_iter().collect(),
                    false => series.filter_map(of).collect(),
                }
            }
        })
    }

    fn cell(&self, samples: &[Sample]) -> String {
        let Some(summary) = self.of(samples) else {
            return "–".into();
        };
        let is_single = summary.lower == summary.upper;
        match self.unit {
            Unit::Time if is_single => time(summary.median),
            Unit::Time => time_with_spread(summary),
            Unit::Number | Unit::Percent => {
                let sign = if self.unit == Unit::Percent { " %" } else { "" };
                let [median, lower, upper] =
                    [summary.median, summary.lower, summary.upper].map(digits);
                match is_single {
                    true => format!("{median}{sign}"),
                    false => format!("{median}{sign} [{lower}–{upper}]"),
                }
            }
        }
    }
}
