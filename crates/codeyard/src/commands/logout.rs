//! `codeyard logout`: ends the login at the remote server and deletes it here.

use serde_json::json;
use upstream_wire::oauth::{self, LoggedOut};

use super::login::{failure, remote};
use crate::cli::LogoutArguments;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::harmless;

pub async fn run(context: &Context, arguments: &LogoutArguments) -> anyhow::Result<Exit> {
    let name = &arguments.name;
    let (_, logins) = remote(context, name)?;
    let ended = oauth::log_out(name, &logins).await;
    let ended = ended.map_err(|error| failure(name, &error))?;
    let output = &context.output;
    if let LoggedOut::NotRevoked(why) = &ended {
        output.tell(&harmless(&format!(
            "warning: the tokens could not be revoked at the authorization server and stay valid until they expire: {why}"
        )));
    }
    let (revoked, told) = match ended {
        LoggedOut::Nothing => (false, format!("there was no login to `{name}`")),
        LoggedOut::Revoked => (true, format!("logged out of `{name}`; its tokens are revoked")),
        LoggedOut::Forgotten | LoggedOut::NotRevoked(_) => (false, format!("logged out of `{name}`")),
    };
    if arguments.json {
        output.json(&json!({"server": name, "revoked": revoked}))?;
    } else {
        output.line(&harmless(&told))?;
    }
    Ok(Exit::Done)
}
