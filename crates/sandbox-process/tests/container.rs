//! Sessions that look like a container: their identity, what they may write, and that their confinement is complete.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;
use std::time::Duration;

use attack::{Controls, Means, Probe, Stage, Target, Verdict, probes};
use jail::spec::Appearance;
use sandbox::{Attachment, AttachmentAccess, Backend as _, Guest, LaunchSpec, NoCalls, Run, SESSION};
use sandbox_host::{HostFacts, python};
use sandbox_process::{PoolConfig, Process, ProcessConfig, Profile};
use serde_json::{Value, json};
use test_support::limits::CASES;
use test_support::{codeyard_binary, wait_until};
use types::{Language, Limit, Limits, Outcome, SessionId, Status};
use workspace::{Keeping, Workspaces};

const MIB: u64 = 1 << 20;
const NOBODY: Appearance = Appearance::Container {
    user: 65_534,
    group: 65_534,
    workspace: 128 * MIB,
    tmp: 64 * MIB,
};

struct Yard {
    backend: Process,
    _data: tempfile::TempDir,
}

impl Yard {
    fn new(appearance: Appearance, pool: PoolConfig) -> Self {
        let data = tempfile::tempdir().unwrap();
        let backend = Process::new(config(&data, appearance, pool));
        Self { backend, _data: data }
    }

    async fn launch(&self, limits: Limits) -> Box<dyn Guest> {
        let spec = LaunchSpec {
            session: SessionId::new("test"),
            limits,
            language: Language::Python,
            first_code: String::new(),
            files: Vec::new(),
        };
        self.backend.launch(spec).await.unwrap()
    }

    async fn wait_until_ready(&self) {
        let ready = || (self.backend.idle() > 0).then_some(());
        wait_until("a session stands ready", ready).await;
    }
}

