//! Fields that restrict a server: trust, tool rules, concurrent calls, idle stop, resource limits,
//! confinement.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use environment::nearest;
use jail::confinement::Confinement;
use types::{ToolRules, units};
use upstream_wire::ServerLimits;

use super::{EntryReader, Expansion, MAX_TIMEOUT_MS};
use crate::json::JsonValue;

/// Maximum concurrent calls in a definition.
const MOST_CALLS: u32 = 10_000;
/// Maximum calls within a minute in a definition.
const MOST_CALLS_PER_MINUTE: u32 = 1_000_000;
/// Minimum bytes of memory; no program starts with less.
const LEAST_MEMORY: u64 = 1024 * 1024;
/// Maximum processes, a limit of the kernel.
const MOST_PROCESSES: u32 = 4_000_000;

const SANDBOX: [&str; 3] = ["read", "write", "network"];
const LIMITS: [&str; 2] = ["memory", "processes"];

impl EntryReader<'_> {
    pub(super) fn trusted(&mut self, field: &str, node: Option<&JsonValue>) -> bool {
        node.is_some_and(|node| self.flag(field, node))
    }

    /// Rules for the server's tools, with the syntax of `[policy]`.
    pub(super) fn rules(
        &mut self,
        server: &str,
        field: &str,
        allow: Option<&JsonValue>,
        deny: Option<&JsonValue>,
    ) -> ToolRules {
        let mut read = |key: &str, node| self.strings(&format!("{field}.{key}"), node, Expansion::Off);
        let (allow, deny) = (read("allow", allow), read("deny", deny));
        let mut rules = ToolRules {
            allow,
            deny,
            ..ToolRules::default()
        };
        if rules.is_empty() {
            return rules;
        }
        rules.place = format!("{field} of {}", self.file.display());
        for mistake in policy::check_rules(server, &rules).err().unwrap_or_default() {
            self.diagnostics
                .mistake(&format!("{field}.{}", mistake.field), mistake.message);
        }
        rules
    }

    pub(super) fn max_calls(&mut self, field: &str, node: Option<&JsonValue>) -> Option<NonZeroU32> {
        let count = self.count(field, node?, MOST_CALLS)?;
        NonZeroU32::new(count)
    }

    pub(super) fn max_calls_per_minute(
        &mut self,
        field: &str,
        node: Option<&JsonValue>,
    ) -> Option<NonZeroU32> {
        let count = self.count(field, node?, MOST_CALLS_PER_MINUTE)?;
        NonZeroU32::new(count)
    }

    /// In milliseconds; 0 means never.
    pub(super) fn idle_stop(&mut self, field: &str, node: Option<&JsonValue>) -> Option<Duration> {
        match node? {
            JsonValue::Natural(ms) if *ms <= MAX_TIMEOUT_MS => Some(Duration::from_millis(*ms)),
            other => {
                let rule = format!(
                    "expected a whole number of milliseconds from 1 to {MAX_TIMEOUT_MS}, or 0 for never, found {}",
                    other.kind()
                );
                self.diagnostics.mistake(field, rule);
                None
            }
        }
    }

    pub(super) fn limits(&mut self, field: &str, node: Option<&JsonValue>) -> ServerLimits {
        let mut limits = ServerLimits::default();
        for (key, node) in self.members(field, node, &LIMITS) {
            let path = format!("{field}.{key}");
            match key.as_str() {
                "memory" => limits.memory = self.size(&path, node),
                _ => limits.processes = self.count(&path, node, MOST_PROCESSES),
            }
        }
        limits
    }

    /// `None` without confinement. An empty object selects the strictest confinement.
    pub(super) fn sandbox(
        &mut self,
        field: &str,
        node: Option<&JsonValue>,
        expansion: Expansion<'_>,
    ) -> Option<Confinement> {
        let mut confinement = Confinement::default();
        for (key, node) in self.members(field, Some(node?), &SANDBOX) {
            let path = format!("{field}.{key}");
            match key.as_str() {
                "network" => confinement.network = self.flag(&path, node),
                "read" => confinement.read = self.paths(&path, node, expansion),
                _ => confinement.write = self.paths(&path, node, expansion),
            }
        }
        Some(confinement)
    }

    /// An object's members. Reports unknown members, because an ignored restriction would be a false promise.
    pub(super) fn members<'n>(
        &mut self,
        field: &str,
        node: Option<&'n JsonValue>,
        known: &[&str],
    ) -> Vec<&'n (String, JsonValue)> {
        let entries = match node {
            None => return Vec::new(),
            Some(JsonValue::Object(entries)) => entries,
            Some(other) => {
                self.wrong(field, "an object", other);
                return Vec::new();
            }
        };
        let mut members: Vec<&(String, JsonValue)> = Vec::new();
        for entry in entries {
            let (key, node) = entry;
            let path = format!("{field}.{key}");
            if !known.contains(&key.as_str()) {
                let near = nearest(key, known.iter().copied());
                let hint = near.map_or_else(
                    || format!("; known are `{}`", known.join("`, `")),
                    |near| format!("; did you mean `{near}`?"),
                );
                self.diagnostics
                    .mistake(&path, format!("is not a field of this object{hint}"));
            } else if members.iter().any(|(other, _)| other == key) {
                self.diagnostics
                    .mistake(&path, "the field appears more than once");
            } else if *node != JsonValue::Null {
                members.push(entry);
            }
        }
        members
    }

    fn flag(&mut self, field: &str, node: &JsonValue) -> bool {
        if let JsonValue::Bool(flag) = node {
            return *flag;
        }
        self.wrong(field, "true or false", node);
        false
    }

    fn count(&mut self, field: &str, node: &JsonValue, most: u32) -> Option<u32> {
        if let JsonValue::Natural(count) = node
            && let Ok(count) = u32::try_from(*count)
            && (1..=most).contains(&count)
        {
            return Some(count);
        }
        let rule = format!("expected a whole number from 1 to {most}, found {}", node.kind());
        self.diagnostics.mistake(field, rule);
        None
    }

    fn size(&mut self, field: &str, node: &JsonValue) -> Option<u64> {
        let JsonValue::String(text) = node else {
            self.wrong(field, "a size such as \"512 MiB\"", node);
            return None;
        };
        match units::size(text) {
            Ok(bytes) if bytes >= LEAST_MEMORY => Some(bytes),
            Ok(_) => {
                self.diagnostics.mistake(
                    field,
                    "no program starts with less than `1 MiB`; write at least that",
                );
                None
            }
            Err(error) => {
                self.diagnostics.mistake(field, error);
                None
            }
        }
    }

    /// Paths relative to the file's directory.
    fn paths(&mut self, field: &str, node: &JsonValue, expansion: Expansion<'_>) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for (index, text) in self.strings(field, Some(node), expansion).into_iter().enumerate() {
            let place = format!("{field}[{index}]");
            if text.trim().is_empty() {
                self.diagnostics.mistake(&place, "is empty; write a path");
            } else if text == "~" || text.starts_with("~/") {
                self.diagnostics
                    .mistake(&place, "`~` is not expanded here; write `${HOME}` in its place");
            } else {
                paths.push(self.directory().join(text));
            }
        }
        paths
    }
}
