//! Parses filters such as `info` or `warn,upstream=debug`; unknown levels are errors.

use tracing_subscriber::filter::{LevelFilter, Targets};

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Level without a filter: only messages that need attention.
const DEFAULT: LevelFilter = LevelFilter::WARN;

/// The MCP library, which logs whole messages.
const PROTOCOL_LIBRARY: &str = "rmcp";

/// An invalid log filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{word}` in the log filter is not a level; did you mean `{nearest}`? Levels are off, error, warn, info, debug and trace, for one part of the program `part=level`"
)]
pub struct FilterError {
    /// The wrong part.
    pub word: String,
    /// The nearest level.
    pub nearest: &'static str,
}

pub(crate) fn parse(filter: Option<&str>) -> Result<Targets, FilterError> {
    let mut targets = Targets::new().with_default(DEFAULT);
    let mut library = LevelFilter::ERROR;
    for directive in filter.unwrap_or_default().split(',').map(str::trim) {
        match directive.split_once('=') {
            _ if directive.is_empty() => {}
            None => {
                let default = level(directive)?;
                library = library.min(default);
                targets = targets.with_default(default);
            }
            Some((PROTOCOL_LIBRARY, word)) => library = level(word)?,
            Some((part, word)) => targets = targets.with_target(part.trim(), level(word)?),
        }
    }
    Ok(targets.with_target(PROTOCOL_LIBRARY, library))
}

fn level(word: &str) -> Result<LevelFilter, FilterError> {
    let word = word.trim();
    let lower = word.to_ascii_lowercase();
    if LEVELS.contains(&lower.as_str())
        && let Ok(level) = lower.parse()
    {
        return Ok(level);
    }
    let nearest = LEVELS
        .into_iter()
        .min_by_key(|level| strsim::damerau_levenshtein(level, &lower))
        .unwrap_or("info");
    Err(FilterError {
        word: word.to_owned(),
        nearest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(filter: &str, word: &str, nearest: &str) {
        let error = parse(Some(filter)).unwrap_err();
        assert_eq!((error.word.as_str(), error.nearest), (word, nearest));
    }

    #[test]
    fn unknown_levels_are_refused() {
        refused("inof", "inof", "info");
        refused("info,upstream=degub", "degub", "debug");
        refused("info, upstream", "upstream", "trace");
        refused("upstream=", "", "off");
    }

    #[test]
    fn levels_ignore_case() {
        for filter in ["", "INFO", "Warn , upstream = debug", "off"] {
            assert!(parse(Some(filter)).is_ok(), "{filter}");
        }
    }
}
