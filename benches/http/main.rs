//! A hyper 1 web server that says hello, on several runtimes:
//! `cargo bench -p http-bench`.
//!
//! The load is an open loop: requests are due at times that were set before, and the
//! latency of a response counts from there, even if its request had to wait for the
//! response before it. (In a closed loop, a client sends its next request only after
//! the response. If the server stalls, such a client measures one late response
//! instead of all the requests that would have come meanwhile.) The server runs in a
//! process of its own, so that its CPU time can be measured separately.
//!
//! Arguments select rows by parts of their names, as in `-- solution/2`. The
//! environment variable `HTTP_ROUNDS=9` sets the number of rounds; each round runs
//! all contenders, in another order. `HTTP_RATE=5000` sets the requests per second
//! of the rows with a given rate. The load generator and the server share the
//! machine, so name the machine when you report a figure.

mod client;
mod server;

use std::env;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use benches::random::Random;
use benches::schedulers::measure::is_test;

use client::{Load, Measured};

/// The number of connections that send requests.
const ACTIVE: usize = 50;

struct Row {
    name: &'static str,
    /// Requests per second. `None` sends each request as soon as the response before
    /// it has arrived.
    rate: Option<f64>,
    /// The number of connections that send nothing.
    idle: usize,
    /// The number of requests after which a connection is closed and reopened.
    requests_each: Option<usize>,
}

fn rows(rate: f64) -> [Row; 4] {
    let row = |name, rate| Row {
        name,
        rate,
        idle: 0,
        requests_each: None,
    };
    [
        row("at a rate", Some(rate)),
        row("as fast as it goes", None),
        Row {
            idle: 1_000,
            ..row("beside 1,000 idle connections", Some(rate))
        },
        Row {
            requests_each: Some(10),
            ..row("10 requests a connection", Some(rate / 4.0))
        },
    ]
}

fn main() {
    let mut arguments = env::args().skip(1).filter(|it| it != "--bench");
    let first = arguments.next();
    if first.as_deref() == Some("--serve") {
        let contender = arguments.next().expect("a contender");
        return server::serve(&contender);
    }
    let asked: Vec<_> = first.into_iter().chain(arguments).collect();
    let is_test = is_test();
    let number = |name| env::var(name).ok().map(|it| it.parse::<usize>());
    let number = |name| number(name).map(|it| it.expect("a number"));
    let rounds = if is_test {
        1
    } else {
        number("HTTP_ROUNDS").unwrap_or(5)
    };
    let duration = Duration::from_millis(if is_test { 50 } else { 2_000 });
    let rate = number("HTTP_RATE").unwrap_or(10_000) as f64;
    println!("{ACTIVE} active connections, {rounds} rounds of {duration:?}");
    for row in rows(rate) {
        let contenders: Vec<_> = server::CONTENDERS
            .into_iter()
            .filter(|it| {
                let cell = format!("{}/{it}", row.name);
                let is_asked = |part: &String| cell.contains(part.as_str());
                asked.iter().filter(|it| !it.starts_with('-')).all(is_asked)
            })
            .collect();
        if contenders.is_empty() {
            continue;
        }
        let results = measure(&row, &contenders, rounds, duration);
        report(&row, &results);
    }
}

/// Returns the results of each contender's rounds.
fn measure<'a>(
    row: &Row,
    contenders: &[&'a str],
    rounds: usize,
    duration: Duration,
) -> Vec<(&'a str, Vec<Measured>)> {
    let mut results: Vec<_> = contenders.iter().map(|it| (*it, Vec::new())).collect();
    let mut random = Random::new(1);
    for _ in 0..rounds {
        let mut order: Vec<_> = (0..results.len()).collect();
        random.shuffle(&mut order);
        for contender in order {
            let (name, measured) = &mut results[contender];
            let server = Server::start(name).expect("the server starts");
            let load = Load {
                active: ACTIVE,
                idle: row.idle,
                rate: row.rate,
                requests_each: row.requests_each,
                duration,
            };
            let used = || server.processor_time();
            let one = client::run(server.address, &load, used);
            let one = one.expect("the server answers");
            measured.push(one);
        }
    }
    results
}

fn report(row: &Row, results: &[(&str, Vec<Measured>)]) {
    match row.rate {
        Some(rate) => println!("\n{}: {rate:.0} requests/s", row.name),
        None => println!("\n{}", row.name),
    }
    println!(
        "{:<22} {:>12} {:>9} {:>9} {:>9} {:>12}",
        "", "requests/s", "p50", "p99", "p99.9", "CPU/request"
    );
    for (name, rounds) in results {
        let median = |value: &dyn Fn(&Measured) -> f64| {
            let mut values: Vec<_> = rounds.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let micros = |per_mille| {
            let value = move |it: &Measured| it.latency(per_mille).as_secs_f64() * 1e6;
            format!("{:.0} µs", median(&value))
        };
        let cost = |it: &Measured| {
            it.processor_time.as_secs_f64() * 1e6 / it.latencies.len().max(1) as f64
        };
        println!(
            "{name:<22} {:>12.0} {:>9} {:>9} {:>9} {:>9.1} µs",
            median(&|it| it.latencies.len() as f64 / it.took.as_secs_f64()),
            micros(500),
            micros(990),
            micros(999),
            median(&cost),
        );
    }
}

/// The server's process. Dropping it ends the process.
struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start(contender: &str) -> io::Result<Self> {
        let mut process = Command::new(env::current_exe()?)
            .args(["--serve", contender])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take().expect("it's a pipe");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let address = line.trim().parse().map_err(io::Error::other)?;
        Ok(Self { process, address })
    }

    /// Returns the CPU time that the server's threads have used so far, or zero
    /// if the system doesn't report it.
    fn processor_time(&self) -> Duration {
        let path = format!("/proc/{}/stat", self.process.id());
        let stat = std::fs::read_to_string(path).unwrap_or_default();
        // The fields after the process's name, because that may contain spaces.
        let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let fields: Vec<_> = fields.split(' ').collect();
        let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<u64>().ok());
        // Fields 14 and 15 of the file: user and system time, in hundredths of a
        // second.
        let used = ticks(11).unwrap_or(0) + ticks(12).unwrap_or(0);
        Duration::from_millis(10 * used)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
