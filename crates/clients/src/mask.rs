//! A client's file as it may be shown: every text and number in it that could be a secret is hidden, its structure is not.

mod json;
mod shown;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

use crate::document::Format;
use shown::Mask;

/// The text, as lines that stand for its own, with every value that is a text or a number hidden but those that are `shown`.
/// Comments are hidden too where they hold more than words, or speak of a secret.
pub fn masked(format: Format, text: &str, shown: &[String]) -> String {
    let mask = Mask { shown };
    match format {
        Format::Json => json::masked(&mask, text),
        Format::Toml => toml::masked(&mask, text),
        Format::Yaml => yaml::masked(&mask, text),
    }
}
