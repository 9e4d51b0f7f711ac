//! `codeyard mcp --listen`: the address and token for clients over HTTP.

use std::path::Path;

use gateway::Token;
use settings::Http;

use crate::cli::Listening;
use crate::commands::listener::{self, OpenListener, TlsFiles};
use crate::commands::token_file;
use crate::context::Context;
use crate::exit::{Exit, Failure};

pub(super) async fn open(
    context: &Context,
    listen: Listening<'_>,
    http: Http,
) -> Result<(OpenListener, Option<Token>), Failure> {
    let token = listen.token_file.map(token).transpose()?;
    let tls = TlsFiles::new(listen.tls_cert, listen.tls_key, &http);
    Ok((listener::open(context, listen.address, tls, http).await?, token))
}

fn token(file: &Path) -> Result<Token, Failure> {
    Token::new(&token_file::read(file)?).map_err(|bad| Failure::new(Exit::Usage, bad))
}
