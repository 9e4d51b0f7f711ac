//! `codeyard logins`: users' logins to upstream servers.

use environment::Machine;
use serde_json::json;
use store::logins::{LoginRow, SealedLogin, UserLogins};
use upstream_wire::oauth::LoggedOut;

use super::operator::{principal, tenant};
use crate::cli::{ListLogins, LoginsCommand, RevokeLogin};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::{output, times};

pub(super) async fn run(context: &Context, command: &LoginsCommand) -> anyhow::Result<Exit> {
    match command {
        LoginsCommand::List(arguments) => list(context, arguments).await,
        LoginsCommand::Revoke(arguments) => revoke(context, arguments).await,
    }
}

async fn list(context: &Context, arguments: &ListLogins) -> anyhow::Result<Exit> {
    let logins = UserLogins::new(context.load_settings()?.database);
    let user = arguments.user.as_deref().map(principal).transpose()?;
    let found = logins.list(&tenant(), user.as_ref()).await;
    logins.close().await;
    let found = found.map_err(|trouble| Failure::new(Exit::Broken, trouble))?;
    if arguments.json {
        let logins: Vec<_> = found.iter().map(described).collect();
        context.output.json(&json!({ "logins": logins }))?;
        return Ok(Exit::Done);
    }
    let head = ["USER", "SERVER", "UPDATED"].map(str::to_owned).to_vec();
    let rows = found.iter().map(|login| {
        vec![
            login.row.user.user().to_string(),
            output::one_line(&login.row.server),
            times::when(login.updated_ms),
        ]
    });
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    context.output.print(&output::table(&rows))?;
    Ok(Exit::Done)
}

fn described(login: &SealedLogin) -> serde_json::Value {
    json!({
        "user": login.row.user.user().as_str(),
        "server": login.row.server,
        "updated_ms": login.updated_ms,
    })
}

async fn revoke(context: &Context, arguments: &RevokeLogin) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let row = LoginRow {
        user: principal(&arguments.user)?,
        server: arguments.server.clone(),
    };
    let variable = settings::data_key(&Machine);
    let revoked = server::revoke_login(loaded.database, &loaded.data_dir, variable, &row).await;
    let revoked = revoked.map_err(|trouble| Failure::new(Exit::Broken, trouble))?;
    let (user, server) = (row.user.user(), output::one_line(&row.server));
    context.output.tell(&match revoked {
        None => {
            let message =
                format!("{user} has no login at '{server}'; `codeyard logins list` shows the logins");
            return Err(Failure::new(Exit::ProgramFailed, message).into());
        }
        Some(LoggedOut::NotRevoked(why)) => {
            format!("removed the login of {user} at {server}; its tokens were not revoked there: {why}")
        }
        Some(LoggedOut::Revoked) => format!("revoked the login of {user} at {server}"),
        Some(LoggedOut::Forgotten | LoggedOut::Nothing) => {
            format!("removed the login of {user} at {server}; the server offers no revocation")
        }
    });
    Ok(Exit::Done)
}
