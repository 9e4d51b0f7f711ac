//! The acceptance cases of the `code` surface, over the binary and its standard streams; each test is named by its case.
//!
//! `.output` of a case is `stdout`, `.error` is `error` or `stderr`, `isError` is a status other than `completed`,
//! and `fs_browse` is `os.listdir` in the program. The servers are those of `test-support`.

mod confinement;
mod front_ends;
mod language;
mod limits;
mod output;
mod protocol;
mod upstreams;

use std::time::Duration;

use test_support::{CodeClient, CodeResult};

/// Runs a program that must complete with exactly this output.
async fn check(code: &str, stdout: &str) {
    CodeClient::with_stub().await.check(code, stdout).await;
}

/// Runs a program that must fail, and returns the result; checks that the server stays healthy.
async fn fails(code: &str) -> CodeResult {
    let mut client = CodeClient::with_stub().await;
    let ran = client.run(code).await;
    assert_eq!((ran.status(), ran.is_error()), ("failed", true), "{ran:?}");
    client.check_healthy().await;
    client.check("print('next')", "next\n").await;
    ran
}

/// Runs a future that must complete in time.
async fn within<F: Future>(seconds: f64, work: F) -> F::Output {
    let limit = Duration::from_secs_f64(seconds);
    tokio::time::timeout(limit, work)
        .await
        .unwrap_or_else(|_| panic!("not over within {limit:?}"))
}
