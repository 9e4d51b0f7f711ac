//! P: the round trip of an equal frame over the same kind of socket to a warm Python that echoes.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::Instant;

/// A Python process that echoes. Dropping the value closes its socket, which ends the process.
pub struct Echo {
    channel: UnixStream,
    child: Child,
}

impl Echo {
    /// Starts the process with a socket as its standard input.
    pub fn start(python: &std::path::Path) -> Result<Self> {
        let (host, end) = std::os::unix::net::UnixStream::pair()?;
        host.set_nonblocking(true)?;
        let child = Command::new(python)
            .args(["-I", "-S", "-c", include_str!("echo.py"), "0"])
            .stdin(Stdio::from(OwnedFd::from(end)))
            .spawn()
            .with_context(|| format!("start {}", python.display()))?;
        Ok(Self {
            channel: UnixStream::from_std(host)?,
            child,
        })
    }

    pub async fn round_trip(&mut self, bytes: usize) -> Result<std::time::Duration> {
        let (frame, mut answer) = (vec![b'x'; bytes], vec![0; bytes]);
        let started = Instant::now();
        self.channel.write_all(&frame).await?;
        self.channel.read_exact(&mut answer).await?;
        Ok(started.elapsed())
    }

    pub fn stop(mut self) -> Result<()> {
        drop(self.channel);
        self.child.wait()?;
        Ok(())
    }
}
