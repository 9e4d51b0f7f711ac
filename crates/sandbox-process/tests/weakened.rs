//! The probes can fail: exactly the probes succeed whose guards are all removed.
//!
//! Needs the feature `removable-guards`, which a release build refuses. Each test removes one set of guards, runs
//! every probe in Python, and compares the successful probes with those whose guards are all in the set.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use attack::{Controls, Means, Probe, Stage, Target, Verdict, probes};
use jail::guards::RemovedGuards;
use sandbox::Backend as _;
use sandbox_host::python;
use sandbox_process::{PoolConfig, Process, ProcessConfig, Profile};
use types::Language;
use workspace::{WorkspaceConfig, Workspaces};

/// One test per set.
macro_rules! without {
    ($($name:ident: [$($guard:literal),*],)*) => {
        const SETS: &[&[&str]] = &[$(&[$($guard),*]),*];
        $(
            #[tokio::test]
            async fn $name() {
                check(&[$($guard),*]).await;
            }
        )*
    };
}

without! {
    nothing_is_left_away: [],
    seccomp: ["seccomp"],
    landlock: ["landlock"],
    network_namespace: ["network-namespace"],
    network_namespace_and_landlock: ["network-namespace", "landlock"],
    capabilities: ["capabilities"],
    rlimits: ["rlimits"],
    cgroup: ["cgroup"],
    rlimits_and_cgroup: ["rlimits", "cgroup"],
    rlimits_and_seccomp: ["rlimits", "seccomp"],
    descriptors: ["descriptors"],
    disk: ["disk"],
    read_only: ["read-only"],
    overlay: ["overlay"],
    pid_namespace: ["pid-namespace"],
    own_user: ["own-user"],
}

#[test]
fn every_set_of_guards_that_a_probe_names_is_left_away_by_a_test() {
    for probe in probes().unwrap() {
        let named = set(&probe.plan.stopped_by);
        let found = SETS.iter().any(|guards| set(guards) == named);
        assert!(found, "{}: {named:?}", probe.name);
    }
}

#[expect(clippy::print_stderr, reason = "a test says why it shows nothing here")]
fn skip() {
    eprintln!(
        "skipped: the guards that probes name are those of sessions with users and groups of their own"
    );
}

fn set<T: AsRef<str>>(guards: &[T]) -> BTreeSet<String> {
    guards.iter().map(|guard| guard.as_ref().to_owned()).collect()
}

async fn check(without: &[&str]) {
    let removed = RemovedGuards::of(without).unwrap();
    let data = tempfile::tempdir().unwrap();
    let workspaces = WorkspaceConfig::below(data.path());
    let backend = Process::new(config(data.path(), removed, workspaces.owner_on_disk()));
    let workspaces = Workspaces::new(workspaces);
    let facts = backend.facts().await.unwrap();
    if !(facts.user_per_session && facts.cgroups) {
        // In weaker modes other guards replace the missing ones.
        return skip();
    }
    let mut controls = Controls::left_aside(facts.python.clone());
    let target = Target {
        backend: &backend,
        stage: Stage {
            backend: backend.name().to_owned(),
            mode: facts.mode.to_owned(),
            profile: "plain".to_owned(),
            session: "fresh".to_owned(),
        },
        means: Means {
            own_users: facts.user_per_session,
            groups: facts.cgroups,
            overlays: true,
            namespaces: true,
            is_root: rustix::process::geteuid().is_root(),
        },
        ready: None,
        workspaces: &workspaces,
        directory: &data.path().join("workspaces"),
        principal: |tenant| types::Principal::new(tenant, "user"),
        secrets: Vec::new(),
    };
    let left_away = set(without);
    let (mut through, mut expected, mut why) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for probe in probes().unwrap().into_iter().filter(can_run) {
        let row = attack::attack(&probe, &target, &mut controls).await.unwrap();
        if matches!(row.verdict, Verdict::Broken) {
            why.push(format!("{}: {}", row.probe, row.open.join("; ")));
            through.insert(row.probe);
        }
        if gets_through(&probe, &left_away) {
            expected.insert(probe.name.clone());
        }
    }
    backend.close().await;
    assert_eq!(through, expected, "without {without:?}: {why:#?}");
}

/// The launcher of this test has no engine for TypeScript. Sessions of both languages have the same guards.
fn can_run(probe: &Probe) -> bool {
    probe.plan.language == Language::Python
}

fn gets_through(probe: &Probe, left_away: &BTreeSet<String>) -> bool {
    let guards = set(&probe.plan.stopped_by);
    !guards.is_empty() && guards.is_subset(left_away)
}

fn config(data: &Path, removed: RemovedGuards, owner: Option<(u32, u32)>) -> ProcessConfig {
    let python = python::Settings {
        path: None,
        search_path: search_path(),
    };
    let helper = vec![env!("CARGO_BIN_EXE_weakened-launcher").into()];
    ProcessConfig {
        profile: Profile::Plain,
        removed,
        mounts: vec![attack::MOUNT.to_owned()],
        pool: PoolConfig {
            max_idle: 0,
            ..PoolConfig::default()
        },
        owner,
        ..ProcessConfig::new(sandbox_host::HostConfig {
            limits: attack::limits(),
            ..sandbox_host::HostConfig::new(data.to_owned(), python, helper)
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "where this machine's Python is")]
fn search_path() -> Option<OsString> {
    std::env::var_os("PATH")
}
