//! Upstream MCP servers for tests, written without an MCP library so that each can break any rule
//! of the protocol.

mod amplify;
mod canned;
mod conformance;
mod hostile;
mod offers;
mod protocol;
mod replay;
mod stub;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
pub use protocol::Era;

const USAGE: &str = "usage: stub-server (stub [--extras] | canned FILE | conformance | hostile MODE | amplify SHAPE:BYTES | replay FILE [--page N]) [--era ERA]";

/// Runs the server that the arguments name until stdin closes.
pub fn main(args: impl Iterator<Item = String>) -> ExitCode {
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A library may not use `eprintln!`; a server reports errors on stderr.
            let _ =
                std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("stub-server: {error:#}\n"));
            ExitCode::FAILURE
        }
    }
}

fn serve(mut args: impl Iterator<Item = String>) -> Result<()> {
    let kind = args.next().context(USAGE)?;
    let operand = match kind.as_str() {
        "stub" | "conformance" => None,
        _ => Some(args.next().context(USAGE)?),
    };
    let mut options = Options::default();
    while let Some(option) = args.next() {
        match option.as_str() {
            "--extras" => options.extras = true,
            "--era" => options.era = args.next().context(USAGE)?.parse()?,
            "--page" => options.page = Some(args.next().context(USAGE)?.parse()?),
            _ => bail!("{USAGE}"),
        }
    }
    match (kind.as_str(), operand) {
        ("stub", None) => protocol::serve(options.era, &stub::Stub::new(options.extras)),
        ("conformance", None) => protocol::serve(options.era, &conformance::Conformance::default()),
        ("canned", Some(file)) => protocol::serve(options.era, &canned::Canned::read(&file)?),
        ("hostile", Some(mode)) => hostile::serve(&mode, options.era),
        ("amplify", Some(shape)) => protocol::serve(options.era, &amplify::Amplify::read(&shape)?),
        ("replay", Some(file)) => protocol::serve(options.era, &replay::Replay::read(&file, options.page)?),
        _ => bail!("{USAGE}"),
    }
}

#[derive(Default)]
struct Options {
    era: Era,
    extras: bool,
    page: Option<usize>,
}
