//! The life of servers behind codeyard: environment, start, end, and messages.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{
    CodeClient, Codeyard, Era, ServerDefinition, codeyard_binary, descendants, is_gone, wait_until,
};

async fn with(definition: &ServerDefinition) -> CodeClient {
    CodeClient::of(Codeyard::new().unwrap().server("stub", definition)).await
}

#[tokio::test]
async fn a_server_sees_its_own_environment_and_little_else() {
    let definition = ServerDefinition::stub_with_extras().env("TOKEN", "tok-${GIVEN}-${ABSENT:-none}");
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &definition)
        .env("GIVEN", "given")
        .env("CANARY_ENV", "canary-7f3a")
        .env("AWS_SECRET_ACCESS_KEY", "canary-7f3a")
        .env("LD_PRELOAD_CANARY", "canary-7f3a");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("return await tools.stub.environment()").await;
    let seen = ran.result().as_object().unwrap();
    assert_eq!(seen["TOKEN"], "tok-given-none");
    assert!(seen.contains_key("PATH") && seen.contains_key("HOME"), "{seen:?}");
    let known = [
        "TOKEN",
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "TERM",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "XDG_RUNTIME_DIR",
    ];
    for name in seen.keys() {
        assert!(
            known.contains(&name.as_str()) || name.starts_with("LC_"),
            "{name} of {seen:?}"
        );
    }
}

#[tokio::test]
async fn a_server_runs_in_the_directory_of_its_definition() {
    let codeyard = Codeyard::new().unwrap();
    let directory = codeyard.directory().join("home").canonicalize().unwrap();
    let codeyard = codeyard.server("stub", &ServerDefinition::stub().cwd(&directory));
    let mut client = CodeClient::of(codeyard).await;
    let expected = format!("{}\n", directory.display());
    client.check("print(await tools.stub.cwd())", &expected).await;
}

#[tokio::test]
async fn servers_of_every_era_answer() {
    let mut codeyard = Codeyard::new().unwrap();
    for (name, era) in [
        ("old", Era::Old),
        ("legacy", Era::Legacy),
        ("modern", Era::Modern),
    ] {
        codeyard = codeyard.server(name, &ServerDefinition::stub().era(era));
    }
    let mut client = CodeClient::of(codeyard).await;
    let code = "return [(await tools[name].add(a=1, b=n)).sum for n, name in enumerate(('old', 'legacy', 'modern'))]";
    assert_eq!(client.run(code).await.result(), &json!([1, 2, 3]));
}

#[tokio::test]
async fn the_definition_s_time_out_binds_only_calls_without_progress() {
    let mut client = with(&ServerDefinition::stub_with_extras().timeout(1_500)).await;
    let code = "try:\n    await tools.stub.slow(seconds=60)\nexcept ToolError as e:\n    print(e.kind, e.retryable, e)";
    let ran = client.run(code).await;
    assert!(
        ran.stdout()
            .starts_with("timeout True server 'stub' did not answer the call of 'slow' within 15"),
        "{ran:?}"
    );
    client
        .check("print(await tools.stub.progress(times=10, every=250))", "done\n")
        .await;
}

#[tokio::test]
async fn an_abandoned_call_is_cancelled_at_the_server() {
    let mut client = with(&ServerDefinition::stub_with_extras()).await;
    client
        .check("print(len((await tools.stub.cancelled()).ids))", "0\n")
        .await;
    let ran = client
        .execute(json!({"code": "await tools.stub.slow(seconds=60)", "timeout_ms": 400}))
        .await;
    assert_eq!(ran.status(), "timed_out");
    // The notification preceded this call on the same pipe.
    client
        .check("print(len((await tools.stub.cancelled()).ids))", "1\n")
        .await;
    let code = "import asyncio\ntry:\n    await asyncio.wait_for(tools.stub.slow(seconds=60), 0.2)\nexcept asyncio.TimeoutError:\n    print('gave up')";
    client.check(code, "gave up\n").await;
    client
        .check("print(len((await tools.stub.cancelled()).ids))", "2\n")
        .await;
}

