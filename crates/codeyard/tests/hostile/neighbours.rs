//! What one session leaves for another: no secret, no randomness, no name, no lock.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use test_support::Codeyard;

use crate::control::{self, Control};
use crate::host::Secrets;
use crate::table::answers;
use crate::yard::{LIMITS, Yard, program};

/// Sessions whose randomness is compared.
const SESSIONS: usize = 4;

#[tokio::test]
async fn no_secret_of_host_server_or_earlier_session_is_anywhere() {
    let mut yard = Yard::new().await;
    // An earlier session of the same zygote parses a secret, and lets go of it.
    let earlier = "earlier-5e55104f";
    let code = format!(
        "import json\nconfiguration = json.loads('{{\"token\": \"{earlier}\"}}')\nfor _ in range(50):\n    \
         str(configuration) * 10\ndel configuration"
    );
    let first = yard.execute(json!({"code": code, "session": "new"})).await;
    assert_eq!(first.status(), "completed", "{first:?}");
    let host_name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    // A control of the search itself, which outside finds all: a word of each place that is there for everybody.
    let given = json!({"words": {
        "variable": Secrets::higher(&yard.secrets.variable),
        "upstream": Secrets::higher(&yard.secrets.upstream),
        "file": Secrets::higher(&yard.secrets.file),
        "earlier": Secrets::higher(earlier),
        "host_name": Secrets::higher(&format!(" {} ", host_name.trim())),
        "machine_id": Secrets::higher(machine_id().trim()),
        "own_variable": Secrets::higher("HOME"),
        "own_file": Secrets::higher("nsswitch.conf"),
        "own_memory": Secrets::higher("looked_into_memory"),
    }});
    let ran = yard.run("secrets", given).await;
    let printed = answers(ran.stdout());
    assert_eq!(ran.status(), "completed", "{ran:?}");
    assert_eq!(printed["looked_into_memory"], "True");
    for secret in [
        "variable",
        "upstream",
        "file",
        "earlier",
        "host_name",
        "machine_id",
    ] {
        assert_eq!(printed[secret], "not found", "{secret}: {ran:?}");
    }
    for own in ["own_variable", "own_file", "own_memory"] {
        assert!(printed[own].starts_with("allowed"), "{own}: {ran:?}");
    }
    yard.check_well().await;
    yard.end().await;
}

/// As every machine with systemd has it; elsewhere a word that is nowhere.
fn machine_id() -> String {
    let found = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    if found.trim().is_empty() {
        "no-machine-id-here".to_owned()
    } else {
        found
    }
}

#[tokio::test]
async fn no_two_sessions_draw_the_same() {
    let codeyard = Codeyard::new().unwrap().managed_environment();
    let has_numpy = codeyard.data_directory().join("python").is_dir();
    let mut yard = Yard::with(codeyard.settings(LIMITS).settings("[python]\nprofile = \"data\"")).await;
    let mut drawn: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for _ in 0..SESSIONS {
        let ran = yard.run("chance", json!({"numpy": has_numpy})).await;
        assert_eq!(ran.status(), "completed", "{ran:?}");
        for (source, value) in answers(ran.stdout()) {
            drawn
                .entry(source.to_owned())
                .or_default()
                .insert(value.to_owned());
        }
    }
    assert_eq!(drawn.len(), if has_numpy { 10 } else { 8 }, "{drawn:?}");
    for (source, values) in &drawn {
        assert_eq!(values.len(), SESSIONS, "{source}: {values:?}");
    }
    // The control: the same generators with the same seed do draw the same.
    let seeded = "import random\nrandom.seed(7)\nrandom.getrandbits(64)";
    let one = yard.execute(json!({"code": seeded, "session": "new"})).await;
    let other = yard.execute(json!({"code": seeded, "session": "new"})).await;
    assert_eq!(one.result(), other.result());
    yard.end().await;
}

#[tokio::test]
async fn names_and_sockets_of_sessions_are_their_own() {
    let mut yard = Yard::new().await;
    for _ in 0..2 {
        let ran = yard.run("squatter", json!({})).await;
        assert_eq!(ran.status(), "completed", "{ran:?}");
        let printed = answers(ran.stdout());
        assert_eq!(printed["connect_to_other"], "ECONNREFUSED");
        assert_eq!(printed["bind"], "allowed");
        assert_eq!(printed["sockets_seen"], "1");
    }
    let ran = yard.run("neighbour", json!({})).await;
    assert_eq!(answers(ran.stdout())["name"], "allowed");
    // The control: two programs of the host do meet.
    let twice = format!(
        "{}\nimport os\nif os.fork() == 0:\n    try:\n        socket.socket(socket.AF_UNIX).bind(NAME)\n        \
         print('again: allowed')\n    except OSError as error:\n        print('again:', error.errno)\nelse:\n    os.wait()",
        program("squatter", &json!({}))
    );
    let printed = control::run(&twice, Control::Plain).await.unwrap();
    assert!(printed.contains("again: 98"), "{printed}");
    yard.end().await;
}

#[tokio::test]
async fn what_one_session_hoards_another_does_not_miss() {
    let mut yard = Yard::new().await;
    let hoarder = yard.run("hoard", json!({})).await;
    assert!(
        hoarder.stdout().starts_with("hoard: ") || hoarder.status() != "completed",
        "{hoarder:?}"
    );
    check_neighbour(&mut yard).await;
    let ran = yard.run("fill", json!({"locks": 5_000})).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    check_neighbour(&mut yard).await;
    yard.end().await;
}

/// Another session gets what every program may need, and so does the host, while the first still has all it took.
async fn check_neighbour(yard: &mut Yard) {
    let ran = yard.run("neighbour", json!({})).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let outside = control::run(&program("neighbour", &json!({})), Control::Plain).await;
    for (place, printed) in [("session", ran.stdout()), ("host", &outside.unwrap())] {
        let refused: Vec<_> = answers(printed)
            .into_iter()
            .filter(|(_, answer)| *answer != "allowed")
            .collect();
        // Sessions of a bare user share counters with each other and the host, as docs/sandbox.md says.
        let shared = ["pass_descriptor", "whole_pipe", "watch"];
        let promised = |(name, _): &&(&str, &str)| yard.mode.own_users || !shared.contains(name);
        assert_eq!(refused.iter().filter(promised).count(), 0, "{place}: {refused:?}");
    }
    yard.check_well().await;
}
