//! A codeyard that receives untrusted input while another of its sessions makes short runs.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use test_support::amplify::Shape;
use test_support::{Codeyard, ServerDefinition, peak_memory};

use crate::parts::clients::{execute, open};
use crate::processes::resident_memory;
use crate::raw::Raw;
use crate::setting::Setting;

const SHAPES: &str = include_str!("shapes.py");
const WARM: usize = 20;
/// Bytes of earlier input that a host may retain before it is replaced.
const LEFT: f64 = 2.0 * 1024.0 * 1024.0;
/// Longest time for one input.
const PATIENCE: Duration = Duration::from_secs(90);

/// The parameters of a call of `execute_code`, as JSON text.
pub struct Request(String);

/// A codeyard with one upstream server and a second session that detects delays.
pub struct Host {
    _directories: Codeyard,
    client: Raw,
    /// Resident bytes before any input.
    idle: f64,
}

// === impl Request ===

impl Request {
    /// A program that ends with these lines; they can use `shape`, `size` and `make`.
    pub fn guest(lines: &str, shape: Shape, bytes: usize) -> Self {
        Self::code(&format!(
            "{SHAPES}\nshape, size = {:?}, {bytes}\n{lines}",
            shape.name()
        ))
    }

    /// A program whose source has the shape. It raises before it does anything.
    pub fn program(shape: Shape, bytes: usize) -> Self {
        let repeated = |item: &str| item.repeat(bytes / item.len());
        let nested = format!("{}0{},", "[".repeat(60), "]".repeat(60));
        Self::code(&match shape {
            Shape::Wide => format!("1 / 0\nx = [{}]", repeated("0,")),
            Shape::Members => format!("1 / 0\nx = {{{}}}", repeated("1:0,")),
            Shape::Deep => format!("1 / 0\nx = [{}]", repeated(&nested)),
            Shape::Duplicated => format!("1 / 0\n{}", repeated("a=0\n")),
            Shape::LongKeys => {
                let name = "k".repeat(16 * 1024);
                format!("1 / 0\n{}", repeated(&format!("{name} = 0\n")))
            }
            Shape::Escapes => format!("1 / 0\nx = '{}'", repeated("\\x41")),
            Shape::Fanned => format!("1 / 0\n{}", repeated("await tools.amplify.take(a=1)\n")),
        })
    }

    /// A call with one unknown argument of this shape.
    pub fn line(shape: Shape, bytes: usize) -> Self {
        let more = shape.json(bytes);
        Self(format!(
            "{{\"name\":\"execute_code\",\"arguments\":{{\"code\":\"1\",\"session\":\"new\",\"more\":{more}}}}}"
        ))
    }

    fn code(code: &str) -> Self {
        let arguments = json!({"code": code, "session": "new"});
        Self(json!({"name": "execute_code", "arguments": arguments}).to_string())
    }
}

// === impl Host ===

impl Host {
    /// Starts codeyard; with `is_listed`, codeyard lists the server's tools before the measurement.
    pub fn start(setting: &Setting, shape: Shape, bytes: usize, is_listed: bool) -> Result<Self> {
        let server = ServerDefinition::amplify(shape, bytes);
        let codeyard = setting.codeyard()?.server("amplify", &server);
        let mut client = open(&codeyard)?;
        if is_listed {
            execute(
                &mut client,
                &json!({"code": "await tools.amplify.take(value=1)", "session": "new"}),
            )?;
        }
        for _ in 0..WARM {
            execute(&mut client, &short())?;
        }
        let idle = resident_memory(client.pid());
        Ok(Self {
            _directories: codeyard,
            client,
            idle,
        })
    }

    /// Whether little memory of earlier input remains.
    pub fn is_at_rest(&self) -> bool {
        resident_memory(self.client.pid()) < self.idle + LEFT
    }

    /// The process's peak growth in bytes during the request, and the longest short run meanwhile.
    pub fn cost(&mut self, request: &Request) -> Result<(f64, f64)> {
        let pid = self.client.pid();
        // Resets the peak to the current memory.
        fs::write(format!("/proc/{pid}/clear_refs"), "5").context("reset the peak of memory")?;
        let before = resident_memory(pid);
        let begun = Instant::now();
        let call = self.client.start_text("tools/call", &request.0)?;
        let mut longest = Duration::ZERO;
        loop {
            longest = longest.max(execute(&mut self.client, &short())?);
            if self.client.is_answered(call) {
                break;
            }
            ensure!(begun.elapsed() < PATIENCE, "no answer within {PATIENCE:?}");
        }
        let peak = peak_memory(pid).context("the process has ended")?;
        #[expect(clippy::cast_precision_loss, reason = "memory of one process")]
        let growth = (peak as f64 * 1024.0 - before).max(0.0);
        Ok((growth, longest.as_secs_f64() * 1e6))
    }
}

fn short() -> Value {
    json!({"code": "1", "session": "beside"})
}
