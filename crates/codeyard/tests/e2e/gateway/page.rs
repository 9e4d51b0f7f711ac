//! The page about the gateway: its commands run unchanged.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use test_support::{ClientLibrary, client_libraries, codeyard_binary};
use tokio::process::Command;

const PAGE: &str = include_str!("../../../../../docs/gateway.md");

/// The port on the page.
const PORT: &str = "4444";

/// A package that is installed beside version 1 of `mcp`.
const WITH_VERSION_1: &str = "langchain-mcp-adapters";

/// Longest time of all commands.
const PATIENCE: Duration = Duration::from_secs(120);

/// The commands of the page, each with its printed output.
fn examples() -> Vec<(&'static str, &'static str)> {
    let blocks: Vec<(&str, &str)> = PAGE
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .collect();
    let pairs = blocks.windows(2).filter_map(|pair| match pair {
        [("sh", commands), ("text", shown)] => Some((*commands, *shown)),
        _ => None,
    });
    pairs.collect()
}

/// One script; a marker line precedes the output of each example.
fn script(examples: &[(&str, &str)], port: u16) -> String {
    let commands = examples
        .iter()
        .map(|(commands, _)| format!("echo \u{1e}\n{commands}"));
    let commands: String = commands.collect();
    let commands = commands.replace(PORT, &port.to_string());
    format!("set -e; trap 'kill %1' EXIT\n{commands}")
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// The search path, with `codeyard` and a Python that has version 1 of the official library.
#[expect(clippy::disallowed_methods, reason = "the commands are those of this machine")]
fn search_path(own: &Path) -> String {
    let (_, libraries) = client_libraries().expect("client libraries");
    let mut installed = libraries.iter();
    let python = installed.find_map(|(package, library)| match library {
        ClientLibrary::Installed(python) if package.starts_with(WITH_VERSION_1) => Some(python),
        _ => None,
    });
    let python = python.expect("a Python with version 1 of `mcp`");
    let python = python.parent().expect("a directory").display();
    let others = std::env::var("PATH").unwrap_or_default();
    format!("{}:{python}:{others}", own.display())
}

// C001, C015, C017, C156
#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the shell of the page's reader, which ends what it has started"
)]
async fn the_commands_of_the_page_print_the_output_on_the_page() {
    let examples = examples();
    assert_eq!(examples.len(), 7, "a block `sh` is followed by its block `text`");
    let place = tempfile::tempdir().expect("a directory");
    let programs = place.path().join("bin");
    std::fs::create_dir(&programs).expect("a directory");
    std::os::unix::fs::symlink(codeyard_binary(), programs.join("codeyard")).expect("a link");
    let ran = Command::new("bash")
        .args(["-c", &script(&examples, free_port())])
        .current_dir(place.path())
        .env("PATH", search_path(&programs))
        .env("HOME", place.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ran = tokio::time::timeout(PATIENCE, ran)
        .await
        .expect("an end")
        .expect("bash");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&ran.stdout).into_owned(),
        String::from_utf8_lossy(&ran.stderr),
    );
    let shown: Vec<&str> = stdout.split("\u{1e}\n").skip(1).collect();
    let expected: Vec<&str> = examples.iter().map(|(_, shown)| *shown).collect();
    assert_eq!(shown, expected, "{stderr}");
}
