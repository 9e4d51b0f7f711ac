//! `codeyard mcp --listen`: the address and the token that clients over HTTP are served by.

use std::net::SocketAddr;
use std::path::Path;

use environment::{Environment as _, Machine, why_unreadable};
use gateway::{HttpConfig, Token};
use tokio::net::TcpListener;

use crate::exit::{Exit, Failure};

/// What `--listen` and `--token-file` ask for.
pub(super) async fn config(listen: SocketAddr, token_file: Option<&Path>) -> Result<HttpConfig, Failure> {
    let token = token_file.map(token).transpose()?;
    let listener = TcpListener::bind(listen).await;
    let listener = listener.map_err(|error| {
        Failure::new(
            Exit::Usage,
            format!("--listen {listen}: {error}; choose another port"),
        )
    })?;
    Ok(HttpConfig { listener, token })
}

fn token(file: &Path) -> Result<Token, Failure> {
    let wrong = |why: &str| Failure::new(Exit::Usage, format!("--token-file {}: {why}", file.display()));
    let bytes = Machine
        .read_protected(file)
        .map_err(|error| wrong(&why_unreadable(&error)))?;
    if !Machine.is_private(file) {
        return Err(wrong(
            "other users may read it; run `chmod 600` on it, and write a new token",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|_| wrong("is not text"))?;
    Token::new(&text).map_err(|bad| {
        wrong(&format!(
            "{bad}; `head -c 32 /dev/urandom | base64 > {}` writes one",
            file.display()
        ))
    })
}
