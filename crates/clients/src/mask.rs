//! Masks a client's file for display: hides texts and numbers that could be secrets, keeps the structure.

mod json;
mod shown;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

use crate::document::Format;
use shown::Mask;

/// The text for display. Hides every text and number that is not in `shown`. Hides comments that contain more than
/// plain words or mention a secret.
pub fn masked(format: Format, text: &str, shown: &[String]) -> String {
    let mask = Mask { shown };
    match format {
        Format::Json => json::masked(&mask, text),
        Format::Toml => toml::masked(&mask, text),
        Format::Yaml => yaml::masked(&mask, text),
    }
}
