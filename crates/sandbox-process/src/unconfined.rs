//! Guests without namespaces and confinement: the baseline of benchmarks.

use std::fs::File;
use std::sync::Arc;

use jail::session::wire::{self, Request};
use sandbox::{Conversation, Guest, LaunchError, LaunchSpec};
use types::Limits;

use crate::backend::Process;
use crate::resources::ResourcePool;
use crate::session::{ByteLimits, SessionProcesses};
use crate::zygote::{Zygote, ZygoteError};

impl Process {
    /// Launches a guest without namespaces and confinement.
    ///
    /// # Errors
    /// As `launch`.
    pub async fn launch_unconfined(&self, spec: LaunchSpec) -> Result<Box<dyn Guest>, LaunchError> {
        let (pool, host, limits) = self.pool_for(&spec).await?;
        let started = start(pool.zygote(), &host.sessions, &limits).await;
        let mut guest = started.map_err(|error| LaunchError::Failed(error.to_string()))?;
        guest.assign(limits, spec.session.to_string(), spec.language, Vec::new());
        Ok(Box::new(guest))
    }
}

async fn start(
    zygote: &Arc<Zygote>,
    resources: &Arc<ResourcePool>,
    limits: &Limits,
) -> Result<Conversation<SessionProcesses>, ZygoteError> {
    let request = Request {
        flags: wire::UNCONFINED,
        ..zygote.request(limits)
    };
    let no_network = File::open("/dev/null").map_err(|error| ZygoteError::System("open /dev/null", error))?;
    let (channels, process, pid) = zygote.connect(&request, no_network.into(), &[]).await?;
    let unlimited = ByteLimits {
        memory: u64::MAX,
        file_size: u64::MAX,
    };
    let processes = SessionProcesses::new(process, pid, resources.none(), unlimited, Arc::clone(zygote));
    Ok(Conversation::new(
        channels,
        processes.without_pid_namespace(),
        limits.clone(),
        String::new(),
    ))
}
