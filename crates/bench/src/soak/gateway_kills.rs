//! `codeyard serve` killed at random moments under load, alone on SQLite and as one of two on Postgres; Postgres
//! killed under load.
//!
//! No acknowledged change may be lost, nothing may be left, and the next start must work.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use rustix::process::{getpid, set_child_subreaper};
use tempfile::TempDir;
use test_support::gateway::GatewayProcess;
use test_support::{Codeyard, GatewayLoad, PostgresServer};
use tokio::task::spawn_blocking;

use super::kills::orphans;
use super::machine_state::ProgramResources;
use super::watch::{Verdict, Watch, by_kind};

/// A killed gateway's leftovers must be gone after this time, even on a busy machine.
const SOON: Duration = Duration::from_secs(10);
/// Latest kill, in milliseconds after the start of the load or of the gateway.
const LATEST: u64 = 1_500;
const BEGINNING: u64 = 150;
const CLIENTS: usize = 6;
/// Time in which every client runs programs.
const WARM: Duration = Duration::from_secs(2);
/// With required records, the gateway writes a record before its answer.
const SETTINGS: &str = "[records]\nrecord = \"required\"\n";

/// An installation whose gateways are killed.
struct Yard {
    codeyard: Arc<Codeyard>,
    /// The directories searched for leftovers.
    directories: Vec<PathBuf>,
    _data: Option<TempDir>,
}

/// One gateway on SQLite.
pub async fn alone(kills: u32, rng: &mut Rng) -> Result<Verdict> {
    set_child_subreaper(Some(getpid()))?;
    let yard = Yard::on_sqlite()?;
    let mut gateway = yard.start(GatewayProcess::start).await?;
    let title = format!("{kills} kills of `codeyard serve` on SQLite, under load");
    let addresses = [gateway.address().to_owned()];
    let (mut watch, mut load) = yard.begin(title, &addresses, rng).await?;
    let mut gone = Vec::new();
    for _ in 0..kills {
        if rng.u32(..4) == 0 {
            end(gateway).await?;
            let mut starting = yard
                .codeyard
                .command(["serve", "--listen", "127.0.0.1:0"])?
                .stderr(Stdio::null())
                .spawn()?;
            tokio::time::sleep(Duration::from_millis(rng.u64(..BEGINNING))).await;
            let mut owned = ProgramResources::default();
            owned.gather(starting.id().context("it runs")?);
            starting.start_kill()?;
            let killed = Instant::now();
            starting.wait().await?;
            watch.complain(leftovers(&owned, &[], killed).await);
            gone.push(killed.elapsed());
        } else {
            let working = load.begin(&[gateway.address().to_owned()]);
            tokio::time::sleep(Duration::from_millis(rng.u64(..LATEST))).await;
            let mut owned = ProgramResources::default();
            owned.gather(gateway.pid());
            gateway.kill()?;
            let killed = Instant::now();
            load = working.end().await?;
            watch.complain(leftovers(&owned, &[], killed).await);
            gone.push(killed.elapsed());
        }
        gateway = yard
            .start(GatewayProcess::start)
            .await
            .context("the next start")?;
        watch.complain(by_kind(load.check(gateway.address()).await?));
    }
    end(gateway).await?;
    yard.verify_audit().await?;
    state(&mut watch, &load, gone);
    Ok(watch.end().await)
}

/// One of two gateways on Postgres; the other stays up.
pub async fn one_of_two(kills: u32, rng: &mut Rng) -> Result<Verdict> {
    set_child_subreaper(Some(getpid()))?;
    let postgres = PostgresServer::start()?;
    let yard = Yard::on_postgres(&postgres)?;
    let mut gateways = yard.start_two().await?;
    let title = format!("{kills} kills of one of two `codeyard serve` on Postgres, under load");
    let (mut watch, mut load) = yard.begin(title, &addresses(&gateways), rng).await?;
    let mut gone = Vec::new();
    for _ in 0..kills {
        let working = load.begin(&addresses(&gateways));
        tokio::time::sleep(Duration::from_millis(rng.u64(..LATEST))).await;
        let mut dead = gateways.swap_remove(rng.usize(..2));
        let mut owned = ProgramResources::default();
        owned.gather(dead.pid());
        dead.kill()?;
        let killed = Instant::now();
        let living = [gateways[0].pid()];
        watch.complain(leftovers(&owned, &living, killed).await);
        gone.push(killed.elapsed());
        load = working.end().await?;
        gateways.push(
            yard.start(GatewayProcess::start_advertised)
                .await
                .context("the next start")?,
        );
        for gateway in &gateways {
            watch.complain(by_kind(load.check(gateway.address()).await?));
        }
    }
    for gateway in gateways {
        end(gateway).await?;
    }
    yard.verify_audit().await?;
    state(&mut watch, &load, gone);
    Ok(watch.end().await)
}

