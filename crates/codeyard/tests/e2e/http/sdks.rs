//! Client libraries over HTTP.

use std::path::{Path, PathBuf};

use test_support::{ClientLibrary, Codeyard, client_libraries};
use tokio::process::Command;

use super::cutting_proxy::CuttingProxy;
use super::served::Served;

/// Runs a library's program with codeyard's address and checks the output; does nothing if the library did not
/// install.
async fn check(package: &str, name: &str, program: &str, expected: &str) {
    let Some(interpreter) = interpreter(package) else {
        return;
    };
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    check_with(&served, &served.url(), &interpreter, (name, program), expected).await;
}

/// Like `check`, behind a proxy that cuts the call's connection.
async fn check_resumed(package: &str, name: &str, program: &str, expected: &str) {
    let Some(interpreter) = interpreter(package) else {
        return;
    };
    let served = Served::start(Codeyard::new().unwrap(), &[]).await;
    let proxy = CuttingProxy::before(&served.address).await;
    let url = format!("http://{}/mcp", proxy.address);
    check_with(&served, &url, &interpreter, (name, program), expected).await;
    assert!(proxy.has_cut(), "the connection of the call was cut");
}

/// The program that runs the library's code.
#[expect(clippy::print_stdout, reason = "a test that ran nothing says so")]
fn interpreter(package: &str) -> Option<PathBuf> {
    let (_, libraries) = client_libraries().unwrap();
    let Some(ClientLibrary::Installed(interpreter)) = libraries.get(package) else {
        println!("skipped: {package} did not install on this machine");
        return None;
    };
    Some(interpreter.clone())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the library's program is waited for, and the test ends codeyard"
)]
async fn check_with(
    served: &Served,
    url: &str,
    interpreter: &Path,
    (name, program): (&str, &str),
    expected: &str,
) {
    let (installed, _) = client_libraries().unwrap();
    let work = served.codeyard.work_directory();
    std::os::unix::fs::symlink(installed.join("node_modules"), work.join("node_modules")).unwrap();
    std::fs::write(work.join(name), program).unwrap();
    let mut command = Command::new(interpreter);
    let ran = command
        .arg(name)
        .arg(url)
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

#[tokio::test]
async fn the_python_sdk_resumes_a_call_whose_connection_broke() {
    let program = include_str!("resuming_sdk.py");
    check_resumed("mcp==2.3.0", "resuming_sdk.py", program, "42").await;
}

#[tokio::test]
async fn the_typescript_sdk_resumes_a_call_whose_connection_broke() {
    let program = include_str!("resuming_sdk.mts");
    check_resumed(
        "@modelcontextprotocol/client@2.4.0",
        "resuming_sdk.mts",
        program,
        "42",
    )
    .await;
}
