//! Measures how much throughput recordings, spans and scraped metrics cost the gateway.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use test_support::gateway::{HttpConnection, HttpRequest};

use super::contender::GatewayRival;
use super::load::{self, LoadClient, Method};
use super::ours::{self, Served};
use super::rows::{LoadRow, LoadSamples};
use super::upstream::UpstreamProcess;
use super::{BURST, WARM};
use crate::setting::Setting;

/// Each is a user, who may run 1,000 programs in a minute.
const CLIENTS: usize = 32;
const SCRAPED_EVERY: Duration = Duration::from_secs(1);
const RECORDED: &str = "runs recorded, not for replay";
const REPLAYABLE: &str = "runs recorded for replay";
const OBSERVED: &str = "runs recorded for replay, spans and metrics read";

struct Subject {
    rival: GatewayRival,
    clients: Vec<LoadClient>,
    admin: String,
    samples: LoadSamples,
}

pub async fn measure(setting: &Setting, servers: &UpstreamProcess, rounds: usize) -> Result<Vec<LoadRow>> {
    let traces = format!("[gateway.traces]\notlp = \"http://{}\"", servers.address);
    let mut subjects = Vec::new();
    for (name, settings) in [
        (RECORDED, "[records]\nrecord = \"shape\""),
        (REPLAYABLE, ""),
        (OBSERVED, traces.as_str()),
    ] {
        subjects.push(Subject::open(setting, servers, name, settings).await?);
    }
    // Bursts of three gateways within a user's minute.
    for _ in 0..rounds {
        for subject in &mut subjects {
            subject.round().await?;
        }
    }
    let rows = subjects.into_iter();
    Ok(rows.map(|subject| subject.samples.row(&subject.rival)).collect())
}

// === impl Subject ===

impl Subject {
    async fn open(
        setting: &Setting,
        servers: &UpstreamProcess,
        name: &str,
        settings: &str,
    ) -> Result<Subject> {
        let body = json!({
            "id": ours::SERVER,
            "name": ours::SERVER,
            "type": "code_execution",
            "surface": "code",
            "sandbox_policy": {"runtime": "python", "max_runs_per_minute": 1000},
        });
        let served = Served {
            name,
            upstreams: 0,
            settings,
            body,
            users: CLIENTS,
        };
        let (mut rival, tokens) = ours::alone(setting, servers, served).await?;
        rival.spawn()?;
        let target = rival.targets[0].clone();
        rival
            .wait_for(async || LoadClient::open(&target).await.is_ok())
            .await?;
        let mut clients = Vec::with_capacity(CLIENTS);
        for target in &rival.targets {
            clients.push(LoadClient::open(target).await?);
        }
        load::burst(&mut clients, Method::Run, WARM).await?;
        Ok(Subject {
            rival,
            clients,
            admin: tokens[0].clone(),
            samples: LoadSamples::new(Method::Run, CLIENTS),
        })
    }

    async fn round(&mut self) -> Result<()> {
        let address = self.rival.targets[0].address.clone();
        let before = self.rival.processor_time();
        let burst = load::burst(&mut self.clients, Method::Run, 2 * BURST);
        let burst = match self.rival.name == OBSERVED {
            true => tokio::select! {
                burst = burst => burst?,
                never = scrape(&address, &self.admin) => never?,
            },
            false => burst.await?,
        };
        let used = self.rival.processor_time().zip(before);
        let used = used.map(|(after, before)| after.saturating_sub(before));
        self.samples.push(burst, used);
        Ok(())
    }
}

/// Reads the metrics until the caller stops it.
async fn scrape<T>(address: &str, admin: &str) -> Result<T> {
    let mut connection = HttpConnection::to(address);
    let request = HttpRequest::new("GET /metrics", admin, &Value::Null);
    loop {
        connection.ask(&request).await?;
        tokio::time::sleep(SCRAPED_EVERY).await;
    }
}
