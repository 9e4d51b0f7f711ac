//! Programs in TypeScript without namespaces, with the same tools, files, limits and confinement as Python.

use std::fs;

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Traces, descendants, wait_until};

use super::{BACKEND, check_completed, codeyard, is_root};
use crate::typescript::run;

async fn client(limits: &str) -> CodeClient {
    CodeClient::of(codeyard().settings(&format!("[limits]\n{limits}"))).await
}

async fn check(client: &mut CodeClient, code: &str, expected: Value) {
    check_completed(&run(client, code).await, code, &expected);
}

#[tokio::test]
async fn programs_in_typescript_call_tools_and_keep_their_state() {
    let mut client = client("").await;
    let client = &mut client;
    check(client, "let x: number = 6; x * 7", json!(42)).await;
    check(client, "x += 1; x", json!(7)).await;
    check(client, "await tools.stub.echo({message: 'up'})", json!("up")).await;
    let code = "const all = Array.from({length: 20}, (_, n) => tools.stub.echo({message: `${n}`}));\n(await Promise.all(all)).length";
    check(client, code, json!(20)).await;
    check(
        client,
        "import { echo } from '/tools/stub/echo.ts'; await echo({message: 'x'})",
        json!("x"),
    )
    .await;
    let ran = run(client, "const nothing: any = null; nothing.x").await;
    assert!(
        ran.error().contains("<program>:1") && ran.error().contains("TypeError"),
        "{ran:?}"
    );
    let ran = run(client, "await tools.stub.ecko({message: 'x'})").await;
    assert!(
        ran.error().contains("nothing has happened") && ran.error().contains("tools.stub.echo"),
        "{ran:?}"
    );
    // Also without `/proc`.
    check(
        client,
        "[process.memoryUsage().rss > 1e6, process.cpuUsage().user > 0]",
        json!([true, true]),
    )
    .await;
}

#[tokio::test]
async fn documented_paths_and_those_of_the_host_lead_to_the_same_files() {
    let mut client = client("").await;
    let client = &mut client;
    let code = "const fs = require('fs'), os = require('os');\n\
                fs.writeFileSync('a.txt', 'abc');\n\
                [fs.readFileSync('/workspace/a.txt', 'utf8'), process.cwd() === fs.realpathSync('/workspace'), \
                 process.cwd() !== '/workspace', fs.readdirSync(process.cwd())]";
    check(client, code, json!(["abc", true, true, ["a.txt"]])).await;
    let code = "for (const place of ['/scratch', '/tmp', '/home', '/results']) {\n\
                  await writeFile(`${place}/new/file`, place);\n\
                  const real = fs.realpathSync(`${place}/new/file`);\n\
                  if (real.startsWith('/results/') || await readFile(real) !== place) throw new Error(real);\n\
                }\n\
                [os.tmpdir() === fs.realpathSync('/tmp'), os.homedir() === fs.realpathSync('/home')]";
    check(client, code, json!([true, true])).await;
    let code = "process.chdir('/scratch/new'); fs.symlinkSync('/workspace/a.txt', 'link'); fs.copyFileSync('link', 'copy');\n\
                const copied = [fs.readFileSync('copy', 'utf8'), fs.readdirSync('/scratch/new')]; process.chdir('/workspace'); copied";
    check(client, code, json!(["abc", ["copy", "file", "link"]])).await;
    let code = "await writeFile('lib/one.ts', 'import { two } from \"/workspace/lib/two\"; export const one = two - 1');\n\
                await writeFile('lib/two.ts', 'export const two: number = 2');\n\
                (await import('./lib/one.ts')).one";
    check(client, code, json!(1)).await;
    let ran = run(
        client,
        "fs.writeFileSync('/results/r.txt', 'x'); fs.writeFileSync('b.txt', 'x')",
    )
    .await;
    assert!(
        ran.fields()["artifacts"].to_string().contains("\"r.txt\""),
        "{ran:?}"
    );
    // The files of tools appear in a session that began earlier, and are read-only.
    check(
        client,
        "fs.readdirSync('/tools/stub').includes('index.d.ts')",
        json!(true),
    )
    .await;
    for code in [
        "fs.writeFileSync('/tools/stub/index.d.ts', '')",
        "fs.readFileSync('/etc/passwd')",
        "fs.readdirSync('/proc/self')",
        "fs.readdirSync('/')",
        "fs.openSync('/usr/lib/os-release', 'r+')",
    ] {
        let ran = run(client, code).await;
        assert!(ran.error().contains("EACCES"), "{code}\n{ran:?}");
    }
    let ran = run(client, "fs.chmodSync('a.txt', 0o777)").await;
    assert!(ran.error().contains("EPERM"), "{ran:?}");
}

