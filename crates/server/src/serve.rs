//! Serves clients with the chosen surface.

use std::io;
use std::sync::Arc;

use gateway::{Clients, Connection, ConnectionEvents, Connector, HttpConfig, HttpConfigError, Pipes};
use policy::Policy;
use registry::BridgeDefinitions;
use sandbox::BoxFuture;
use surfaces::{BridgeConfig, CodeConfig, Output, ServerSurfaceConfig, Timeouts, ToolListing};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use types::{Answers, Format};

use crate::Caller;
use crate::bridge::Bridge;
use crate::meta_tools::SessionTools;

/// What a client sees.
#[derive(Clone)]
pub enum Surface {
    /// `execute_code` and `search_tools`.
    Code,
    /// `run_python`, with the servers that each call names.
    Bridge(BridgeSurface),
    /// `shell_exec`, `fs_browse`, `fs_read` and `fs_write`.
    Server,
    /// The servers' own tools, resources and prompts.
    Standard,
}

/// Settings of the surface `bridge`.
#[derive(Clone)]
pub struct BridgeSurface {
    /// Files of definitions, as last read, which replace the host's servers. `None` at a virtual server, whose callers
    /// reach what it mounts and nothing else.
    pub definitions: Option<Arc<Mutex<BridgeDefinitions>>>,
    /// Durations of programs.
    pub timeouts: Timeouts,
    /// Format of answers.
    pub output: Output,
    /// The setting that asks for containers, if any.
    pub container: Option<String>,
}

impl BridgeSurface {
    /// The surface at a virtual server: nothing of it comes from variables or files of this machine's user.
    pub(crate) fn of_virtual_server(policy: &Policy, answers: &Answers) -> BridgeSurface {
        let longest = policy.longest().as_millis().div_ceil(1000);
        let longest = u64::try_from(longest).unwrap_or(u64::MAX);
        BridgeSurface {
            definitions: None,
            timeouts: Timeouts {
                default: longest,
                max: longest,
            },
            output: match answers.format {
                Format::Text => Output::Compact,
                Format::Toon => Output::Toon,
                Format::Json => Output::Json,
            },
            container: None,
        }
    }
}

/// Why clients are not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is not allowed.
    #[error(transparent)]
    Http(#[from] HttpConfigError),
    /// Standard input and output cannot be used.
    #[error("standard input and output cannot be used: {0}")]
    Stdio(#[source] io::Error),
}

impl Caller {
    /// Serves a client over standard input and output until the client closes or `shutdown`
    /// triggers, then ends everything.
    pub async fn serve_stdio(&self, surface: Surface, shutdown: CancellationToken) -> io::Result<()> {
        self.serve(surface, Pipes::stdio()?, shutdown).await;
        self.host().close().await;
        Ok(())
    }

    /// Like `serve_stdio`, over any pair of streams.
    pub async fn serve_over<R, W>(&self, surface: Surface, read: R, write: W, shutdown: CancellationToken)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve(surface, Pipes::over(read, write), shutdown).await;
        self.host().close().await;
    }

    /// Serves clients over HTTP until `shutdown` triggers, then ends everything.
    ///
    /// # Errors
    /// If the address is not allowed.
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

    /// Serves one client over standard input and output, and others over HTTP, until the first
    /// closes or `shutdown` triggers, then ends everything.
    ///
    /// # Errors
    /// If the address is not allowed, or standard input and output cannot be used.
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

    pub(crate) fn connector(&self, surface: Surface) -> SurfaceConnector {
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
        // Boxed: the types of a surface nest too deep for the compiler.
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
            Surface::Server => {
                let config = self.server_surface_config();
                let tools = SessionTools::new(self.clone());
                Box::pin(gateway::serve(
                    surfaces::server(tools, config, closed),
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

impl Caller {
    pub(crate) fn server_surface_config(&self) -> ServerSurfaceConfig {
        ServerSurfaceConfig {
            language: self.defaults.language,
            lacks_network: self.defaults.lacks_network,
            max_printed: self.defaults.answers.max_printed,
            policy: self.shared.policy.clone(),
            is_command: constrained_shell::is_command,
            entries: self.defaults.file_bounds.entries,
            disabled: self.defaults.disabled_tools.clone(),
        }
    }
}

/// Serves each connection with one surface.
pub(crate) struct SurfaceConnector {
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

/// What to prepare after the client's first answer.
#[derive(Debug, Clone, Copy)]
struct WarmUp {
    sandbox: bool,
    /// Programs see the files that describe tools.
    files: bool,
}

impl WarmUp {
    fn of(surface: &Surface) -> Self {
        Self {
            sandbox: !matches!(surface, Surface::Standard),
            files: match surface {
                Surface::Code | Surface::Server => true,
                Surface::Bridge(surface) => surface.definitions.is_none(),
                Surface::Standard => false,
            },
        }
    }
}

/// Prepares the sandbox after the client's first answer, so that the two do not compete. Then keeps the tool files
/// current if programs see them.
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
