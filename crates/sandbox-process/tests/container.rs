//! Sessions that look like a container from inside: who they are, what they may write, and that they are as confined as any.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

use std::sync::Arc;
use std::time::Duration;

use sandbox::{Backend as _, Guest, LaunchSpec, NoCalls, Run};
use sandbox_process::{Appearance, Config, Floor, Pool, Process, Profile, Removed, Requirement, python};
use serde_json::{Value, json};
use test_support::{codeyard_binary, wait_until};
use types::{Limits, Outcome, SessionId, Status};

const MIB: u64 = 1 << 20;
const NOBODY: Appearance = Appearance::Container {
    user: 65_534,
    group: 65_534,
    workspace: 128 * MIB,
    tmp: 64 * MIB,
};

/// A backend whose sessions look like containers.
struct Yard {
    backend: Process,
    data: tempfile::TempDir,
}

impl Yard {
    fn new(appearance: Appearance, pool: Pool) -> Self {
        let data = tempfile::tempdir().unwrap();
        let backend = Process::new(config(&data, appearance, pool));
        Self { backend, data }
    }

    async fn launch(&self, limits: Limits) -> Box<dyn Guest> {
        let spec = LaunchSpec {
            session: SessionId::new("test"),
            limits,
            first_code: String::new(),
            files: Vec::new(),
        };
        self.backend.launch(spec).await.unwrap()
    }

    async fn wait_until_ready(&self) {
        let ready = || (self.backend.ready() > 0).then_some(());
        wait_until("a session stands ready", ready).await;
    }
}

fn config(data: &tempfile::TempDir, appearance: Appearance, pool: Pool) -> Config {
    Config {
        data: data.path().to_owned(),
        python: python::Settings {
            path: None,
            search_path: search_path(),
        },
        profile: Profile::Plain,
        require: Requirement::SingleTenant,
        without_groups: false,
        own_users: false,
        removed: Removed::default(),
        limits: Limits::default(),
        helper: vec![codeyard_binary().into()],
        appearance,
        floor: Floor::Refused,
        pool,
        mounts: Vec::new(),
        owner: None,
    }
}

#[expect(clippy::disallowed_methods, reason = "where this machine's Python is")]
fn search_path() -> Option<std::ffi::OsString> {
    std::env::var_os("PATH")
}

fn no_pool() -> Pool {
    Pool {
        most: 0,
        ..Pool::default()
    }
}

async fn run(guest: &mut dyn Guest, code: &str) -> Outcome {
    let limits = Limits {
        wall_time: Duration::from_secs(30),
        ..Limits::default()
    };
    guest
        .execute(Run::of(code, limits.of_run()), Arc::new(NoCalls))
        .await
}

async fn check(guest: &mut dyn Guest, code: &str, expected: Value) {
    let outcome = run(guest, code).await;
    assert_eq!(outcome.status, Status::Completed, "{code}: {outcome:?}");
    assert_eq!(outcome.result, Some(expected), "{code}: {outcome:?}");
}

#[tokio::test]
async fn it_is_nobody_in_a_container() {
    let yard = Yard::new(NOBODY, no_pool());
    let mut guest = yard.launch(Limits::default()).await;
    let outcome = run(guest.as_mut(), "import os\nprint(open('/proc/self/mountinfo').read(), os.listdir('/'), os.getcwd())\nprint(open('/proc/self/status').read())\nprint(open('/proc/self/uid_map').read())").await;
    eprintln!("{}\n{:?}", outcome.stdout.text, outcome.error);
    check(
        guest.as_mut(),
        "import os\n[os.getuid(), os.getgid(), os.getcwd(), os.environ['HOME']]",
        json!([65534, 65534, "/workspace", "/workspace"]),
    )
    .await;
    guest.close().await;
    yard.backend.close().await;
}
