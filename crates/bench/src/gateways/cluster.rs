//! Compares sessions that the addressed process holds with sessions that it forwards to another process.

use std::rc::Rc;

use anyhow::Result;
use test_support::{Codeyard, PostgresServer};

use super::contender::{GatewayRival, free_address};
use super::load::{self, LoadClient, LoadTarget, Method};
use super::rows::{LoadRow, LoadSamples};
use super::upstream::{TOOL, UpstreamProcess};
use super::{BURST, USERS, ours, passing_through};
use crate::setting::Setting;

const CLIENTS: usize = 32;
const UPSTREAMS: usize = 1;
const LOCAL: &str = "codeyard on Postgres, own session";
const FORWARDED: &str = "codeyard on Postgres, session of another process";

pub async fn measure(setting: &Setting, servers: &UpstreamProcess, rounds: usize) -> Result<Vec<LoadRow>> {
    let postgres = PostgresServer::start()?;
    let url = postgres.make("yard")?;
    let codeyard = setting.codeyard()?.env("CODEYARD_DATABASE_URL", &url);
    let codeyard = Rc::new(ours::with_upstreams(codeyard, servers, UPSTREAMS));
    let tokens = ours::tokens(&codeyard, USERS).await?;
    let owner = process(&codeyard, &tokens, LOCAL).await?;
    let forwarding = process(&codeyard, &tokens, FORWARDED).await?;
    let local = load::open(&owner.targets, CLIENTS, TOOL).await?;
    let mut forwarded = load::open(&owner.targets, CLIENTS, TOOL).await?;
    for client in &mut forwarded {
        client.move_to(&forwarding.targets[0].address).await?;
    }
    let mut rows = Vec::new();
    let mut subjects: [(&GatewayRival, Vec<LoadClient>); 2] = [(&owner, local), (&forwarding, forwarded)];
    for method in Method::PASSED {
        let mut samples = subjects.each_ref().map(|_| LoadSamples::new(method, CLIENTS));
        for _ in 0..rounds {
            for ((_, clients), samples) in subjects.iter_mut().zip(&mut samples) {
                let before = owner.processor_time().zip(forwarding.processor_time());
                let burst = load::burst(clients, method, BURST).await?;
                let after = owner.processor_time().zip(forwarding.processor_time());
                let used = after.zip(before);
                // Of both processes.
                let used =
                    used.map(|(after, before)| (after.0 + after.1).saturating_sub(before.0 + before.1));
                samples.push(burst, used);
            }
        }
        let measured = subjects.iter().zip(samples);
        rows.extend(measured.map(|((rival, _), samples)| samples.row(rival)));
    }
    Ok(rows)
}

/// One of the processes.
async fn process(codeyard: &Rc<Codeyard>, tokens: &[String], name: &str) -> Result<GatewayRival> {
    let address = free_address()?;
    let log = codeyard.directory().join(format!("{address}.log"));
    let (kept, listen) = (Rc::clone(codeyard), address.clone());
    let start = move || {
        let advertised = format!("http://{listen}");
        let words = ["serve", "--listen", &listen, "--advertise", &advertised];
        Ok(kept.command(words)?.into_std())
    };
    let mut rival = GatewayRival::new(name, UPSTREAMS, start, log, Rc::clone(codeyard));
    rival.targets = ours::targets(&address, tokens);
    rival.spawn()?;
    let body = passing_through();
    if name == LOCAL {
        rival
            .wait_for(async || ours::make(&address, &tokens[0], &body).await.is_ok())
            .await?;
    } else {
        // As the admin, because the first process that a user asks takes the user's sessions.
        let admin = LoadTarget {
            token: Some(tokens[0].clone()),
            ..rival.targets[0].clone()
        };
        rival
            .wait_for(async || LoadClient::open(&admin).await.is_ok())
            .await?;
    }
    Ok(rival)
}
