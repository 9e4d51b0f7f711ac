//! `codeyard install CLIENT --url URL`: the address, the token, and notes on both.

use adoption::{FileMode, ServedAddress, ServedBy};
use clients::{BearerToken, Client, HttpEntry, TOKEN_VARIABLE, TokenPlace};

use crate::cli::InstallArguments;
use crate::commands::token_file;
use crate::exit::{Exit, Failure};

/// Reason for keeping the servers of a client that connects to another machine.
const UNKNOWN_THERE: &str =
    "the codeyard at the address is on another machine, and which servers it has is not known here";

/// Reason for keeping the servers of a client of a virtual server.
const MOUNTED_THERE: &str =
    "the virtual server at the address has the servers that its mount rules name, which are not known here";

/// A client's connection to a running codeyard.
pub(super) struct HttpConnection {
    pub(super) address: ServedAddress,
    pub(super) entry: HttpEntry,
    /// Where the client finds the token; `None` without a token.
    token_place: Option<TokenPlace>,
    /// The token file's path, as the person wrote it.
    token_file: String,
}

impl HttpConnection {
    /// `None` without `--url`.
    pub(super) fn new(client: Client, arguments: &InstallArguments) -> Result<Option<Self>, Failure> {
        let Some(url) = &arguments.url else {
            return Ok(None);
        };
        let address = ServedAddress::new(url).map_err(|error| Failure::new(Exit::Usage, error))?;
        let token = arguments
            .token_file
            .as_deref()
            .map(token_file::read)
            .transpose()?;
        let file = arguments.token_file.as_deref().unwrap_or("".as_ref());
        Ok(Some(HttpConnection {
            token_place: token.is_some().then(|| client.token_place()),
            token_file: std::path::absolute(file)
                .unwrap_or_else(|_| file.to_path_buf())
                .display()
                .to_string(),
            entry: HttpEntry {
                url: address.url.clone(),
                token: token.map(BearerToken),
            },
            address,
        }))
    }

    /// The reason for keeping the client's servers; `None` if they are compared with codeyard's.
    pub(super) fn keeps_servers(&self) -> Option<&'static str> {
        match self.address.serves {
            _ if !self.address.is_local => Some(UNKNOWN_THERE),
            ServedBy::Gateway => Some(MOUNTED_THERE),
            ServedBy::Mcp => None,
        }
    }

    pub(super) fn file_mode(&self) -> FileMode {
        match self.token_place {
            Some(TokenPlace::Entry) => FileMode::Private,
            _ => FileMode::Kept,
        }
    }

    /// How JSON output names the token's place.
    pub(super) fn token_word(&self) -> Option<&'static str> {
        Some(match self.token_place? {
            TokenPlace::Variable => "variable",
            TokenPlace::Input => "input",
            TokenPlace::Entry | TokenPlace::Nowhere => "file",
        })
    }

    /// Instructions and notes on the token for the person.
    pub(super) fn notes(&self, client: Client) -> Vec<String> {
        let mut notes = Vec::new();
        let file = &self.token_file;
        match self.token_place {
            Some(TokenPlace::Variable) => notes.push(format!(
                "{client} sends the token of its variable {TOKEN_VARIABLE}; start {client} where that is set: export {TOKEN_VARIABLE}=\"$(cat {file})\""
            )),
            Some(TokenPlace::Input) => notes.push(format!(
                "{client} asks for the token when it first connects, and keeps it; it is in {file}"
            )),
            Some(TokenPlace::Entry) => notes.push(format!(
                "{client} cannot refer to a token, so the token itself is written into this file, which only you may read from then on"
            )),
            Some(TokenPlace::Nowhere) => {}
            None if self.address.serves == ServedBy::Gateway => notes.push(
                "a virtual server requires a token; repeat the command with --token-file FILE".to_owned(),
            ),
            None if !self.address.is_local => notes.push(
                "without --token-file no token is sent; codeyard asks for one wherever other machines reach it".to_owned(),
            ),
            None => {}
        }
        if self.token_place.is_some() {
            notes.extend(self.address.exposed_token().map(str::to_owned));
        }
        if self.address.is_local {
            let command = match self.address.serves {
                ServedBy::Mcp => "codeyard mcp --listen ADDR",
                ServedBy::Gateway => "codeyard serve",
            };
            notes.push(format!(
                "{client} does not start codeyard then: keep `{command}` running at this address"
            ));
        }
        notes
    }
}
