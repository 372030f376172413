//! What a socket and a sleep cost: `cargo bench -p benches --bench reactor`.
//! Solution 16 and the other designs of `alternatives/src/exercise_16`, on the
//! scheduler of exercise 14, beside tokio and async-io. All with one worker.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::time::{Duration, Instant};

use alternatives::exercise_16::driver_thread;
#[cfg(unix)]
use alternatives::exercise_16::{level_triggered, one_shot};
use benches::table::{Estimates, Row, criterion_home, render};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};

/// Echo: a byte goes to a task and back, over the loopback interface. The peer is
/// a thread that blocks. Open: a task accepts a connection, which the peer has
/// opened, and closes it. Sleep: a task begins a sleep of an hour and drops it, as
/// a server does for each request that has a timeout.
const SHAPES: [&str; 3] = ["echo", "open", "sleep"];

const ROWS: &[Row<'static>] = &[
    row("solution-16", "edge-triggered, in a worker"),
    #[cfg(feature = "mine-16")]
    row("exercise-16", "yours"),
    #[cfg(unix)]
    row("one-shot", "asks again for each event"),
    #[cfg(unix)]
    row("level", "`poll(2)`, with the whole list each time"),
    row("thread", "a thread of its own waits for the events"),
    row("tokio", "edge-triggered, in a worker"),
    row("async-io", "one-shot, in a thread that blocks on a future"),
];

const fn row<'a>(contender: &'a str, notes: &'a str) -> Row<'a> {
    Row { contender, notes }
}

const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);
const HOUR: Duration = Duration::from_secs(3_600);

/// Returns a connection whose peer sends each byte back.
fn echoed() -> StdStream {
    let listener = StdListener::bind(HERE).expect("a free port");
    let address = listener.local_addr().expect("it's bound");
    let ours = StdStream::connect(address).expect("it listens");
    let (mut peer, _) = listener.accept().expect("it's connected");
    ours.set_nodelay(true).expect("it's a socket");
    peer.set_nodelay(true).expect("it's a socket");
    std::thread::spawn(move || {
        let mut byte = [0];
        while peer.read_exact(&mut byte).is_ok() && peer.write_all(&byte).is_ok() {}
    });
    ours
}

/// Opens so many connections, one after the other, on a thread of its own. Each is
/// closed by the other side first, so that no port of ours waits for the end of
/// `TIME_WAIT`.
fn open(address: SocketAddr, count: u64) {
    std::thread::spawn(move || {
        for _ in 0..count {
            let mut stream = StdStream::connect(address).expect("it listens");
            let _end = stream.read(&mut [0]);
        }
    });
}

/// Measures the shapes on one driver, in this module or crate.
macro_rules! measure {
    ($group:expr, $contender:expr, $module:ident) => {{
        use $module::{Driver, TcpListener, TcpStream, sleep};

        let group: &mut BenchmarkGroup<'_, WallTime> = $group;
        let name = |shape| BenchmarkId::new($contender, shape);
        let driver = Driver::new().expect("descriptors are left");
        let mut builder = solution_14::Runtime::builder();
        let built = builder.worker_threads(1).build_on(driver);
        let runtime = built.expect("there are threads left");
        let run = |task| runtime.block_on(runtime.spawn(task)).expect("it returns");

        let _inside = runtime.enter();
        let stream = TcpStream::from_std(echoed()).expect("descriptors are left");
        let stream = std::sync::Arc::new(stream);
        group.bench_function(name("echo"), |bencher| {
            bencher.iter_custom(|rounds| {
                let stream = stream.clone();
                run(Box::pin(async move {
                    let start = Instant::now();
                    for _ in 0..rounds {
                        stream.write_all(b"e").await.expect("it's open");
                        stream.read(&mut [0]).await.expect("it's open");
                    }
                    start.elapsed()
                }) as Timed)
            });
        });
        let listener = TcpListener::bind(HERE.into()).expect("a free port");
        let listener = std::sync::Arc::new(listener);
        group.bench_function(name("open"), |bencher| {
            bencher.iter_custom(|rounds| {
                let listener = listener.clone();
                run(Box::pin(async move {
                    let start = Instant::now();
                    open(listener.local_addr().expect("it's bound"), rounds);
                    for _ in 0..rounds {
                        drop(listener.accept().await.expect("descriptors are left"));
                    }
                    start.elapsed()
                }))
            });
        });
        group.bench_function(name("sleep"), |bencher| {
            bencher.iter_custom(|rounds| {
                run(Box::pin(async move {
                    let start = Instant::now();
                    for _ in 0..rounds {
                        let mut sleep = std::pin::pin!(sleep(HOUR));
                        assert!(futures::poll!(&mut sleep).is_pending());
                    }
                    start.elapsed()
                }))
            });
        });
    }};
}

type Timed = std::pin::Pin<Box<dyn Future<Output = Duration> + Send>>;

