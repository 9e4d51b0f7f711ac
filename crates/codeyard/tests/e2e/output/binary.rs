//! Binary data becomes a marker, and the whole data stays available.

use serde_json::json;
use test_support::{CodeClient, Codeyard};

const NOISE: &str = "import base64, random\nnoise = random.Random(7).randbytes(3000)\n";

#[tokio::test]
async fn base64_in_a_result_becomes_a_marker_and_stays_in_the_session() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let code = format!(
        "{NOISE}return {{'type': 'audio', 'data': base64.b64encode(b'OggS' + noise).decode(), 'raw': noise}}"
    );
    let ran = client.run(&code).await;
    assert_eq!(
        ran.result(),
        &json!({
            "type": "audio",
            "data": "[base64 of audio/ogg, 3,004 bytes; all of it: runtime.result(\"r1\")]",
            "raw": "[base64, 3,000 bytes; all of it: runtime.result(\"r1\")]",
        }),
        "{ran:?}"
    );
    assert!(ran.0.to_string().len() < 1500);
    let code = "kept = runtime.result('r1')\nreturn [kept['raw'] == noise, base64.b64decode(kept['data'])[4:] == noise]";
    assert_eq!(client.run(code).await.result(), &json!([true, true]));
}

#[tokio::test]
async fn only_a_data_uri_in_a_page_becomes_a_marker() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let code = format!(
        "{NOISE}return '<p>Hello <img src=\"data:image/png;base64,' + base64.b64encode(noise).decode() + '\"> there</p>'"
    );
    let ran = client.run(&code).await;
    assert_eq!(
        ran.shown(),
        "<p>Hello <img src=\"[base64 of image/png, 3,000 bytes; all of it: runtime.result(\"r1\")]\"> there</p>"
    );
}

#[tokio::test]
async fn printed_binary_data_is_a_marker_and_whole_in_a_file() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    client.run(NOISE).await;
    for (number, code, shown) in [
        (
            2,
            "print('a', base64.b64encode(noise).decode(), 'z')",
            "a [base64, 3,000 bytes; all of it: FILE] z\n",
        ),
        (
            4,
            "print(base64.encodebytes(noise).decode())",
            "[base64, 3,000 bytes; all of it: FILE]\n\n",
        ),
    ] {
        let ran = client.run(code).await;
        let file = format!("/results/stdout-{number}.txt");
        assert_eq!(ran.stdout(), shown.replace("FILE", &file), "{code}");
        assert!(ran.shown().len() < 200, "{ran:?}");
        let next = client.run(&format!("len(open('{file}').read())")).await;
        assert!(next.result().as_u64().unwrap() > 4000, "{next:?}");
    }
    for code in ["print(noise)", "import sys\n_ = sys.stdout.buffer.write(noise)"] {
        let ran = client.run(code).await;
        assert!(
            ran.shown().len() < 400 && ran.shown().contains("all of it: /results/stdout-"),
            "{ran:?}"
        );
    }
    // No file has text that the program itself did not print.
    let code = "import subprocess\nreturn subprocess.run(['/usr/bin/base64', '-w0', '/bin/sh']).returncode";
    let ran = client.run(code).await;
    assert!(
        ran.shown().len() < 300 && ran.shown().contains("no file has "),
        "{}",
        ran.shown()
    );
}

#[tokio::test]
async fn text_that_only_resembles_base64_is_shown() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    for code in [
        "'GATTACA' * 1000",
        "__import__('hashlib').shake_256(b'x').hexdigest(2000)",
        "'function f(a,b){return a.b+1}' * 100",
        "'x' * 5000",
    ] {
        let ran = client
            .run(&format!("text = {code}\nprint(len(text))\ntext"))
            .await;
        assert!(
            !ran.shown().contains("all of it") && ran.shown().len() > 2000,
            "{code}"
        );
    }
}

#[tokio::test]
async fn image_bytes_of_a_tool_become_an_image() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let png = "b'\\x89PNG\\r\\n\\x1a\\n' + bytes(40_000)";
    let ran = client.run(png).await;
    assert_eq!(ran.images().len(), 1, "{ran:?}");
    assert_eq!(ran.result(), "<image/png 40008 bytes>");
    let ran = client
        .run(&format!(
            "import base64\n{{'data': base64.b64encode({png}).decode()}}"
        ))
        .await;
    assert!(ran.fields()["handle"].is_object(), "{ran:?}");
}
