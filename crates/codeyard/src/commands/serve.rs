//! `codeyard serve`: the gateway, for many users over HTTP.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use environment::Machine;
use gateway::{ApiConfig, serve_api};
use server::{Cluster, GatewayApi, GatewayTables, Host};
use store::Database;

use super::listener::{self, TlsFiles};
use crate::cli::ServeArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;

/// Lock of the single process that serves a data directory with SQLite; holds its process id.
const LOCK: &str = "serve.lock";

/// A signal to end counts as success.
pub async fn run(context: &Context, arguments: &ServeArguments) -> anyhow::Result<Exit> {
    let (loaded, settings) = context.load_gateway(&arguments.mount, &arguments.limit)?;
    let is_file = loaded.database.file().is_some();
    let _lock = is_file.then(|| lock(&loaded.data_dir)).transpose()?;
    let cluster = cluster(arguments, &loaded.database)?;
    let interrupt = Interrupt::watch()?;
    let http = loaded.settings.http.clone();
    let tls = TlsFiles::new(arguments.tls_cert.as_deref(), arguments.tls_key.as_deref(), &http);
    let open = listener::open(context, arguments.listen, tls, http).await?;
    let tables = GatewayTables::new(&loaded.database);
    let has_tokens = tables
        .has_tokens()
        .await
        .map_err(|error| Failure::new(Exit::Broken, error))?;
    let bounds = loaded.settings.gateway;
    let sinks = loaded.settings.sinks.clone();
    let traces = loaded.settings.traces.clone();
    let issuers = loaded.settings.issuers.clone();
    let host = Host::new(loaded.into_parts(context.program()?, &Machine))
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    check_keys(context, &host).await?;
    let (host, spans) = match traces {
        Some(traces) => {
            let (host, spans) = host.traced(traces);
            (host, Some(spans))
        }
        None => (host, None),
    };
    if let Some(cluster) = &cluster {
        let joined = cluster.join().await;
        joined.map_err(|error| Failure::new(Exit::Broken, error))?;
    }
    for issuer in &issuers {
        context
            .output
            .tell(&format!("users sign on at {}", issuer.issuer));
    }
    let api = GatewayApi::new(host, tables, settings, bounds, (issuers, cluster));
    api.serve_at(arguments.public_url.as_deref().unwrap_or(&open.url));
    api.open_upstreams()
        .await
        .map_err(|error| Failure::new(Exit::Broken, error))?;
    for sink in &sinks {
        context.output.tell(&format!("records go to {sink}"));
    }
    api.open_sinks(sinks)
        .await
        .map_err(|error| Failure::new(Exit::Broken, error))?;
    if let Some(spans) = spans {
        context.output.tell(&format!("spans go to {spans}"));
        api.open_spans(spans)
            .map_err(|error| Failure::new(Exit::Broken, error))?;
    }
    context.output.tell(&format!(
        "serving at {url}; {url}/docs describes REST",
        url = open.url
    ));
    if !has_tokens {
        context.output.tell(
            "no token exists yet; with the same --data and --database, run: codeyard token create --user YOU@EXAMPLE.COM --role platform_admin",
        );
    }
    let serving = serve_api(
        ApiConfig::new(open.listener),
        Arc::new(api.clone()),
        interrupt.token.clone(),
    );
    let served = tokio::select! {
        served = serving => served,
        never = api.keep_leases() => match never {},
    };
    api.close().await;
    served.map_err(|error| Failure::new(Exit::Usage, error))?;
    Ok(Exit::Done)
}

/// Reads the keys of recordings, and says what may be wrong with them.
async fn check_keys(context: &Context, host: &Host) -> Result<(), Failure> {
    host.check_keys()
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let doubts = host.key_doubts().await;
    for doubt in doubts.map_err(|error| Failure::new(Exit::Broken, error))? {
        context.output.tell(&format!("warning: {doubt}"));
    }
    Ok(())
}

/// This process as one of several on its database, with `--advertise`.
fn cluster(arguments: &ServeArguments, database: &Database) -> Result<Option<Cluster>, Failure> {
    let Some(url) = &arguments.advertise else {
        return Ok(None);
    };
    let wrong = |why: String| Failure::new(Exit::Usage, format!("--advertise {url}: {why}"));
    upstream_wire::check_url(url).map_err(|error| wrong(error.to_string()))?;
    let is_origin = url.trim_end_matches('/').matches('/').count() == 2 && !url.contains(['?', '#']);
    if !is_origin {
        return Err(wrong(
            "leave path and query out, as in https://one.example.com:4444".to_owned(),
        ));
    }
    if database.file().is_some() {
        return Err(wrong(
            "one process serves an SQLite database; leave --advertise out, or use --database postgres://…"
                .to_owned(),
        ));
    }
    let cluster = Cluster::new(database, url);
    cluster
        .map(Some)
        .map_err(|error| Failure::new(Exit::Broken, error))
}

/// Two processes on one SQLite file would wait for each other; on Postgres several may serve.
fn lock(data: &Path) -> Result<File, Failure> {
    let path = data.join(LOCK);
    let broken = |error: std::io::Error| Failure::new(Exit::Broken, format!("{}: {error}", path.display()));
    std::fs::create_dir_all(data).map_err(broken)?;
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(broken)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // The other process may not have written its id yet.
            let _ = file.read_to_string(&mut holder);
            let message = format!(
                "process {} serves {} already; end it, choose another --data, or use --database postgres://…",
                holder.trim(),
                data.display()
            );
            return Err(Failure::new(Exit::Usage, message));
        }
        Err(TryLockError::Error(error)) => return Err(broken(error)),
    }
    file.set_len(0).map_err(broken)?;
    file.rewind().map_err(broken)?;
    writeln!(file, "{}", std::process::id()).map_err(broken)?;
    Ok(file)
}
