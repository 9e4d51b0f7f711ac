//! A codeyard that serves HTTP during a conformance run.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::tasks::say;

/// Dropping the value kills codeyard and its processes.
pub struct Serving {
    child: Child,
    /// The address that codeyard printed.
    pub url: String,
}

impl Serving {
    /// Runs the command until it prints "… at http://ADDRESS", which `;` and more text may follow.
    pub fn start(command: &mut Command) -> Result<Serving> {
        let mut child = command
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot run codeyard")?;
        let mut lines = BufReader::new(child.stderr.take().context("the output of codeyard")?).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| address(&line));
        // Read the later output, because a full pipe would stop the process.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| say(&line)));
        let url = url.context("codeyard printed no address")?;
        Ok(Serving { child, url })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // An error means that the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address in a line like "serving the surface `standard` at http://127.0.0.1:8700/mcp".
fn address(line: &str) -> Option<String> {
    let (_, address) = line.split_once(" at http://")?;
    let address = address.split(';').next().unwrap_or(address);
    Some(format!("http://{address}"))
}
