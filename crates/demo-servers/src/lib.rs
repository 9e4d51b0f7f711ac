//! The demonstration's upstream servers: a workbook, a CRM and a mailbox as real MCP servers over stdio.
//!
//! The data is fictional, constant and consistent: an order's `customer_id` is one of the CRM's.
//! Changes last as long as the process.

mod crm;
pub mod data;
mod mailbox;
mod orders;
mod server;

use rmcp::ServiceExt as _;

use server::{Handler, Service};

/// Why a demonstration server did not run.
#[derive(Debug, thiserror::Error)]
pub enum DemoServerError {
    /// No server has this name.
    #[error("no demo server named '{name}': there are {}", names().join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// The server's own tool definitions are damaged.
    #[error("the tool definitions of '{name}' cannot be read")]
    Definitions {
        /// The server's name.
        name: &'static str,
        /// The parser's error.
        #[source]
        source: serde_json::Error,
    },
    /// The client's handshake does not follow the protocol.
    #[error("the conversation with the client of '{name}' did not begin: {cause}")]
    Hello {
        /// The server's name.
        name: &'static str,
        /// The library's message.
        cause: String,
    },
}

/// Names of all servers.
pub fn names() -> &'static [&'static str] {
    &["orders", "crm", "mailbox"]
}

/// Serves over stdin and stdout until stdin closes.
pub async fn serve(name: &str) -> Result<(), DemoServerError> {
    match name {
        "orders" => speak(orders::Orders::new()).await,
        "crm" => speak(crm::Crm::new()).await,
        "mailbox" => speak(mailbox::Mailbox::new()).await,
        _ => Err(DemoServerError::Unknown {
            name: name.to_owned(),
        }),
    }
}

async fn speak<S: Service>(service: S) -> Result<(), DemoServerError> {
    let name = S::NAME;
    let handler = Handler::new(service).map_err(|source| DemoServerError::Definitions { name, source })?;
    let running = handler
        .serve((tokio::io::stdin(), tokio::io::stdout()))
        .await
        .map_err(|error| DemoServerError::Hello {
            name,
            cause: error.to_string(),
        })?;
    // The server ends with the conversation, for any reason.
    let _ = running.waiting().await;
    Ok(())
}
