//! Which thread waits for the sockets, and which for the time? An echo server
//! and its client are tasks, each on a thread of its own. A third thread has the
//! driver: it waits for both sockets and for the client's sleeps.
//!
//! `cargo workshop trace 16` shows it as a timeline.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use exercise_16::{Driver, Handle, TcpListener, TcpStream, sleep};

const PAUSE: Duration = Duration::from_millis(2);

async fn serve(listener: TcpListener) -> io::Result<()> {
    let (stream, _peer) = listener.accept().await?;
    let mut buffer = [0; 16];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            count => stream.write_all(&buffer[..count]).await?,
        }
    }
}

async fn ask(stream: TcpStream) -> io::Result<()> {
    for question in *b"abc" {
        sleep(PAUSE).await;
        stream.write_all(&[question]).await?;
        stream.read(&mut [0; 16]).await?;
    }
    Ok(())
}

/// Runs a task on this thread. It uses the driver of `handle`.
fn run(
    handle: &Handle,
    name: &'static str,
    task: impl Future<Output = io::Result<()>>,
) {
    let _inside = handle.enter();
    trace::thread_start();
    let ended = parker::block_on(trace::task(name, task));
    ended.expect("the connection lasts");
}

fn main() -> io::Result<()> {
    let mut driver = Driver::new()?;
    let handle = driver.handle();
    let here = (Ipv4Addr::LOCALHOST, 0).into();
    let listener = TcpListener::bind_on(&handle, here)?;
    let address = listener.local_addr()?;
    let is_over = AtomicBool::new(false);
    let recording = trace::record("Your reactor", "exercise 16", 3);
    thread::scope(|scope| {
        scope.spawn(|| {
            trace::thread_start();
            while !is_over.load(SeqCst) {
                trace::thread_park();
                driver.wait();
                trace::thread_unpark();
                while driver.dispatch(usize::MAX) {}
            }
        });
        let server = scope.spawn(|| run(&handle, "server", serve(listener)));
        run(&handle, "client", async {
            ask(TcpStream::connect(address).await?).await
        });
        server.join().expect("it doesn't panic");
        is_over.store(true, SeqCst);
        handle.unpark();
    });
    recording.finish().save("your-trace");
    Ok(())
}
