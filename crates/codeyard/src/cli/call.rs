//! Arguments of `codeyard call`.

use clap::Args;

pub(super) const HELP: &str = "\
A VALUE is read by the tool's schema: a number, true or false, JSON for lists and objects,
else text. For a list, repeat NAME. `codeyard tools show SERVER.TOOL` shows the schema.

Examples:
  codeyard call time.get_current_time timezone=Asia/Tokyo
  codeyard call git.git_add repo_path=/srv/shop files=a.txt files=b.txt
  codeyard call crm.get_customer --json '{\"customer_id\": \"C-0042\"}'
  codeyard call crm.get_customer - < arguments.json
  codeyard call crm.list_customers --raw";

#[derive(Debug, Args)]
pub struct CallArguments {
    /// The tool
    #[arg(value_name = "SERVER.TOOL")]
    pub tool: String,
    /// Its arguments; or one JSON object, or `-` for a JSON object from standard input
    #[arg(value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// Its arguments as a JSON object; without one, the same as --raw
    #[arg(long, value_name = "JSON", num_args = 0..=1, default_missing_value = "", value_parser = object)]
    json: Option<String>,
    /// Print the server's answer with all its fields
    #[arg(long)]
    raw: bool,
}

impl CallArguments {
    pub fn prints_all(&self) -> bool {
        self.raw || self.json.as_deref() == Some("")
    }

    /// The JSON object after `--json`; `None` for a bare `--json`.
    pub fn object(&self) -> Option<&str> {
        self.json.as_deref().filter(|text| !text.is_empty())
    }
}

/// Checks the first character only; the parser reports later errors with their position.
fn object(text: &str) -> Result<String, String> {
    match text {
        "" | "-" => Ok(text.to_owned()),
        text if text.trim_start().starts_with(['{', '[']) => Ok(text.to_owned()),
        _ => Err("expected a JSON object, such as '{\"name\": \"ana\"}'; write --json last to print the whole answer".to_owned()),
    }
}
