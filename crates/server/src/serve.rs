//! Serves one client over standard input and output.

use std::io;

use gateway::{Connection, Pipes};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::Server;

impl Server {
    /// Serves the `code` surface until the client closes its side or `shutdown` is triggered, then ends everything.
    pub async fn serve_stdio(&self, shutdown: CancellationToken) -> io::Result<()> {
        self.serve(Pipes::stdio()?, shutdown).await;
        Ok(())
    }

    /// The same over any pair of streams.
    pub async fn serve_over<R, W>(&self, read: R, write: W, shutdown: CancellationToken)
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.serve(Pipes::over(read, write), shutdown).await;
    }

    async fn serve(&self, pipes: Pipes, shutdown: CancellationToken) {
        let signals = gateway::Signals::default();
        let warming = tokio::spawn(warm(self.clone(), signals.clone()));
        let connection = Connection {
            pipes,
            signals,
            shutdown,
        };
        gateway::serve_code(self.clone(), self.shared.policy.clone(), connection).await;
        warming.abort();
        self.close().await;
    }
}

/// Prepares the sandbox once the client has its first answer, which must not compete with it; then keeps the files that
/// describe tools up to date.
async fn warm(server: Server, signals: gateway::Signals) {
    tokio::select! {
        () = signals.answered.cancelled() => {
            server.shared.backend.warm();
            server.shared.records.warm();
        }
        () = signals.closed.cancelled() => return,
    }
    server.shared.files.follow_tools().await;
}
