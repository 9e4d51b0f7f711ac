//! The programs of a soak, good and bad, and each program's expected end.

use anyhow::{Result, ensure};
use fastrand::Rng;
use serde_json::{Value, json};
use test_support::McpClient;

/// A kind of program with its weight.
struct Kind {
    name: &'static str,
    weight: u32,
    does: Does,
}

#[derive(Clone, Copy)]
enum Does {
    /// One of these programs in the client's session.
    Here(&'static [Case]),
    /// One of these in a new session.
    InNew(&'static [Case]),
    /// An endless program, cancelled after a while.
    Cancelled(&'static str),
}

/// A program and its expected status.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    code: &'static str,
    language: &'static str,
    timeout_ms: Option<u32>,
    status: &'static str,
}

#[derive(Debug, Clone)]
pub struct Plan {
    pub kind: &'static str,
    pub arguments: Value,
    /// The expected status, or the milliseconds until the request is cancelled.
    pub end: Result<&'static str, u64>,
}

const fn case(code: &'static str, status: &'static str) -> Case {
    Case {
        code,
        language: "python",
        timeout_ms: None,
        status,
    }
}

const fn typescript(code: &'static str, status: &'static str) -> Case {
    Case {
        language: "typescript",
        ..case(code, status)
    }
}

const fn shell(code: &'static str, status: &'static str) -> Case {
    Case {
        language: "shell",
        ..case(code, status)
    }
}

const fn timed(code: &'static str, timeout_ms: u32) -> Case {
    Case {
        timeout_ms: Some(timeout_ms),
        ..case(code, "timed_out")
    }
}

/// The memory limit is low so that programs reach it soon.
pub const SETTINGS: &str = "[limits]\nmemory = \"256 MiB\"\n";

const KINDS: [Kind; 14] = [
    Kind {
        name: "short",
        weight: 45,
        does: Does::Here(&[
            case("total = 1\nprint(total)\ntotal", "completed"),
            case("sum(range(1000))", "completed"),
            case("import json\njson.dumps({'a': [1, 2, 3]})", "completed"),
        ]),
    },
    Kind {
        name: "long",
        weight: 4,
        does: Does::Here(&[
            case("import time\ntime.sleep(0.3)", "completed"),
            case("sum(n * n for n in range(1_000_000))", "completed"),
        ]),
    },
    Kind {
        name: "failing",
        weight: 10,
        does: Does::Here(&[
            case("1 / 0", "failed"),
            case("def broken(:", "failed"),
            case("raise SystemExit(3)", "failed"),
            case("await tools.stub.add(a='x')", "failed"),
        ]),
    },
    Kind {
        name: "tool calls",
        weight: 18,
        does: Does::Here(&[
            case("await tools.stub.add(a=1, b=2)", "completed"),
            case(
                "import asyncio\nlen(await asyncio.gather(*(tools.stub.add(a=n, b=1) for n in range(20))))",
                "completed",
            ),
        ]),
    },
    Kind {
        name: "output floods",
        weight: 4,
        does: Does::Here(&[
            case("print('x' * 3_000_000)", "completed"),
            case("for n in range(100_000): print(n)", "completed"),
            case("import sys\nprint('x' * 2_000_000, file=sys.stderr)", "completed"),
        ]),
    },
    Kind {
        name: "new sessions",
        weight: 9,
        does: Does::InNew(&[
            case("open('/results/out.txt', 'w').write('x' * 1000)", "completed"),
            case(
                "import threading\nthreading.Thread(target=print).start()",
                "completed",
            ),
            case(
                "import subprocess\nsubprocess.Popen(['sleep', '1000']).pid",
                "completed",
            ),
            case(
                "import pandas\npandas.DataFrame({'a': range(100)}).a.sum()",
                "completed",
            ),
            case("open('/tmp/scratch', 'w').write('x' * 1_000_000)", "completed"),
        ]),
    },
    Kind {
        name: "timed out",
        weight: 3,
        does: Does::InNew(&[
            timed("import time\ntime.sleep(60)", 150),
            timed(
                "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
                100,
            ),
        ]),
    },
    Kind {
        name: "killed or out of memory",
        weight: 4,
        does: Does::InNew(&[
            case("import os\nos._exit(3)", "failed"),
            case("import ctypes\nctypes.string_at(0)", "failed"),
            case(
                "import os, signal\nif os.fork() == 0: signal.pause()\nos.kill(-1, signal.SIGKILL)",
                "completed",
            ),
            case(
                "held = []\nwhile True: held.append(bytearray(1 << 24))",
                "limit_exceeded",
            ),
        ]),
    },
    Kind {
        name: "TypeScript",
        weight: 24,
        does: Does::Here(&[
            typescript("const total: number = 1; console.log(total); total", "completed"),
            typescript("(await tools.stub.add({a: 1, b: 2})).sum", "completed"),
            typescript(
                "(await Promise.all(Array.from({length: 20}, (_, a) => tools.stub.add({a, b: 1})))).length",
                "completed",
            ),
            typescript(
                "await writeFile('/results/a.txt', 'x'.repeat(1000)); (await readFile('/results/a.txt')).length",
                "completed",
            ),
            typescript("console.log('x'.repeat(3_000_000))", "completed"),
            typescript("throw new Error('x')", "failed"),
            typescript("const = 1", "failed"),
            typescript("process.exit(3)", "failed"),
            typescript("await new Promise(() => {})", "failed"),
        ]),
    },
    Kind {
        name: "TypeScript in new sessions",
        weight: 6,
        does: Does::InNew(&[
            typescript("setInterval(() => {}, 1); Promise.resolve(1)", "completed"),
            typescript(
                "const all: any[] = []; while (true) all.push(new Array(100_000).fill(1.5));",
                "limit_exceeded",
            ),
            Case {
                timeout_ms: Some(150),
                ..typescript("while (true) {}", "timed_out")
            },
            Case {
                timeout_ms: Some(150),
                ..typescript(
                    "(function f() { Promise.resolve().then(f) })(); await new Promise(() => {})",
                    "timed_out",
                )
            },
        ]),
    },
    Kind {
        name: "shell",
        weight: 24,
        does: Does::Here(&[
            shell("total=$((total + 1)); echo $total", "completed"),
            shell("mcp call stub.add a=1 b=2", "completed"),
            shell(
                "for n in 1 2 3 4; do mcp call stub.add a=$n b=1 & done; wait",
                "completed",
            ),
            shell(
                "seq 1000 | sort -n | tail -1 > /results/a.txt; cat /results/a.txt",
                "completed",
            ),
            shell("head -c 3000000 /dev/zero | tr '\\0' x", "completed"),
            shell("sleep 60 & setsid sleep 60 &", "completed"),
            shell("exit 3", "failed"),
            shell("echo 'unclosed", "failed"),
            shell("exec true", "completed"),
            shell("kill -9 $$", "failed"),
        ]),
    },
    Kind {
        name: "shell in new sessions",
        weight: 6,
        does: Does::InNew(&[
            shell("echo fresh", "completed"),
            Case {
                timeout_ms: Some(150),
                ..shell("while :; do :; done", "timed_out")
            },
            Case {
                timeout_ms: Some(150),
                ..shell("trap '' INT TERM; sleep 60", "timed_out")
            },
            Case {
                timeout_ms: Some(150),
                ..shell("yes | cat", "timed_out")
            },
        ]),
    },
    Kind {
        name: "files between the languages",
        weight: 4,
        does: Does::Here(&[
            case("open('/workspace/shared.json', 'w').write('[1, 2]')", "completed"),
            typescript("await writeFile('/workspace/shared.json', '[3]'); 1", "completed"),
            typescript(
                "import('node:fs').then((fs) => fs.existsSync('/workspace/shared.json'))",
                "completed",
            ),
            case("import os\nos.path.exists('/workspace/shared.json')", "completed"),
            shell("echo '[4]' > shared.json; cat shared.json", "completed"),
        ]),
    },
    Kind {
        name: "cancelled",
        weight: 3,
        does: Does::Cancelled("import time\nwhile True: time.sleep(0.01)"),
    },
];

/// In the report's order.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}

/// The next request; it depends only on the generator.
pub fn next(rng: &mut Rng) -> Plan {
    let total: u32 = KINDS.iter().map(|kind| kind.weight).sum();
    let mut at = rng.u32(..total);
    for kind in &KINDS {
        if at < kind.weight {
            return kind.plan(rng);
        }
        at -= kind.weight;
    }
    KINDS[0].plan(rng)
}

/// The next request with a session of its own.
pub fn next_in_new_session(rng: &mut Rng) -> Plan {
    loop {
        let plan = next(rng);
        if plan.arguments["session"] == "new" {
            return plan;
        }
    }
}

impl Kind {
    fn plan(&self, rng: &mut Rng) -> Plan {
        let (mut arguments, end) = match self.does {
            Does::Here(cases) => {
                let case = cases[rng.usize(..cases.len())];
                (case.arguments(), Ok(case.status))
            }
            Does::InNew(cases) => {
                let case = cases[rng.usize(..cases.len())];
                let mut arguments = case.arguments();
                arguments["session"] = json!("new");
                (arguments, Ok(case.status))
            }
            Does::Cancelled(code) => (json!({"code": code}), Err(rng.u64(..60))),
        };
        if end.is_ok() && arguments["timeout_ms"].is_null() {
            // Long enough for a busy machine.
            arguments["timeout_ms"] = json!(60_000);
        }
        Plan {
            kind: self.name,
            arguments,
            end,
        }
    }
}

impl Case {
    pub fn arguments(&self) -> Value {
        let mut arguments = json!({"code": self.code, "language": self.language});
        if let Some(timeout) = self.timeout_ms {
            arguments["timeout_ms"] = json!(timeout);
        }
        arguments
    }
}

impl Plan {
    /// Returns the request's id.
    pub async fn start(&self, client: &mut McpClient) -> Result<Value> {
        let params = json!({"name": "execute_code", "arguments": self.arguments});
        client.start("tools/call", params).await
    }

    /// Describes an unexpected end of the program.
    pub fn check(&self, answer: &Value) -> Option<String> {
        let content = &answer["result"]["structuredContent"];
        let surprise = Some(content["status"].as_str().unwrap_or_default()) != self.end.ok();
        surprise.then(|| {
            let mut shown = format!("{content}{}", answer["error"]);
            shown.truncate(shown.floor_char_boundary(600));
            format!("{}: unexpected end of {}: {shown}", self.kind, self.arguments)
        })
    }
}

/// The program must complete; returns its structured content.
pub async fn run(client: &mut McpClient, arguments: Value) -> Result<Value> {
    let mut answer = client.call_tool("execute_code", arguments).await?;
    let content = answer["structuredContent"].take();
    ensure!(content["status"] == "completed", "{content}");
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_requests_and_every_kind_occurs() {
        let plans = |seed| {
            let mut rng = Rng::with_seed(seed);
            (0..500).map(|_| next(&mut rng)).collect::<Vec<_>>()
        };
        let shown = |plans: &[Plan]| {
            plans
                .iter()
                .map(|plan| plan.arguments.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(shown(&plans(7)), shown(&plans(7)));
        assert_ne!(shown(&plans(7)), shown(&plans(8)));
        let plans = plans(1);
        for kind in kinds() {
            assert!(plans.iter().any(|plan| plan.kind == kind), "no {kind}");
        }
    }
}
