//! Runs the fuzz targets of `fuzz/`, several at once, each for a given time.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::{say, setup};
use crate::{layout, run};

/// Installed if cargo-fuzz is missing.
const CARGO_FUZZ: &str = "cargo-fuzz@0.13.2";
/// Seconds after which one input counts as a hang.
const HANG: &str = "20";
/// Longest input in bytes: enough for a message with an anomaly.
const LONGEST: &str = "4096";
/// Memory limit of a target, in megabytes.
const MEMORY: &str = "2048";
const SHOWN: usize = 40;

/// Which targets, how long, and whether what they find is kept.
#[derive(Debug, Args)]
pub struct Fuzz {
    /// How long each target runs.
    #[arg(long, default_value_t = 10)]
    minutes: u64,
    /// Afterwards replace the stored inputs by the smallest with the same coverage.
    #[arg(long)]
    keep: bool,
    /// The targets; all of them if none is named.
    targets: Vec<String>,
}

struct Target {
    name: String,
    program: PathBuf,
    /// Inputs in the repository.
    kept: PathBuf,
    /// Inputs found since.
    found: PathBuf,
    log: PathBuf,
}

/// Runs the targets; the error lists every target with a finding.
pub fn run(fuzz: &Fuzz) -> Result<()> {
    setup::packages(setup::FOR_FUZZ)?;
    install()?;
    let targets = chosen(&fuzz.targets)?;
    build()?;
    let waiting: Mutex<VecDeque<&Target>> = Mutex::new(targets.iter().collect());
    let failed = Mutex::new(Vec::new());
    let duration = Duration::from_secs(fuzz.minutes * 60);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers.min(targets.len()) {
            scope.spawn(|| {
                while let Some(target) = lock(&waiting).pop_front() {
                    match target.fuzz(duration) {
                        Ok(summary) => say(&summary),
                        Err(error) => lock(&failed).push(format!("{}: {error:#}", target.name)),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    if fuzz.keep {
        targets.iter().try_for_each(Target::keep)?;
    }
    say(&format!("{} targets, no findings", targets.len()));
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn install() -> Result<()> {
    if run::succeeds("cargo", &["fuzz", "--version"]) {
        return Ok(());
    }
    say(&format!("installing {CARGO_FUZZ}"));
    run::visible(setup::cargo().args(["install", "--locked", CARGO_FUZZ]))
}

/// Builds all targets with the installed compiler: the instrumentation is stable, only its switch
/// is not. No sanitizer is needed, because the compiler forbids `unsafe` in the code under test.
fn build() -> Result<()> {
    // Starts from the product's versions; the copy adds the targets' own dependencies.
    let lock = layout::root().join("Cargo.lock");
    fs::copy(&lock, layout::root().join("fuzz/Cargo.lock")).context("copy Cargo.lock")?;
    run::visible(
        setup::cargo()
            .args(["fuzz", "build", "--sanitizer", "none"])
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", layout::target().join("fuzz")),
    )
}

/// All targets if no name is given.
fn chosen(names: &[String]) -> Result<Vec<Target>> {
    let directory = layout::root().join("fuzz/targets");
    let mut known: Vec<String> = fs::read_dir(&directory)
        .with_context(|| directory.display().to_string())?
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    known.sort();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        bail!("unknown target `{unknown}`; targets: {}", known.join(", "));
    }
    let chosen = known
        .into_iter()
        .filter(|name| names.is_empty() || names.contains(name));
    chosen.map(Target::new).collect()
}

impl Target {
    fn new(name: String) -> Result<Target> {
        let work = layout::target().join("fuzz");
        let triple = run::output("rustc", &["--print", "host-tuple"], layout::root())?;
        let target = Target {
            program: work.join(triple.trim()).join("release").join(&name),
            kept: layout::root().join("fuzz/corpus").join(&name),
            found: work.join("found").join(&name),
            log: work.join(format!("{name}.log")),
            name,
        };
        fs::create_dir_all(&target.kept)?;
        fs::create_dir_all(&target.found)?;
        Ok(target)
    }

    /// Runs for this time; returns a summary line, or the finding as an error.
    fn fuzz(&self, duration: Duration) -> Result<String> {
        let wrong = layout::target()
            .join("fuzz")
            .join(format!("wrong-{}-", self.name));
        let dictionary = layout::root().join(format!("fuzz/dictionaries/{}.dict", self.name));
        let log = File::create(&self.log)?;
        let mut command = Command::new(&self.program);
        command
            .arg(format!("-max_total_time={}", duration.as_secs()))
            .args([format!("-timeout={HANG}"), format!("-max_len={LONGEST}")])
            .args([
                format!("-rss_limit_mb={MEMORY}"),
                "-print_final_stats=1".to_owned(),
            ])
            .arg(format!("-artifact_prefix={}", wrong.display()))
            .arg(format!("-dict={}", dictionary.display()))
            .args([&self.found, &self.kept])
            .current_dir(layout::root())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let status = command
            .status()
            .with_context(|| format!("cannot run {}", self.program.display()))?;
        let log = String::from_utf8_lossy(&fs::read(&self.log)?).into_owned();
        if !status.success() {
            let lines: Vec<&str> = log.lines().collect();
            let end = lines.len().saturating_sub(SHOWN);
            bail!(
                "{status}; the input is {}*, the log {}\n{}",
                wrong.display(),
                self.log.display(),
                lines[end..].join("\n")
            );
        }
        Ok(self.summary(&log))
    }

    fn summary(&self, log: &str) -> String {
        let figure = |name: &str| {
            let line = log.lines().rev().find_map(|line| line.strip_prefix(name));
            line.map_or("?", |rest| rest.trim_start_matches(':').trim())
        };
        let covered = log.lines().rev().find_map(|line| line.split("cov: ").nth(1));
        let covered = covered.and_then(|rest| rest.split(' ').next()).unwrap_or("?");
        format!(
            "{:<14} {:>10} inputs, {covered:>6} edges, {:>5} inputs new, {:>5} MB at most",
            self.name,
            figure("stat::number_of_executed_units"),
            figure("stat::new_units_added"),
            figure("stat::peak_rss_mb"),
        )
    }

    /// Replaces the stored inputs by a few small ones with the same coverage.
    fn keep(&self) -> Result<()> {
        let fresh = tempfile::tempdir_in(layout::target())?;
        let status = Command::new(&self.program)
            .args([
                "-set_cover_merge=1",
                "-use_counters=0",
                &format!("-max_len={LONGEST}"),
            ])
            .arg(fresh.path())
            .args([&self.kept, &self.found])
            .current_dir(layout::root())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        if !status.success() {
            bail!("{}: the inputs cannot be minimised: {status}", self.name);
        }
        fs::remove_dir_all(&self.kept)?;
        copy(fresh.path(), &self.kept)
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
