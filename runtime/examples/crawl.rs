//! A crawler with a timeout for each page and a limit on the number of pages
//! that it fetches at the same time. Its server is in the same program: each
//! page links to two others, and for some pages the server never answers.
//!
//! ```sh
//! cargo run -p runtime --example crawl
//! ```

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use runtime::net::{TcpListener, TcpStream};
use runtime::{JoinHandle, Runtime, sleep, spawn, timeout};

const PAGES: usize = 200;
const AT_A_TIME: usize = 16;
const PATIENCE: Duration = Duration::from_millis(200);

fn main() -> io::Result<()> {
    Runtime::new()?.block_on(async {
        let listener = TcpListener::bind(([127, 0, 0, 1], 0).into())?;
        let address = listener.local_addr()?;
        let serving = spawn(serve(listener));
        let start = Instant::now();
        let (fetched, given_up) = crawl(address).await;
        println!(
            "{fetched} pages, {given_up} given up, in {:?}",
            start.elapsed()
        );
        serving.abort();
        Ok(())
    })
}

/// Returns the number of pages that were fetched, and of those given up.
async fn crawl(address: SocketAddr) -> (usize, usize) {
    let mut known = BTreeSet::from([1]);
    let mut waiting = VecDeque::from([1]);
    let mut running = FuturesUnordered::<JoinHandle<io::Result<String>>>::new();
    let (mut fetched, mut given_up) = (0, 0);
    loop {
        while running.len() < AT_A_TIME
            && let Some(page) = waiting.pop_front()
        {
            // The timeout is within the task, so it drops `fetch`, which closes
            // the stream. A timeout around the handle would only detach the
            // task.
            running.push(spawn(async move {
                timeout(PATIENCE, fetch(address, page)).await?
            }));
        }
        let Some(ended) = running.next().await else {
            return (fetched, given_up);
        };
        match ended.map_err(io::Error::other).flatten() {
            Ok(text) => {
                fetched += 1;
                let links = text.lines().filter_map(|line| line.parse().ok());
                waiting.extend(links.filter(|link| known.insert(*link)));
            }
            Err(_) => given_up += 1,
        }
    }
}

async fn fetch(address: SocketAddr, page: usize) -> io::Result<String> {
    let stream = TcpStream::connect(address).await?;
    stream.write_all(format!("{page}\n").as_bytes()).await?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await?;
    String::from_utf8(text).map_err(io::Error::other)
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _peer) = listener.accept().await?;
        spawn(async move {
            let mut line = Vec::new();
            while !line.ends_with(b"\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).await?;
                line.push(byte[0]);
            }
            let page = String::from_utf8_lossy(&line);
            let page: usize = page.trim().parse().map_err(io::Error::other)?;
            if page.is_multiple_of(17) {
                // Longer than any client waits.
                sleep(Duration::from_secs(3_600)).await;
            }
            sleep(Duration::from_millis(5)).await;
            for link in [2 * page, 2 * page + 1] {
                if link <= PAGES {
                    stream.write_all(format!("{link}\n").as_bytes()).await?;
                }
            }
            io::Result::Ok(())
        });
    }
}
