//! The demonstration's upstream servers: a workbook of orders, a CRM and a mailbox, real MCP servers over stdio.
//!
//! Their data is made up, always the same, and fits together: `customer_id` of an order is one of the CRM's.
//! Changes live as long as the process.

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
    /// There is none of that name.
    #[error("no demo server named '{name}': there are {}", names().join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
    },
    /// Its own tool definitions are damaged.
    #[error("the tool definitions of '{name}' cannot be read")]
    Definitions {
        /// The server's name.
        name: &'static str,
        /// What is wrong with them.
        #[source]
        source: serde_json::Error,
    },
    /// The client did not say hello in a way that the protocol knows.
    #[error("the conversation with the client of '{name}' did not begin: {cause}")]
    Hello {
        /// The server's name.
        name: &'static str,
        /// The library's words.
        cause: String,
    },
}

/// The names of all servers.
pub fn names() -> &'static [&'static str] {
    &["orders", "crm", "mailbox"]
}

/// Serves one of them over stdin and stdout until stdin closes.
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
    // The end of the conversation is the end of the server, however it comes about.
    let _ = running.waiting().await;
    Ok(())
}
