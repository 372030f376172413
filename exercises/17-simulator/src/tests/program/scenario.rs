//! Some clients, what they do, and what must be true in the end.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::world::{self, TcpListener};
use super::{Client, Store, Version, serve};

/// How many clients there are.
pub const CLIENT_COUNT: u64 = 3;
/// How many requests each of them makes.
const REQUEST_COUNT: u64 = 6;
const KEYS: [&str; 2] = ["apples", "pears"];

/// Runs a server and its clients. Returns what is wrong in the end, if anything
/// is.
pub async fn scenario(version: Version) -> Result<(), String> {
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = TcpListener::bind(any_port).expect("a port is free");
    let server = listener.local_addr().expect("it has an address");
    let serving = serve(listener, Arc::new(Store::new(version)));
    drop(world::spawn("server".into(), serving));
    let mut clients = Vec::new();
    let mut sums = BTreeMap::from(KEYS.map(|key| (key, 0)));
    for number in 1..=CLIENT_COUNT {
        let requests: Vec<_> = (0..REQUEST_COUNT)
            .map(|index| {
                let key = KEYS[(number + index) as usize % KEYS.len()];
                (key, 10 * number + index)
            })
            .collect();
        for (key, amount) in &requests {
            *sums.entry(key).or_default() += amount;
        }
        let client = Client::new(server, number);
        let running = world::spawn_client(number, run(client, requests));
        clients.push(running);
    }
    for client in clients {
        client.await.map_err(|_| "a client didn't end".to_owned())?;
    }
    let mut reader = Client::new(server, 0);
    for (key, sum) in sums {
        let value = reader.add(key, 0).await;
        if value != sum {
            return Err(format!("the value of {key} is {value}, not {sum}"));
        }
    }
    Ok(())
}

async fn run(mut client: Client, requests: Vec<(&'static str, u64)>) {
    for (key, amount) in requests {
        client.add(key, amount).await;
    }
}
