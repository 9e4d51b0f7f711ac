//! Makes a serving process visible through a private socket, and rereads the configuration.
//!
//! ```text
//! <data>/run/control/          0700
//!   4711.sock                  0600, removed when process 4711 ends; a stale one is removed by the next
//!   4711-1.sock                that of another process of this number, in a container of its own
//! ```
//!
//! INVARIANT: nothing here is on the path of a call; answers are read from snapshots.

mod ask;
mod protocol;
mod socket;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use registry::DefinitionWatcher;
use tokio::task::JoinHandle;

use crate::Caller;

pub use ask::{ProcessReply, servers, statuses};
pub use protocol::{Activity, Configuration, ServerReport, Status};

/// What this process reports about itself.
#[derive(Debug)]
pub struct ControlEntry {
    /// The data directory.
    pub data: PathBuf,
    /// Name of the client's surface.
    pub surface: &'static str,
    /// Detects changes of the configuration; absent where the surface does so itself.
    pub reread: Option<DefinitionWatcher>,
    /// Servers left out because a variable that they refer to is unset.
    pub left_out: Vec<String>,
}

/// Keeps the process visible; dropping it removes the socket.
#[derive(Debug)]
pub struct OpenControl {
    /// Removed on drop.
    _socket: Option<socket::SocketFile>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Debug, Clone)]
struct Facts {
    surface: &'static str,
    since: SystemTime,
    configuration: Arc<Mutex<Configuration>>,
}

impl Caller {
    /// Makes this process visible to other commands and follows the configuration. If a part fails, the error is
    /// reported and serving continues without that part.
    pub fn open_control(&self, entry: ControlEntry) -> OpenControl {
        let ControlEntry {
            data,
            surface,
            reread,
            left_out,
        } = entry;
        let files = reread.as_ref().map(|reread| reread.files().to_vec());
        let facts = Facts {
            surface,
            since: SystemTime::now(),
            configuration: Arc::new(Mutex::new(Configuration {
                files: files.unwrap_or_default(),
                broken: None,
                left_out,
            })),
        };
        let mut tasks = Vec::new();
        let socket = match socket::listen(&directory(&data)) {
            Ok((listener, place)) => {
                tasks.push(tokio::spawn(socket::serve(listener, self.clone(), facts.clone())));
                Some(place)
            }
            Err(error) => {
                tracing::warn!(%error, "`codeyard ps` and `codeyard servers` do not see this process");
                None
            }
        };
        if let Some(reread) = reread {
            tasks.push(tokio::spawn(watch::follow(
                reread,
                self.shared.broker.clone(),
                facts,
            )));
        }
        OpenControl {
            _socket: socket,
            tasks,
        }
    }
}

fn directory(data: &Path) -> PathBuf {
    data.join("run").join("control")
}

// === impl OpenControl ===

impl Drop for OpenControl {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

// === impl Facts ===

impl Facts {
    fn configuration(&self) -> Configuration {
        let configuration = self.configuration.lock();
        configuration.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_left_out(&self, left_out: Vec<String>) {
        let configuration = self.configuration.lock();
        configuration.unwrap_or_else(PoisonError::into_inner).left_out = left_out;
    }

    fn set_broken(&self, broken: Option<String>) {
        let configuration = self.configuration.lock();
        configuration.unwrap_or_else(PoisonError::into_inner).broken = broken;
    }
}
