//! The gateway over HTTP: REST, JSON-RPC and virtual servers of many users at one address.
//!
//! ```text
//! connection ─► listener ─► guard (host, origin) ─► route ─► token ─► permission ─► body ─┬─► Api::answer
//!                                                                                         └─► Api::surface ─► endpoint
//! ```
//!
//! The router is built from the rows of [`identity::Route::ALL`]. Each token has its own endpoint at a virtual
//! server, so no other token can name its sessions.

mod attempt;
mod challenge;
mod export;
mod forward;
mod login_pages;
mod principals;
mod refusal;
mod replay;
mod rpc;
mod rpc_calls;
mod serving;
mod sign_out;
mod token_turns;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::api::Api;
use super::forwarded::TrustedProxies;
use super::guard::EntryGuard;
use super::listener::{Acceptor, HttpListener};
use super::serve_http::HttpConfigError;
use serving::ApiService;

/// Address and periods of the gateway.
#[derive(Debug)]
pub struct ApiConfig {
    /// Socket that accepts connections.
    pub listener: HttpListener,
    /// Interval at which the token of an open stream or a request under way is checked again, and a stream's virtual
    /// server.
    pub recheck_every: Duration,
    /// Time limit for requests under way to end once `shutdown` is triggered.
    pub drain: Duration,
}

/// Serves clients until `shutdown` is triggered and the requests under way have ended. When this returns, every
/// conversation has ended.
///
/// # Errors
/// If the address cannot be determined.
pub async fn serve_api(
    config: ApiConfig,
    api: Arc<dyn Api>,
    shutdown: CancellationToken,
) -> Result<(), HttpConfigError> {
    let address = config.listener.socket.local_addr();
    let address = address.map_err(HttpConfigError::NoAddress)?;
    let proxies = TrustedProxies::new(config.listener.trusted_proxies.clone());
    let guard = EntryGuard::new(address, None, proxies);
    let service = ApiService::new(api, guard, config.recheck_every);
    let acceptor = Acceptor::new(serving::router(&service));
    tokio::select! {
        () = acceptor.accept(&config.listener) => {}
        () = service.principals.sweep() => {}
        () = shutdown.cancelled() => {}
    }
    drop(config.listener);
    service.draining.cancel();
    acceptor.drain(config.drain).await;
    service.principals.close().await;
    acceptor.close().await;
    Ok(())
}

// === impl ApiConfig ===

impl ApiConfig {
    /// Checks streams every 2 seconds, and gives requests 10 seconds to end.
    pub fn new(listener: impl Into<HttpListener>) -> ApiConfig {
        ApiConfig {
            listener: listener.into(),
            recheck_every: Duration::from_secs(2),
            drain: Duration::from_secs(10),
        }
    }
}
