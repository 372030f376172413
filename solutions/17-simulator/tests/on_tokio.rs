//! The program on tokio, over real sockets.

#[path = "../../../exercises/17-simulator/src/tests/program/mod.rs"]
#[allow(dead_code, unused_imports, reason = "only the right version runs")]
mod program;

use program::{Version, scenario};

/// The world of the program on tokio. Its streams have other methods than ours.
mod world {
    use std::io;
    use std::net::SocketAddr;
    use std::time::Duration;

    use tokio::task::JoinHandle;

    pub use tokio::time::{sleep, timeout};

    pub struct TcpListener(tokio::net::TcpListener);

    impl TcpListener {
        pub fn bind(address: SocketAddr) -> io::Result<Self> {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            tokio::net::TcpListener::from_std(listener).map(Self)
        }

        pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
            let (stream, peer) = self.0.accept().await?;
            Ok((TcpStream(stream), peer))
        }

        pub fn local_addr(&self) -> io::Result<SocketAddr> {
            self.0.local_addr()
        }
    }

    pub struct TcpStream(tokio::net::TcpStream);

    impl TcpStream {
        pub async fn connect(address: SocketAddr) -> io::Result<Self> {
            tokio::net::TcpStream::connect(address).await.map(Self)
        }

        pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
            loop {
                self.0.readable().await?;
                match self.0.try_read(buffer) {
                    Err(it) if it.kind() == io::ErrorKind::WouldBlock => {}
                    result => return result,
                }
            }
        }

        pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
            while !bytes.is_empty() {
                self.0.writable().await?;
                match self.0.try_write(bytes) {
                    Ok(count) => bytes = &bytes[count..],
                    Err(it) if it.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        }
    }

    pub fn spawn<F>(_name: String, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        tokio::spawn(future)
    }

    pub fn spawn_client<F>(_number: u64, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        tokio::spawn(future)
    }

    pub fn disk_latency() -> Duration {
        Duration::from_millis(1)
    }
}

#[test]
fn the_right_program_passes() {
    let runtime = tokio::runtime::Runtime::new().expect("there are threads");
    assert_eq!(runtime.block_on(scenario(Version::Right)), Ok(()));
}
