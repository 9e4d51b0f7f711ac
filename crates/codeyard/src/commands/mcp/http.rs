//! `codeyard mcp --listen`: the address and token for clients over HTTP.

use std::net::SocketAddr;
use std::path::Path;

use gateway::{HttpConfig, Token};
use tokio::net::TcpListener;

use crate::commands::token_file;
use crate::exit::{Exit, Failure};

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
    Token::new(&token_file::read(file)?).map_err(|bad| Failure::new(Exit::Usage, bad))
}
