//! `codeyard login`: lets a person authorize codeyard at a remote server, through a browser.

use std::time::Duration;

use environment::{Environment as _, Machine};
use registry::DefinitionStatus;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use upstream_wire::oauth::{
    self, LoggedIn, LoginError, LoginRequest, LoginState, Logins, PendingLogin, RedirectListener,
};
use upstream_wire::{Http, Transport};

use crate::cli::LoginArguments;
use crate::commands::servers::definitions::find;
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use crate::output::harmless;
use crate::times;

/// Opens an address in a desktop's browser.
const OPENER: &str = "xdg-open";

pub async fn run(context: &Context, arguments: &LoginArguments) -> anyhow::Result<Exit> {
    let (http, logins) = remote(context, &arguments.name)?;
    let interrupt = Interrupt::watch()?;
    let done = tokio::select! {
        done = log_in(context, arguments, &http, &logins) => Some(done),
        () = interrupt.token.cancelled() => None,
    };
    match done {
        Some(done) => done,
        None => Ok(interrupt.exit(Exit::Done)),
    }
}

/// Finds the remote server of this name, and the user's logins.
pub(super) fn remote(context: &Context, name: &str) -> anyhow::Result<(Http, Logins)> {
    let refuse = |why: &str| Err(Failure::new(Exit::Usage, harmless(&format!("`{name}` {why}"))).into());
    match find(context, name)?.status {
        DefinitionStatus::Disabled => return refuse("is disabled; `codeyard servers enable` changes that"),
        DefinitionStatus::Untrusted => {
            return refuse("is in a file that is not trusted; read it, then run `codeyard trust`");
        }
        DefinitionStatus::Changed => {
            return refuse(
                "has changed since you agreed to it; run `codeyard servers enable` to agree again",
            );
        }
        DefinitionStatus::Used
        | DefinitionStatus::Mistaken
        | DefinitionStatus::Unset
        | DefinitionStatus::Shadowed => {}
    }
    let loaded = context.load()?;
    let logins = loaded.logins(&principal());
    let mut servers = loaded.servers.into_iter();
    let Some(server) = servers.find(|server| server.name == name) else {
        return refuse("is not used; see the warnings");
    };
    match server.transport {
        Transport::Stdio(_) => refuse("is started by codeyard itself; only remote servers have logins"),
        Transport::Http(http) if !http.takes_login() => refuse(
            "has credentials in its definition; remove `bearerTokenFile` or the header `Authorization` to log in",
        ),
        Transport::Http(http) => Ok((http, logins)),
    }
}

pub(super) fn failure(name: &str, error: &LoginError) -> anyhow::Error {
    let exit = match error {
        LoginError::NoAddress => Exit::Usage,
        LoginError::Unkept(_) => Exit::Broken,
        _ => Exit::Upstream,
    };
    Failure::new(exit, harmless(&format!("`{name}`: {error}"))).into()
}

async fn log_in(
    context: &Context,
    arguments: &LoginArguments,
    http: &Http,
    logins: &Logins,
) -> anyhow::Result<Exit> {
    let name = &arguments.name;
    let listener = RedirectListener::bind(arguments.port).await.map_err(|error| {
        let why = format!("cannot listen on a port of this machine: {error}");
        Failure::new(Exit::Broken, why)
    })?;
    let scopes: Vec<String> = arguments.scope.iter().flat_map(|words| words.0.clone()).collect();
    let attempt = oauth::begin(LoginRequest {
        name,
        http,
        logins,
        redirect: listener.redirect(),
        scopes: &scopes,
    })
    .await
    .map_err(|error| failure(name, &error))?;
    let output = &context.output;
    let url = harmless(attempt.url());
    output.tell(&harmless(&format!(
        "to log in to `{name}`, open in a browser:\n{url}"
    )));
    if !arguments.no_browser && !arguments.paste {
        open(&url);
    }
    if arguments.paste {
        output.tell("then paste the address to which the browser was sent, even if the page is empty:");
    }
    let answer = answer(&listener, &attempt, arguments).await?;
    let done = attempt.finish(&answer).await;
    let done = done.map_err(|error| failure(name, &error))?;
    if arguments.json {
        output.json(&as_json(name, &done))?;
    } else {
        output.line(&harmless(&login_text(name, &done)))?;
    }
    Ok(Exit::Done)
}

/// The address to which the browser was redirected.
async fn answer(
    listener: &RedirectListener,
    attempt: &PendingLogin,
    arguments: &LoginArguments,
) -> anyhow::Result<String> {
    let state = attempt.state();
    let pasted = async {
        if !arguments.paste {
            return std::future::pending().await;
        }
        let mut line = String::new();
        BufReader::new(tokio::io::stdin()).read_line(&mut line).await?;
        Ok(line)
    };
    tokio::select! {
        answer = listener.answer(&state) => Ok(answer?),
        pasted = pasted => pasted,
        () = tokio::time::sleep(arguments.wait) => Err(nobody(arguments.wait).into()),
    }
}

fn nobody(wait: Duration) -> Failure {
    let why = format!("nobody logged in within {wait:?}; run the command again when you are ready");
    Failure::new(Exit::Upstream, why)
}

/// Opens a browser where there is a desktop.
#[expect(
    clippy::disallowed_methods,
    reason = "the browser is the person's own program and outlives this command"
)]
fn open(url: &str) {
    let has_windows = ["WAYLAND_DISPLAY", "DISPLAY"].iter().any(|name| {
        Machine
            .var(name)
            .is_ok_and(|value| value.is_some_and(|value| !value.is_empty()))
    });
    if !has_windows {
        return;
    }
    // After a failure, the address is still on the screen.
    let _ = tokio::process::Command::new(OPENER)
        .arg(url)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
}

fn login_text(name: &str, done: &LoggedIn) -> String {
    let at = done.issuer.as_deref().map(|issuer| format!(" at {issuer}"));
    let scopes = match done.scopes.as_slice() {
        [] => String::new(),
        scopes => format!(", which allows {}", scopes.join(" ")),
    };
    let end = match (done.is_renewable, done.lifetime) {
        (true, _) => "; it is renewed by itself".to_owned(),
        (false, Some(seconds)) => format!("; it ends in {seconds} s and cannot be renewed"),
        (false, None) => String::new(),
    };
    format!("logged in to `{name}`{}{scopes}{end}", at.unwrap_or_default())
}

fn as_json(name: &str, done: &LoggedIn) -> Value {
    json!({
        "server": name,
        "issuer": done.issuer,
        "scopes": done.scopes,
        "lifetime_s": done.lifetime,
        "renewable": done.is_renewable,
        "file": done.file,
    })
}

pub(super) fn state(state: LoginState) -> String {
    match state {
        LoginState::Renewable | LoginState::Until(None) => "logged in".to_owned(),
        LoginState::Until(Some(end)) => {
            let ms = i64::try_from(end.saturating_mul(1000)).unwrap_or(i64::MAX);
            format!("logged in until {}", times::when(ms))
        }
        LoginState::Ended => "login ended".to_owned(),
    }
}
