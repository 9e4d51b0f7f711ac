//! `[gateway.traces]`: where spans of runs and calls are sent.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use ::sinks::{OtlpTarget, TRACES};
use environment::Diagnostics;

use super::table::{Value, unknown};

const KEYS: [&str; 4] = ["otlp", "headers_file", "share", "user"];

/// Of traces that begin here.
const SHARE: RangeInclusive<f64> = 0.0..=1.0;

const FIELD: &str = "gateway.traces";

/// `[gateway.traces]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Traces {
    /// The collector.
    pub target: OtlpTarget,
    /// Share of traces to record, of those whose clients do not decide.
    pub share: f64,
    /// How spans name the user.
    pub user: UserAttribute,
}

/// How spans name the user of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UserAttribute {
    /// `user.email`.
    #[default]
    Email,
    /// `user.hash`: SHA-256 of tenant and user.
    Hash,
    /// Not at all.
    Omitted,
}

/// `None` after a mistake.
pub(super) fn read(value: &Value<'_>, directory: &Path, diagnostics: &mut Diagnostics) -> Option<Traces> {
    let Some(table) = value.table() else {
        diagnostics.mistake(FIELD, "write a section of its own, headed `[gateway.traces]`");
        return None;
    };
    let (mut target, mut headers_file): (Option<OtlpTarget>, Option<PathBuf>) = (None, None);
    let (mut share, mut user) = (*SHARE.end(), UserAttribute::default());
    let before = diagnostics.mistakes.len();
    for (key, value) in table.entries() {
        let read = match key {
            "otlp" => value
                .string()
                .and_then(|text| OtlpTarget::read(text, TRACES))
                .map(|read| target = Some(read)),
            "headers_file" => value
                .string()
                .map(|text| headers_file = Some(directory.join(text))),
            "share" => value.share(SHARE).map(|read| share = read),
            "user" => value
                .one_of([
                    ("email", UserAttribute::Email),
                    ("hash", UserAttribute::Hash),
                    ("none", UserAttribute::Omitted),
                ])
                .map(|read| user = read),
            _ => Err(unknown("key", key, KEYS)),
        };
        if let Err(message) = read {
            diagnostics.mistake(&format!("{FIELD}.{key}"), message);
        }
    }
    if diagnostics.mistakes.len() > before {
        return None;
    }
    let Some(target) = target else {
        diagnostics.mistake(FIELD, "`otlp` is missing; write otlp = \"http://HOST:4318\"");
        return None;
    };
    let target = OtlpTarget {
        headers_file,
        ..target
    };
    if target.exposes_headers() {
        let message = "the headers would cross the network without encryption; write https://";
        diagnostics.mistake(&format!("{FIELD}.otlp"), message);
        return None;
    }
    Some(Traces { target, share, user })
}
