//! `--limit NAME=VALUE`: limits of one server, within those that the settings have.

use types::{Limit, Written};

use crate::mistakes::{Findings, nearest};

/// Applies what the command line says; the settings as they are now are the most. Says which limits it names.
pub(crate) fn of_command_line(
    texts: &[String],
    policy: &mut policy::Config,
    findings: &mut Findings,
) -> Vec<Limit> {
    let operator = policy.clone();
    let mut given: Vec<Limit> = Vec::new();
    for text in texts {
        let applied = split(text).and_then(|(limit, value)| {
            if given.contains(&limit) {
                return Err("is given twice; give it once".to_owned());
            }
            given.push(limit);
            policy.restrict(limit, Written::argument(value), &operator)
        });
        if let Err(message) = applied {
            findings.mistake(&format!("--limit {text}"), message);
        }
    }
    given
}

fn split(text: &str) -> Result<(Limit, &str), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("expected NAME=VALUE, such as memory=\"256 MiB\"".to_owned());
    };
    let name = name.trim();
    let limit = Limit::from_name(name).ok_or_else(|| {
        let known = Limit::ALL.map(Limit::name);
        match nearest(name, known) {
            Some(near) => format!("there is no limit `{name}`; did you mean `{near}`?"),
            None => format!("there is no limit `{name}`; there is `{}`", known.join("`, `")),
        }
    })?;
    Ok((limit, value.trim()))
}
