//! Sessions from the pool and their attached directories, tested on the backend itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sandbox::{
    Attachment, AttachmentAccess, Backend as _, BoxFuture, CallContext, Guest, HostCall, HostCalls,
    LaunchSpec, Run,
};
use sandbox_host::python;
use sandbox_process::{PoolConfig, Process, ProcessConfig, Profile};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use test_support::{codeyard_binary, wait_until};
use types::{HostCallError, HostCallErrorKind, Language, Limits, Outcome, SessionId, Status};

/// Owner of workspaces on disk if root runs the tests.
const OWNER: u32 = 65_534;

struct NoCalls;

impl HostCalls for NoCalls {
    fn call(
        &self,
        call: HostCall,
        _context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        panic!("no program calls the host, but {} was called", call.name);
    }
}

struct Yard {
    backend: Process,
    data: tempfile::TempDir,
}

impl Yard {
    fn new(pool: PoolConfig) -> Self {
        let data = tempfile::tempdir().unwrap();
        fs::set_permissions(data.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let python = python::Settings {
            path: None,
            search_path: search_path(),
        };
        let helper = vec![codeyard_binary().into()];
        let backend = Process::new(ProcessConfig {
            profile: Profile::Plain,
            pool,
            mounts: vec!["/data".to_owned(), "/more/data".to_owned()],
            owner: Some((owner(), owner_group())),
            ..ProcessConfig::new(sandbox_host::HostConfig::new(
                data.path().to_owned(),
                python,
                helper,
            ))
        });
        Self { backend, data }
    }

    fn directory(&self, name: &str) -> PathBuf {
        let mut path = self.data.path().to_owned();
        for part in Path::new(name) {
            path.push(part);
            fs::create_dir_all(&path).unwrap();
            chown(&path, Some(owner()), Some(owner_group())).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        path
    }

    async fn launch(&self, limits: Limits, files: Vec<Attachment>) -> Box<dyn Guest> {
        let spec = LaunchSpec {
            session: SessionId::new("test"),
            limits,
            language: Language::Python,
            first_code: String::new(),
            files,
        };
        self.backend.launch(spec).await.unwrap()
    }

    /// A session with a workspace, results and scratch files of this name.
    async fn session(&self, name: &str) -> Box<dyn Guest> {
        self.launch(Limits::default(), self.files(name)).await
    }

    fn files(&self, name: &str) -> Vec<Attachment> {
        let attached = |kind: &str| Attachment {
            source: self.directory(&format!("{name}-{kind}")),
            target: format!("/{kind}"),
            access: AttachmentAccess::ReadWrite,
        };
        for part in ["results", "scratch"] {
            self.directory(&format!("{name}-session/{part}"));
        }
        vec![attached("workspace"), attached("session")]
    }

    async fn wait_until_ready(&self) {
        let ready = || (self.backend.idle() > 0).then_some(());
        wait_until("a session stands ready", ready).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "where this machine's Python is")]
fn search_path() -> Option<std::ffi::OsString> {
    std::env::var_os("PATH")
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn owner() -> u32 {
    if is_root() {
        OWNER
    } else {
        rustix::process::geteuid().as_raw()
    }
}

fn owner_group() -> u32 {
    if is_root() {
        OWNER
    } else {
        rustix::process::getegid().as_raw()
    }
}

async fn run(guest: &mut dyn Guest, code: &str) -> Outcome {
    let limits = Limits {
        wall_time: Duration::from_secs(30),
        ..Limits::default()
    };
    let run = Run::of(code, limits);
    guest.execute(run, Arc::new(NoCalls)).await
}

async fn check(guest: &mut dyn Guest, code: &str, expected: Value) {
    let outcome = run(guest, code).await;
    assert_eq!(outcome.status, Status::Completed, "{code}: {outcome:?}");
    assert_eq!(outcome.result, Some(expected), "{code}: {outcome:?}");
}

fn no_pool() -> PoolConfig {
    PoolConfig {
        max_idle: 0,
        ..PoolConfig::default()
    }
}

#[tokio::test]
async fn files_persist_and_belong_to_the_owner_on_disk() {
    for pool in [no_pool(), PoolConfig::default()] {
        let yard = Yard::new(pool);
        let write = "import os\nos.makedirs('sub')\nopen('sub/a.txt', 'w').write('kept')\n\
                     open('/results/r.txt', 'w').write('shown')\nos.getuid() == os.stat('sub/a.txt').st_uid";
        for round in 0..3 {
            if pool.max_idle > 0 && round > 0 {
                yard.wait_until_ready().await;
            }
            let mut guest = yard.session("ann").await;
            let code = if round == 0 {
                write
            } else {
                "open('sub/a.txt').read() == 'kept'"
            };
            check(guest.as_mut(), code, json!(true)).await;
            check(guest.as_mut(), "open('sub/a.txt', 'a').write('')", json!(0)).await;
            guest.close().await;
        }
        let file = yard.data.path().join("ann-workspace/sub/a.txt");
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
        let found = fs::metadata(&file).unwrap();
        assert_eq!((found.uid(), found.gid()), (owner(), owner_group()));
        assert_eq!(
            fs::read_to_string(yard.data.path().join("ann-session/results/r.txt")).unwrap(),
            "shown"
        );
        yard.backend.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launches_that_are_given_up_leave_the_next_session_its_own_processes() {
    let yard = Yard::new(no_pool());
    for round in 0..100 {
        // A launch takes a few milliseconds, so this gives up at every point of it.
        let patience = Duration::from_micros(round * 50);
        let given_up = tokio::time::timeout(patience, yard.session("given-up")).await;
        drop(given_up);
        if round % 10 == 9 {
            let name = format!("own-{round}");
            let mut guest = yard.session(&name).await;
            let code =
                format!("open('/workspace/name', 'w').write('{name}')\nimport os\nos.listdir('/workspace')");
            check(guest.as_mut(), &code, json!(["name"])).await;
            guest.close().await;
            let written = fs::read_to_string(yard.directory(&format!("{name}-workspace")).join("name"));
            assert_eq!(written.unwrap(), name);
        }
    }
    yard.backend.close().await;
}

#[tokio::test]
async fn folders_are_shown_read_only_or_writable_at_their_places() {
    let yard = Yard::new(PoolConfig::default());
    let (data, more) = (yard.directory("data"), yard.directory("more"));
    fs::write(data.join("in.txt"), "read me").unwrap();
    chown(data.join("in.txt"), Some(owner()), Some(owner_group())).unwrap();
    let mut files = yard.files("ann");
    for (source, target, access) in [
        (&data, "/data", AttachmentAccess::ReadOnly),
        (&more, "/more/data", AttachmentAccess::ReadWrite),
    ] {
        files.push(Attachment {
            source: source.clone(),
            target: target.to_owned(),
            access,
        });
    }
    yard.launch(Limits::default(), files.clone()).await.close().await;
    yard.wait_until_ready().await;
    let mut guest = yard.launch(Limits::default(), files.clone()).await;
    check(guest.as_mut(), "open('/data/in.txt').read()", json!("read me")).await;
    for attempt in [
        "open('/data/new.txt', 'w')",
        "open('/data/in.txt', 'a')",
        "import os; os.remove('/data/in.txt')",
        "import os; os.chmod('/data/in.txt', 0o777)",
        "import os; os.rename('/data', '/other')",
        "import os; os.rename('/at/workspace', '/at/other')",
        "import os; os.rmdir('/at/m0')",
        "import socket; socket.socket(socket.AF_UNIX).bind('/workspace/s')",
        "import os; os.mkfifo('/data/p')",
    ] {
        let outcome = run(guest.as_mut(), attempt).await;
        assert_eq!(outcome.status, Status::Failed, "{attempt}: {outcome:?}");
    }
    check(
        guest.as_mut(),
        "open('/more/data/new.txt', 'w').write('x')",
        json!(1),
    )
    .await;
    assert_eq!(fs::metadata(more.join("new.txt")).unwrap().uid(), owner());
    // A folder that vanishes can be attached neither to its session, which continues, nor to a new one.
    fs::remove_dir_all(&data).unwrap();
    let refused = guest.attach(files.clone()).await.err().unwrap().to_string();
    assert!(refused.contains(&*data.to_string_lossy()), "{refused}");
    check(guest.as_mut(), "1 + 1", json!(2)).await;
    let spec = LaunchSpec {
        session: SessionId::new("test"),
        limits: Limits::default(),
        language: Language::Python,
        first_code: String::new(),
        files,
    };
    let refused = yard.backend.launch(spec).await.err().unwrap().to_string();
    assert!(refused.contains(&*data.to_string_lossy()), "{refused}");
    yard.session("ann").await.close().await;
    guest.close().await;
    yard.backend.close().await;
}

#[tokio::test]
async fn other_limits_than_the_pool_was_made_with_bind() {
    let yard = Yard::new(PoolConfig::default());
    yard.session("ann").await.close().await;
    yard.wait_until_ready().await;
    let limits = Limits {
        processes: 7,
        disk: 3 << 20,
        ..Limits::default()
    };
    let code = "import os, resource\nsize = os.statvfs('/tmp')\n\
                [resource.getrlimit(resource.RLIMIT_NPROC)[0], size.f_blocks * size.f_frsize]";
    for _ in 0..2 {
        let mut guest = yard.launch(limits.clone(), yard.files("ann")).await;
        check(guest.as_mut(), code, json!([7, 3 << 20])).await;
        guest.close().await;
        yard.wait_until_ready().await;
    }
    yard.backend.close().await;
}

#[tokio::test]
async fn zygotes_are_renewed_and_sessions_of_the_old_one_go_on() {
    let yard = Yard::new(PoolConfig {
        renew_sessions: 3,
        ..PoolConfig::default()
    });
    let mut old = yard.session("old").await;
    check(old.as_mut(), "kept = 1\nkept", json!(1)).await;
    let pid = "open('/proc/self/stat').read().split()[0]";
    for _ in 0..12 {
        let mut guest = yard.session("ann").await;
        check(guest.as_mut(), pid, json!("1")).await;
        guest.close().await;
        yard.wait_until_ready().await;
    }
    check(old.as_mut(), "kept + 1", json!(2)).await;
    old.close().await;
    yard.backend.close().await;
}

/// Two customers, 1,000 times from the pool in random order: neither ever sees the other's files, even after a kill.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_of_two_customers_ever_sees_the_others_files() {
    let yard = Yard::new(PoolConfig::default());
    for name in ["ann", "bob"] {
        for kind in ["workspace", "session", "session/results", "session/scratch"] {
            let path = yard.directory(&format!("{name}-{kind}"));
            let file = path.join("whose");
            fs::write(&file, name).unwrap();
            chown(&file, Some(owner()), Some(owner_group())).unwrap();
        }
    }
    let look = "import os\nfound = set()\nfor root in ('/workspace', '/results', '/at', '/scratch', '/tmp', '/home'):\n    \
                for folder, _, files in os.walk(root):\n        \
                for file in files:\n            found.add(open(os.path.join(folder, file)).read())\n\
                open('/workspace/mine', 'w').write(NAME)\nopen('/tmp/mine', 'w').write(NAME)\nsorted(found)";
    // Pseudo-random, and the same in every run.
    let mut order = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..1_000 {
        order ^= order << 13;
        order ^= order >> 7;
        order ^= order << 17;
        let name = if order & 1 == 0 { "ann" } else { "bob" };
        let mut guest = yard.session(name).await;
        check(guest.as_mut(), &format!("NAME = {name:?}\n{look}"), json!([name])).await;
        match order & 6 {
            0 => drop(guest),
            _ => guest.close().await,
        }
    }
    assert_owned_by_the_owner(yard.data.path(), &["ann-workspace", "bob-workspace"]);
    yard.backend.close().await;
}

fn assert_owned_by_the_owner(data: &Path, directories: &[&str]) {
    for directory in directories {
        for entry in fs::read_dir(data.join(directory)).unwrap() {
            let entry = entry.unwrap();
            assert_eq!(entry.metadata().unwrap().uid(), owner(), "{entry:?}");
        }
    }
}

/// Answers every call after a delay, as if a person had to be asked.
struct Slow {
    takes: Duration,
    clock: Stops,
}

#[derive(Clone, Copy)]
enum Stops {
    Stopped,
    Running,
}

impl HostCalls for Slow {
    fn call(
        &self,
        _call: HostCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        Box::pin(async move {
            let stopped = match self.clock {
                Stops::Stopped => Some(context.clock.stop()),
                Stops::Running => None,
            };
            let waited = context
                .cancel
                .run_until_cancelled(tokio::time::sleep(self.takes))
                .await;
            drop(stopped);
            match waited {
                Some(()) => Ok(RawValue::from_string(r#"{"content": []}"#.to_owned()).unwrap()),
                None => Err(HostCallError::new(
                    HostCallErrorKind::Cancelled,
                    "the run is over",
                )),
            }
        })
    }
}

#[tokio::test]
async fn the_clock_of_a_run_stands_still_while_a_call_waits_for_a_person() {
    let yard = Yard::new(no_pool());
    let mut guest = yard.session("ann").await;
    let limits = Limits {
        wall_time: Duration::from_millis(500),
        ..Limits::default()
    };
    let call = "_ = await tools.any.tool()";
    for (clock, expected) in [
        (Stops::Stopped, Status::Completed),
        (Stops::Running, Status::TimedOut),
    ] {
        let takes = Duration::from_secs(2);
        let run = Run::of(call, limits.clone());
        let outcome = guest.execute(run, Arc::new(Slow { takes, clock })).await;
        assert_eq!(outcome.status, expected, "{outcome:?}");
    }
    let forever = format!("{call}\nwhile True: pass");
    let takes = Duration::from_millis(600);
    let slow = Arc::new(Slow {
        takes,
        clock: Stops::Stopped,
    });
    let outcome = guest.execute(Run::of(forever, limits), slow).await;
    assert_eq!(
        outcome.status,
        Status::TimedOut,
        "the clock goes on after the call: {outcome:?}"
    );
    guest.close().await;
}
