//! Client libraries over HTTP.

use test_support::{ClientLibrary, Codeyard, client_libraries};
use tokio::process::Command;

use super::served::Served;

/// Runs a program of a library with the address of a codeyard; what it prints. Nothing where the library did not install.
#[expect(clippy::print_stdout, reason = "a test that ran nothing says so")]
#[expect(
    clippy::disallowed_methods,
    reason = "the library's program is waited for, and the test ends codeyard"
)]
async fn check(package: &str, name: &str, program: &str, expected: &str) {
    let (installed, libraries) = client_libraries().unwrap();
    let Some(ClientLibrary::Installed(interpreter)) = libraries.get(package) else {
        println!("skipped: {package} did not install on this machine");
        return;
    };
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let work = served.codeyard.work_directory();
    std::os::unix::fs::symlink(installed.join("node_modules"), work.join("node_modules")).unwrap();
    std::fs::write(work.join(name), program).unwrap();
    let mut command = Command::new(interpreter);
    let ran = command
        .arg(name)
        .arg(served.url())
        .current_dir(&work)
        .output()
        .await
        .unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(
        printed.trim(),
        expected,
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[tokio::test]
async fn the_python_sdk() {
    check(
        "mcp==2.3.0",
        "python_sdk.py",
        include_str!("python_sdk.py"),
        "2 42",
    )
    .await;
}

#[tokio::test]
async fn the_typescript_sdk() {
    let program = include_str!("typescript_sdk.mts");
    check(
        "@modelcontextprotocol/client@2.4.0",
        "typescript_sdk.mts",
        program,
        "2 42",
    )
    .await;
}

#[tokio::test]
async fn fastmcp() {
    check(
        "fastmcp==4.1.2",
        "fastmcp_client.py",
        include_str!("fastmcp_client.py"),
        "2 42",
    )
    .await;
}
