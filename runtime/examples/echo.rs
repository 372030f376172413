//! A server that sends back the bytes that it receives. With an address as its
//! argument, it listens there. Without one, it serves a hundred clients in this
//! program:
//!
//! ```sh
//! cargo run --release -p runtime --example echo [127.0.0.1:7000]
//! ```

use std::io;
use std::time::Instant;

use runtime::net::{TcpListener, TcpStream};
use runtime::{Runtime, join_all, spawn};

const CLIENTS: usize = 100;
const ROUND_TRIPS: usize = 200;

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1);
    Runtime::new()?.block_on(async {
        match address.map(|it| it.parse().map_err(io::Error::other)) {
            Some(address) => serve(TcpListener::bind(address?)?).await,
            None => demonstrate().await,
        }
    })
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    println!("serving at {}", listener.local_addr()?);
    loop {
        match listener.accept().await {
            Ok((stream, _peer)) => drop(spawn(echo(stream))),
            // The process may have no file descriptor left, for example. The
            // next call then waits a little.
            Err(error) => eprintln!("no connection: {error}"),
        }
    }
}

async fn echo(stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; 4_096];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            count => stream.write_all(&buffer[..count]).await?,
        }
    }
}

async fn demonstrate() -> io::Result<()> {
    let listener = TcpListener::bind(([127, 0, 0, 1], 0).into())?;
    let address = listener.local_addr()?;
    let serving = spawn(serve(listener));
    let start = Instant::now();
    let clients = (0..CLIENTS).map(|_| {
        spawn(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let mut answer = [0; 5];
            for _ in 0..ROUND_TRIPS {
                stream.write_all(b"hello").await?;
                stream.read_exact(&mut answer).await?;
                assert_eq!(&answer, b"hello");
            }
            io::Result::Ok(())
        })
    });
    for client in join_all(clients).await {
        client.map_err(io::Error::other)??;
    }
    serving.abort();
    let count = CLIENTS * ROUND_TRIPS;
    println!("{count} round trips in {:?}", start.elapsed());
    Ok(())
}
