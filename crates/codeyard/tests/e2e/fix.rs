//! `doctor --fix`: its plan, its changes, and that each change happens once.

use std::fs;
use std::process::Output;

use serde_json::Value;
use test_support::{Codeyard, Mode};

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A codeyard with its own `/etc`, which has these lists of users and of subordinate users.
fn with_etc(passwd: &str, subuid: &str) -> Codeyard {
    let codeyard = Codeyard::new().unwrap();
    let etc = codeyard.directory().join("home/etc");
    fs::create_dir(&etc).unwrap();
    fs::write(etc.join("passwd"), passwd).unwrap();
    fs::write(etc.join("subuid"), subuid).unwrap();
    codeyard.below_mounts("mount --bind \"$HOME/etc\" /etc")
}

#[tokio::test]
async fn the_plan_is_printed_and_nothing_is_changed() {
    let codeyard = Codeyard::new().unwrap();
    let output = codeyard.run(["doctor", "--fix"]).await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let printed = out(&output);
    assert!(
        printed.contains("nothing is left to do here") || printed.contains("nothing has been changed yet"),
        "{printed}"
    );
    let output = codeyard.run(["doctor", "--fix", "--json"]).await.unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    for step in plan["steps"].as_array().unwrap() {
        for field in ["name", "what", "why"] {
            assert!(step[field].is_string(), "{step}");
            assert!(printed.contains(step[field].as_str().unwrap()), "{printed}");
        }
    }
}

#[tokio::test]
async fn invalid_options_of_fix_are_reported() {
    let codeyard = Codeyard::new().unwrap();
    for (arguments, words) in [
        (
            ["--fix", "--user", "no-such-user"].as_slice(),
            "no user of this name",
        ),
        (&["--fix", "--user", "root"], "name an ordinary user"),
        (
            &["--fix", "--only", "rangs"],
            "the steps are sysctls, apparmor, helpers, ranges",
        ),
        (&["--yes"], "--fix"),
    ] {
        let arguments = ["doctor"].iter().chain(arguments);
        let output = codeyard.run(arguments).await.unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(words), "{}", told(&output));
    }
}

#[tokio::test]
async fn a_range_is_given_once_and_other_users_keep_theirs() {
    if !Mode::of(&Codeyard::new().unwrap()).await.unwrap().is_root {
        return; // Only root changes the lists.
    }
    let before = "bob:100000:65536\n# kept as it is\nann:400000:10";
    let codeyard = with_etc(
        "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n",
        before,
    );
    let arguments = ["doctor", "--fix", "--user", "ann", "--only", "ranges"];
    let output = codeyard.run(arguments).await.unwrap();
    assert!(
        out(&output).contains("append to /etc/subuid\n    | ann:165536:65536\n"),
        "{}",
        out(&output)
    );
    let list = |name: &str| fs::read_to_string(codeyard.directory().join("home/etc").join(name));
    assert_eq!(
        list("subuid").unwrap(),
        before,
        "nothing is changed without --yes"
    );
    assert!(list("subgid").is_err());

    let output = codeyard.run(arguments.iter().chain(&["--yes"])).await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(
        out(&output).starts_with("done    ranges: gives ann"),
        "{}",
        out(&output)
    );
    let after = format!("{before}\nann:165536:65536\n");
    assert_eq!(list("subuid").unwrap(), after);
    assert_eq!(list("subgid").unwrap(), "ann:165536:65536\n");

    for again in [arguments.as_slice(), &[&arguments[..], &["--yes"]].concat()] {
        let output = codeyard.run(again).await.unwrap();
        assert_eq!(out(&output), "nothing is left to do here\n");
        assert_eq!(output.status.code(), Some(0));
    }
    assert_eq!(list("subuid").unwrap(), after);
    let left = fs::read_dir(codeyard.directory().join("home/etc")).unwrap();
    assert_eq!(left.count(), 3, "no lock and no partial file must stay");
}

#[tokio::test]
async fn an_unwritable_list_is_named() {
    if !Mode::of(&Codeyard::new().unwrap()).await.unwrap().is_root {
        return; // As above.
    }
    let codeyard = with_etc("ann:x:1000:1000\n", "");
    fs::write(codeyard.directory().join("home/etc/subuid.lock"), "1").unwrap();
    let output = codeyard
        .run(["doctor", "--fix", "--user", "ann", "--only", "ranges", "--yes"])
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", told(&output));
    assert!(
        out(&output).contains("failed  ranges: /etc/subuid.lock is there"),
        "{}",
        out(&output)
    );
}
