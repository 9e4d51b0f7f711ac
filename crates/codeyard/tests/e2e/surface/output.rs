//! Images, files and long output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use test_support::{CodeClient, Codeyard, managed_data};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

#[track_caller]
fn bytes(base64: &str) -> Vec<u8> {
    STANDARD.decode(base64).unwrap()
}

#[tokio::test]
async fn a_text_printed_last_is_not_also_a_result() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("result = await tools.stub.echo(message='once')\nprint(result)")
        .await;
    assert_eq!((ran.shown(), ran.fields().get("result")), ("once\n", None));
    let ran = client.run("result = 'twice'\nprint(result)\nreturn result").await;
    assert_eq!(ran.shown(), "result: twice\nstdout: twice", "{ran:?}");
}

#[tokio::test]
async fn figures_come_back_as_images() {
    if managed_data().is_none() {
        // Only `cargo xtask test` installs matplotlib.
        return;
    }
    let codeyard = Codeyard::new().unwrap().managed_environment().unwrap();
    let mut client = CodeClient::of(codeyard).await;
    let code = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.title('first')\nplt.figure()\nplt.bar(['a'], [1])\nprint('drawn')";
    let ran = client.run(code).await;
    assert_eq!(
        (ran.status(), ran.stdout(), ran.stderr()),
        ("completed", "drawn\n", ""),
        "{ran:?}"
    );
    assert_eq!(ran.content().len(), 3, "a text and two images");
    for (mime, data) in ran.images() {
        let image = bytes(data);
        assert!(
            mime == "image/png" && image.starts_with(PNG) && image.len() > 1000,
            "{mime}"
        );
    }
    assert!(
        !ran.fields().to_string().contains(ran.images()[0].1),
        "once is enough"
    );
    // Shown figures are closed.
    assert_eq!(client.run("plt.get_fignums()").await.result(), &json!([]));

    let frame = "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2], 'b': ['x', None]})\nframe";
    let ran = client.run(frame).await;
    assert_eq!(
        ran.result(),
        &json!([{"a": 1, "b": "x"}, {"a": 2, "b": null}]),
        "{ran:?}"
    );
}

#[tokio::test]
async fn image_bytes_and_image_files_come_back_as_images() {
    let mut client = CodeClient::with_stub().await;
    let png = "import struct, zlib\n\
               def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))\n\
               def png(shade): return b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>2I5B', 1, 1, 8, 0, 0, 0, 0)) \
               + chunk(b'IDAT', zlib.compress(bytes([0, shade]))) + chunk(b'IEND', b'')\n";
    let ran = client.run(&format!("{png}return png(7)")).await;
    let images = ran.images();
    assert_eq!((images.len(), images[0].0), (1, "image/png"), "{ran:?}");
    assert!(bytes(images[0].1).starts_with(PNG));
    assert!(
        ran.result().as_str().unwrap().starts_with("<image/png "),
        "{ran:?}"
    );

    let ran = client
        .run("open('/results/dot.png', 'wb').write(png(9))\nprint('saved')")
        .await;
    assert_eq!(
        (ran.images().len(), &ran.fields()["artifacts"]),
        (1, &json!(["dot.png"])),
        "{ran:?}"
    );

    let ran = client
        .run("return b'<svg xmlns=\"http://www.w3.org/2000/svg\"/>'")
        .await;
    assert_eq!(ran.images()[0].0, "image/svg+xml", "{ran:?}");
    let ran = client.run("return [b'\\xff\\xd8\\xff\\xe0' + bytes(20)]").await;
    assert_eq!(ran.images()[0].0, "image/jpeg", "{ran:?}");
    let ran = client.run("return b'no image'").await;
    assert_eq!((ran.status(), ran.images().len()), ("completed", 0), "{ran:?}");
}

#[tokio::test]
async fn files_in_results_are_named_once() {
    let mut client = CodeClient::with_stub().await;
    let code = "import os\nos.makedirs('/results/sub')\nfor name in ('b.csv', 'a.csv', 'sub/c.txt'): open(f'/results/{name}', 'w').write(name)";
    let ran = client.run(code).await;
    assert_eq!(ran.fields()["artifacts"], json!(["a.csv", "b.csv", "sub/c.txt"]));
    assert_eq!(
        ran.shown(),
        "files: /results/a.csv (csv, 5 B), /results/b.csv (csv, 5 B), /results/sub/c.txt (txt, 9 B)"
    );
    let ran = client.run("print(open('/results/a.csv').read())").await;
    assert_eq!(
        (ran.stdout(), ran.fields().get("artifacts")),
        ("a.csv\n", None),
        "only files of this run"
    );
    let ran = client
        .run("open('/results/b.csv', 'a').write('more')\nos.remove('/results/a.csv')")
        .await;
    assert_eq!(ran.fields()["artifacts"], json!(["b.csv"]));
}

#[tokio::test]
async fn long_output_is_cut_in_the_middle_and_whole_in_a_file() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("print('begin')\nprint('x' * 3_000_000)\nprint('end')")
        .await;
    assert_eq!(ran.status(), "completed");
    let out = ran.stdout();
    assert!(
        out.starts_with("begin\nxxx") && out.ends_with("xxx\nend\n"),
        "both ends stay"
    );
    assert!((4_000..16 * 1024).contains(&out.len()), "{} bytes", out.len());
    let marker = out.lines().find(|line| line.contains("bytes cut here")).unwrap();
    let file = marker
        .split_whitespace()
        .find(|word| word.starts_with("/results/"))
        .unwrap();
    let file = file.trim_end_matches(']');
    assert_eq!(ran.fields().get("artifacts"), None, "the marker names it");
    let code = format!("text = open({file:?}).read()\nreturn [len(text), text[:9], text[-8:]]");
    let ran = client.run(&code).await;
    assert_eq!(ran.result(), &json!([3_000_011, "begin\nxxx", "xxx\nend\n"]));

    // Standard error has a separate file.
    let ran = client
        .run("import sys\nsys.stderr.write('e' * 2_000_000)\nprint('o')")
        .await;
    assert_eq!(ran.stdout(), "o\n");
    let marker = ran
        .stderr()
        .lines()
        .find(|line| line.contains("bytes cut here"))
        .unwrap();
    assert!(marker.contains("/results/stderr"), "{marker}");
}

#[tokio::test]
async fn output_of_threads_and_subprocesses_arrives() {
    let mut client = CodeClient::with_stub().await;
    let code = "import subprocess, threading, sys\n\
                thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n\
                subprocess.run(['/bin/sh', '-c', 'echo child; echo oops >&2'], check=True)\n\
                print('last')";
    let ran = client.run(code).await;
    assert_eq!(
        (ran.stdout(), ran.stderr()),
        ("thread\nchild\nlast\n", "oops\n"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn an_output_limit_of_the_settings_binds() {
    let codeyard = Codeyard::new().unwrap().settings("[limits]\noutput = \"2 KiB\"");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("print('y' * 10_000)").await;
    assert!(
        ran.stdout().len() < 2200 && ran.stdout().contains("bytes cut here"),
        "{ran:?}"
    );
    assert_eq!(ran.status(), "completed");
}
