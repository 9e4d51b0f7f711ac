//! `[limits]`: the fields of `types::Limits`, and `max_wall_time`.

use types::Limit;

use super::table::{Value, unknown};

/// The only key that does not limit a session: the longest wall time that a caller may request.
const MAX_WALL_TIME: &str = "max_wall_time";

/// Limits set by a person; other limits have defaults.
#[derive(Debug, Default)]
pub(crate) struct ExplicitLimits {
    /// `[limits]`.
    pub(crate) settings: Vec<Limit>,
    /// `--limit`.
    pub(crate) command_line: Vec<Limit>,
}

impl ExplicitLimits {
    pub(crate) fn has(&self, limit: Limit) -> bool {
        self.settings.contains(&limit) || self.command_line.contains(&limit)
    }
}

pub(super) fn set(policy: &mut policy::PolicyConfig, key: &str, value: &Value<'_>) -> Result<(), String> {
    if key == MAX_WALL_TIME {
        return policy.set_max_wall_time(value.written());
    }
    let Some(limit) = Limit::from_name(key) else {
        let mut known = [MAX_WALL_TIME; Limit::ALL.len() + 1];
        for (name, limit) in known.iter_mut().zip(Limit::ALL) {
            *name = limit.name();
        }
        return Err(unknown("limit", key, known));
    };
    policy.set(limit, value.written())
}
