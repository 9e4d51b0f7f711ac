//! The surface `bridge` against `code`: the same programs over the same pipes, alternating.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use test_support::ServerDefinition;

use super::clients::{execute, open};
use crate::figures::{Figure, Samples};
use crate::guests::SETTLE;
use crate::raw::Raw;
use crate::setting::Setting;

/// Time for the zygotes to start after the first answer.
const WARM: Duration = Duration::from_secs(2);
/// How much more a call of `run_python` may cost than one of `execute_code`, in microseconds.
const BEYOND: f64 = 100.0;
const CALLS: u32 = 40;
/// A realistic number of definition files.
const FILES: usize = 10;

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let stub = ServerDefinition::stub();
    let mut installation = setting.codeyard()?.server("stub", &stub);
    installation = installation.definition("stub.json", &[("stub", stub.clone())])?;
    for number in 1..FILES {
        installation = installation.definition(
            &format!("more-{number}.json"),
            &[(&format!("more-{number}"), stub.clone())],
        )?;
    }
    setting.placement.for_children()?;
    let mut code = open(&installation)?;
    let mut bridge = Raw::open(&mut installation.command(["mcp", "--surface", "bridge"])?.into_std())?;
    setting.placement.for_host()?;
    let program = json!({"code": "print(1 + 1)", "servers": ["stub"]});
    let plain = json!({"code": "print(1 + 1)"});
    let (through_code, through_bridge) = (calls("tools.stub"), calls("mcp_stub"));
    execute(&mut code, &through_code)?;
    run_python(&mut bridge, &through_bridge)?;
    tokio::time::sleep(WARM).await;
    let [
        mut live_code,
        mut live_bridge,
        mut call_code,
        mut call_bridge,
        mut fresh,
    ] = [(); 5].map(|()| Samples::default());
    for _ in 0..setting.samples {
        live_code.push(execute(&mut code, &plain)?);
        live_bridge.push(run_python(&mut bridge, &program)?);
    }
    for _ in 0..setting.samples.div_ceil(10).max(10) {
        let (alone_code, alone_bridge) = (execute(&mut code, &plain)?, run_python(&mut bridge, &program)?);
        call_code.push(execute(&mut code, &through_code)?.saturating_sub(alone_code) / CALLS);
        call_bridge.push(run_python(&mut bridge, &through_bridge)?.saturating_sub(alone_bridge) / CALLS);
    }
    for _ in 0..setting.samples {
        let ended = bridge.call("run_python", &json!({"code": "import os\nos._exit(0)"}));
        ensure!(ended.is_err(), "a program that ends its own process succeeded");
        tokio::time::sleep(SETTLE).await;
        fresh.push(run_python(&mut bridge, &program)?);
    }
    let place = setting.placement;
    let live_code = live_code.figure("execute_code in a live session, over MCP stdio", place);
    let live_bridge = live_bridge.figure_over("run_python in a live session, over MCP stdio", &live_code);
    let call_code = call_code.figure("awaited call of a tool from execute_code", place);
    let call_bridge = call_bridge.figure_over("the same from run_python", &call_code);
    let fresh = fresh.figure("run_python in a new session, over MCP stdio", place);
    let live_bridge = live_bridge.at_most_more(&live_code, BEYOND);
    Ok(vec![live_code, live_bridge, call_code, call_bridge, fresh])
}

fn calls(server: &str) -> Value {
    let code = format!("for n in range({CALLS}):\n    await {server}.echo(message='x')");
    match server {
        "mcp_stub" => json!({"code": code, "servers": ["stub"]}),
        _ => json!({"code": code}),
    }
}

/// The program must succeed.
fn run_python(client: &mut Raw, arguments: &Value) -> Result<Duration> {
    let (answer, took) = client.call("run_python", arguments)?;
    ensure!(answer["isError"] == false, "{answer}");
    Ok(took)
}
