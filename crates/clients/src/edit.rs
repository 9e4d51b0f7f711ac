//! Adds codeyard to a client's file and disables other servers; all other bytes stay the same.
//!
//! Parses every edited text again, compares it with the intended document, and fails on a difference.

mod entry;
mod http;
mod json;
mod restore;
mod step;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

use serde_json::Value;

use crate::client::{Client, Switch};
use crate::document::Format;
use step::Step;

pub use entry::data;
pub use http::TOKEN_VARIABLE;
pub use restore::{Restored, restore};
pub(crate) use step::OURS;
pub use step::{BearerToken, Change, HttpEntry, OwnEntry, ProcessEntry, Refused, ReplacedServer};

/// The changed text; the same text if there is nothing to change.
///
/// # Errors
/// The file cannot be parsed, cannot be changed in isolation, or has another server of our name.
pub fn change(client: Client, text: &str, wish: &Change) -> Result<String, Refused> {
    let document = client.format().parse(text)?;
    let own_list = vec![client.list().to_owned()];
    let mcp = vec!["mcp".to_owned()];
    let mut steps = Vec::new();
    let inner: Vec<Vec<String>> = wish.take.iter().map(ReplacedServer::path).collect();
    for (taken, path) in wish.take.iter().zip(&inner) {
        steps.push(match client.switch() {
            Switch::Disabled => Step::Set(path, "disabled", true.into()),
            Switch::Enabled => Step::Set(path, "enabled", false.into()),
            Switch::Excluded => Step::Append(&mcp, "excluded", taken.name.as_str().into()),
            Switch::None => Step::Remove(&taken.list, &taken.name),
        });
    }
    let there = installed(client, &document);
    let own = match &wish.entry {
        OwnEntry::Process(wish) => entry::entry(client, wish, there)?,
        OwnEntry::Http(wish) => {
            steps.extend(http::input(client, wish, &document));
            http::entry(client, wish, there)?
        }
    };
    steps.push(Step::Set(&own_list, OURS, own));
    if client.switch() == Switch::Excluded {
        if document["mcp"]["allowed"].is_array() {
            steps.push(Step::Append(&mcp, "allowed", OURS.into()));
        }
        if document["mcp"]["excluded"].is_array() {
            steps.push(Step::Drop(&mcp, "excluded", OURS.into()));
        }
    }
    edited(client.format(), text, document, steps)
}

/// Codeyard's current entry in a client's file.
pub fn installed(client: Client, document: &Value) -> Option<&Value> {
    document.get(client.list())?.get(OURS)
}

/// A new entry for a client.
pub fn fresh(client: Client, entry: &OwnEntry) -> Value {
    match entry {
        OwnEntry::Process(entry) => entry::fresh(client, entry),
        OwnEntry::Http(entry) => http::fresh(client, entry),
    }
}

/// Texts that codeyard itself writes into its entry: the command or the address. Excludes a person's additions, and
/// tokens.
pub fn own_texts(client: Client, entry: &Value) -> Vec<String> {
    let mut texts = entry::own_texts(client, entry);
    texts.extend(http::own_texts(client, entry));
    texts
}

/// Applies the steps to a text and checks that the result has the intended meaning.
fn edited(format: Format, text: &str, before: Value, mut steps: Vec<Step<'_>>) -> Result<String, Refused> {
    let mut expected = before.clone();
    let is_new = |step: &Step<'_>| step.apply(&mut expected).map_err(Refused::NotEditable);
    let is_changed = steps.iter().map(is_new).collect::<Result<Vec<bool>, Refused>>()?;
    let mut is_changed = is_changed.into_iter();
    steps.retain(|_| is_changed.next().unwrap_or(false));
    if expected == before {
        return Ok(text.to_owned());
    }
    let (mark, bare) = match text.strip_prefix('\u{feff}') {
        Some(bare) => ("\u{feff}", bare),
        None => ("", text),
    };
    let edited = match format {
        Format::Json => json::edit(bare, &steps)?,
        Format::Toml => toml::edit(bare, &steps)?,
        Format::Yaml => yaml::edit(bare, &steps)?,
    };
    match format.parse(&edited) {
        Ok(found) if found == expected => Ok(format!("{mark}{edited}")),
        _ => Err(Refused::new(
            "the file is written in a way that codeyard cannot change without touching other things",
        )),
    }
}
