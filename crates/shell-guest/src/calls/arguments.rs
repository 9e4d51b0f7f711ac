//! Reads the arguments of a call from its words.

use serde_json::{Map, Value};
use types::FoundArguments;

use super::scanner::Word;

/// The arguments, and the names of those given as words: the tool's schema decides a word's type.
pub fn arguments(given: &[&Word]) -> (FoundArguments, Vec<String>) {
    let mut arguments = Map::new();
    let mut unknown = Vec::new();
    let mut words = Vec::new();
    for word in given {
        let written = word.literal();
        if written.is_some_and(|text| text.trim_start().starts_with('{')) {
            let text = written.unwrap_or_default();
            match serde_json::from_str::<Map<String, Value>>(text) {
                Ok(object) => arguments.extend(object),
                Err(error) => {
                    let what = format!("text that is not JSON ({error})");
                    return (FoundArguments::Wrong(what), Vec::new());
                }
            }
            continue;
        }
        // The name may be in the part before the first expansion.
        let Some((name, value)) = word.start.split_once('=').filter(|(name, _)| is_name(name)) else {
            return match written {
                Some("-") | None => (FoundArguments::Unknown, Vec::new()),
                Some(_) => (FoundArguments::Wrong("other words".to_owned()), Vec::new()),
            };
        };
        if word.is_whole {
            arguments.insert(name.to_owned(), value.into());
            words.push(name.to_owned());
        } else {
            arguments.insert(name.to_owned(), Value::Null);
            unknown.push(vec![name.to_owned()]);
        }
    }
    let known = FoundArguments::Known {
        arguments,
        unknown,
        open: Vec::new(),
    };
    (known, words)
}

/// Whether the text before `=` is an argument's name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.$".contains(c))
}
