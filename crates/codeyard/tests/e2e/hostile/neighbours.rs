//! Effects of one session on another: no leaked secret, and enough of every resource.

use serde_json::json;

use crate::hostile::host::Secrets;
use crate::hostile::table::answers;
use crate::hostile::yard::{Yard, probe, program};

#[tokio::test]
async fn no_secret_of_host_server_or_earlier_session_is_anywhere() {
    let mut yard = Yard::new().await;
    // An earlier session of the same zygote parses a secret and frees it.
    let earlier = "earlier-5e55104f";
    let code = format!(
        "import json\nconfiguration = json.loads('{{\"token\": \"{earlier}\"}}')\nfor _ in range(50):\n    \
         str(configuration) * 10\ndel configuration"
    );
    let first = yard.execute(json!({"code": code, "session": "new"})).await;
    assert_eq!(first.status(), "completed", "{first:?}");
    let secrets = &yard.secrets;
    let given = json!({"inside": true, "token": "search", "words": {
        "variable": Secrets::higher(&secrets.variable),
        "upstream": Secrets::higher(&secrets.upstream),
        "file": Secrets::higher(&secrets.file),
        "of_earlier": Secrets::higher(earlier),
    }});
    let code = probe("secrets-scan", &given);
    let ran = yard.execute(json!({"code": code, "session": "new"})).await;
    let printed = answers(ran.stdout());
    assert_eq!(ran.status(), "completed", "{ran:?}");
    for secret in ["variable", "upstream", "file", "of_earlier"] {
        assert_eq!(printed[secret], "closed", "{secret}: {ran:?}");
    }
    for own in ["own_variable", "own_file", "own_memory", "memory_was_readable"] {
        assert_eq!(printed[own], "allowed", "{own}: {ran:?}");
    }
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test]
async fn a_hoarding_session_leaves_enough_for_others() {
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

/// Another session, and the host, get what every program may need while the first one holds its resources.
async fn check_neighbour(yard: &mut Yard) {
    let ran = yard.run("neighbour", json!({})).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let outside = outside(&program("neighbour", &json!({}))).await;
    for (place, printed) in [("session", ran.stdout()), ("host", &outside)] {
        let refused: Vec<_> = answers(printed)
            .into_iter()
            .filter(|(_, answer)| *answer != "allowed")
            .collect();
        // Sessions of a bare user share counters with each other and the host (docs/sandbox.md).
        let shared = ["pass_descriptor", "whole_pipe", "watch"];
        let promised = |(name, _): &&(&str, &str)| yard.mode.own_users || !shared.contains(name);
        assert_eq!(refused.iter().filter(promised).count(), 0, "{place}: {refused:?}");
    }
    yard.check_well().await;
}

/// The program's output outside of any session.
async fn outside(program: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the test owns the process and kills it on drop"
    )]
    let mut command = tokio::process::Command::new("python3");
    command
        .args(["-B", "-c", program])
        .current_dir(directory.path())
        .kill_on_drop(true);
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