fn config(data: &tempfile::TempDir, appearance: Appearance, pool: PoolConfig) -> ProcessConfig {
    let python = python::Settings {
        path: None,
        search_path: search_path(),
    };
    let helper = vec![codeyard_binary().into()];
    ProcessConfig {
        profile: Profile::Plain,
        pool,
        ..ProcessConfig::new(sandbox_host::HostConfig {
            appearance,
            ..sandbox_host::HostConfig::new(data.path().to_owned(), python, helper)
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "where this machine's Python is")]
fn search_path() -> Option<std::ffi::OsString> {
    std::env::var_os("PATH")
}

fn no_pool() -> PoolConfig {
    PoolConfig {
        max_idle: 0,
        ..PoolConfig::default()
    }
}

async fn run(guest: &mut dyn Guest, code: &str) -> Outcome {
    let limits = Limits {
        wall_time: Duration::from_secs(30),
        ..Limits::default()
    };
    guest
        .execute(Run::of(code, limits.clone()), Arc::new(NoCalls))
        .await
}

async fn check(guest: &mut dyn Guest, code: &str, expected: Value) {
    let outcome = run(guest, code).await;
    assert_eq!(outcome.status, Status::Completed, "{code}: {outcome:?}");
    assert_eq!(outcome.result, Some(expected), "{code}: {outcome:?}");
}

/// Runs programs in a new session and in an idle one from the pool.
async fn check_fresh_and_pooled(appearance: Appearance, cases: &[(&str, Value)]) {
    for pool in [no_pool(), PoolConfig::default()] {
        let yard = Yard::new(appearance, pool);
        if pool.max_idle > 0 {
            yard.launch(Limits::default()).await.close().await;
            yard.wait_until_ready().await;
        }
        let mut guest = yard.launch(Limits::default()).await;
        for (code, expected) in cases {
            check(guest.as_mut(), code, expected.clone()).await;
        }
        guest.close().await;
        yard.backend.close().await;
    }
}

// C115: S4-60, S4-62.
#[tokio::test]
async fn it_is_nobody_at_home_in_its_workspace() {
    let cases = [
        (
            "import os\n[os.getuid(), os.getgid(), os.geteuid(), os.getegid()]",
            json!([65_534, 65_534, 65_534, 65_534]),
        ),
        ("os.getgroups()", json!([])),
        ("os.getcwd()", json!("/workspace")),
        ("os.path.realpath('here')", json!("/workspace/here")),
        (
            "[os.environ[name] for name in ('HOME', 'PWD', 'USER', 'LOGNAME')]",
            json!(["/workspace", "/workspace", "nobody", "nobody"]),
        ),
        (
            "import pathlib\n[os.path.expanduser('~'), str(pathlib.Path.home())]",
            json!(["/workspace", "/workspace"]),
        ),
        (
            "import pwd, grp\n[pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name]",
            json!(["nobody", "nogroup"]),
        ),
        (
            "import subprocess\nsubprocess.check_output(['id']).decode().strip()",
            json!("uid=65534(nobody) gid=65534(nogroup) groups=65534(nogroup)"),
        ),
        ("import tempfile\ntempfile.gettempdir()", json!("/tmp")),
        (
            "with open('own', 'w') as file: file.write('x')\nfound = os.stat('own')\n[found.st_uid, found.st_gid]",
            json!([65_534, 65_534]),
        ),
        (
            "open('/proc/self/uid_map').read().split()[::2]",
            json!(["65534", "1"]),
        ),
        (
            "open('/proc/self/gid_map').read().split()[::2]",
            json!(["65534", "1"]),
        ),
        ("open('/proc/self/setgroups').read()", json!("deny\n")),
        (
            "sorted(name for name in os.listdir('/') if name in ('workspace', 'tmp', 'results', 'scratch', 'home', 'rw', 'root'))",
            json!(["tmp", "workspace"]),
        ),
        (
            "import multiprocessing.shared_memory as shared\npiece = shared.SharedMemory(create=True, size=4096)\npiece.close(), piece.unlink()\nsorted(os.listdir('/dev/shm'))",
            json!([]),
        ),
        (
            "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool: found = pool.map(abs, [-1, -2])\nfound",
            json!([1, 2]),
        ),
    ];
    check_fresh_and_pooled(NOBODY, &cases).await;
}

// C114, C116: S4-60, S4-61.
#[tokio::test]
async fn it_writes_in_its_places_only_and_can_do_nothing_else() {
    let cases = [
        (
            "import os\ndef writes(path):\n    try: open(path, 'w').close()\n    except OSError as error: return error.strerror\n    return 'written'\n\
             [writes(f'{place}/x') for place in ('/workspace', '/tmp', '/dev/shm')]",
            json!(["written", "written", "written"]),
        ),
        (
            "places = ['', '/etc', '/usr', '/opt', '/dev', '/at', '/proc', '/usr/bin', '/opt/codeyard', '/root', '/var', '/home', '/results', '/scratch']\n\
             [place for place in places if writes(f'{place}/x') == 'written']",
            json!([]),
        ),
        (
            "lines = [line.split() for line in open('/proc/self/mountinfo')]\n\
             sorted(line[4] for line in lines if line[5].startswith('rw') and line[4] != '/proc')",
            json!(["/dev/shm", "/tmp", "/workspace"]),
        ),
        (
            "[line[4] for line in lines if line[5].startswith('rw') and not {'nosuid', 'nodev', 'noexec'} <= set(line[5].split(','))]",
            json!([]),
        ),
        (
            "import subprocess, shutil\ndef runs(path):\n    shutil.copy('/bin/true', path)\n    os.chmod(path, 0o755)\n    try: return subprocess.run([path]).returncode\n    except OSError as error: return error.strerror\n\
             [runs(f'{place}/true') for place in ('/workspace', '/tmp', '/dev/shm')]",
            json!(["Permission denied", "Permission denied", "Permission denied"]),
        ),
        (
            "status = dict(line.rstrip('\\n').split(':\\t', 1) for line in open('/proc/self/status') if ':\\t' in line)\n\
             {name: int(status[name], 16) for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp')}",
            json!({"CapInh": 0, "CapPrm": 0, "CapEff": 0, "CapBnd": 0, "CapAmb": 0, "NoNewPrivs": 1, "Seccomp": 2}),
        ),
        (
            "def fails(action):\n    try: action()\n    except OSError as error: return error.strerror\n    return 'allowed'\n\
             import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\ndef unshare():\n    if libc.unshare(0x10000000): raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))\n\
             [fails(lambda: os.setuid(0)), fails(unshare), fails(lambda: os.chown('x', 65534, 65534)), fails(lambda: open('/proc/self/mem', 'r+b'))]",
            json!([
                "Operation not permitted",
                "Operation not permitted",
                "Operation not permitted",
                "Permission denied"
            ]),
        ),
    ];
    check_fresh_and_pooled(NOBODY, &cases).await;
}

#[tokio::test]
async fn it_can_seem_to_be_anybody_but_root() {
    let shown = |user, group| Appearance::Container {
        user,
        group,
        workspace: MIB,
        tmp: MIB,
    };
    let cases = [
        (
            "import os, pwd, grp\n[os.getuid(), os.getgid()]",
            json!([1000, 2000]),
        ),
        (
            "[pwd.getpwuid(1000).pw_name, grp.getgrgid(2000).gr_name, os.environ['USER']]",
            json!(["user", "user", "user"]),
        ),
        (
            "[pwd.getpwuid(os.stat('/usr/bin').st_uid).pw_name, grp.getgrgid(os.stat('/usr/bin').st_gid).gr_name]",
            json!(["nobody", "nogroup"]),
        ),
    ];
    check_fresh_and_pooled(shown(1000, 2000), &cases).await;
    for (user, group) in [(0, 1000), (1000, 0), (u32::MAX, 1000)] {
        let yard = Yard::new(shown(user, group), no_pool());
        let refused = yard.backend.check().await.unwrap_err().to_string();
        assert!(
            refused.contains(&format!("user {user} and group {group}")),
            "{refused}"
        );
        assert!(refused.contains("65534:65534"), "{refused}");
    }
}

#[tokio::test]
async fn its_places_have_their_sizes_or_a_share_of_the_limits() {
    let sizes = "import os\ndef size(place):\n    found = os.statvfs(place)\n    return [found.f_blocks * found.f_frsize >> 10, found.f_files]\n\
                 [size(place) for place in ('/workspace', '/tmp', '/dev/shm')]";
    let fill = |place: &str| {
        format!(
            "with open('{place}/large', 'wb', buffering=0) as file:\n    while True: file.write(bytes(1 << 16))"
        )
    };
    let yard = Yard::new(NOBODY, PoolConfig::default());
    let mut guest = yard.launch(Limits::default()).await;
    let usual = json!([[128 << 10, 10_000], [64 << 10, 5_000], [64 << 10, 5_000]]);
    check(guest.as_mut(), sizes, usual).await;
    guest.close().await;
    let limits = Limits {
        disk: 8 * MIB,
        inodes: 400,
        ..Limits::default()
    };
    let mut guest = yard.launch(limits).await;
    check(
        guest.as_mut(),
        sizes,
        json!([[4 << 10, 200], [2 << 10, 100], [2 << 10, 100]]),
    )
    .await;
    for place in ["/workspace", "/tmp", "/dev/shm"] {
        let outcome = run(guest.as_mut(), &fill(place)).await;
        assert_eq!(
            outcome.status,
            Status::LimitExceeded { limit: Limit::Disk },
            "{place}: {outcome:?}"
        );
        let full = "import errno\ntry: open('more', 'w').write('x' * 8192)\nexcept OSError as error: print(error.errno == errno.ENOSPC)";
        let caught = run(guest.as_mut(), &full.replace("more", &format!("{place}/more"))).await;
        assert_eq!(
            (caught.status, caught.stdout.shown().trim()),
            (Status::Completed, "True"),
            "{place}"
        );
        check(
            guest.as_mut(),
            &format!("os.remove('{place}/large')\nopen('{place}/more', 'w').write('x')"),
            json!(1),
        )
        .await;
    }
    guest.close().await;
    yard.backend.close().await;
}

/// Every probe in Python, in each mode of this user, in new sessions and in pooled ones.
#[tokio::test]
async fn no_probe_gets_through() {
    let mut attacked = BTreeSet::new();
    for (without_cgroups, user_per_session) in [(false, false), (true, false), (false, true)] {
        for pooled in [false, true] {
            let data = tempfile::tempdir().unwrap();
            let pool = PoolConfig {
                max_idle: if pooled { 2 } else { 0 },
                ..PoolConfig::default()
            };
            let mut config = ProcessConfig {
                user_per_session,
                mounts: vec![attack::MOUNT.to_owned()],
                ..config(&data, NOBODY, pool)
            };
            config.host.without_cgroups = without_cgroups;
            config.host.limits = attack::limits();
            let backend = Process::new(config);
            let facts = backend.facts().await.unwrap();
            if attacked.insert((facts.mode, pooled)) {
                attack_all(&backend, &facts, &data, pooled).await;
            }
            backend.close().await;
        }
    }
}

async fn attack_all(backend: &Process, facts: &HostFacts, data: &tempfile::TempDir, pooled: bool) {
    backend.warm();
    let ready = || backend.idle() > 0;
    let workspaces = Workspaces::new(workspace::WorkspaceConfig {
        keeping: Keeping::Own,
        ..workspace::WorkspaceConfig::below(data.path())
    });
    let target = Target {
        backend,
        stage: Stage {
            backend: backend.name().to_owned(),
            mode: facts.mode.to_owned(),
            profile: "plain".to_owned(),
            session: if pooled { "pooled" } else { "fresh" }.to_owned(),
        },
        means: Means {
            own_users: facts.user_per_session,
            groups: facts.cgroups,
            overlays: true,
            namespaces: true,
            is_root: rustix::process::geteuid().is_root(),
        },
        ready: pooled.then_some(&ready),
        workspaces: &workspaces,
        directory: &data.path().join("workspaces"),
        principal: |tenant| types::Principal::new(tenant, "user"),
        secrets: Vec::new(),
    };
    // `codeyard doctor --attack` runs the controls of the same probes.
    let mut controls = Controls::left_aside(facts.python.clone());
    let mut through = Vec::new();
    // What looks like a container runs programs in Python alone.
    let of_python = |probe: &Probe| probe.plan.language == Language::Python;
    for probe in probes().unwrap().into_iter().filter(of_python) {
        let row = attack::attack(&probe, &target, &mut controls).await.unwrap();
        if matches!(row.verdict, Verdict::Broken) {
            through.push(format!("{}: {}", row.probe, row.open.join("; ")));
        }
    }
    assert_eq!(through, Vec::<String>::new(), "{}, pooled: {pooled}", facts.mode);
}

#[tokio::test]
async fn folders_of_the_settings_are_shown_and_directories_for_its_own_places_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let backend = Process::new(ProcessConfig {
        mounts: vec!["/data".to_owned()],
        ..config(&data, NOBODY, PoolConfig::default())
    });
    std::fs::write(folder.path().join("in.txt"), "read me").unwrap();
    let attached = |target: &str, access| Attachment {
        source: folder.path().canonicalize().unwrap(),
        target: target.to_owned(),
        access,
    };
    let files = |access| {
        vec![
            attached("/workspace", AttachmentAccess::ReadWrite),
            attached(SESSION, AttachmentAccess::ReadWrite),
            attached("/data", access),
        ]
    };
    for (access, written) in [
        (AttachmentAccess::ReadOnly, "Read-only file system"),
        (AttachmentAccess::ReadWrite, "written"),
    ] {
        let spec = LaunchSpec {
            session: SessionId::new("test"),
            limits: Limits::default(),
            language: Language::Python,
            first_code: String::new(),
            files: files(access),
        };
        let mut guest = backend.launch(spec).await.unwrap();
        let code = "import os\ndef write():\n    try: open('/data/out.txt', 'w').close()\n    except OSError as error: return error.strerror\n    return 'written'\n\
                    [os.listdir('/workspace'), os.path.exists('/results') or os.path.exists('/scratch'), open('/data/in.txt').read(), write()]";
        check(guest.as_mut(), code, json!([[], false, "read me", written])).await;
        guest.close().await;
    }
    let owner = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().uid();
    assert_eq!(owner("out.txt"), owner("in.txt"));
    backend.close().await;
}

/// Limits act as in any session; other tests cover the limits on mount points.
#[tokio::test]
async fn limits_bind_as_in_any_session() {
    let yard = Yard::new(NOBODY, no_pool());
    let small = Limits {
        memory: 96 * MIB,
        processes: 8,
        open_files: 40,
        file_size: MIB,
        ..Limits::default()
    };
    for case in &CASES {
        let of_run = Limits {
            wall_time: Duration::from_secs(if case.limit == Limit::WallTime { 1 } else { 20 }),
            cpu_time: Duration::from_millis(if case.limit == Limit::CpuTime { 300 } else { 20_000 }),
            ..small.clone()
        };
        let felt = matches!(
            case.limit,
            Limit::WallTime
                | Limit::CpuTime
                | Limit::Memory
                | Limit::Processes
                | Limit::OpenFiles
                | Limit::FileSize
        );
        if !felt {
            continue;
        }
        for (program, caught) in case.programs().into_iter().zip([false, true]) {
            let mut guest = yard.launch(small.clone()).await;
            let outcome = guest
                .execute(Run::of(program, of_run.clone()), Arc::new(NoCalls))
                .await;
            let is_time = matches!(case.limit, Limit::WallTime | Limit::CpuTime);
            let ended = match outcome.status {
                Status::LimitExceeded { limit } => format!("limit_exceeded: {}", limit.name()),
                status => status.name().to_owned(),
            };
            let expected = if caught && !is_time {
                "completed"
            } else {
                case.outcome
            };
            assert_eq!(ended, expected, "{}: {outcome:?}", case.limit);
            if caught {
                assert_eq!(
                    outcome.stdout.shown().trim(),
                    case.felt,
                    "{}: {outcome:?}",
                    case.limit
                );
            }
            guest.close().await;
        }
    }
    yard.backend.close().await;
}
