//! TypeScript beside Python: one session's files, values and errors.

use serde_json::json;
use test_support::{Codeyard, MetaTools as _, MetaToolsClient};

#[tokio::test]
async fn c046_to_c050_typescript_prints_returns_and_throws() {
    let mut client = MetaToolsClient::with_stub().await;
    for (code, output, error) in [
        ("const x: number = 41; console.log('v', x+1);", "v 42\n", ""),
        ("return {a:1}", "{\"a\":1}\n", ""),
        ("console.log('x'); return [1, null]", "x\n[1,null]\n", ""),
        ("console.log({a:1}, [1,2])", "{ a: 1 } [ 1, 2 ]\n", ""),
        ("5", "", ""),
        ("console.error('e'); console.log('o')", "o\n", "e\n"),
        ("process.exit(4)", "", "Execution exited with status 4"),
        (
            "try { await fetch('http://127.0.0.1:9/'); console.log('LEAK'); } catch (e) { console.log('blocked'); }",
            "blocked\n",
            "",
        ),
    ] {
        let result = client.run_typescript(code).await;
        assert_eq!(
            (result.output(), result.error()),
            (output, error),
            "{code}\n{result:?}"
        );
        assert_eq!(result.is_error(), !error.is_empty());
    }
    let result = client.run_typescript("throw new Error(\"boom\")").await;
    assert!(result.is_error() && result.error().contains("boom"), "{result:?}");
}

#[tokio::test]
async fn both_languages_and_the_tools_see_the_same_files() {
    let mut client = MetaToolsClient::with_stub().await;
    client
        .check("write_file('/scratch/from_python.txt', 'snake')", "")
        .await;
    let code = "console.log(await readFile('/scratch/from_python.txt'));\n\
                await writeFile('/scratch/deep/from_typescript.txt', 'script')";
    let result = client.run_typescript(code).await;
    assert_eq!((result.output(), result.error()), ("snake\n", ""), "{result:?}");
    client
        .check("print(read_file('deep/from_typescript.txt'))", "script\n")
        .await;
    for (path, content) in [
        ("/scratch/from_python.txt", "snake"),
        ("/scratch/deep/from_typescript.txt", "script"),
    ] {
        let read = client.call("fs_read", json!({ "path": path })).await;
        assert_eq!(read.fields()["content"], content, "{read:?}");
    }
    let written = json!({"path": "/results/from_client.txt", "content": "client"});
    client.call("fs_write", written).await;
    client
        .check("print(read_file('/results/from_client.txt'))", "client\n")
        .await;
    client
        .check(
            "cat /results/from_client.txt /scratch/from_python.txt",
            "client\nsnake",
        )
        .await;
    let code = "console.log(await readFile('/results/from_client.txt'))";
    assert_eq!(client.run_typescript(code).await.output(), "client\n");
}

#[tokio::test]
async fn s0_32_the_settings_choose_the_usual_language() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[surface]\nlanguage = \"typescript\"\n");
    let mut client = MetaToolsClient::of(codeyard).await;
    client.check("const a: number = 1; console.log(a)", "1\n").await;
    let python = json!({"code": "print([n for n in (1,)])", "language": "python"});
    assert_eq!(client.call("shell_exec", python).await.output(), "[1]\n");
}
