//! CPU-heavy work beside many idle connections: how long does a request on one
//! of the connections wait for its answer?
//!
//! There are four runs: without the work, with the work in blocking jobs, with
//! the work in tasks that await a checkpoint, and with tasks that yield only
//! after long computations. The last run shows what the other two ways save.
//!
//! ```sh
//! cargo run --release -p runtime --example busy_and_idle [connections]
//! ```
//!
//! Each connection needs two file descriptors. For 10,000 connections, call
//! `ulimit -n 21000` first.

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use runtime::net::{TcpListener, TcpStream};
use runtime::{Builder, Runtime, checkpoint, sleep, spawn, spawn_blocking};

const WORKERS: usize = 2;
const PROBES: usize = 300;
const LONG_ENOUGH: Duration = Duration::from_secs(3);
const LOOP: u64 = 5_000_000;

fn main() -> io::Result<()> {
    let count = std::env::args().nth(1).map(|it| it.parse());
    let count = count.transpose().map_err(io::Error::other)?.unwrap_or(400);
    println!("{count} idle connections, {WORKERS} workers");
    for work in [Work::None, Work::Job, Work::Checkpoints, Work::Plain] {
        let runtime = Builder::new().worker_threads(WORKERS).build()?;
        let mut waits = measure(&runtime, count, work)?;
        waits.sort();
        let [half, most] =
            [50, 99].map(|it| waits[(waits.len() - 1) * it / 100]);
        println!("{work:?}: p50 {half:?}, p99 {most:?}");
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Work {
    None,
    Job,
    Checkpoints,
    Plain,
}

/// Returns how long each probe has waited for its answer.
fn measure(
    runtime: &Runtime,
    count: usize,
    work: Work,
) -> io::Result<Vec<Duration>> {
    runtime.block_on(async {
        let listener = TcpListener::bind(([127, 0, 0, 1], 0).into())?;
        let address = listener.local_addr()?;
        spawn(async move {
            while let Ok((stream, _peer)) = listener.accept().await {
                spawn(async move {
                    let mut byte = [0];
                    while stream.read(&mut byte).await? > 0 {
                        stream.write_all(&byte).await?;
                    }
                    io::Result::Ok(())
                });
            }
        });
        let mut idle = Vec::new();
        for _ in 0..count {
            idle.push(TcpStream::connect(address).await?);
        }
        for _ in 0..2 * WORKERS {
            match work {
                Work::None => {}
                Work::Job => drop(spawn_blocking(|| compute(20 * LOOP))),
                Work::Checkpoints => drop(spawn(async {
                    loop {
                        compute(1_000);
                        checkpoint().await;
                    }
                })),
                Work::Plain => drop(spawn(async {
                    loop {
                        compute(LOOP);
                        runtime::yield_now().await;
                    }
                })),
            }
        }
        let probing = spawn(async move {
            let began = Instant::now();
            let mut waits = Vec::new();
            for probe in 0..PROBES {
                sleep(Duration::from_millis(1)).await;
                let start = Instant::now();
                let stream = &idle[probe * 7 % idle.len()];
                stream.write_all(b"?").await?;
                stream.read_exact(&mut [0]).await?;
                waits.push(start.elapsed());
                if began.elapsed() > LONG_ENOUGH {
                    break;
                }
            }
            io::Result::Ok(waits)
        });
        probing.await.map_err(io::Error::other)?
    })
}

fn compute(rounds: u64) {
    let mut sum = 0_u64;
    for number in 0..rounds {
        sum = black_box(sum.wrapping_mul(31).wrapping_add(number));
    }
}
