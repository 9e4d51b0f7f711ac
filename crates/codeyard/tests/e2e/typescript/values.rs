//! Output and results of a program.

use serde_json::{Value, json};
use test_support::CodeClient;

use super::{check, check_printed, run};

#[tokio::test]
async fn results() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check(client, "return {a: 1}", json!({"a": 1})).await;
    check(client, "[1, 2].map((n) => n * 2)", json!([2, 4])).await;
    check(client, "const result = 7;", json!(7)).await;
    check(client, "await Promise.resolve('later')", json!("later")).await;
    check(
        client,
        "interface A { b: string }\nconst a: A = {b: 'x'};\na as any",
        json!({"b": "x"}),
    )
    .await;
    check(client, "enum E { A = 1, B }\nE.B", json!(2)).await;
    check(
        client,
        "return new Map([['a', new Set([1n, 2n])]])",
        json!({"a": [1, 2]}),
    )
    .await;
    check(client, "return new Date(0)", json!("1970-01-01T00:00:00.000Z")).await;
    check(client, "return '\\ud800'", json!("\u{fffd}")).await;
    check(client, "console.log('no result')", Value::Null).await;
}

/// C046, C048.
#[tokio::test]
async fn c046_c048_printed_values_are_readable() {
    let mut client = CodeClient::with_stub().await;
    let client = &mut client;
    check_printed(client, "const x: number = 41; console.log('v', x+1);", "v 42\n").await;
    check_printed(client, "console.log({a: 1}, [1, 2])", "{ a: 1 } [ 1, 2 ]\n").await;
    check_printed(client, "console.log('%s is %d', 'x', 5)", "x is 5\n").await;
    let ran = run(client, "console.error('oops')").await;
    assert_eq!(ran.stderr(), "oops\n", "{ran:?}");
}

/// C267, S3-23.
#[tokio::test]
async fn c267_ten_thousand_rows_in_five_out() {
    let mut client = CodeClient::with_stub().await;
    let code = include_str!("filter.ts");
    let ran = run(&mut client, code).await;
    let rows = ran.result().as_array().map(Vec::len);
    assert_eq!((ran.status(), rows), ("completed", Some(5)), "{ran:?}");
}

#[tokio::test]
async fn images_are_shown() {
    let mut client = CodeClient::with_stub().await;
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";
    for code in [
        format!("show(Buffer.from('{png}', 'base64'))"),
        format!("return Buffer.from('{png}', 'base64')"),
    ] {
        let ran = run(&mut client, &code).await;
        assert_eq!(ran.images(), [("image/png", png)], "{ran:?}");
    }
}

#[tokio::test]
async fn a_result_that_is_too_large_stays_in_the_session() {
    let mut client = CodeClient::with_stub().await;
    let ran = run(&mut client, "return Array.from({length: 20000}, (_, n) => ({n}))").await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    assert!(ran.shown().contains("20000 items"), "{}", ran.shown());
    check(&mut client, "keptResult('r1')[19999].n", json!(19999)).await;
}

#[tokio::test]
async fn long_output_is_whole_in_a_file() {
    let mut client = CodeClient::with_stub().await;
    let ran = run(
        &mut client,
        "for (let n = 0; n < 40000; n++) console.log('line', n)",
    )
    .await;
    assert!(
        ran.stdout().contains("/results/stdout-ts1.txt"),
        "{}",
        ran.stdout()
    );
    let code = "(await readFile('/results/stdout-ts1.txt')).trim().split('\\n').length";
    check(&mut client, code, json!(40000)).await;
}