/// Postgres killed and restarted under two gateways.
pub async fn database(kills: u32, rng: &mut Rng) -> Result<Verdict> {
    let mut postgres = PostgresServer::start()?;
    let yard = Yard::on_postgres(&postgres)?;
    let gateways = yard.start_two().await?;
    let addresses = addresses(&gateways);
    let title = format!("{kills} kills of Postgres under two `codeyard serve`, under load");
    let (mut watch, mut load) = yard.begin(title, &addresses, rng).await?;
    let mut back = Vec::new();
    for _ in 0..kills {
        let working = load.begin(&addresses);
        tokio::time::sleep(Duration::from_millis(rng.u64(..LATEST))).await;
        let down = Duration::from_millis(rng.u64(..LATEST));
        postgres = spawn_blocking(move || -> Result<PostgresServer> {
            postgres.kill()?;
            std::thread::sleep(down);
            postgres.run()?;
            Ok(postgres)
        })
        .await??;
        let started = Instant::now();
        load = working.end().await?;
        for address in &addresses {
            watch.complain(by_kind(load.check(address).await?));
        }
        back.push(started.elapsed());
    }
    for gateway in gateways {
        watch.gather(gateway.pid());
        end(gateway).await?;
    }
    yard.verify_audit().await?;
    state(&mut watch, &load, back);
    Ok(watch.end().await)
}

// === impl Yard ===

impl Yard {
    fn on_sqlite() -> Result<Yard> {
        Yard::new(Codeyard::with_stub()?, None)
    }

    fn on_postgres(postgres: &PostgresServer) -> Result<Yard> {
        let data = tempfile::tempdir()?;
        let codeyard = test_support::gateway::sharing(&postgres.make("gateway")?, data.path())?;
        Yard::new(codeyard, Some(data))
    }

    fn new(codeyard: Codeyard, data: Option<TempDir>) -> Result<Yard> {
        let temporary = codeyard.directory().join("tmp");
        std::fs::create_dir(&temporary)?;
        let directories = vec![codeyard.data_directory(), temporary.clone()];
        Ok(Yard {
            codeyard: Arc::new(codeyard.settings(SETTINGS).env("TMPDIR", temporary)),
            directories,
            _data: data,
        })
    }

    async fn start(
        &self,
        start: impl FnOnce(&Codeyard) -> Result<GatewayProcess> + Send + 'static,
    ) -> Result<GatewayProcess> {
        let codeyard = Arc::clone(&self.codeyard);
        spawn_blocking(move || start(&codeyard)).await?
    }

    async fn start_two(&self) -> Result<Vec<GatewayProcess>> {
        Ok(vec![
            self.start(GatewayProcess::start_advertised).await?,
            self.start(GatewayProcess::start_advertised).await?,
        ])
    }

    /// Creates the load's users with their sessions, so that the watch finds only leftovers of kills.
    async fn begin(
        &self,
        title: String,
        addresses: &[String],
        rng: &mut Rng,
    ) -> Result<(Watch, GatewayLoad)> {
        let load = GatewayLoad::prepare(&self.codeyard, &addresses[0], CLIENTS, rng.u64(..)).await?;
        let working = load.begin(addresses);
        tokio::time::sleep(WARM).await;
        let mut load = working.end().await?;
        let wrong = load.check(&addresses[0]).await?;
        ensure!(wrong.is_empty(), "before the first kill: {wrong:?}");
        Ok((Watch::begin(title, 0, self.directories.clone()), load))
    }

    async fn verify_audit(&self) -> Result<()> {
        let verified = self.codeyard.run(["audit", "verify"]).await?;
        let complaint = String::from_utf8_lossy(&verified.stderr).into_owned();
        ensure!(verified.status.success(), "`codeyard audit verify`: {complaint}");
        Ok(())
    }
}

fn addresses(gateways: &[GatewayProcess]) -> Vec<String> {
    gateways
        .iter()
        .map(|gateway| gateway.address().to_owned())
        .collect()
}

async fn end(gateway: GatewayProcess) -> Result<()> {
    spawn_blocking(move || gateway.finish()).await?
}

/// Leftovers of a killed gateway after a while, without the processes of running gateways.
async fn leftovers(owned: &ProgramResources, living: &[u32], killed: Instant) -> Vec<String> {
    loop {
        let mut left = orphans(living);
        left.extend(owned.left());
        if left.is_empty() || killed.elapsed() > SOON {
            return by_kind(left);
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn state(watch: &mut Watch, load: &GatewayLoad, mut times: Vec<Duration>) {
    times.sort_unstable();
    if let (Some(median), Some(most)) = (times.get(times.len() / 2), times.last()) {
        let figure = format!("{} ms, {} ms", median.as_millis(), most.as_millis());
        watch.state("recovery time: median, longest", figure);
    }
    let [runs, changes, unanswered] = load.counts();
    watch.state("acknowledged runs, changes", format!("{runs}, {changes}"));
    watch.state("requests without an answer", unanswered.to_string());
}
