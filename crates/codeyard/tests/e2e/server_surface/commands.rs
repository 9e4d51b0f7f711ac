//! Command lines of `ls`, `cat`, `grep`, `rg` and `jq` in `shell_exec`.

use std::time::{Duration, Instant};

use serde_json::json;
use test_support::{Codeyard, MetaTools, MetaToolsClient};

/// A client whose /scratch has some files.
async fn client() -> MetaToolsClient {
    let mut client = MetaToolsClient::with_stub().await;
    write_files(&mut client).await;
    client
}

/// Writes the files that the cases read.
pub async fn write_files(client: &mut impl MetaTools) {
    for (path, content) in [
        ("/scratch/a.txt", "first add\nsecond\n"),
        ("/scratch/d/b.json", "{\"n\": [1, 2, {\"é\": \"x\"}]}"),
        ("/scratch/.hidden", "add\n"),
        ("/scratch/bad.json", "{"),
    ] {
        let written = client
            .call("fs_write", json!({"path": path, "content": content}))
            .await;
        assert!(!written.is_error(), "{written:?}");
    }
}

#[tokio::test]
async fn commands_read_the_session_s_files() {
    let mut client = client().await;
    for (line, output) in [
        ("ls", "d/\na.txt\nbad.json\n"),
        ("ls -a", "d/\n.hidden\na.txt\nbad.json\n"),
        ("ls /", "results/\nscratch/\nskills/\ntools/\n"),
        ("cat a.txt", "first add\nsecond\n"),
        ("cat a.txt | grep add", "first add\n"),
        ("cat a.txt|grep second", "second\n"),
        ("jq '.n[2]' d/b.json", "{\"é\": \"x\"}\n"),
        ("cat d/b.json | jq '.n | length'", "3\n"),
        ("cat d/b.json | jq '.n[]' | grep 2", "2\n"),
    ] {
        client.check(line, output).await;
    }
}

#[tokio::test]
async fn c082_c083_grep_searches_the_tools() {
    c082_c083(&mut client().await).await;
}

pub async fn c082_c083(client: &mut impl MetaTools) {
    let found = client.run("grep -r add /tools --include='*.py' -l").await;
    assert!(
        found.output().lines().any(|line| line == "/tools/stub/add.py"),
        "{found:?}"
    );
    let none = client
        .check_error("grep zzzqq /tools/stub/add.py", "Command exited with status 1")
        .await;
    assert_eq!(none.output(), "");
}

#[tokio::test]
async fn c084_no_command_of_the_system_runs() {
    c084(&mut client().await).await;
}

pub async fn c084(client: &mut impl MetaTools) {
    for line in [
        "rm -rf /scratch",
        "curl http://127.0.0.1:18099",
        "ls; id",
        "ls $(id)",
        "ls `id`",
        "ls && id",
        "ls & id",
        "ls | id",
        "ls | sh -c id",
        "cat /tools/stub/add.py > /scratch/o",
        "cat < /etc/passwd",
        "cat a.txt | tee /scratch/o",
        "cat ../../etc/passwd",
        "cat /etc/passwd",
        "cat /scratch/../../etc/passwd",
        "grep -r root /etc",
        "jq -n 'input'",
        "jq 'env' d/b.json; id",
    ] {
        let result = client.run(line).await;
        assert!(result.is_error(), "{line}: {result:?}");
        for leaked in ["uid=", "root:"] {
            assert!(!result.output().contains(leaked), "{line}: {result:?}");
        }
    }
    client.check("ls", "d/\na.txt\nbad.json\n").await;
    for (line, error) in [
        ("ls | id", "EACCES: command 'id' is not permitted"),
        ("ls -l", "Unsupported ls option: -l"),
        ("grep", "grep: missing pattern"),
        ("rg --files", "Unsupported rg option: --files"),
        ("cat nothing", "EACCES: read denied for path: /scratch/nothing"),
        ("cat 'a", "No closing quotation"),
    ] {
        client.check_error(line, error).await;
    }
}

#[tokio::test]
async fn c085_a_catastrophic_expression_ends() {
    c085(&mut client().await).await;
}

pub async fn c085(client: &mut impl MetaTools) {
    let content = format!("{}!", "a".repeat(40));
    client
        .call("fs_write", json!({"path": "/scratch/a.txt", "content": content}))
        .await;
    let began = Instant::now();
    client
        .check_error("grep '(a+)+$' /scratch/a.txt", "Command exited with status 1")
        .await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    client.check_healthy().await;
}

#[tokio::test]
async fn c087_jq_has_the_original_s_errors() {
    c087(&mut client().await).await;
}

pub async fn c087(client: &mut impl MetaTools) {
    let long = format!("jq '{}' d/b.json", "1".repeat(1025));
    for (line, error) in [
        ("jq", "jq: missing filter"),
        ("jq '.['", "jq: invalid filter: "),
        ("jq . /scratch/bad.json", "jq: invalid JSON input: "),
        (&long, "jq: filter too long (max 1024 chars)"),
        ("jq '.n | keys | error' d/b.json", "jq: invalid filter: "),
        ("jq '\"x\" * 4000000000' d/b.json", "jq: "),
        // Values that only a separate process survives.
        ("jq 'def f: [., .] | f; f' d/b.json", "jq: "),
        ("jq 'reduce range(1000000) as $i (0; [.])' d/b.json", "jq: "),
        ("jq '[range(100000000)] | length' d/b.json", "jq: "),
    ] {
        let asked = json!({"code": line, "timeout_ms": 60_000});
        let result = client.call("shell_exec", asked).await;
        assert!(
            result.is_error() && result.error().starts_with(error),
            "{line}: {result:?}"
        );
    }
    client.check("jq .n[0] d/b.json", "1\n").await;
    client.check_healthy().await;
}

#[tokio::test]
async fn a_line_that_times_out_leaves_no_process() {
    let mut client = client().await;
    let asked = json!({"code": "jq 'last(repeat(1))' d/b.json", "timeout_ms": 700});
    let began = Instant::now();
    let result = client.call("shell_exec", asked).await;
    assert_eq!(result.error(), "Execution timed out after 700ms", "{result:?}");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let pid = client.mcp.pid().unwrap();
    let left = test_support::descendants(pid);
    assert!(
        left.iter().all(|process| !process.command.contains("__jq")),
        "{left:?}"
    );
}

#[tokio::test]
async fn c355_output_is_capped() {
    let codeyard = Codeyard::with_stub().unwrap().limit("memory=512MiB");
    let mut client = MetaToolsClient::of(codeyard).await;
    client
        .check("write_file('big.txt', ('x' * 1023 + '\\n') * 1024 * 11)", "")
        .await;
    let result = client.run("cat /scratch/big.txt").await;
    assert!(result.output().len() <= 10 << 20, "{}", result.output().len());
    assert_eq!(result.error(), "shell: output truncated (exceeds 10 MiB limit)");
}
