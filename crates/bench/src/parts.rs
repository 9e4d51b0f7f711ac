//! All parts of the benchmarks by name, and the placements of each.

mod amplify;
mod before;
mod bridge;
mod clients;
mod engines;
mod files;
mod gateway;
mod hostile;
mod http;
mod memory;
mod pages;
mod pool;
mod records;
mod runs;
mod servers;
mod sessions;
mod throughput;
mod typescript;

pub use clients::execute;

use anyhow::Result;
use clap::ValueEnum;

use crate::figures::Report;
use crate::gateways;
use crate::guests::Guests;
use crate::placement::Placement;
use crate::rivals;
use crate::setting::Setting;

/// One part of the benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// A fresh session beside F, the unconfined clone.
    Fresh,
    /// A session from the pool with its files attached.
    Pool,
    /// A run in a live session beside P, the round trip to a warm Python.
    Live,
    /// A host call beside P.
    Call,
    /// Live runs and new sessions over MCP stdio.
    Stdio,
    /// The surface `bridge` beside `code`.
    Bridge,
    /// TypeScript beside Python, over MCP stdio.
    Typescript,
    /// Node and Deno beside QuickJS and the bare programs.
    Engines,
    /// Memory of an idle session of TypeScript.
    TypescriptMemory,
    /// Start of the program to its first answer, and its memory when idle.
    FirstAnswer,
    /// Memory of an idle session.
    Memory,
    /// Sessions a second with two zygotes.
    Throughput,
    /// A hundred gathered calls beside the slowest of them.
    Gather,
    /// A host call with 1, 10, 46 and 100 servers configured.
    Servers,
    /// Runs and calls with and without records.
    Records,
    /// Live runs over HTTP against those over stdio.
    Http,
    /// Idle HTTP connections, and 64 clients at once.
    HttpClients,
    /// Live runs over the gateway against those over stdio.
    Gateway,
    /// 1,000 sessions of 200 users of the gateway at once.
    GatewaySessions,
    /// A page of a million recorded runs.
    Pages,
    /// Live runs, calls and new sessions against those of the build in `--before`.
    Before,
    /// Runs of 49 sessions beside one hostile session.
    Hostile,
    /// Untrusted input of every shape: its memory, and the delay of another session.
    Amplify,
    /// The tree of 2,040 tools: built, refreshed, listed.
    Files,
    /// The alternatives to Codeyard.
    Rivals,
    /// `codeyard serve` beside other gateways: requests passed through to 1 and 100 upstream servers.
    Gateways,
}

impl Part {
    pub async fn measure(self, setting: &Setting) -> Result<Report> {
        let figures = match self {
            Part::Stdio => clients::over_stdio(setting).await?,
            Part::FirstAnswer => clients::first_answer(setting).await?,
            Part::Bridge => bridge::measure(setting).await?,
            Part::Typescript => typescript::measure(setting).await?,
            Part::Engines => engines::measure(setting).await?,
            Part::TypescriptMemory => typescript::memory(setting).await?,
            Part::Pool => pool::measure(setting).await?,
            Part::Gather => servers::gather(setting).await?,
            Part::Servers => servers::many(setting).await?,
            Part::Records => records::measure(setting).await?,
            Part::Http => http::beside_stdio(setting).await?,
            Part::HttpClients => http::many(setting).await?,
            Part::Gateway => gateway::beside_stdio(setting).await?,
            Part::Pages => pages::measure(setting).await?,
            Part::GatewaySessions => gateway::sessions(setting).await?,
            Part::Throughput => throughput::measure(setting).await?,
            Part::Memory => memory::measure(setting).await?,
            Part::Before => match &setting.before {
                Some(path) => before::measure(setting, path).await?,
                None => Vec::new(),
            },
            Part::Hostile => hostile::measure(setting).await?,
            Part::Files => files::measure(setting)?,
            Part::Amplify => return amplify::measure(setting).await,
            Part::Gateways => return gateways::measure(setting).await,
            Part::Rivals => return rivals::measure(setting).await,
            Part::Fresh | Part::Live | Part::Call => return self.measure_guests(setting).await,
        };
        Ok(figures.into())
    }

    /// Zygotes start on the children's core; then the host moves to its own.
    async fn measure_guests(self, setting: &Setting) -> Result<Report> {
        setting.placement.for_children()?;
        let guests = Guests::without_pool(&setting.data)?;
        guests.warm(&[]).await?;
        let figures = match self {
            Part::Fresh => sessions::fresh(&guests, setting).await?,
            Part::Live => runs::live(&guests, setting).await?,
            _ => runs::calls(&guests, setting).await?,
        };
        guests.close().await;
        Ok(figures.into())
    }

    /// The placements that give meaningful figures: pinned parts run in two, parts with many
    /// processes run unpinned.
    pub fn placements(self) -> &'static [Placement] {
        match self {
            Part::Fresh
            | Part::Pool
            | Part::Live
            | Part::Call
            | Part::Stdio
            | Part::Bridge
            | Part::Typescript
            | Part::Before
            | Part::Http
            | Part::Gateway
            | Part::Records => &[Placement::One, Placement::Two],
            Part::FirstAnswer
            | Part::Engines
            | Part::Memory
            | Part::TypescriptMemory
            | Part::Throughput
            | Part::Gather
            | Part::Servers
            | Part::Hostile
            | Part::HttpClients
            | Part::GatewaySessions
            | Part::Pages
            | Part::Amplify
            | Part::Files
            | Part::Gateways
            | Part::Rivals => &[Placement::Free],
        }
    }
}
