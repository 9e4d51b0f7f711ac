//! A program's output arrives, bounded and as valid JSON.

use test_support::{CodeClient, CodeResult};

use crate::acceptance::within;

/// The output is whole, or cut with a notice.
#[track_caller]
fn check_whole_or_cut(ran: &CodeResult, whole: usize) {
    assert_eq!((ran.status(), ran.error()), ("completed", ""));
    let printed = ran.stdout();
    let cut = printed.contains("bytes cut here; all of it: /results/");
    assert!(
        printed.len() == whole || cut,
        "{} bytes of {whole}",
        printed.len()
    );
}

#[tokio::test]
async fn c040_one_line_of_a_mebibyte() {
    let mut client = CodeClient::with_stub().await;
    check_whole_or_cut(&client.run("print('x'*1048576)").await, 1_048_577);
}

#[tokio::test]
async fn c041_large_stderr_does_not_deadlock() {
    let mut client = CodeClient::with_stub().await;
    let code = "import sys\nsys.stderr.write('e'*300000)\nprint('done')";
    let ran = within(5.0, client.run(code)).await;
    assert_eq!(ran.stdout(), "done\n");
    let cut = ran
        .stderr()
        .contains("bytes cut here; all of it: /results/stderr-");
    assert!(cut && ran.stderr().len() < 16 * 1024, "{}", ran.stderr());
}

#[tokio::test]
async fn c105_binary_junk_on_stdout() {
    let mut client = CodeClient::with_stub().await;
    // The client fails on any line that is not JSON.
    let ran = client
        .run("import sys\nsys.stdout.buffer.write(bytes(range(256))*10)")
        .await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    assert!(
        ran.stdout()
            .contains("[binary data, about 2,560 bytes; all of it: /results/stdout-1.txt]"),
        "{}",
        ran.stdout()
    );
    client.check("print('next')", "next\n").await;
}

#[tokio::test]
async fn c315_one_line_of_five_megabytes() {
    let mut client = CodeClient::with_stub().await;
    let ran = client.run("print('z'*5000000)\nprint('end')").await;
    check_whole_or_cut(&ran, 5_000_005);
    assert!(ran.stdout().ends_with("\nend\n"));
}
