//! Serves clients with the surface that was chosen.

use std::io;
use std::sync::Arc;

use gateway::{Clients, Connection, ConnectionEvents, Connector, HttpConfig, HttpConfigError, Pipes};
use registry::BridgeDefinitions;
use sandbox::BoxFuture;
use surfaces::{BridgeConfig, CodeConfig, Output, Timeouts, ToolListing};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::Caller;
use crate::bridge::Bridge;

/// What a client sees of a server.
#[derive(Clone)]
pub enum Surface {
    /// `execute_code` and `search_tools`.
    Code,
    /// `run_python`, with the servers of definitions that may change.
    Bridge(BridgeSurface),
    /// The servers' own tools, resources and prompts.
    Standard,
}

/// How the surface `bridge` is served.
#[derive(Clone)]
pub struct BridgeSurface {
    /// Where servers are defined.
    pub definitions: Arc<Mutex<BridgeDefinitions>>,
    /// How long programs may run.
    pub timeouts: Timeouts,
    /// How answers are written.
    pub output: Output,
    /// What was asked for that needs containers, if anything was.
    pub container: Option<String>,
}

/// Why clients are not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address may not be served so.
    #[error(transparent)]
    Http(#[from] HttpConfigError),
    /// Standard input and output cannot be used.
    #[error("standard input and output cannot be used: {0}")]
    Stdio(#[source] io::Error),
}

impl Caller {
    /// Serves a client over standard input and output until it closes its side or `shutdown` is triggered, then ends
    /// everything.
    pub async fn serve_stdio(&self, surface: Surface, shutdown: CancellationToken) -> io::Result<()> {
        self.serve(surface, Pipes::stdio()?, shutdown).await;
        self.host().close().await;
        Ok(())
    }

    /// The same over any pair of streams.
    pub async fn serve_over<R, W>(&self, surface: Surface, read: R, write: W, shutdown: CancellationToken)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve(surface, Pipes::over(read, write), shutdown).await;
        self.host().close().await;
    }

    /// Serves clients over HTTP until `shutdown` is triggered, then ends everything.
    ///
    /// # Errors
    /// If the address may not be served so.
    pub async fn serve_http(
        &self,
        surface: Surface,
        config: HttpConfig,
        shutdown: CancellationToken,
    ) -> Result<(), HttpConfigError> {
        let served = gateway::serve_http(config, self.connector(surface), shutdown).await;
        self.host().close().await;
        served
    }

    /// Serves a client over standard input and output, and others over HTTP, until the first closes its side or `shutdown`
    /// is triggered, then ends everything.
    ///
    /// # Errors
    /// If the address may not be served so, or standard input and output cannot be used.
    pub async fn serve_stdio_and_http(
        &self,
        surface: Surface,
        config: HttpConfig,
        shutdown: CancellationToken,
    ) -> Result<(), ServeError> {
        let pipes = Pipes::stdio().map_err(ServeError::Stdio)?;
        let ending = shutdown.child_token();
        let http = async {
            let served = gateway::serve_http(config, self.connector(surface.clone()), ending.clone()).await;
            ending.cancel();
            served
        };
        let stdio = async {
            self.serve(surface.clone(), pipes, ending.clone()).await;
            ending.cancel();
        };
        let (served, ()) = tokio::join!(http, stdio);
        self.host().close().await;
        Ok(served?)
    }

    fn connector(&self, surface: Surface) -> SurfaceConnector {
        SurfaceConnector {
            caller: self.clone(),
            surface,
        }
    }

    async fn serve(&self, surface: Surface, pipes: Pipes, shutdown: CancellationToken) {
        let events = ConnectionEvents {
            client: Arc::clone(&self.client),
            ..ConnectionEvents::default()
        };
        let warming = tokio::spawn(warm(self.clone(), events.clone(), WarmUp::of(&surface)));
        let closed = events.closed.clone();
        let connection = Connection {
            pipes,
            events,
            shutdown,
        };
        let shared = &self.shared;
        // Boxed: the types of a surface nest deeper than the compiler follows.
        let serving: BoxFuture<'_, ()> = match surface {
            Surface::Code => {
                let config = CodeConfig {
                    policy: shared.policy.clone(),
                    answers: self.defaults.answers,
                    receipt: self.defaults.receipt,
                    check: self.defaults.check,
                    listing: match self.shows_servers() {
                        true => ToolListing::Changing,
                        false => ToolListing::Constant,
                    },
                };
                Box::pin(gateway::serve(
                    surfaces::code(self.clone(), config, closed),
                    connection,
                ))
            }
            Surface::Bridge(surface) => {
                let config = BridgeConfig {
                    timeouts: surface.timeouts,
                    output: surface.output,
                    max_printed: self.defaults.answers.max_printed,
                    receipt: self.defaults.receipt,
                    policy: shared.policy.clone(),
                };
                let bridge = Bridge::new(self.clone(), surface.definitions, surface.container);
                Box::pin(gateway::serve(
                    surfaces::bridge(bridge, config, closed),
                    connection,
                ))
            }
            Surface::Standard => Box::pin(gateway::serve(
                surfaces::standard(self.clone(), closed),
                connection,
            )),
        };
        serving.await;
        warming.abort();
        if let Some(client) = self.downstream.get() {
            shared.downstreams.disconnect(client);
        }
    }
}

/// Opens a surface for each conversation over HTTP.
struct SurfaceConnector {
    caller: Caller,
    surface: Surface,
}

impl Connector for SurfaceConnector {
    fn connect(&self, pipes: Pipes, clients: Clients, shutdown: CancellationToken) -> BoxFuture<'static, ()> {
        let caller = self.caller.for_connection(clients);
        let surface = self.surface.clone();
        Box::pin(async move { caller.serve(surface, pipes, shutdown).await })
    }
}

/// What a surface makes use of once its client has the first answer.
#[derive(Debug, Clone, Copy)]
struct WarmUp {
    /// It runs programs.
    sandbox: bool,
    /// Programs are shown files that describe tools.
    files: bool,
}

impl WarmUp {
    fn of(surface: &Surface) -> Self {
        Self {
            sandbox: !matches!(surface, Surface::Standard),
            files: matches!(surface, Surface::Code),
        }
    }
}

/// Prepares the sandbox once the client has its first answer, which must not compete with it; then keeps the files that
/// describe tools up to date, where programs are shown them.
async fn warm(server: Caller, events: ConnectionEvents, warm_up: WarmUp) {
    tokio::select! {
        () = events.answered.cancelled() => {
            if warm_up.sandbox {
                server.shared.backend.warm();
            }
            server.shared.records.warm();
            server.shared.broker.warm();
        }
        () = events.closed.cancelled() => return,
    }
    if warm_up.files {
        server.shared.files.follow_tools(&server.principal).await;
    }
}
