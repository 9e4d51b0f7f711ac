//! `codeyard doctor --attack`: runs the probes, prints their table, and repeats both as an ordinary user.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::Path;
use std::process::Stdio;

use anyhow::Context as _;
use environment::{Environment as _, Machine};
use server::attack::{Options, Report, Row, Verdict};

use tempfile::TempDir;
use types::Principal;

use crate::cli::DoctorArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Tone, harmless};

/// An ordinary user of every machine that owns nothing.
const NOBODY: Account = Account {
    user: 65_534,
    group: 65_534,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Account {
    user: u32,
    group: u32,
}

pub async fn run(context: &Context, arguments: &DoctorArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings_for_probes()?;
    let options = Options {
        only: arguments.only.clone(),
        principal: |tenant| Principal::new(tenant, "user"),
        secrets: secrets(&loaded.data_dir),
    };
    let parts = loaded.into_parts(context.program()?, &Machine);
    let mut stage = None;
    let show_progress = |row: &Row| {
        if stage.as_ref() != Some(&row.stage) {
            context.output.tell(&format!("attacking: {}", row.stage));
            stage = Some(row.stage.clone());
        }
    };
    let attacked = server::attack::attack(parts, &options, show_progress).await;
    let mut report = attacked.map_err(|error| Failure::new(Exit::Refused, error))?;
    if rustix::process::geteuid().is_root() && !arguments.this_user {
        let account = ordinary_user();
        context
            .output
            .tell(&format!("attacking as the ordinary user {}", account.user));
        match as_user(context, arguments, account).await {
            Ok(UserAttack::Report(other)) => report.absorb(other),
            Ok(UserAttack::Refused(why)) => report
                .not_offered
                .push(format!("as user {}: {why}", account.user)),
            Err(why) => report.failed.push(format!("as user {}: {why:#}", account.user)),
        }
    }
    if arguments.json {
        context.output.json(&report)?;
    } else {
        context.output.print(&report_text(&report, &context.output))?;
    }
    Ok(if report.holds() { Exit::Done } else { Exit::Refused })
}

/// Texts that only this host has.
fn secrets(data: &Path) -> Vec<(String, String)> {
    let read = |path: &str| {
        std::fs::read_to_string(path)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let mut secrets = vec![
        // The bare name may be a common word.
        (
            "host_name".to_owned(),
            format!(" {} ", read("/proc/sys/kernel/hostname")),
        ),
        ("machine_id".to_owned(), read("/etc/machine-id")),
        ("data_directory".to_owned(), data.display().to_string()),
    ];
    secrets.retain(|(_, word)| !word.trim().is_empty());
    secrets
}

/// The user whose modes root can try: the first with a subordinate range, else nobody.
fn ordinary_user() -> Account {
    let ranges = std::fs::read_to_string("/etc/subuid").unwrap_or_default();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    ranges
        .lines()
        .find_map(|line| account(&users, line.split(':').next()?))
        .unwrap_or(NOBODY)
}

/// The account of that name in a passwd file; `None` for root.
fn account(passwd: &str, name: &str) -> Option<Account> {
    let mut fields = passwd
        .lines()
        .find(|line| line.split(':').next() == Some(name))?
        .split(':')
        .skip(2);
    let (user, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    (user != 0).then_some(Account { user, group })
}

/// Runs the same command as another user, in a temporary data directory.
async fn as_user(
    context: &Context,
    arguments: &DoctorArguments,
    account: Account,
) -> anyhow::Result<UserAttack> {
    let place = work_directory(account).context("no directory for its data")?;
    #[expect(
        clippy::disallowed_methods,
        reason = "this command waits for it, and it dies with this command"
    )]
    let mut command = tokio::process::Command::new(context.program()?.executable);
    command
        .args(["doctor", "--attack", "--json", "--this-user", "--data"])
        .arg(place.path());
    command.args(arguments.only.iter().flat_map(|name| ["--only", name]));
    command.env_clear().env("HOME", place.path());
    if let Ok(Some(path)) = Machine.var("PATH") {
        command.env("PATH", path);
    }
    command.uid(account.user).gid(account.group).current_dir("/");
    command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let output = match command.output().await {
        // Other users may not be able to reach the program.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(UserAttack::Refused(format!(
                "it may not run this program: {error}"
            )));
        }
        output => output.context("it cannot run codeyard")?,
    };
    if let Ok(report) = serde_json::from_slice(&output.stdout) {
        return Ok(UserAttack::Report(report));
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let last = harmless(printed.lines().next_back().unwrap_or("it printed nothing"));
    if output.status.code() == Some(i32::from(Exit::Refused.code())) {
        return Ok(UserAttack::Refused(last));
    }
    Err(anyhow::anyhow!("{}: {last}", output.status))
}

