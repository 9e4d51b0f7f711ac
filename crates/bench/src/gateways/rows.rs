//! What was measured of each gateway, as tables in Markdown.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::contender::GatewayRival;
use super::load::{Burst, Method};
use super::rival_names::{CODEYARD, DIRECT};

/// One gateway, one kind of request, one number of clients.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoadRow {
    pub rival: String,
    pub method: String,
    pub upstreams: usize,
    pub clients: usize,
    /// Requests a second: the median of all rounds.
    pub rate: f64,
    /// Microseconds, over all rounds.
    pub p50: f64,
    pub p99: f64,
    /// Processor time of the gateway for a request, in microseconds.
    pub processor: Option<f64>,
}

/// Start and memory of one gateway.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FootprintRow {
    pub rival: String,
    pub upstreams: usize,
    /// Microseconds until a client has listed all tools: the median.
    pub ready: f64,
    /// Bytes.
    pub idle: f64,
    /// The most bytes after a burst.
    pub loaded: f64,
}

#[derive(Debug)]
pub struct LoadSamples {
    pub method: Method,
    pub clients: usize,
    rates: Vec<f64>,
    latencies: Vec<f64>,
    requests: usize,
    processor: Option<Duration>,
}

#[derive(Debug, Default)]
pub struct Footprint {
    pub ready: Vec<Duration>,
    pub idle: Option<f64>,
    loaded: Option<f64>,
}

// === impl LoadSamples ===

impl LoadSamples {
    pub fn new(method: Method, clients: usize) -> LoadSamples {
        LoadSamples {
            method,
            clients,
            rates: Vec::new(),
            latencies: Vec::new(),
            requests: 0,
            processor: None,
        }
    }

    pub fn push(&mut self, burst: Burst, processor: Option<Duration>) {
        let requests = burst.latencies.len();
        self.rates.push(requests as f64 / burst.elapsed.as_secs_f64());
        self.latencies.extend(burst.latencies.into_iter().map(micros));
        self.requests += requests;
        if let Some(used) = processor {
            *self.processor.get_or_insert_default() += used;
        }
    }

    pub fn row(mut self, rival: &GatewayRival) -> LoadRow {
        let requests = self.requests.max(1) as f64;
        LoadRow {
            rival: rival.name.clone(),
            method: match self.method {
                Method::Run => "program".to_owned(),
                method => method.name().to_owned(),
            },
            upstreams: rival.upstreams,
            clients: self.clients,
            rate: at(&mut self.rates, 500),
            p50: at(&mut self.latencies, 500),
            p99: at(&mut self.latencies, 990),
            processor: self.processor.map(|used| micros(used) / requests),
        }
    }
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// The number at this place of a thousand.
fn at(numbers: &mut [f64], per_mille: usize) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().saturating_sub(1);
    numbers.get(last * per_mille / 1000).copied().unwrap_or_default()
}

// === impl Footprint ===

impl Footprint {
    pub fn load(&mut self, memory: Option<f64>) {
        self.loaded = match (self.loaded, memory) {
            (Some(one), Some(two)) => Some(one.max(two)),
            (one, two) => one.or(two),
        };
    }

    /// `None` for servers that this run did not start.
    pub fn row(&self, rival: &GatewayRival) -> Option<FootprintRow> {
        let mut ready: Vec<f64> = self.ready.iter().copied().map(micros).collect();
        Some(FootprintRow {
            rival: rival.name.clone(),
            upstreams: rival.upstreams,
            ready: at(&mut ready, 500),
            idle: self.idle?,
            loaded: self.loaded?,
        })
    }
}

/// Prints what there is.
#[expect(
    clippy::print_stdout,
    reason = "the purpose of the program is to print tables"
)]
pub fn print(loads: &[LoadRow], footprints: &[FootprintRow]) {
    if !loads.is_empty() {
        println!(
            "| request | upstreams | clients | gateway | a second | p50 ms | p99 ms | added ms | CPU us | codeyard |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|");
    }
    let mut sorted: Vec<&LoadRow> = loads.iter().collect();
    sorted.sort_by_key(|row| (row.method.clone(), row.upstreams, row.clients));
    for row in sorted {
        println!("{}", line(row, loads));
    }
    if !footprints.is_empty() {
        println!("\n| gateway | upstreams | ready ms | idle MB | loaded MB |");
        println!("|---|---|---|---|---|");
    }
    for row in footprints {
        let (ready, idle, loaded) = (row.ready / 1e3, row.idle / 1e6, row.loaded / 1e6);
        println!(
            "| {} | {} | {ready:.0} | {idle:.1} | {loaded:.1} |",
            row.rival, row.upstreams
        );
    }
}

fn line(row: &LoadRow, all: &[LoadRow]) -> String {
    let beside = |name: &str| {
        all.iter().find(|other| {
            let is_equal = (other.upstreams, other.clients) == (row.upstreams, row.clients);
            is_equal && other.method == row.method && other.rival == name
        })
    };
    let added = beside(DIRECT).map(|direct| format!("{:.2}", (row.p50 - direct.p50) / 1e3));
    let ours = beside(CODEYARD).map(|ours| format!("{:.2} x", ours.rate / row.rate));
    let processor = row.processor.map(|used| format!("{used:.0}"));
    format!(
        "| {} | {} | {} | {} | {:.0} | {:.2} | {:.2} | {} | {} | {} |",
        row.method,
        row.upstreams,
        row.clients,
        row.rival,
        row.rate,
        row.p50 / 1e3,
        row.p99 / 1e3,
        added.unwrap_or_default(),
        processor.unwrap_or_default(),
        ours.unwrap_or_default(),
    )
}
