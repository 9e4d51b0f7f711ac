//! What stands behind the `standard` surface: servers that list, and one door to ask them through.

use std::future::Future;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::watch;
use types::{ServerTools, Tool};
use upstream::{Client, Question, Refusal};

/// Passes requests on to servers.
pub trait StandardService: Send + Sync + 'static {
    /// All servers in configured order, each with the tools that the client may call. Those whose tools are not known yet
    /// are asked, and waited for a while.
    fn upstreams(&self) -> impl Future<Output = Listing> + Send;

    /// Asks one server; the answer is the text of its result as it came.
    ///
    /// # Errors
    /// The server's own words, or why it could not be asked.
    fn relay(&self, question: Question) -> impl Future<Output = Result<Box<RawValue>, Refusal>> + Send;

    /// What the servers list; changes by itself.
    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>>;

    /// Tells servers that the client wants to hear more or less of what they log.
    fn tell_log_level(&self) -> impl Future<Output = ()> + Send;

    /// Lets servers ask and tell this client.
    fn attach(&self, client: Arc<dyn Client>);
}

/// All servers at one moment.
#[derive(Debug, Clone)]
pub struct Listing {
    /// In configured order.
    pub upstreams: Vec<Upstream>,
    /// What they were read from.
    pub listed: Arc<Vec<ServerTools>>,
}

/// One server.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Its name in the configuration.
    pub name: String,
    /// Its name in prefixes.
    pub alias: String,
    /// Its tools in the order listed.
    pub tools: Vec<Arc<Tool>>,
}
