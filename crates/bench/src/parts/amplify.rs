//! The cost of untrusted input of every shape: the host's memory, and the delay of another session.

mod files;
mod host;

use anyhow::Result;
use test_support::amplify::Shape;

use crate::figures::{Input, Report};
use crate::setting::Setting;
use host::{Host, Request};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Bytes of memory that any input may cost beyond a multiple of its size.
const ALLOWANCE: f64 = 8.0 * 1024.0 * 1024.0;
/// Bytes of memory for each byte of input.
const FACTOR: f64 = 4.0;
/// As [`FACTOR`], for a parser that must build a tree.
const TREE_FACTOR: f64 = 32.0;
/// Attempts at one case, because other programs disturb the measurement.
const TRIES: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parser {
    Arguments,
    Result,
    Program,
    ClientLine,
    ToolResult,
    Schema,
}

const PARSERS: [Parser; 6] = [
    Parser::Arguments,
    Parser::Result,
    Parser::Program,
    Parser::ClientLine,
    Parser::ToolResult,
    Parser::Schema,
];

// === impl Parser ===

impl Parser {
    fn name(self) -> &'static str {
        match self {
            Parser::Arguments => "arguments of a host call",
            Parser::Result => "result of a program",
            Parser::Program => "program",
            Parser::ClientLine => "line of a client",
            Parser::ToolResult => "result of a tool",
            Parser::Schema => "definition in tools/list",
        }
    }

    /// The largest size is at or above the accepted maximum.
    fn sizes(self) -> &'static [usize] {
        match self {
            Parser::Program => &[250 * KIB, MIB, 2 * MIB],
            _ => &[256 * KIB, MIB, 8 * MIB],
        }
    }

    fn factor(self) -> f64 {
        match self {
            Parser::Program | Parser::Schema => TREE_FACTOR,
            _ => FACTOR,
        }
    }

    fn request(self, shape: Shape, bytes: usize) -> Request {
        match self {
            Parser::Arguments => {
                Request::guest("await tools.amplify.take(value=make(shape, size))", shape, bytes)
            }
            Parser::Result => Request::guest("make(shape, size)", shape, bytes),
            Parser::ToolResult => Request::guest(
                "await tools.amplify.give(shape=shape, bytes=size)\nNone",
                shape,
                bytes,
            ),
            Parser::Schema => Request::guest("await tools.amplify.shaped(a=1)\nNone", shape, bytes),
            Parser::Program => Request::program(shape, bytes),
            Parser::ClientLine => Request::line(shape, bytes),
        }
    }
}

pub async fn measure(setting: &Setting) -> Result<Report> {
    let mut inputs = files::measure(setting)?;
    for parser in PARSERS {
        let mut host = None;
        for shape in Shape::ALL {
            for bytes in parser.sizes() {
                let input = case(setting, &mut host, parser, shape, *bytes)?;
                eprintln!("    {}", input.line());
                inputs.push(input);
            }
        }
    }
    Ok(Report {
        inputs,
        ..Report::default()
    })
}

/// Measures one input; repeats if the cost seems too high. Replaces a host that still holds memory
/// of an earlier case.
fn case(
    setting: &Setting,
    host: &mut Option<Host>,
    parser: Parser,
    shape: Shape,
    bytes: usize,
) -> Result<Input> {
    let mut least: Option<Input> = None;
    for _ in 0..TRIES {
        let listed = if parser == Parser::Schema { bytes } else { 0 };
        let fresh = || Host::start(setting, shape, listed, parser != Parser::Schema);
        let mut used = match host
            .take()
            .filter(|host| parser != Parser::Schema && host.is_at_rest())
        {
            Some(used) => used,
            None => fresh()?,
        };
        let (growth, delay) = used.cost(&parser.request(shape, bytes))?;
        *host = Some(used);
        let input = Input {
            parser: parser.name().to_owned(),
            shape: shape.name().to_owned(),
            bytes,
            growth: growth.min(least.as_ref().map_or(f64::INFINITY, |least| least.growth)),
            bound: bound(parser.factor(), bytes),
            delay: Some(delay.min(least.and_then(|least| least.delay).unwrap_or(f64::INFINITY))),
        };
        if input.is_met() {
            return Ok(input);
        }
        least = Some(input);
    }
    least.ok_or_else(|| anyhow::anyhow!("nothing was measured"))
}

#[expect(clippy::cast_precision_loss, reason = "sizes are small")]
fn bound(factor: f64, bytes: usize) -> f64 {
    factor * bytes as f64 + ALLOWANCE
}
