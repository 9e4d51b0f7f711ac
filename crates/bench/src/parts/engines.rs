//! Node and Deno in a session beside the same program on the bare machine, and beside QuickJS.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use test_support::Codeyard;

use super::clients::{execute, open};
use super::typescript::{TYPESCRIPT_JSON, TYPESCRIPT_TEXT, in_new, typescript};
use crate::figures::{Figure, Samples};
use crate::raw::Raw;
use crate::setting::Setting;

/// Time for the next session to be ready, as between two requests of a model.
const PAUSE: Duration = Duration::from_millis(400);
/// Time for the pool to be filled after the first answer.
const WARM: Duration = Duration::from_secs(3);
/// Starts of a bare engine take long.
const MOST_STARTS: usize = 40;

/// An engine with the bare program that users would start instead.
struct Engine {
    name: &'static str,
    bare: Option<&'static [&'static str]>,
}

const ENGINES: [Engine; 3] = [
    Engine {
        name: "quickjs",
        bare: None,
    },
    Engine {
        name: "node",
        bare: Some(&["node", "-e", "console.log(1 + 1)"]),
    },
    Engine {
        name: "deno",
        bare: Some(&["deno", "eval", "console.log(1 + 1)"]),
    },
];

pub async fn measure(setting: &Setting) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for engine in &ENGINES {
        let installation = Codeyard::new()?.settings(&format!("[typescript]\nengine = \"{}\"", engine.name));
        let synced = installation.run(["typescript", "sync"]).await?;
        ensure!(
            synced.status.success(),
            "{}",
            String::from_utf8_lossy(&synced.stderr)
        );
        let mut client = open(&installation)?;
        figures.extend(of(engine, &mut client, setting).await?);
    }
    Ok(figures)
}

async fn of(engine: &Engine, client: &mut Raw, setting: &Setting) -> Result<Vec<Figure>> {
    let one = typescript("console.log(1 + 1)");
    execute(client, &typescript(TYPESCRIPT_TEXT))?;
    tokio::time::sleep(WARM).await;
    let [mut fresh, mut live, mut json, mut bare] = [(); 4].map(|()| Samples::default());
    for _ in 0..setting.samples.min(MOST_STARTS) {
        tokio::time::sleep(PAUSE).await;
        fresh.push(execute(client, &in_new(one.clone()))?);
        live.push(execute(client, &one)?);
        json.push(execute(client, &typescript(TYPESCRIPT_JSON))?);
        if let Some([program, arguments @ ..]) = engine.bare
            && let Some(took) = start(program, arguments)
        {
            bare.push(took);
        }
    }
    let (name, place) = (engine.name, setting.placement);
    let mut fresh = fresh.figure(&format!("{name}: new session, over MCP stdio"), place);
    let mut figures = Vec::new();
    if !bare.is_empty() {
        let bare = bare.figure(&format!("{name}: the bare program, without a wall"), place);
        fresh = fresh.beside(&bare);
        figures.push(bare);
    }
    figures.extend([
        fresh,
        live.figure(&format!("{name}: live run, over MCP stdio"), place),
        json.figure(&format!("{name}: 2 MB of JSON read and filtered"), place),
    ]);
    Ok(figures)
}

/// Starts a program and waits for its end; `None` where it is not installed.
fn start(program: &str, arguments: &[&str]) -> Option<Duration> {
    let started = Instant::now();
    let ended = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .status();
    ended
        .ok()
        .filter(std::process::ExitStatus::success)
        .map(|_| started.elapsed())
}