#[tokio::test]
async fn a_crash_fails_every_current_call_and_the_next_call_restarts_the_server() {
    let mut client = with(&ServerDefinition::stub()).await;
    let before = client.run("return (await tools.stub.pid()).pid").await;
    let crashed = Instant::now();
    let code = "import asyncio\n\
                async def crash():\n    await asyncio.sleep(0.2)\n    await tools.stub.crash()\n\
                results = await asyncio.gather(tools.stub.slow(seconds=60), tools.stub.slow(seconds=60), crash(), return_exceptions=True)\n\
                for e in results: print(e.kind, e.retryable, str(e).splitlines()[0])";
    let ran = client.run(code).await;
    assert!(
        crashed.elapsed() < Duration::from_secs(5),
        "{:?}",
        crashed.elapsed()
    );
    let line = |tool: &str| {
        format!(
            "upstream True server 'stub' ended during the call of '{tool}': was ended by SIGABRT; it wrote to stderr: stub: crash was called\n"
        )
    };
    assert_eq!(
        ran.stdout(),
        format!("{}{}{}", line("slow"), line("slow"), line("crash"))
    );
    let after = client.run("return (await tools.stub.pid()).pid").await;
    assert!(
        after.result().is_u64() && after.result() != before.result(),
        "{before:?} {after:?}"
    );
}

#[tokio::test]
async fn a_tool_added_later_can_be_called() {
    let mut client = with(&ServerDefinition::stub_with_extras()).await;
    let code = "before = {t['name'] for t in runtime.list_tools_sync('stub')}\nawait tools.stub.grow()\n\
                import time\nwhile not (new := {t['name'] for t in runtime.list_tools_sync('stub')} - before): time.sleep(0.02)\nprint(new)";
    client.check(code, "{'grown_1'}\n").await;
    client
        .check("print(await tools.stub.grown_1())", "grown_1\n")
        .await;
    assert!(
        client
            .run("import os; return os.listdir('/tools/stub')")
            .await
            .result()
            .to_string()
            .contains("echo.py")
    );
}

#[tokio::test]
async fn an_entry_that_would_start_codeyard_itself_is_left_out_with_a_warning() {
    let own = codeyard_binary();
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .server("me", &ServerDefinition::new(own.to_string_lossy(), &["mcp"]));
    let mut client = CodeClient::of(codeyard).await;
    client
        .check("print(await tools.stub.echo(message='fine'))", "fine\n")
        .await;
    let ran = client.run("await tools.me.execute_code(code='1')").await;
    assert!(ran.is_error() && ran.error().contains("me"), "{ran:?}");
    assert!(
        client
            .mcp
            .stderr()
            .contains("'me' is left out: its command would start codeyard itself"),
        "{}",
        client.mcp.stderr()
    );
    let own = own.file_name().unwrap().to_string_lossy().into_owned();
    let children = descendants(client.mcp.pid().unwrap());
    assert!(
        !children
            .iter()
            .any(|child| child.command.contains(&format!("{own} mcp"))),
        "{children:?}"
    );
}

#[tokio::test]
async fn secrets_of_a_definition_stay_out_of_messages() {
    let definition = ServerDefinition::stub_with_extras().env("TOKEN", "tok-123456789");
    let mut client = with(&definition).await;
    client
        .check(
            "print(await tools.stub.complain(text='bad token tok-123456789'))",
            "said\n",
        )
        .await;
    let ran = client.run("await tools.stub.crash()").await;
    assert!(ran.error().contains("bad token [hidden]"), "{ran:?}");
    let everything = format!("{ran:?}{}", client.mcp.stderr());
    assert!(!everything.contains("tok-123456789"), "{everything}");
}

#[tokio::test]
async fn servers_end_with_the_connection() {
    let mut client = with(&ServerDefinition::stub_with_extras()).await;
    let ran = client
        .run("return [(await tools.stub.pid()).pid, await tools.stub.spawn()]")
        .await;
    let pids: Vec<u32> = ran
        .result()
        .as_array()
        .unwrap()
        .iter()
        .map(|pid| u32::try_from(pid.as_u64().unwrap()).unwrap())
        .collect();
    assert!(pids.iter().all(|pid| !is_gone(*pid)), "{pids:?}");
    client.mcp.close_stdin();
    assert!(client.mcp.wait().await.unwrap().success());
    for pid in pids {
        wait_until("the server and its leftovers are gone", || {
            is_gone(pid).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_server_starts_once_however_many_call_it() {
    let mut client = with(&ServerDefinition::stub()).await;
    let code = "import asyncio\nreturn len({(await tools.stub.pid()).pid for _ in range(3)} | {r.pid for r in await asyncio.gather(*(tools.stub.pid() for _ in range(20)))})";
    let mut ids = Vec::new();
    for session in ["a", "b", "c"] {
        ids.push(
            client
                .start(json!({"code": code.replace("return len(", "return list("), "session": session}))
                .await,
        );
    }
    let mut pids: Vec<Value> = Vec::new();
    for id in &ids {
        pids.extend(client.ran(id).await.result().as_array().unwrap().clone());
    }
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
}
