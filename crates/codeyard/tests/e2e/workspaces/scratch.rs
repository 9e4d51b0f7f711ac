//! `/scratch` and `/results`: shared by all languages of a session name, deleted or kept at the session's end.

use std::path::PathBuf;

use serde_json::{Value, json};
use test_support::{CodeClient, CodeResult, Codeyard, wait_until};

fn session(codeyard: &Codeyard, name: &str) -> PathBuf {
    codeyard
        .data_directory()
        .join("workspaces/local/sessions")
        .join(name)
}

async fn typescript(client: &mut CodeClient, session: &str, code: &str) -> CodeResult {
    client
        .execute(json!({"code": code, "language": "typescript", "session": session}))
        .await
}

/// The settings of each backend whose sessions keep files.
fn backends() -> Vec<&'static str> {
    let mut settings = vec![""];
    if !super::is_root() {
        settings.push("[sandbox]\nbackend = \"landlock\"\n");
    }
    settings
}

#[tokio::test]
async fn both_languages_of_a_session_and_the_host_see_the_same_files() {
    for settings in backends() {
        let codeyard = Codeyard::with_stub().unwrap().settings(settings);
        let mut client = CodeClient::of(codeyard).await;
        let code =
            "write_file('deep/a.txt', 'from python')\nopen(runtime.path('/results/r.txt'), 'w').write('r')";
        client.run_in("both", code).await;
        let code = "await writeFile('/scratch/deep/b.txt', 'from typescript');\n\
                    [await readFile('/scratch/deep/a.txt'), await readFile('/results/r.txt')]";
        let ran = typescript(&mut client, "both", code).await;
        assert_eq!(ran.result(), &json!(["from python", "r"]), "{settings}: {ran:?}");
        let ran = client.run_in("both", "return read_file('deep/b.txt')").await;
        assert_eq!(ran.result(), "from typescript", "{settings}: {ran:?}");
        let directory = session(&client.codeyard, "both");
        for (file, content) in [
            ("scratch/deep/a.txt", "from python"),
            ("scratch/deep/b.txt", "from typescript"),
            ("results/r.txt", "r"),
        ] {
            let found = std::fs::read_to_string(directory.join(file)).unwrap();
            assert_eq!(found, content, "{settings}");
        }
        let other = typescript(&mut client, "other", "require('fs').readdirSync('/scratch')").await;
        assert_eq!(other.result(), &json!([]), "{settings}: {other:?}");
    }
}

#[tokio::test]
async fn scratch_survives_a_lost_guest_and_is_deleted_with_the_session() {
    let codeyard = Codeyard::with_stub().unwrap().settings("[sessions]\nmax = 2\n");
    let mut client = CodeClient::of(codeyard).await;
    client.run_in("one", "write_file('a', 'kept')").await;
    let ran = client.run_in("one", "import os\nos._exit(1)").await;
    assert_eq!(ran.fields()["session_state"], "lost", "{ran:?}");
    let ran = client.run_in("one", "return read_file('a')").await;
    assert_eq!(ran.result(), "kept", "{ran:?}");
    client
        .run_in("one", "open('/results/r', 'w').write('stays')")
        .await;
    // Two other sessions evict the first one.
    for name in ["two", "three"] {
        client.run_in(name, "return 1").await;
    }
    let one = session(&client.codeyard, "one");
    let is_gone = || (!one.join("scratch").exists()).then_some(());
    wait_until("the scratch files are deleted", is_gone).await;
    assert_eq!(std::fs::read_to_string(one.join("results/r")).unwrap(), "stays");
    let ran = client
        .run_in(
            "one",
            "import os\nreturn [os.listdir('/scratch'), os.listdir('/results')]",
        )
        .await;
    assert_eq!(ran.result(), &json!([[], ["r"]]), "{ran:?}");
    let two = session(&client.codeyard, "two");
    let CodeClient { codeyard, mcp, .. } = client;
    mcp.finish().await.unwrap();
    assert!(!two.exists() && !session(&codeyard, "one").join("scratch").exists());
}

/// A program's changes to the directories themselves affect only its own session's files.
#[tokio::test]
async fn a_program_that_replaces_its_directories_finds_new_ones() {
    let mut client = CodeClient::with_stub().await;
    let code = "import os, shutil\ntop = os.path.dirname(os.readlink('/scratch'))\n\
                open('/workspace/w', 'w').write('other')\n\
                os.rmdir(f'/{top}/scratch')\nos.symlink('/at/workspace', f'/{top}/scratch')\n\
                os.rename(f'/{top}/results', f'/{top}/moved')\nopen(f'/{top}/results', 'w').close()\n\
                return os.listdir('/scratch')";
    let ran = client.run_in("one", code).await;
    assert_eq!(ran.result(), &json!(["w"]), "{ran:?}");
    let ran = typescript(
        &mut client,
        "one",
        "await writeFile('/results/r', 'r'); require('fs').readdirSync('/scratch')",
    )
    .await;
    assert_eq!(ran.result(), &json!([]), "{ran:?}");
    let resources = client.mcp.result("resources/list", json!({})).await.unwrap();
    let uris: Vec<&Value> = resources["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| &resource["uri"])
        .collect();
    assert_eq!(uris, [&json!("codeyard://results/one/r")]);
}