/// As root, each session has separate files, in each language.
#[tokio::test]
async fn an_ordinary_users_programs_in_both_languages_share_files() {
    let mut client = client("").await;
    let client = &mut client;
    run(
        client,
        "await writeFile('data.json', '[1, 2]'); await writeFile('/results/a.txt', 'a')",
    )
    .await;
    let python = "import json, os\n\
                  open(runtime.path('/workspace/b.txt'), 'w').write('b')\n\
                  [os.path.exists('data.json') and json.load(open('data.json')), os.path.exists(runtime.path('/results/a.txt'))]";
    let ran = client.run(python).await;
    let (seen, expected) = match is_root() {
        true => (json!([false, false]), json!(false)),
        false => (json!([[1, 2], true]), json!(true)),
    };
    assert_eq!(ran.result(), &seen, "{ran:?}");
    check(client, "require('fs').existsSync('/workspace/b.txt')", expected).await;
}

#[tokio::test]
async fn an_interrupted_session_keeps_its_variables_and_one_that_does_not_stop_is_killed() {
    let mut client = client("").await;
    let client = &mut client;
    check(client, "const kept = 'before'; kept", json!("before")).await;
    let interrupted = async |client: &mut CodeClient, code: &str| {
        let asked = json!({"code": code, "language": "typescript", "timeout_ms": 500});
        let ran = client.execute(asked).await;
        assert_eq!(ran.status(), "timed_out", "{code}\n{ran:?}");
        ran.fields()["session_state"] == "lost"
    };
    for code in [
        "while (true) {}",
        "/^(a+)+$/.test('a'.repeat(40) + '!')",
        "await tools.stub.slow({seconds: 60})",
        "setInterval(() => {}, 1); await new Promise((r) => setTimeout(r, 60_000))",
    ] {
        assert!(!interrupted(client, code).await, "{code}");
        check(client, "kept", json!("before")).await;
    }
    let jobs = "(function f() { Promise.resolve().then(f) })(); await new Promise(() => {})";
    assert!(interrupted(client, jobs).await);
    check(client, "typeof kept", json!("undefined")).await;
}

#[tokio::test]
async fn limits_bind_programs_in_typescript() {
    let mut client = client(
        "memory = \"192 MiB\"\noutput = \"64 KiB\"\nopen_files = 64\nfile_size = \"2 MiB\"\ndisk = \"8 MiB\"\ncpu_time = \"1s\"\nhost_calls = 30",
    )
    .await;
    let client = &mut client;
    for code in [
        "{ const all = []; while (true) all.push(new Array(100_000).fill(1.5)); }",
        "{ const all = []; while (true) all.push(Buffer.alloc(1_000_000)); }",
    ] {
        let ran = run(client, code).await;
        assert_eq!(
            (ran.status(), &ran.fields()["limit"]),
            ("limit_exceeded", &json!("memory")),
            "{code}\n{ran:?}"
        );
        assert_eq!(ran.fields()["session_state"], "kept", "{code}\n{ran:?}");
    }
    // In native code, too, the process gets only its own share.
    let code = "try { require('fs').readFileSync('/dev/zero') } catch (error) { return 'refused' }";
    check(client, code, json!("refused")).await;
    let ran = run(
        client,
        "for (let n = 0; n < 20_000; n++) console.log('a line of output')",
    )
    .await;
    assert!(ran.stdout().len() <= 64 * 1024 + 200, "{}", ran.stdout().len());
    let code = "const fs = require('fs'), open: number[] = [];\n\
                try { for (;;) open.push(fs.openSync('/dev/null', 'r')) } catch (error) { return error.code }\n\
                finally { open.forEach((file) => fs.closeSync(file)) }";
    check(client, code, json!("EMFILE")).await;
    let code =
        "try { fs.writeFileSync('/scratch/f', Buffer.alloc(3e6)) } catch (error) { return error.code }";
    check(client, code, json!("EFBIG")).await;
    let code = "try { for (;;) await tools.stub.add({a: 1, b: 1}) } catch (error) { return error.kind }";
    check(client, code, json!("limit")).await;
    let ran = run(client, "for (;;) {}").await;
    assert_eq!(ran.fields()["limit"], "cpu_time", "{ran:?}");
    check(client, "typeof fs", json!("object")).await;
    // An excess of a counted limit ends the session.
    let fill = "for (let n = 0; n < 30; n++) fs.writeFileSync(`/tmp/f${n}`, Buffer.alloc(1e6)); await new Promise((r) => setTimeout(r, 15_000))";
    let ran = run(client, fill).await;
    assert_eq!(
        (&ran.fields()["limit"], &ran.fields()["session_state"]),
        (&json!("disk"), &json!("lost")),
        "{ran:?}"
    );
    check(client, "1 + 1", json!(2)).await;
}

