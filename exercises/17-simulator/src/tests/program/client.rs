//! A client, which tries until it has an answer.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use super::lines::Lines;
use super::world::{self, TcpStream};

/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_millis(250);
/// The pause after the first attempt. It doubles each time, up to the second.
const PAUSES: (Duration, Duration) =
    (Duration::from_millis(10), Duration::from_secs(1));

/// A client of the store.
pub struct Client {
    server: SocketAddr,
    connection: Option<Lines>,
    /// The id of the last request. No other client has it.
    last_id: u64,
}

impl Client {
    /// Creates a client, which connects when it has something to send. `number`
    /// distinguishes it from all others.
    pub fn new(server: SocketAddr, number: u64) -> Self {
        Self {
            server,
            connection: None,
            last_id: number << 32,
        }
    }

    /// Adds an amount to the value of a key, and returns the new value.
    pub async fn add(&mut self, key: &str, amount: u64) -> u64 {
        self.last_id += 1;
        let request = format!("{} {key} {amount}", self.last_id);
        let (mut pause, longest) = PAUSES;
        loop {
            let attempt = self.attempt(&request);
            if let Ok(Ok(value)) = world::timeout(PATIENCE, attempt).await {
                return value;
            }
            // An answer may still be on its way, so that connection is over.
            self.connection = None;
            world::sleep(pause).await;
            pause = longest.min(2 * pause);
        }
    }

    async fn attempt(&mut self, request: &str) -> io::Result<u64> {
        let lines = match &mut self.connection {
            Some(lines) => lines,
            none => {
                let stream = TcpStream::connect(self.server).await?;
                none.insert(Lines::new(stream))
            }
        };
        lines.send(request).await?;
        let answer = lines.next().await?;
        let answer = answer.ok_or(ErrorKind::UnexpectedEof)?;
        let value = answer
            .strip_prefix(&self.last_id.to_string())
            .and_then(|rest| rest.trim_start().parse().ok());
        value.ok_or_else(|| ErrorKind::InvalidData.into())
    }
}
