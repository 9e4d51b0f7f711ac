//! Compares the response times for foreign ids and unknown ids.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use fastrand::Rng;
use serde_json::{Value, json};

use super::actor::shuffled;
use super::foreign::filled;
use super::programs::call;
use super::setup::Setup;
use super::world::{Member, MemberRole};
use crate::gateway::{HttpConnection, HttpRequest};

/// Accepted probability that an answer about a foreign id takes longer than one about an unknown id; 0.5 means
/// indistinguishable.
/// Outside these bounds, a single answer reveals something.
const ALIKE: std::ops::RangeInclusive<f64> = 0.4..=0.6;
/// The group whose ids are foreign.
const STRANGER: usize = 0;
/// Refused changes of one user per minute, below the gateway's rate limit.
const CHANGES_OF_USER: usize = 50;

/// The comparison of one kind of request.
#[derive(Debug)]
pub(super) struct Timing {
    pub(super) name: &'static str,
    pub(super) pairs: usize,
    foreign: Duration,
    unknown: Duration,
    /// The Mann-Whitney statistic, divided by the number of pairs of samples.
    chance: f64,
    /// Distance of `chance` from 0.5, in standard deviations.
    z: f64,
}

// === impl Timing ===

impl Timing {
    pub(super) fn show(&self) -> String {
        format!(
            "{} pairs: {:.0} us foreign, {:.0} us unknown; foreign slower in {:.1} % (z {:+.1})",
            self.pairs,
            self.foreign.as_secs_f64() * 1e6,
            self.unknown.as_secs_f64() * 1e6,
            self.chance * 100.0,
            self.z,
        )
    }

    pub(super) fn is_alike(&self) -> bool {
        ALIKE.contains(&self.chance)
    }
}

/// Alternates requests about a foreign id and unknown ids, in random order.
pub(super) async fn compare(setup: &Setup, pairs: usize, rng: &mut Rng) -> Result<Vec<Timing>> {
    let stranger = setup.lead(STRANGER);
    let server = setup.permanent_server(stranger.reader.group).await?;
    let ids = [
        ("GET /servers/{}", server.as_str()),
        ("GET /servers/{}/code/runs", &server),
        ("GET /servers/{}/tools", &server),
        ("POST /rpc", &server),
        ("GET /upstreams/{}", &setup.world.upstreams[stranger.reader.group]),
        ("GET /teams/{}", &setup.world.teams[stranger.reader.group]),
        ("PUT /servers/{}", &server),
        ("DELETE /tokens/{}", &stranger.token_id),
    ];
    let mut timings = Vec::new();
    for (row, id) in ids {
        timings.push(compare_kind(setup, (row, id), pairs, rng).await?);
    }
    Ok(timings)
}

async fn compare_kind(
    setup: &Setup,
    (row, id): (&'static str, &str),
    pairs: usize,
    rng: &mut Rng,
) -> Result<Timing> {
    let is_change = row.starts_with("PUT") || row.starts_with("DELETE");
    let of_each = if is_change { CHANGES_OF_USER / 2 } else { pairs };
    let mut connection = HttpConnection::to(&setup.world.addresses[0]);
    let (mut foreign, mut unknown) = (Vec::new(), Vec::new());
    while foreign.len() < pairs {
        let asker = setup.add_member(1 - STRANGER, MemberRole::Developer, rng).await?;
        for _ in 0..of_each.min(pairs - foreign.len()) {
            let guessed = shuffled(id, rng);
            let mut order = [(id, true), (guessed.as_str(), false)];
            rng.shuffle(&mut order);
            for (id, is_foreign) in order {
                let took = timed(&mut connection, row, id, &asker).await?;
                if is_foreign { &mut foreign } else { &mut unknown }.push(took);
            }
        }
    }
    Ok(summary(row, foreign, unknown))
}

async fn timed(connection: &mut HttpConnection, row: &str, id: &str, asker: &Member) -> Result<Duration> {
    let request = match row {
        "POST /rpc" => HttpRequest::rpc(&asker.token, "1", "tools/call", call(id, "print(1)")),
        row => filled(row, id, &asker.token),
    };
    let started = Instant::now();
    let answer = connection.ask(&request).await?;
    let took = started.elapsed();
    ensure!(answer.status == 404, "{row}: {} {}", answer.status, answer.body);
    Ok(took)
}

fn summary(name: &'static str, mut foreign: Vec<Duration>, mut unknown: Vec<Duration>) -> Timing {
    foreign.sort_unstable();
    unknown.sort_unstable();
    let count = foreign.len() as f64;
    let slower: f64 = foreign
        .iter()
        .map(|one| {
            let below = unknown.partition_point(|other| other < one);
            let equal = unknown.partition_point(|other| other <= one) - below;
            below as f64 + equal as f64 / 2.0
        })
        .sum();
    let chance = slower / (count * count);
    // The variance of the Mann-Whitney statistic without ties, for two samples of the same size.
    let deviation = ((2.0 * count + 1.0) / (12.0 * count * count)).sqrt();
    Timing {
        name,
        pairs: foreign.len(),
        foreign: foreign[foreign.len() / 2],
        unknown: unknown[unknown.len() / 2],
        chance,
        z: (chance - 0.5) / deviation,
    }
}

impl Setup {
    /// A server of the group that no operation removes.
    async fn permanent_server(&self, group: usize) -> Result<String> {
        let member = self.lead(group);
        let mut body = crate::gateway::python_server("permanent");
        body["team_id"] = json!(self.world.teams[group]);
        let made = self.ask_as(&member.token, "POST /servers", &body).await?;
        let id = made["id"].as_str().unwrap_or_default().to_owned();
        ensure!(made != Value::Null && !id.is_empty(), "the group has no server");
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_are_alike_and_shifted_ones_are_not() {
        let samples = |more: u64| {
            (0..1000)
                .map(|number| Duration::from_micros(number + more))
                .collect()
        };
        let timing = summary("x", samples(0), samples(0));
        assert!(timing.is_alike() && timing.z.abs() < 0.1, "{timing:?}");
        let timing = summary("x", samples(300), samples(0));
        assert!(!timing.is_alike() && timing.z > 10.0, "{timing:?}");
    }
}