/// A program cannot start a process; one that breaks the engine meets the limit of a session's tasks.
#[tokio::test]
async fn a_session_is_one_process_that_stops_after_its_run_and_ends_with_codeyard() {
    let mut client = client("processes = 8").await;
    let left = "globalThis.ticks = 0; setInterval(() => ticks++, 1); 'left'";
    let ran = client
        .execute(json!({"code": left, "language": "typescript", "session": "left", "timeout_ms": 300}))
        .await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let pid = client.mcp.pid().unwrap();
    let guests: Vec<_> = descendants(pid)
        .into_iter()
        .filter(|process| process.command.contains("__typescript"))
        .collect();
    let states: Vec<char> = guests.iter().map(|process| process.state).collect();
    assert_eq!(states, ['T'], "{guests:?}");
    let limits = fs::read_to_string(format!("/proc/{}/limits", guests[0].pid)).unwrap();
    let of = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name));
        line.unwrap_or_default()
            .split_whitespace()
            .rev()
            .nth(2)
            .unwrap_or_default()
            .to_owned()
    };
    if is_root() {
        assert_eq!(of("Max processes"), "8", "{limits}");
    }
    assert_ne!(of("Max address space"), "unlimited", "{limits}");
    let status = fs::read_to_string(format!("/proc/{}/status", guests[0].pid)).unwrap();
    for wall in ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000"] {
        assert!(status.contains(wall), "{wall}: {status}");
    }
    client
        .start(json!({"code": "for (;;) {}", "language": "typescript", "session": "loop"}))
        .await;
    wait_until("the loop runs", || {
        let running = descendants(pid)
            .into_iter()
            .any(|process| process.command.contains("__typescript") && process.state == 'R');
        running.then_some(())
    })
    .await;
    let traces = Traces::of(pid);
    client.mcp.kill().unwrap();
    wait_until("every process is gone", || {
        traces.running().is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn sessions_in_typescript_do_not_reach_each_other() {
    let mut client = client("").await;
    let place = "await writeFile('/tmp/secret', 'x'); require('fs').realpathSync('/tmp/secret')";
    let ran = client
        .execute(json!({"code": place, "language": "typescript", "session": "first"}))
        .await;
    // Below `/usr/..`, no documented path means the session's own `/tmp` or `/home`.
    let secret = format!("/usr/..{}", ran.result().as_str().unwrap());
    let code = format!(
        "const fs = require('fs');\n\
         const attempt = (action) => {{ try {{ action(); return 'allowed' }} catch (error) {{ return error.code }} }};\n\
         [attempt(() => fs.readFileSync({secret:?})), attempt(() => fs.appendFileSync({secret:?}, 'y')), \
         attempt(() => fs.rmSync({secret:?}))]"
    );
    let ran = client
        .execute(json!({"code": code, "language": "typescript", "session": "second"}))
        .await;
    assert_eq!(ran.result(), &json!(["EACCES", "EACCES", "EACCES"]), "{ran:?}");
    let python = format!("open({secret:?})");
    let ran = client.run_in("third", &python).await;
    assert!(ran.error().contains("PermissionError"), "{ran:?}");
}

/// Only programs in Python need an interpreter of the machine.
#[tokio::test]
async fn programs_in_typescript_need_no_python() {
    let settings = format!("{BACKEND}[python]\npath = \"/nowhere/python3\"\n");
    let mut client = CodeClient::of(Codeyard::with_stub().unwrap().settings(&settings)).await;
    check(&mut client, "await tools.stub.echo({message: 'up'})", json!("up")).await;
    let ran = client.run("1").await;
    assert!(ran.shown().contains("no Python 3.10 or newer"), "{ran:?}");
}
