//! What the `standard` surface needs of the core: lists of servers, and one way to send them requests. `server` implements it.

use std::future::Future;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use types::{ServerTools, Tool};
use upstream::RelayRequest;
use upstream_wire::{DownstreamClient, JsonRpcError};

/// Passes requests on to servers.
pub trait StandardService: Send + Sync + 'static {
    /// All servers in configured order, each with the tools that the client may call. Asks servers whose tools are not known
    /// yet, and waits for them for a limited time.
    fn upstreams(&self) -> impl Future<Output = Listing> + Send;

    /// Sends one server a request. The answer is the text of the result, unchanged. `cancel` ends the request.
    ///
    /// # Errors
    /// The server's own error, or why the request was not sent.
    fn relay(
        &self,
        request: RelayRequest,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<Box<RawValue>, JsonRpcError>> + Send;

    /// The tools that the servers list, as they change.
    fn listed(&self) -> watch::Receiver<Arc<Vec<ServerTools>>>;

    /// Tells servers that the client's log level has changed.
    fn tell_log_level(&self) -> impl Future<Output = ()> + Send;

    /// Lets servers send requests and notifications to this client.
    fn attach(&self, client: Arc<dyn DownstreamClient>);
}

/// All servers at one moment.
#[derive(Debug, Clone)]
pub struct Listing {
    /// In configured order.
    pub upstreams: Vec<Upstream>,
    /// The lists that `upstreams` was made from.
    pub listed: Arc<Vec<ServerTools>>,
}

/// One server.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Its name in the configuration.
    pub name: String,
    /// The prefix of its names.
    pub alias: String,
    /// Its tools in the order listed.
    pub tools: Vec<Arc<Tool>>,
}
