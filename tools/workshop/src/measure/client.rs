//! The command as another process, and the calls of its page.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A process, and the lines that it prints. It is ended with this.
pub struct Lines {
    child: Child,
    lines: io::Lines<BufReader<ChildStdout>>,
}

impl Lines {
    /// Starts the process.
    pub fn of(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().expect("the output is piped");
        let lines = BufReader::new(stdout).lines();
        Ok(Self { child, lines })
    }

    /// Waits for a line with this text in it.
    pub fn wait_for(&mut self, text: &str) -> io::Result<()> {
        self.find(text).map(drop)
    }

    fn find(&mut self, text: &str) -> io::Result<String> {
        for line in &mut self.lines {
            let line = line?;
            if line.contains(text) {
                return Ok(line);
            }
        }
        Err(io::Error::other(format!("nothing says `{text}`")))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// A server, as `cargo workshop` starts it.
pub struct Server {
    address: String,
    token: String,
    // The pipe stays open: the server says how far it is.
    _process: Lines,
}

impl Server {
    /// Starts the server of the workshop in `root`, with this target folder if it
    /// isn't the usual one.
    pub fn start(root: &Path, target: Option<&Path>) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(["serve", "--no-open", "--port", "0"])
            .current_dir(root)
            .envs(target.map(|target| ("CARGO_TARGET_DIR", target)));
        let mut process = Lines::of(&mut command)?;
        let link = process.find("http://")?;
        let (address, token) = link
            .split_once("http://")
            .and_then(|(_, link)| link.split_once("/#token="))
            .ok_or_else(|| io::Error::other(format!("`{link}` has no token")))?;
        let (address, token) = (address.to_owned(), token.to_owned());
        Ok(Self {
            address,
            token,
            _process: process,
        })
    }

    /// Makes a call as the page does, and hands on each event of the answer.
    pub fn call(
        &self,
        path: &str,
        body: &Value,
        mut on_event: impl FnMut(&Value),
    ) -> io::Result<()> {
        let (address, token, body) = (&self.address, &self.token, body.to_string());
        let mut connection = TcpStream::connect(address)?;
        connection.set_nodelay(true)?;
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
             Content-Type: application/json\r\nX-Workshop-Token: {token}\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        connection.write_all(request.as_bytes())?;
        // The other lines are the head, and the lengths of the chunks.
        for line in BufReader::new(connection).lines() {
            if let Ok(event @ Value::Object(_)) = serde_json::from_str(&line?) {
                on_event(&event);
            }
        }
        Ok(())
    }
}
