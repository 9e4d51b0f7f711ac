//! TypeScript and bash beside Python: the same work over the same pipes, alternating.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use test_support::ServerDefinition;

use super::clients::{WARM, execute, open};
use crate::figures::{Figure, Samples, Unit};
use crate::processes;
use crate::setting::Setting;

const CALLS: u32 = 40;
/// Sessions whose memory is measured.
const SESSIONS: usize = 20;
/// Bytes that an idle session may be charged.
const MOST: f64 = 2e6;
/// Most microseconds for a bash command in a live session.
const LIVE_SHELL: f64 = 1_000.0;

/// 20,000 rows as JSON, 2 MB: read, filtered, summed.
const PYTHON_JSON: &str = "import json\n\
    rows = json.loads(text)\n\
    len([r for r in rows if r['status'] == 'late' and r['total'] > 50])";
pub const TYPESCRIPT_JSON: &str =
    "JSON.parse(text).filter((r: any) => r.status === 'late' && r.total > 50).length";
/// Creates `text` in either language.
const PYTHON_TEXT: &str = "import json\n\
    text = json.dumps([{'id': n, 'status': 'late' if n % 3 else 'sent', 'total': n % 100, 'note': 'x' * 50} for n in range(20000)])\n\
    len(text) > 0";
pub const TYPESCRIPT_TEXT: &str = "const text = JSON.stringify(Array.from({length: 20000}, (_, n) => \
    ({id: n, status: n % 3 ? 'late' : 'sent', total: n % 100, note: 'x'.repeat(50)}))); text.length > 0";

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let installation = setting.codeyard()?.server("stub", &ServerDefinition::stub());
    setting.placement.for_children()?;
    let mut client = open(&installation)?;
    setting.placement.for_host()?;
    let (python_calls, typescript_calls) = (
        python(&format!(
            "for n in range({CALLS}):\n    await tools.stub.echo(message='x')"
        )),
        typescript(&format!(
            "for (let n = 0; n < {CALLS}; n++) await tools.stub.echo({{message: 'x'}});"
        )),
    );
    for program in [
        &python_calls,
        &typescript_calls,
        &python(PYTHON_TEXT),
        &typescript(TYPESCRIPT_TEXT),
        &shell("echo warm"),
    ] {
        execute(&mut client, program)?;
    }
    tokio::time::sleep(WARM).await;
    let mut samples = [(); 10].map(|()| Samples::default());
    let [
        new_p,
        new_t,
        new_s,
        live_p,
        live_t,
        live_s,
        call_p,
        call_t,
        json_p,
        json_t,
    ] = &mut samples;
    for _ in 0..setting.samples {
        live_p.push(execute(&mut client, &python("1 + 1"))?);
        live_t.push(execute(&mut client, &typescript("1 + 1"))?);
        live_s.push(execute(&mut client, &shell("echo $((1 + 1))"))?);
    }
    for _ in 0..setting.samples.div_ceil(10).max(10) {
        let alone = [
            execute(&mut client, &python("1 + 1"))?,
            execute(&mut client, &typescript("1 + 1"))?,
        ];
        call_p.push(execute(&mut client, &python_calls)?.saturating_sub(alone[0]) / CALLS);
        call_t.push(execute(&mut client, &typescript_calls)?.saturating_sub(alone[1]) / CALLS);
        json_p.push(execute(&mut client, &python(PYTHON_JSON))?);
        json_t.push(execute(&mut client, &typescript(TYPESCRIPT_JSON))?);
    }
    for _ in 0..setting.samples.min(200) {
        // Pauses like a model between its requests, so that the pool has a session ready.
        tokio::time::sleep(Duration::from_millis(30)).await;
        new_p.push(execute(&mut client, &in_new(python("1 + 1")))?);
        tokio::time::sleep(Duration::from_millis(30)).await;
        new_t.push(execute(&mut client, &in_new(typescript("1 + 1")))?);
        tokio::time::sleep(Duration::from_millis(30)).await;
        new_s.push(execute(&mut client, &in_new(shell("echo $((1 + 1))")))?);
    }
    let place = setting.placement;
    let [
        new_p,
        new_t,
        new_s,
        live_p,
        live_t,
        live_s,
        call_p,
        call_t,
        json_p,
        json_t,
    ] = samples;
    let new_p = new_p.figure("Python in a new session, over MCP stdio", place);
    let live_p = live_p.figure("Python in a live session, over MCP stdio", place);
    let call_p = call_p.figure("awaited call of a tool from Python", place);
    let json_p = json_p.figure("2 MB of JSON read and filtered in Python", place);
    let new_t = new_t
        .figure("TypeScript in a new session, over MCP stdio", place)
        .beside(&new_p);
    let live_t = live_t
        .figure("TypeScript in a live session, over MCP stdio", place)
        .beside(&live_p)
        .at_most_times(1.2);
    let call_t = call_t
        .figure("awaited call of a tool from TypeScript", place)
        .beside(&call_p)
        .at_most_times(1.2);
    let json_t = json_t
        .figure("2 MB of JSON read and filtered in TypeScript", place)
        .beside(&json_p);
    let new_s = new_s
        .figure("shell in a new session, over MCP stdio", place)
        .beside(&new_p);
    let live_s = live_s
        .figure("shell in a live session, over MCP stdio", place)
        .beside(&live_p)
        .at_most(LIVE_SHELL);
    Ok(vec![
        new_p, new_t, new_s, live_p, live_t, live_s, call_p, call_t, json_p, json_t,
    ])
}

/// Memory of idle sessions.
pub async fn memory(setting: &Setting) -> Result<Vec<Figure>> {
    let installation = setting
        .codeyard()?
        .settings("[pool]\nsize = 0\n[sessions]\nmax = 64\n");
    let mut client = open(&installation)?;
    let own = client.pid();
    let before = processes::charged_to_sessions(own).len();
    for number in 0..SESSIONS {
        let mut program = typescript("const kept = [1, 2, 3].map((n) => ({ n })); kept.length");
        program["session"] = json!(format!("memory-{number}"));
        execute(&mut client, &program)?;
    }
    let mut charged = Samples::default();
    for bytes in processes::charged_to_sessions(own).into_iter().skip(before) {
        charged.push_number(bytes);
    }
    if charged.is_empty() {
        return Ok(Vec::new());
    }
    let name = "idle session, TypeScript: charged to its control group";
    let charged = charged.figure_in(Unit::Bytes, name, setting.placement);
    ensure!(
        charged.samples >= SESSIONS,
        "only {} sessions have a group",
        charged.samples
    );
    Ok(vec![charged.at_most(MOST)])
}

fn python(code: &str) -> Value {
    json!({"code": code})
}

fn shell(code: &str) -> Value {
    json!({"code": code, "language": "shell"})
}

pub fn typescript(code: &str) -> Value {
    json!({"code": code, "language": "typescript"})
}

pub fn in_new(mut program: Value) -> Value {
    program["session"] = json!("new");
    program
}
