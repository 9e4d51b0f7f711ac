//! Runs one probe against one backend: A attacks, B and H watch.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sandbox::{
    Attachment, AttachmentAccess, Backend, BoxFuture, CallContext, Guest, HostCall, HostCalls, LaunchError,
    LaunchSpec, NoCalls, Run, SESSION,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use types::{
    BadPrincipal, HostCallError, Language, Limits, Network, Outcome, Principal, SessionId, SessionName,
    Status,
};
use workspace::{Keeping, Lease, Workspaces};

use crate::control::Controls;
use crate::host::{Host, descriptors};
use crate::idle;
use crate::probe::{Control, HostCheck, MOUNT, Probe, When};
use crate::program::{self, answers, compose};
use crate::report::{Row, Stage};
use crate::verdict::{Answers, Means, judge};

const MIB: u64 = 1024 * 1024;
/// How long a session may take to become ready.
const READY: Duration = Duration::from_secs(20);
/// In bytes.
const MOST_BYTES: u64 = MIB;
/// Descriptors that a backend may open for itself while a probe runs; probes send many more.
const MOST_OWN: usize = 100;
/// How long reading an attacker's artifacts may take, on a machine under load.
const ARTIFACTS: Duration = Duration::from_secs(3);

/// A backend under attack.
pub struct Target<'a> {
    /// Must launch sessions with [`limits`].
    pub backend: &'a dyn Backend,
    /// The stage of the report's rows.
    pub stage: Stage,
    /// The guards that its mode provides.
    pub means: Means,
    /// Whether a session is ready in the pool; absent without a pool.
    pub ready: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Files of A and B.
    pub workspaces: &'a Workspaces,
    /// The directory of these files.
    pub directory: &'a Path,
    /// Makes the principal of a tenant.
    pub principal: TenantPrincipal,
    /// Words that no guest may find anywhere, by description.
    pub secrets: Vec<(String, String)>,
}

/// Makes the principal of a tenant of the attack; only the edge of codeyard may make principals.
pub type TenantPrincipal = fn(&str) -> Result<Principal, BadPrincipal>;

