//! Builds the parts and joins them. Building starts nothing and reads nothing: the first answer must not wait.

use std::sync::Arc;
use std::time::Duration;

use broker::Broker;
use config::Parts;
use policy::Policy;
use sandbox::Backend;
use sandbox_process::Process;
use session::Sessions;
use types::Principal;
use upstream::Hub;

/// How long sessions and servers have to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Everything that serves one process. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) hub: Hub,
    pub(crate) policy: Arc<Policy>,
    pub(crate) broker: Broker,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) sessions: Sessions,
    /// Whoever started this process: over standard input and on the command line nobody else asks.
    pub(crate) principal: Principal,
}

/// Why the parts could not be joined.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting is wrong.
    #[error(transparent)]
    Policy(#[from] policy::ConfigError),
}

impl Server {
    /// Joins the parts; starts nothing. Needs a runtime around it.
    pub fn new(parts: Parts) -> Result<Server, StartError> {
        let Parts {
            upstream,
            policy,
            sandbox,
        } = parts;
        let policy = Arc::new(Policy::new(policy)?);
        let hub = Hub::new(upstream);
        let broker = Broker::new(hub.clone(), policy.clone());
        let backend: Arc<dyn Backend> = Arc::new(Process::new(sandbox));
        let sessions = Sessions::new(backend.clone(), session::Config::default());
        Ok(Server {
            shared: Arc::new(Shared {
                hub,
                policy,
                broker,
                backend,
                sessions,
                principal: Principal::local(),
            }),
        })
    }

    /// Ends all sessions and servers, within a deadline. What is left then ends with this process.
    pub async fn close(&self) {
        let ended = async {
            tokio::join!(self.shared.sessions.close(), self.shared.hub.shutdown());
        };
        if tokio::time::timeout(DRAIN, ended).await.is_err() {
            tracing::warn!(
                "not everything ended within {} s; it ends with this process",
                DRAIN.as_secs()
            );
        }
    }
}
