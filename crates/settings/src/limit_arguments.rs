//! `--limit NAME=VALUE`: limits of the command line, which can only lower the settings' limits.

use environment::Diagnostics;
use types::{Limit, Written};

use crate::file::unknown;

/// Lowers the policy's limits to the command line's; returns the lowered ones.
pub(crate) fn apply(
    texts: &[String],
    policy: &mut policy::PolicyConfig,
    diagnostics: &mut Diagnostics,
) -> Vec<Limit> {
    let upper = policy.clone();
    let mut given: Vec<Limit> = Vec::new();
    for text in texts {
        let applied = split(text).and_then(|(limit, value)| {
            if given.contains(&limit) {
                return Err("is given twice; write it once".to_owned());
            }
            given.push(limit);
            policy.restrict(limit, Written::argument(value), &upper)
        });
        if let Err(message) = applied {
            diagnostics.mistake(&format!("--limit {text}"), message);
        }
    }
    given
}

fn split(text: &str) -> Result<(Limit, &str), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("expected NAME=VALUE, such as memory=\"256 MiB\"".to_owned());
    };
    let name = name.trim();
    let limit = Limit::from_name(name).ok_or_else(|| unknown("limit", name, Limit::ALL.map(Limit::name)))?;
    Ok((limit, value.trim()))
}