enum UserAttack {
    Report(Report),
    /// The reason why the sandbox does not work for that user.
    Refused(String),
}

/// A directory owned by the account, removed on drop.
fn work_directory(account: Account) -> io::Result<TempDir> {
    let place = tempfile::Builder::new()
        .prefix("codeyard-attack-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()?;
    // Last, because from here on the account may replace the directory.
    lchown(place.path(), Some(account.user), Some(account.group))?;
    Ok(place)
}

/// One row per probe, one column per stage. Then the probes that got through or were not tested.
fn report_text(report: &Report, output: &Output) -> String {
    let mut stages: Vec<_> = report.rows.iter().map(|row| &row.stage).collect();
    stages.dedup();
    let mut out = String::new();
    for (number, stage) in stages.iter().enumerate() {
        out.push_str(&format!("{:>3}  {stage}\n", number + 1));
    }
    for why in &report.not_offered {
        out.push_str(&format!("  -  {}\n", output.paint(Tone::Faint, &harmless(why))));
    }
    for what in &report.failed {
        out.push_str(&format!("  !  {}\n", output.paint(Tone::Bad, &harmless(what))));
    }
    let mut rows: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &report.rows {
        rows.entry(&row.probe).or_default().push(row);
    }
    let width = rows.keys().map(|name| name.len()).max().unwrap_or_default();
    let head: String = (1..=stages.len()).map(|number| format!(" {number:>2}")).collect();
    out.push_str(&format!("\n{:width$} {head}\n", ""));
    for (probe, on_stages) in &rows {
        let marks: String = stages
            .iter()
            .map(|stage| mark(on_stages.iter().find(|row| row.stage == **stage).copied(), output))
            .collect();
        let tries = on_stages.first().map_or("", |row| row.tries.as_str());
        out.push_str(&format!(
            "{probe:width$} {marks}  {}\n",
            output.paint(Tone::Faint, tries)
        ));
        out.push_str(&reasons(on_stages, output));
    }
    out.push_str(&format!("\n{LEGEND}\n{}\n", verdict(report, output)));
    out
}

const LEGEND: &str = "+ held  ! BROKEN  ~ open, and not promised in this mode  ? not tested";

fn mark(row: Option<&Row>, output: &Output) -> String {
    let (mark, tone) = match row.map(|row| &row.verdict) {
        Some(Verdict::Held) => ("+", Tone::Good),
        Some(Verdict::Broken) => ("!", Tone::Bad),
        Some(Verdict::NotPromised) => ("~", Tone::Weak),
        Some(Verdict::NotTested) => ("?", Tone::Weak),
        None => (" ", Tone::Faint),
    };
    format!("  {}", output.paint(tone, mark))
}

/// Reasons for probes that got through or were not tested; a reason shared by several stages appears once.
fn reasons(rows: &[&Row], output: &Output) -> String {
    let mut shown: Vec<String> = Vec::new();
    for row in rows {
        let why = match row.verdict {
            Verdict::Held => continue,
            Verdict::Broken | Verdict::NotPromised => {
                format!("open ({}): {}", row.stage, row.open.join("; "))
            }
            Verdict::NotTested => format!("not tested: {}", row.untested.join("; ")),
        };
        if !shown.contains(&why) {
            shown.push(why);
        }
    }
    shown
        .iter()
        .map(|why| format!("    {}\n", output.paint(Tone::Faint, &harmless(why))))
        .collect()
}

fn verdict(report: &Report, output: &Output) -> String {
    let count = |verdict: Verdict| report.rows.iter().filter(|row| row.verdict == verdict).count();
    let figures = format!(
        "{} held, {} broken, {} open and not promised, {} not tested",
        count(Verdict::Held),
        count(Verdict::Broken),
        count(Verdict::NotPromised),
        count(Verdict::NotTested)
    );
    if !report.failed.is_empty() {
        let failed = report.failed.len();
        output.paint(
            Tone::Bad,
            &format!("{failed} stages could not be attacked to the end: {figures}"),
        )
    } else if count(Verdict::Held) + count(Verdict::Broken) == 0 {
        output.paint(Tone::Bad, &format!("nothing could be tested here: {figures}"))
    } else if report.holds() {
        output.paint(
            Tone::Good,
            &format!("every guard that is promised holds: {figures}"),
        )
    } else {
        output.paint(
            Tone::Bad,
            &format!("a guard that is promised does not hold: {figures}"),
        )
    }
}
