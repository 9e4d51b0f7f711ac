//! `codeyard trust`: shows what a project's file would run, and remembers that it was trusted.

use config::{Machine, Review, Stdio, Transport, TrustError};

use crate::cli::TrustArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Tone, harmless};

/// Trusts the file as it is now.
pub fn run(context: &Context, arguments: &TrustArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let review = config::review(&arguments.path, &Machine).map_err(failure)?;
    let output = &context.output;
    output.print(&shown(&review))?;
    config::accept(&review, &loaded.data_dir, &Machine).map_err(failure)?;
    let file = review.file.display();
    output.line(&output.paint(
        Tone::Good,
        &format!("{file} is trusted as long as its content stays the same"),
    ))?;
    Ok(Exit::Done)
}

fn failure(error: TrustError) -> Failure {
    let exit = match error {
        TrustError::Read { .. } | TrustError::Mistakes(_) => Exit::Usage,
        TrustError::Store { .. } | TrustError::Write { .. } => Exit::Broken,
    };
    Failure::new(exit, error)
}

/// Every command in full: nothing is cut, because a person decides by it.
fn shown(review: &Review) -> String {
    let mut out = format!("{} starts these servers:\n", review.file.display());
    for server in &review.servers {
        out.push_str(&format!("  {}\n", server.name));
        match &server.transport {
            Transport::Stdio(stdio) => show_command(&mut out, stdio),
            Transport::Http(http) => out.push_str(&format!("    at {}\n", http.url)),
        }
    }
    if review.servers.is_empty() {
        out.push_str("  none\n");
    }
    for warning in &review.warnings {
        out.push_str(&format!("warning: {warning}\n"));
    }
    harmless(&out)
}

fn show_command(out: &mut String, stdio: &Stdio) {
    out.push_str(&format!("    {}", quoted(&stdio.command)));
    for argument in &stdio.args {
        out.push(' ');
        out.push_str(&quoted(argument));
    }
    out.push('\n');
    for (name, value) in &stdio.env {
        out.push_str(&format!("    with {name}={}\n", quoted(value)));
    }
    if let Some(cwd) = &stdio.cwd {
        out.push_str(&format!("    in {}\n", quoted(&cwd.display().to_string())));
    }
}

/// As a shell would take it, so that one argument is told from two; what would move the cursor is spelled out.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,${}".contains(c);
    if text.chars().any(char::is_control) {
        format!("$'{}'", text.escape_debug())
    } else if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_argument_is_told_from_two() {
        assert_eq!(quoted("--port=80"), "--port=80");
        assert_eq!(quoted("${HOME}/bin"), "${HOME}/bin");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(quoted("a\n  fake"), "$'a\\n  fake'");
    }
}
