//! Output and exit status of a command.

use serde_json::Value;

use crate::Codeyard;

/// A command that has ended.
#[derive(Debug)]
pub struct CommandOutput {
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// Its exit status; -1 if a signal ended it.
    pub code: i32,
}

/// Runs a command to its end; its output must be UTF-8.
pub async fn run(codeyard: &Codeyard, args: &[&str], input: &str) -> CommandOutput {
    let ended = async {
        let output = codeyard.run_with_input(args, input).await?;
        anyhow::Ok(CommandOutput {
            out: String::from_utf8(output.stdout)?,
            err: String::from_utf8(output.stderr)?,
            code: output.status.code().unwrap_or(-1),
        })
    };
    ended.await.unwrap_or_else(|error| panic!("{args:?}: {error:#}"))
}

impl CommandOutput {
    /// Its standard output, parsed as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
