//! `codeyard serve` beside other gateways in one run: requests passed through, latency, memory, and start.
//!
//! All gateways run at once, and take turns under load. One thread sends, so that its limit is the same for all.

mod cluster;
mod contender;
mod load;
mod ours;
mod rival_names;
mod rivals;
pub mod rows;
mod telemetry;
mod upstream;
mod wire;

use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::figures::{Report, Skipped};
use crate::rivals::contender::RivalDirectory;
use crate::setting::Setting;

use contender::GatewayRival;
use load::{LoadClient, LoadTarget, Method};
use ours::Served;
use rival_names::{CODEYARD, DIRECT};
use rows::{Footprint, LoadSamples};
pub use upstream::Upstream;
use upstream::{TOOL, UpstreamProcess};

/// Numbers of upstream servers behind each gateway.
const UPSTREAMS: [usize; 2] = [1, 100];
/// Numbers of clients at once.
const CLIENTS: [usize; 3] = [1, 32, 256];
const STARTS: usize = 3;
/// Length of one burst.
const BURST: Duration = Duration::from_millis(1000);
const WARM: Duration = Duration::from_millis(300);
/// Users of the clients. The gateway limits each user to 256 open requests.
const USERS: usize = 8;

/// A gateway under load.
struct LoadedRival {
    rival: GatewayRival,
    clients: Vec<LoadClient>,
    footprint: Footprint,
    samples: Vec<LoadSamples>,
}

pub async fn measure(setting: &Setting) -> Result<Report> {
    let setting = setting.clone();
    tokio::task::spawn_blocking(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build()?.block_on(in_turn(&setting))
    })
    .await?
}

async fn in_turn(setting: &Setting) -> Result<Report> {
    raise_descriptors()?;
    let servers = UpstreamProcess::start()?;
    let mut report = Report::default();
    let mut loaded = Vec::new();
    for rival in rivals(setting, &servers, &mut report).await? {
        let name = format!("{} with {} upstreams", rival.name, rival.upstreams);
        match LoadedRival::open(rival).await {
            Ok(opened) => loaded.push(opened),
            Err(error) => report.skipped.push(skipped(&name, &error)),
        }
    }
    for round in 0..rounds(setting) {
        eprintln!("    round {}", round + 1);
        let mut standing = Vec::new();
        for mut rival in loaded {
            match rival.round().await {
                Ok(()) => standing.push(rival),
                Err(error) => report.skipped.push(skipped(&rival.rival.name, &error)),
            }
        }
        loaded = standing;
    }
    for rival in loaded {
        report.footprints.extend(rival.footprint.row(&rival.rival));
        report
            .loads
            .extend(rival.samples.into_iter().map(|samples| samples.row(&rival.rival)));
    }
    // The gateways above have ended.
    let others = [
        cluster::measure(setting, &servers, rounds(setting)).await,
        telemetry::measure(setting, &servers, rounds(setting)).await,
    ];
    for (name, rows) in ["two processes", "telemetry"].into_iter().zip(others) {
        match rows {
            Ok(rows) => report.loads.extend(rows),
            Err(error) => report.skipped.push(skipped(name, &error)),
        }
    }
    Ok(report)
}

/// A virtual server that passes the tools of all upstream servers through.
fn passing_through() -> Value {
    json!({"id": ours::SERVER, "name": ours::SERVER, "type": "standard"})
}

/// Five, or fewer if few samples are wanted.
pub fn rounds(setting: &Setting) -> usize {
    (setting.samples / 60).clamp(1, 5)
}

/// All that could be set up, by number of upstream servers.
async fn rivals(
    setting: &Setting,
    servers: &UpstreamProcess,
    report: &mut Report,
) -> Result<Vec<GatewayRival>> {
    let directory = RivalDirectory {
        directory: setting.rivals.clone().unwrap_or_default(),
        upstream: Vec::new(),
    };
    let mut rivals = Vec::new();
    for upstreams in UPSTREAMS {
        rivals.push(GatewayRival::direct(DIRECT, direct_targets(servers, upstreams)));
        let served = Served {
            name: CODEYARD,
            upstreams,
            settings: "",
            body: passing_through(),
            users: USERS,
        };
        rivals.push(ours::alone(setting, servers, served).await?.0);
        let others = [
            (rivals::PROXY, rivals::proxy(&directory, servers, upstreams)),
            (
                rivals::CONTEXT_FORGE,
                rivals::context_forge(&directory, servers, upstreams).await,
            ),
        ];
        for (name, other) in others {
            match other {
                Ok(rival) => rivals.push(rival),
                Err(error) => report.skipped.push(skipped(name, &error)),
            }
        }
    }
    Ok(rivals)
}

fn direct_targets(servers: &UpstreamProcess, upstreams: usize) -> Vec<LoadTarget> {
    let numbers = 0..upstreams;
    numbers
        .map(|number| LoadTarget {
            address: servers.address.clone(),
            path: upstream::path(number),
            token: None,
        })
        .collect()
}

// === impl LoadedRival ===

impl LoadedRival {
    /// Starts the gateway several times, and leaves it running with all clients connected.
    async fn open(mut rival: GatewayRival) -> Result<LoadedRival> {
        let mut footprint = Footprint::default();
        for _ in 0..STARTS {
            rival.stop();
            footprint.ready.push(rival.start().await?);
        }
        footprint.idle = rival.memory();
        let most = CLIENTS.into_iter().max().unwrap_or(1);
        let mut clients = load::open(&rival.targets, most, TOOL).await?;
        for method in Method::PASSED {
            load::burst(&mut clients[..1], method, WARM).await?;
        }
        let cells = Method::PASSED
            .into_iter()
            .flat_map(|method| CLIENTS.map(|clients| (method, clients)));
        let samples = cells.map(|(method, clients)| LoadSamples::new(method, clients));
        let samples = samples.collect();
        eprintln!("    {} with {} upstreams is ready", rival.name, rival.upstreams);
        Ok(LoadedRival {
            rival,
            clients,
            footprint,
            samples,
        })
    }

    /// One burst of each kind.
    async fn round(&mut self) -> Result<()> {
        for samples in &mut self.samples {
            let before = self.rival.processor_time();
            let clients = self
                .clients
                .get_mut(..samples.clients)
                .context("enough clients")?;
            let burst = load::burst(clients, samples.method, BURST).await?;
            let used = self.rival.processor_time().zip(before);
            samples.push(burst, used.map(|(after, before)| after.saturating_sub(before)));
            self.footprint.load(self.rival.memory());
        }
        Ok(())
    }
}

fn skipped(name: &str, error: &anyhow::Error) -> Skipped {
    Skipped {
        name: name.to_owned(),
        reason: format!("{error:#}"),
    }
}

/// Each client is a connection, for each of the gateways.
fn raise_descriptors() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    Ok(setrlimit(Resource::Nofile, raised)?)
}