/// Why a probe could not run.
#[derive(Debug, thiserror::Error)]
pub enum AttackError {
    /// No session could be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// H could not plant its files.
    #[error("nothing can be planted on this host: {0}")]
    Plant(#[from] std::io::Error),
    /// The files of a session could not be created.
    #[error(transparent)]
    Workspace(#[from] workspace::WorkspaceError),
    /// A tenant of the attack has an invalid name.
    #[error(transparent)]
    Tenant(#[from] BadPrincipal),
}

/// Limits of all sessions, small so that probes reach them soon.
pub fn limits() -> Limits {
    Limits {
        wall_time: Duration::from_secs(20),
        cpu_time: Duration::from_secs(20),
        memory: 160 * MIB,
        processes: 24,
        open_files: 128,
        file_size: 16 * MIB,
        disk: 32 * MIB,
        inodes: 3_200,
        output: 64 * 1024,
        host_calls: 100,
        concurrent_host_calls: 4,
        network: Network::None,
        ..Limits::default()
    }
}

/// Runs one probe on one stage.
///
/// # Errors
/// If no session can be launched; all results of a session are in the row.
pub async fn attack(probe: &Probe, target: &Target<'_>, controls: &mut Controls) -> Result<Row, AttackError> {
    let host = Host::plant()?;
    let mut given = json!({
        "inside": true,
        "between": probe.when == When::Between,
        "token": host.token,
        "neighbour": host.neighbour(),
        "host": host.given(),
        "words": words(target, &host),
    });
    given["host"]["workspaces"] = json!(target.directory);
    let outside = controls.of(probe, &given).await;
    host.forget_controls();
    let start = Instant::now();
    let (inside, neighbours, noticed) = scene(probe, target, controls, &host, &mut given).await?;
    let found = Answers {
        inside,
        neighbours,
        noticed,
        outside,
    };
    let judged = judge(probe, &found, target.means);
    Ok(Row {
        probe: probe.name.clone(),
        tries: probe.plan.tries.clone(),
        stage: target.stage.clone(),
        verdict: judged.verdict,
        took_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        open: judged.open,
        untested: judged.untested,
    })
}

type Printed = std::collections::BTreeMap<String, String>;

/// Runs A and B in their sessions and H around them; returns A's output, B's and H's results, and
/// further findings.
async fn scene(
    probe: &Probe,
    target: &Target<'_>,
    controls: &Controls,
    host: &Host,
    given: &mut Value,
) -> Result<(Printed, Printed, Vec<String>), AttackError> {
    let mut noticed = Vec::new();
    let language = probe.plan.language;
    let tenant_a = host.token.as_str();
    let tenant_b = if probe.plan.same_tenant {
        tenant_a.to_owned()
    } else {
        host.neighbour()
    };
    let mut b = target.seat(&tenant_b, "b", language, None).await?;
    if let Some(before) = probe.before {
        let outcome = execute(&mut *b.guest, language, before, given).await;
        noticed.extend(unless_completed("b", &outcome));
        given["before"] = json!(answers(&outcome.stdout.shown()));
    }
    let held = descriptors();
    let mounted = probe.plan.mounted.then(|| host.folder());
    let mut a = target.seat(tenant_a, "a", language, mounted).await?;
    let with_a = descriptors();
    let calls = Arc::new(CountedCalls::default());
    let run = program_run(language, program::attacker(probe, given), limits_of(probe));
    let outcome = a
        .guest
        .execute(run, Arc::clone(&calls) as Arc<dyn HostCalls>)
        .await;
    let mut inside = answers(&outcome.stdout.shown());
    if !probe.plan.ends.iter().any(|end| end == outcome.status.name()) {
        let error = outcome.error.clone().unwrap_or_default();
        noticed.push(format!(
            "it ended {}: {} {}",
            outcome.status.name(),
            error.kind,
            error.message
        ));
    }
    let mut neighbours = Printed::new();
    if let Some(after) = probe.after {
        let met = execute(&mut *b.guest, language, after, given).await;
        noticed.extend(unless_completed("b", &met));
        let outside = controls
            .run(&compose(language, after, given), Control::Plain)
            .await;
        noticed.extend(outside.as_ref().err().map(|why| format!("host: {why}")));
        neighbours.extend(named("b", answers(&met.stdout.shown())));
        neighbours.extend(named("host", outside.unwrap_or_default()));
    }
    if probe.plan.host.contains(&HostCheck::Idle) {
        let idle = idle::look_on(host, inside.get("place").map(String::as_str)).await;
        noticed.extend(idle.noticed);
        given["idle"] = json!(idle.time);
    }
    if let Some(again) = probe.again {
        let met = execute(&mut *a.guest, language, again, given).await;
        noticed.extend(unless_completed("again", &met));
        inside.extend(answers(&met.stdout.shown()));
    }
    for check in &probe.plan.host {
        noticed.extend(match check {
            HostCheck::Descriptors => more_descriptors(with_a),
            HostCheck::Artifacts => read_artifacts(target, host),
            HostCheck::ZygoteDeath => host.kill_zygote().await,
            HostCheck::Output => too_much_output(&outcome),
            HostCheck::Calls => calls.too_many(),
            // Checked before the next run.
            HostCheck::Idle => None,
        });
    }
    a.guest.close().await;
    if host.leftovers().await > 0 {
        noticed.push("processes outlive their session".to_owned());
    }
    if let Some(later) = probe.later {
        let mut next = target.seat(tenant_a, "next", language, None).await?;
        let met = execute(&mut *next.guest, language, later, given).await;
        noticed.extend(unless_completed("next", &met));
        neighbours.extend(named("next", answers(&met.stdout.shown())));
        next.guest.close().await;
    }
    b.guest.close().await;
    noticed.extend(host.changes());
    if probe.plan.host.contains(&HostCheck::Descriptors) {
        noticed.extend(more_descriptors(held));
    }
    Ok((inside, neighbours, noticed))
}

/// A session and its claim to its files.
struct Seat {
    guest: Box<dyn Guest>,
    _lease: Option<Lease>,
}

/// Results with the observer's name before each attempt.
fn named(who: &str, met: Printed) -> impl Iterator<Item = (String, String)> {
    met.into_iter()
        .map(move |(attempt, answer)| (format!("{who}.{attempt}"), answer))
}

impl Target<'_> {
    /// Launches a session of this tenant that sees this folder of the host.
    async fn seat(
        &self,
        tenant: &str,
        session: &str,
        language: Language,
        mounted: Option<PathBuf>,
    ) -> Result<Seat, AttackError> {
        if let Some(ready) = self.ready {
            let start = Instant::now();
            while !ready() && start.elapsed() < READY {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        let (mut files, lease) = self.files(tenant, session)?;
        files.extend(mounted.map(|source| Attachment {
            source,
            target: MOUNT.to_owned(),
            access: AttachmentAccess::ReadOnly,
        }));
        let spec = LaunchSpec {
            session: SessionId::new(session),
            limits: limits(),
            language,
            first_code: String::new(),
            files,
        };
        Ok(Seat {
            guest: self.backend.launch(spec).await?,
            _lease: lease,
        })
    }

    fn files(&self, tenant: &str, session: &str) -> Result<(Vec<Attachment>, Option<Lease>), AttackError> {
        if self.workspaces.keeping() == Keeping::Own {
            return Ok((Vec::new(), None));
        }
        let files = self
            .workspaces
            .open(&(self.principal)(tenant)?, &SessionName::new(session))?;
        let own = |source, target: &str| Attachment {
            source,
            target: target.to_owned(),
            access: AttachmentAccess::ReadWrite,
        };
        let attachments = vec![own(files.workspace, "/workspace"), own(files.session, SESSION)];
        Ok((attachments, Some(files.lease)))
    }
}

/// Whether the host holds too many additional descriptors to be the backend's own: a backend that
/// prepares sessions ahead opens and closes some at any time.
fn more_descriptors(before: usize) -> Option<String> {
    let more = descriptors().saturating_sub(before);
    (more > MOST_OWN).then(|| format!("the host holds {more} descriptors more"))
}

fn limits_of(probe: &Probe) -> Limits {
    let usual = limits();
    Limits {
        cpu_time: probe
            .plan
            .cpu_time_ms
            .map_or(usual.cpu_time, Duration::from_millis),
        ..usual
    }
}

/// Counts the calls that arrive, and answers none.
#[derive(Debug, Default)]
struct CountedCalls(AtomicU32);

impl HostCalls for CountedCalls {
    fn call(
        &self,
        call: HostCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        NoCalls.call(call, context)
    }
}

impl CountedCalls {
    fn too_many(&self) -> Option<String> {
        let (arrived, most) = (self.0.load(Ordering::Relaxed), limits().host_calls);
        (arrived > most).then(|| format!("{arrived} calls arrived, and the limit is {most}"))
    }
}

/// Reports kept output beyond the limit and the note on omitted output.
fn too_much_output(outcome: &Outcome) -> Option<String> {
    const NOTE: u64 = 1024;
    let (kept, most) = (outcome.stderr.shown().len() as u64, limits().output);
    (kept > most + NOTE).then(|| format!("{kept} bytes of output are kept, and the limit is {most}"))
}

async fn execute(guest: &mut dyn Guest, language: Language, program: &str, given: &Value) -> Outcome {
    let run = program_run(language, compose(language, program, given), limits());
    guest.execute(run, Arc::new(NoCalls)).await
}

fn program_run(language: Language, code: String, limits: Limits) -> Run {
    let mut run = Run::of(code, limits);
    run.spec.language = language;
    run
}

fn unless_completed(who: &str, outcome: &Outcome) -> Option<String> {
    let error = outcome.error.clone().unwrap_or_default();
    (outcome.status != Status::Completed).then(|| format!("{who}: {} {}", error.kind, error.message))
}

/// The words that must be found nowhere, each byte raised by one so that a search does not find itself.
fn words(target: &Target<'_>, host: &Host) -> Value {
    let higher = |text: &str| -> String {
        text.bytes()
            .map(|byte| char::from(byte.wrapping_add(1)))
            .collect()
    };
    let mut words: serde_json::Map<String, Value> = target
        .secrets
        .iter()
        .map(|(name, word)| (name.clone(), Value::String(higher(word))))
        .collect();
    words.insert(
        "planted".to_owned(),
        Value::String(higher(&format!("secret of {}", host.token))),
    );
    Value::Object(words)
}

/// Reads everything in the attacker's /results, as codeyard does for a client.
fn read_artifacts(target: &Target<'_>, host: &Host) -> Option<String> {
    let start = Instant::now();
    let principal = match (target.principal)(&host.token) {
        Ok(principal) => principal,
        Err(error) => return Some(error.to_string()),
    };
    let artifacts = match target.workspaces.artifacts(&principal) {
        Ok(artifacts) => artifacts,
        Err(error) => return Some(format!("the artifacts cannot be listed: {error}")),
    };
    for artifact in &artifacts.files {
        let read = target
            .workspaces
            .read_artifact(&principal, &artifact.session, &artifact.path, MOST_BYTES);
        let Ok(bytes) = read else { continue };
        let secret = format!("secret of {}", host.token);
        let is_foreign = bytes.windows(secret.len()).any(|part| part == secret.as_bytes())
            || bytes.starts_with(b"root:")
            || u64::try_from(bytes.len()).is_ok_and(|length| length > MOST_BYTES);
        if is_foreign {
            return Some(format!("{} is a file of the host", artifact.path.display()));
        }
    }
    (start.elapsed() > ARTIFACTS).then(|| format!("reading the artifacts took {:?}", start.elapsed()))
}
