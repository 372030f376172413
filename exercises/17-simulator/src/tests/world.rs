//! The world of the program in a simulation.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::program::{CLIENT_COUNT, Version, scenario};
use super::{
    JoinHandle, Simulation, net, random_below, random_duration, spawn_on,
};

pub use super::net::{TcpListener, TcpStream};
pub(super) use super::{sleep, timeout};

const MS: Duration = Duration::from_millis(1);

pub fn spawn<F: Future + 'static>(
    name: String,
    future: F,
) -> JoinHandle<F::Output> {
    super::spawn(name, future)
}

/// Each client has a host of its own.
pub fn spawn_client<F: Future + 'static>(
    number: u64,
    future: F,
) -> JoinHandle<F::Output> {
    spawn_on(host_of(number), format!("client {number}"), future)
}

fn host_of(client: u64) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, 10 + client as u8).into()
}

/// How long the disk takes.
pub fn disk_latency() -> Duration {
    if random_below(240) == 0 {
        return random_duration(50 * MS..200 * MS);
    }
    random_duration(MS..8 * MS)
}

/// Cuts one client off from the server now and then.
async fn cut_clients_off() {
    for _ in 0..3 {
        sleep(random_duration(50 * MS..1_000 * MS)).await;
        let client = 1 + random_below(CLIENT_COUNT);
        let (server, client) = (Ipv4Addr::LOCALHOST.into(), host_of(client));
        net::partition(server, client, random_duration(50 * MS..800 * MS));
    }
}

/// Runs the program in a simulation, and returns what went wrong.
pub fn check(simulation: &Simulation, version: Version) -> Result<(), String> {
    let main = async move {
        drop(spawn("partitions".into(), cut_clients_off()));
        scenario(version).await
    };
    simulation.run(main).map_err(|stop| stop.to_string())?
}
