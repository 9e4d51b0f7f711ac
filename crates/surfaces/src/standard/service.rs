//! The core's interface for the `standard` surface: server lists and relayed requests; implemented by `server`.

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
    /// All servers in configured order, with the tools that the client may call. Requests unknown tool lists, and
    /// waits a limited time.
    fn upstreams(&self) -> impl Future<Output = Listing> + Send;

    /// Sends one request to a server; returns the result's text, unchanged. `cancel` ends the request.
    ///
    /// # Errors
    /// The server's own error, or the reason why the request was not sent.
    fn relay(
        &self,
        request: RelayRequest,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<Box<RawValue>, JsonRpcError>> + Send;

    /// The servers' tool lists; the receiver reports each change.
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
    /// The lists that `upstreams` was built from.
    pub listed: Arc<Vec<ServerTools>>,
}

/// One server.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Configured name.
    pub name: String,
    /// Prefix of the server's names.
    pub alias: String,
    /// In listed order.
    pub tools: Vec<Arc<Tool>>,
}
