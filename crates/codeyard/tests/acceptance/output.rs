//! Whatever a program prints arrives, apart, bounded and as valid JSON.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

#[tokio::test]
async fn c037_c041_streams_are_apart_and_never_block() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("import sys\nprint('o')\nprint('e', file=sys.stderr)")
        .await;
    assert_eq!(
        (ran.stdout(), ran.stderr(), ran.status()),
        ("o\n", "e\n", "completed")
    );
    assert_eq!(ran.shown(), "stdout: o\nstderr: e");
    let ran = client
        .run("import sys\nsys.stderr.write('e'*300000)\nprint('done')")
        .await;
    assert_eq!((ran.stdout(), ran.stderr().len()), ("done\n", 300_000));
}

#[tokio::test]
async fn c040_c315_long_lines_are_whole_or_cut_with_a_notice() {
    let mut client = CodeClient::with_stub().await;
    let ran = client.run("print('x'*1048576)").await;
    assert_eq!(ran.status(), "completed");
    let whole = ran.stdout().len() == 1_048_577;
    assert!(
        whole || ran.stdout().contains("/results"),
        "{} bytes",
        ran.stdout().len()
    );
    let ran = client.run("print('z'*5000000)\nprint('end')").await;
    assert_eq!(ran.status(), "completed");
    assert!(ran.stdout().ends_with("end\n"), "the end is kept");
    assert!(ran.stdout().len() < 1_100_000, "{} bytes", ran.stdout().len());
    let notice = ran
        .stdout()
        .lines()
        .find(|line| line.contains("/results"))
        .expect("a notice");
    let path = notice
        .split_whitespace()
        .find(|word| word.starts_with("/results/"))
        .expect("a path");
    let path = path.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let ran = client
        .run(&format!("import os\nprint(os.path.getsize({path:?}))"))
        .await;
    assert_eq!(ran.stdout(), "5000005\n", "the full copy: {notice}");
}

#[tokio::test]
async fn c105_binary_output_is_valid_json() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("import sys\nsys.stdout.buffer.write(bytes(range(256))*10)")
        .await;
    assert_eq!(ran.status(), "completed");
    assert!(ran.stdout().contains("ABCDEF") && ran.stdout().contains('\u{fffd}'));
    client.check("print('healthy')", "healthy\n").await;
}

#[tokio::test]
async fn images_are_images() {
    let mut client = CodeClient::with_stub().await;
    let code = "import base64\nreturn base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')";
    let ran = client.run(code).await;
    let images: Vec<_> = ran.0["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|block| block["type"] == "image")
        .collect();
    assert_eq!(images.len(), 1, "{ran:?}");
    assert_eq!(images[0]["mimeType"], "image/png");
}

#[tokio::test]
async fn json_and_receipts_are_given_when_asked_for() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .execute(json!({"code": "[1, 2]", "format": "json", "receipt": true}))
        .await;
    let shown: serde_json::Value = serde_json::from_str(ran.shown()).unwrap();
    assert_eq!(shown, ran.0["structuredContent"]);
    assert_eq!(shown["result"], json!([1, 2]));
    assert!(shown["receipt"]["wall_ms"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn matplotlib_figures_come_back_as_images() {
    let codeyard = Codeyard::new().unwrap().managed_environment();
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("import importlib.util\nreturn importlib.util.find_spec('matplotlib') is not None")
        .await;
    if *ran.result() != true {
        // The managed environment was not prepared for this run; `cargo xtask test` prepares it.
        let missing = client.run("import matplotlib").await;
        assert!(missing.error().contains("codeyard python sync"), "{missing:?}");
        return;
    }
    let code = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()";
    let ran = client.run(code).await;
    assert_eq!(ran.0["content"][1]["mimeType"], "image/png", "{}", ran.shown());
}
