//! `codeyard trust`: shows the commands in a project's file, and records the person's trust.

use environment::{Machine, StateError};
use registry::Review;

use super::servers::definition_text::{Literals, start};
use crate::cli::TrustArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Tone, harmless, one_line};

/// Trusts the file's present contents only.
pub fn run(context: &Context, arguments: &TrustArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let review = registry::review(&arguments.path, &Machine);
    let review = review.map_err(|error| Failure::new(Exit::Usage, error))?;
    let output = &context.output;
    output.print(&review_text(&review))?;
    let broken = |error: StateError| Failure::new(Exit::Broken, error);
    let lock = environment::ChangeLock::acquire(&loaded.data_dir, &Machine).map_err(broken)?;
    review.trust(&lock).map_err(broken)?;
    let file = review.file.display();
    output.line(&output.paint(
        Tone::Good,
        &harmless(&format!(
            "{file} is trusted until its content changes; the trust covers the file, not the programs that the file starts"
        )),
    ))?;
    Ok(Exit::Done)
}

/// Every command in full, because the person decides by this text.
fn review_text(review: &Review) -> String {
    let mut out = format!(
        "{} starts these servers:\n",
        one_line(&review.file.display().to_string())
    );
    for server in &review.servers {
        out.push_str(&format!("  {}\n", one_line(&server.name)));
        out.push_str(&start(server, Literals::Hidden));
    }
    if review.servers.is_empty() {
        out.push_str("  none\n");
    }
    for warning in &review.warnings {
        out.push_str(&format!("warning: {}\n", one_line(&warning.to_string())));
    }
    harmless(&out)
}
