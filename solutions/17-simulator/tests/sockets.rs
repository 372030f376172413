//! The program on this book's runtime, over real sockets.

#[path = "../../../exercises/17-simulator/src/tests/program/mod.rs"]
#[allow(dead_code, unused_imports, reason = "only the right version runs")]
mod program;

use program::{Version, scenario};

/// The world of the program on `runtime`.
mod world {
    use std::time::Duration;

    use runtime::JoinHandle;

    pub use runtime::net::{TcpListener, TcpStream};
    pub use runtime::{sleep, timeout};

    pub fn spawn<F>(_name: String, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        runtime::spawn(future)
    }

    pub fn spawn_client<F>(_number: u64, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        runtime::spawn(future)
    }

    pub fn disk_latency() -> Duration {
        Duration::from_millis(1)
    }
}

#[test]
fn the_right_program_passes() {
    let runtime = runtime::Runtime::new().expect("there are threads");
    assert_eq!(runtime.block_on(scenario(Version::Right)), Ok(()));
}
