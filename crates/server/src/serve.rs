//! Serves one client with the surface that was chosen.

use std::io;
use std::sync::Arc;

use config::Definitions;
use gateway::{Connection, Output, Pipes, Timeouts};
use sandbox::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::Server;
use crate::bridge::Bridge;

/// What a client sees of a server.
pub enum Surface {
    /// `execute_code` and `search_tools`.
    Code,
    /// `run_python`, with the servers of definitions that may change.
    Bridge(BridgeSurface),
    /// The servers' own tools, resources and prompts.
    Standard,
}

/// How the surface `bridge` is served.
pub struct BridgeSurface {
    /// Where servers are defined.
    pub definitions: Definitions,
    /// How long programs may run.
    pub timeouts: Timeouts,
    /// How answers are written.
    pub output: Output,
    /// What was asked for that needs containers, if anything was.
    pub container: Option<String>,
}

impl Server {
    /// Serves a client over standard input and output until it closes its side or `shutdown` is triggered, then ends
    /// everything.
    pub async fn serve_stdio(&self, surface: Surface, shutdown: CancellationToken) -> io::Result<()> {
        self.serve(surface, Pipes::stdio()?, shutdown).await;
        Ok(())
    }

    /// The same over any pair of streams.
    pub async fn serve_over<R, W>(&self, surface: Surface, read: R, write: W, shutdown: CancellationToken)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve(surface, Pipes::over(read, write), shutdown).await;
    }

    async fn serve(&self, surface: Surface, pipes: Pipes, shutdown: CancellationToken) {
        let signals = gateway::Signals {
            client: Arc::clone(&self.shared.client),
            ..gateway::Signals::default()
        };
        let warming = tokio::spawn(warm(self.clone(), signals.clone(), Warmth::of(&surface)));
        let connection = Connection {
            pipes,
            signals,
            shutdown,
        };
        // Boxed: what a surface is made of nests deeper than the compiler follows.
        let serving: BoxFuture<'_, ()> = match surface {
            Surface::Code => {
                let policy = self.shared.policy.clone();
                Box::pin(gateway::serve_code(
                    self.clone(),
                    policy,
                    self.shared.answers,
                    self.shared.receipts.clone(),
                    self.shows_servers(),
                    connection,
                ))
            }
            Surface::Bridge(surface) => {
                let bridge = Bridge::new(self.clone(), surface.definitions, surface.container);
                let receipts = self.shared.receipts.clone();
                let output = (surface.output, self.shared.answers.max_printed);
                Box::pin(gateway::serve_bridge(
                    bridge,
                    surface.timeouts,
                    output,
                    receipts,
                    connection,
                ))
            }
            Surface::Standard => Box::pin(gateway::serve_standard(self.clone(), connection)),
        };
        serving.await;
        warming.abort();
        self.close().await;
    }
}

/// What a surface makes use of once its client has the first answer.
#[derive(Debug, Clone, Copy)]
struct Warmth {
    /// It runs programs.
    sandbox: bool,
    /// Programs are shown files that describe tools.
    files: bool,
}

impl Warmth {
    fn of(surface: &Surface) -> Self {
        Self {
            sandbox: !matches!(surface, Surface::Standard),
            files: matches!(surface, Surface::Code),
        }
    }
}

/// Prepares the sandbox once the client has its first answer, which must not compete with it; then keeps the files that
/// describe tools up to date, where programs are shown them.
async fn warm(server: Server, signals: gateway::Signals, warmth: Warmth) {
    tokio::select! {
        () = signals.answered.cancelled() => {
            if warmth.sandbox {
                server.shared.backend.warm();
            }
            server.shared.records.warm();
            server.shared.broker.warm();
        }
        () = signals.closed.cancelled() => return,
    }
    if warmth.files {
        server.shared.files.follow_tools().await;
    }
}
