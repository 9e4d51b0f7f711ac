//! `codeyard mcp`: serves one client over standard input and output until it closes, or clients over HTTP.

mod greeting;
mod http;

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use anyhow::Context as _;
use environment::Machine;
use gateway::HttpConfig;
use server::control::ControlEntry;
use server::{BridgeSurface, Host, Surface};
use settings::{Bridge, Http, OutputMode, Parts};
use surfaces::{Output, Timeouts};
use tokio::sync::Mutex;

use self::greeting::Peer;
use crate::cli::{self, Listening, McpArguments};
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;

/// A signal to end counts as success, like the client closing.
pub async fn run(context: &Context, arguments: &McpArguments) -> anyhow::Result<Exit> {
    if arguments.format.is_some() && arguments.surface != cli::SurfaceChoice::Code {
        let message = "--format is for the surface `code`: `bridge` takes the format from MCP_BRIDGE_OUTPUT_MODE, `server` has one format, and `standard` passes results on unchanged";
        return Err(Failure::new(Exit::Usage, message).into());
    }
    let has_receipts = matches!(
        arguments.surface,
        cli::SurfaceChoice::Code | cli::SurfaceChoice::Bridge
    );
    if arguments.receipt && !has_receipts {
        let message = "--receipt is for the surfaces `code` and `bridge`: `server` has results of a fixed form, and `standard` runs no programs; leave it out, or serve another surface";
        return Err(Failure::new(Exit::Usage, message).into());
    }
    let peer = match (arguments.listen.is_none() || arguments.stdio) && io::stdin().is_terminal() {
        true => Peer::Person,
        false => Peer::Client,
    };
    if let Some(text) = greeting::greeting(peer, arguments.surface) {
        context.output.tell(text);
    }
    match arguments.surface {
        cli::SurfaceChoice::Code => configured(context, arguments, Surface::Code, "code").await,
        cli::SurfaceChoice::Server => configured(context, arguments, Surface::Server, "server").await,
        cli::SurfaceChoice::Standard => configured(context, arguments, Surface::Standard, "standard").await,
        cli::SurfaceChoice::Bridge => {
            let request = BridgeRequest {
                mounts: &arguments.mount,
                limits: &arguments.limit,
                receipt: arguments.receipt,
                listen: arguments.listening(),
            };
            bridge(context, request).await
        }
    }
}

/// Serves a surface with the configured servers.
async fn configured(
    context: &Context,
    arguments: &McpArguments,
    surface: Surface,
    name: &'static str,
) -> anyhow::Result<Exit> {
    let reread = context.reread();
    let loaded = context.load_serving(&arguments.mount, &arguments.limit)?;
    let entry = ControlEntry {
        data: loaded.data_dir.clone(),
        surface: name,
        reread: Some(reread.reported(&loaded.warnings)),
        left_out: loaded.left_out.iter().map(ToString::to_string).collect(),
    };
    let http = loaded.settings.http.clone();
    let program = context.program()?;
    let mut parts = match surface {
        Surface::Server => loaded.into_server_parts(program, &Machine),
        _ => loaded.into_parts(program, &Machine),
    };
    parts.answers.format = arguments.format.unwrap_or(parts.answers.format);
    parts.receipts |= arguments.receipt;
    let listen = arguments.listening().map(|listen| (listen, http));
    serve(context, parts, surface, entry, listen).await
}

pub struct BridgeRequest<'a> {
    pub mounts: &'a [String],
    pub limits: &'a [String],
    pub receipt: bool,
    /// The HTTP address; without it, one client is served over standard input and output.
    pub listen: Option<Listening<'a>>,
}

pub async fn bridge(context: &Context, request: BridgeRequest<'_>) -> anyhow::Result<Exit> {
    let (loaded, bridge, definitions) = context.load_bridge(request.mounts, request.limits)?;
    let entry = ControlEntry {
        data: loaded.data_dir.clone(),
        surface: "bridge",
        // This surface reads its definitions before each call.
        reread: None,
        left_out: Vec::new(),
    };
    let listen = request
        .listen
        .map(|listen| (listen, loaded.settings.http.clone()));
    let mut parts = loaded.into_bridge_parts(&bridge, context.program()?, &Machine);
    parts.receipts |= request.receipt;
    let surface = BridgeSurface {
        definitions: Some(Arc::new(Mutex::new(definitions))),
        timeouts: Timeouts {
            default: bridge.timeout.as_secs(),
            max: bridge.max_timeout.as_secs(),
        },
        output: output(&bridge),
        container: bridge.container,
    };
    serve(context, parts, Surface::Bridge(surface), entry, listen).await
}

fn output(bridge: &Bridge) -> Output {
    match bridge.output {
        OutputMode::Compact => Output::Compact,
        OutputMode::Toon => Output::Toon,
        OutputMode::Json => Output::Json,
    }
}

async fn serve(
    context: &Context,
    parts: Parts,
    surface: Surface,
    entry: ControlEntry,
    listen: Option<(Listening<'_>, Http)>,
) -> anyhow::Result<Exit> {
    let with_stdio = listen.as_ref().is_some_and(|(listen, _)| listen.with_stdio);
    let http = match listen {
        Some((listen, http)) => Some(http::open(context, listen, http).await?),
        None => None,
    };
    let interrupt = Interrupt::watch()?;
    let exposes = matches!(surface, Surface::Code) && !parts.expose.tools.is_empty();
    let server = Host::new(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    context.open_logs(&server.host()).await;
    if exposes && let Err(wrong) = server.check_exposed().await {
        server.host().close().await;
        return Err(Failure::new(Exit::Usage, wrong).into());
    }
    let name = entry.surface;
    let _control = server.open_control(entry);
    let shutdown = interrupt.token.clone();
    match http {
        Some((open, token)) => {
            context
                .output
                .tell(&format!("serving the surface `{name}` at {}/mcp", open.url));
            let http = HttpConfig {
                listener: open.listener,
                token,
            };
            if with_stdio {
                let served = server.serve_stdio_and_http(surface, http, shutdown).await;
                served.map_err(|error| Failure::new(Exit::Usage, error))?;
            } else {
                let served = server.serve_http(surface, http, shutdown).await;
                served.map_err(|error| Failure::new(Exit::Usage, error))?;
            }
        }
        None => server
            .serve_stdio(surface, shutdown)
            .await
            .context("standard input and output cannot be used")?,
    }
    Ok(Exit::Done)
}
