//! Removes codeyard from a client's file that changed since the installation, and restores the client's servers.

use serde_json::Value;

use super::step::{OURS, Refused, ReplacedServer, Step};
use super::{edited, http, installed};
use crate::client::{Client, Switch, TokenPlace};

/// A file without codeyard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The new text.
    pub text: String,
    /// Servers that were not restored, each with the reason.
    pub left: Vec<(String, String)>,
}

/// Removes our entry if it still equals `written`, and restores the replaced servers from `original`. All other text
/// stays unchanged.
///
/// # Errors
/// Our entry was changed, the file cannot be parsed, or an edit would change other parts of the file.
pub fn restore(
    client: Client,
    text: &str,
    original: &str,
    taken: &[ReplacedServer],
    written: &Value,
) -> Result<Restored, Refused> {
    let document = client.format().parse(text)?;
    let before = client.format().parse(original)?;
    match installed(client, &document) {
        Some(found) if found == written => {}
        Some(_) => {
            return Err(Refused::Differs(
                "its entry `codeyard` differs from the written entry".to_owned(),
            ));
        }
        None => {
            return Err(Refused::Differs(
                "it no longer has an entry `codeyard`".to_owned(),
            ));
        }
    }
    let own_list = vec![client.list().to_owned()];
    let mcp = vec!["mcp".to_owned()];
    let mut steps = vec![match installed(client, &before) {
        Some(earlier) => Step::Set(&own_list, OURS, earlier.clone()),
        None => Step::Remove(&own_list, OURS),
    }];
    let lists = |key: &str, name: &str| {
        let list = before["mcp"][key].as_array();
        list.is_some_and(|list| list.iter().any(|known| known == name))
    };
    let mut left = Vec::new();
    let inner: Vec<Vec<String>> = taken.iter().map(ReplacedServer::path).collect();
    for (taken, path) in taken.iter().zip(&inner) {
        let (now, then) = (at(&document, path), at(&before, path));
        let mut leave = |why: &str| left.push((taken.name.clone(), why.to_owned()));
        match (client.switch(), now, then) {
            (Switch::None, Some(_), _) => leave("the file has it again"),
            (Switch::None, None, Some(then)) => steps.push(Step::Set(&taken.list, &taken.name, then.clone())),
            (_, None, _) => leave("the file no longer has it"),
            (_, _, None) => leave("the original does not have it"),
            (Switch::Disabled, Some(now), Some(then)) => {
                steps.extend(switched_back(path, ("disabled", true), now, then));
            }
            (Switch::Enabled, Some(now), Some(then)) => {
                steps.extend(switched_back(path, ("enabled", false), now, then));
            }
            (Switch::Excluded, ..) if !lists("excluded", &taken.name) => {
                steps.push(Step::Drop(&mcp, "excluded", taken.name.as_str().into()));
            }
            (Switch::Excluded, ..) => {}
        }
    }
    if client.switch() == Switch::Excluded && document["mcp"]["allowed"].is_array() && !lists("allowed", OURS)
    {
        steps.push(Step::Drop(&mcp, "allowed", OURS.into()));
    }
    if client.token_place() == TokenPlace::Input {
        steps.extend(http::input_taken_back(&document, &before));
    }
    let text = edited(client.format(), text, document.clone(), steps)?;
    Ok(Restored { text, left })
}

fn at<'a>(document: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(document, |value, key| value.get(key))
}

/// The earlier switch of an entry, if the switch still has the value that we set.
fn switched_back<'a>(
    path: &'a [String],
    (key, set): (&'static str, bool),
    now: &Value,
    then: &Value,
) -> Option<Step<'a>> {
    if now.get(key) != Some(&Value::Bool(set)) {
        return None;
    }
    Some(match then.get(key) {
        Some(value) => Step::Set(path, key, value.clone()),
        None => Step::Remove(path, key),
    })
}