fn tokio(group: &mut BenchmarkGroup<'_, WallTime>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    let name = |shape| BenchmarkId::new("tokio", shape);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let built = builder.worker_threads(1).enable_all().build();
    let runtime = built.expect("there are threads left");
    let run = |task: Timed| runtime.block_on(runtime.spawn(task)).expect("it returns");

    let _inside = runtime.enter();
    group.bench_function(name("echo"), |bencher| {
        bencher.iter_custom(|rounds| {
            run(Box::pin(async move {
                let stream = echoed();
                stream.set_nonblocking(true).expect("it's a socket");
                let mut stream = TcpStream::from_std(stream).expect("descriptors are left");
                let start = Instant::now();
                for _ in 0..rounds {
                    stream.write_all(b"e").await.expect("it's open");
                    stream.read_exact(&mut [0]).await.expect("it's open");
                }
                start.elapsed()
            }))
        });
    });
    group.bench_function(name("open"), |bencher| {
        bencher.iter_custom(|rounds| {
            run(Box::pin(async move {
                let listener = TcpListener::bind(HERE).await.expect("a free port");
                let start = Instant::now();
                open(listener.local_addr().expect("it's bound"), rounds);
                for _ in 0..rounds {
                    drop(listener.accept().await.expect("descriptors are left"));
                }
                start.elapsed()
            }))
        });
    });
    group.bench_function(name("sleep"), |bencher| {
        bencher.iter_custom(|rounds| {
            run(Box::pin(async move {
                let start = Instant::now();
                for _ in 0..rounds {
                    let mut sleep = std::pin::pin!(tokio::time::sleep(HOUR));
                    assert!(futures::poll!(&mut sleep).is_pending());
                }
                start.elapsed()
            }))
        });
    });
}

fn async_io(group: &mut BenchmarkGroup<'_, WallTime>) {
    use async_io::{Async, Timer, block_on};
    use futures::io::{AsyncReadExt, AsyncWriteExt};

    let name = |shape| BenchmarkId::new("async-io", shape);
    group.bench_function(name("echo"), |bencher| {
        bencher.iter_custom(|rounds| {
            block_on(async move {
                let mut stream = Async::new(echoed()).expect("descriptors are left");
                let start = Instant::now();
                for _ in 0..rounds {
                    stream.write_all(b"e").await.expect("it's open");
                    stream.read_exact(&mut [0]).await.expect("it's open");
                }
                start.elapsed()
            })
        });
    });
    group.bench_function(name("open"), |bencher| {
        bencher.iter_custom(|rounds| {
            block_on(async move {
                let listener = Async::<StdListener>::bind(HERE).expect("a free port");
                let start = Instant::now();
                let address = listener.get_ref().local_addr();
                open(address.expect("it's bound"), rounds);
                for _ in 0..rounds {
                    drop(listener.accept().await.expect("descriptors are left"));
                }
                start.elapsed()
            })
        });
    });
    group.bench_function(name("sleep"), |bencher| {
        bencher.iter_custom(|rounds| {
            block_on(async move {
                let start = Instant::now();
                for _ in 0..rounds {
                    let mut sleep = std::pin::pin!(Timer::after(HOUR));
                    assert!(futures::poll!(&mut sleep).is_pending());
                }
                start.elapsed()
            })
        });
    });
}

/// Whether the reader's exercise can do what's measured.
#[cfg(feature = "mine-16")]
fn is_written() -> bool {
    use exercise_16::{Driver, TcpListener, TcpStream, sleep};

    let is_written = std::panic::catch_unwind(|| {
        let mut driver = Driver::new().expect("descriptors are left");
        let handle = driver.handle();
        let _inside = handle.enter();
        let _listener = TcpListener::bind(HERE.into()).expect("a free port");
        let stream = TcpStream::from_std(echoed()).expect("descriptors are left");
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = stream.poll_write(&mut cx, b"e");
        let _ = std::pin::pin!(sleep(Duration::ZERO)).poll(&mut cx);
        driver.look();
        driver.dispatch(usize::MAX);
        drop((stream, driver));
    });
    if is_written.is_err() {
        eprintln!("exercise-16 panics and is left out");
    }
    is_written.is_ok()
}

fn main() {
    let mut criterion = Criterion::default()
        .output_directory(&criterion_home())
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .nresamples(10_000)
        .configure_from_args();
    let estimates = Estimates::from_now_on("reactor");
    let mut group = criterion.benchmark_group("reactor");
    measure!(&mut group, "solution-16", solution_16);
    #[cfg(feature = "mine-16")]
    if is_written() {
        measure!(&mut group, "exercise-16", exercise_16);
    }
    #[cfg(unix)]
    measure!(&mut group, "one-shot", one_shot);
    #[cfg(unix)]
    measure!(&mut group, "level", level_triggered);
    measure!(&mut group, "thread", driver_thread);
    tokio(&mut group);
    async_io(&mut group);
    group.finish();
    criterion.final_summary();

    println!("\nOne worker, ns:\n");
    let bases = ("solution-16", "tokio");
    println!("{}", render(&estimates, ROWS, &SHAPES, &[], bases));
}
