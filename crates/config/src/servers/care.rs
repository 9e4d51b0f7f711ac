//! The fields that say how a server lives: trust, rules of its tools, calls at once, idle stop, limits and confinement.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use jail::confinement::Confinement;
use types::{ToolRules, units};
use upstream_wire::ServerLimits;

use super::{MAX_TIMEOUT_MS, Reader, Variables};
use crate::json::Node;
use crate::mistakes::nearest;

/// Most calls at the same time that a definition may allow.
const MOST_CALLS: u32 = 10_000;
/// Least memory that a program starts with.
const LEAST_MEMORY: u64 = 1024 * 1024;
/// Most processes that the kernel counts.
const MOST_PROCESSES: u32 = 4_000_000;

const SANDBOX: [&str; 3] = ["read", "write", "network"];
const LIMITS: [&str; 2] = ["memory", "processes"];

impl Reader<'_> {
    pub(super) fn trusted(&mut self, field: &str, node: Option<&Node>) -> bool {
        node.is_some_and(|node| self.flag(field, node))
    }

    /// The rules for its tools, which are checked as those of `[policy]` are.
    pub(super) fn rules(
        &mut self,
        server: &str,
        field: &str,
        allow: Option<&Node>,
        deny: Option<&Node>,
    ) -> ToolRules {
        let mut read = |key: &str, node| self.strings(&format!("{field}.{key}"), node, Variables::Keep);
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
            self.findings
                .mistake(&format!("{field}.{}", mistake.field), mistake.message);
        }
        rules
    }

    pub(super) fn max_calls(&mut self, field: &str, node: Option<&Node>) -> Option<NonZeroU32> {
        let count = self.count(field, node?, MOST_CALLS)?;
        NonZeroU32::new(count)
    }

    /// Milliseconds, or 0 for never.
    pub(super) fn idle_stop(&mut self, field: &str, node: Option<&Node>) -> Option<Duration> {
        match node? {
            Node::Natural(ms) if *ms <= MAX_TIMEOUT_MS => Some(Duration::from_millis(*ms)),
            other => {
                let rule = format!(
                    "expected a whole number of milliseconds from 1 to {MAX_TIMEOUT_MS}, or 0 for never, found {}",
                    other.kind()
                );
                self.findings.mistake(field, rule);
                None
            }
        }
    }

    pub(super) fn limits(&mut self, field: &str, node: Option<&Node>) -> ServerLimits {
        let mut limits = ServerLimits::default();
        for (key, node) in self.parts(field, node, &LIMITS) {
            let path = format!("{field}.{key}");
            match key.as_str() {
                "memory" => limits.memory = self.size(&path, node),
                _ => limits.processes = self.count(&path, node, MOST_PROCESSES),
            }
        }
        limits
    }

    /// `null` and absence mean that the server is not confined; an empty object, that it may do next to nothing.
    pub(super) fn sandbox(
        &mut self,
        field: &str,
        node: Option<&Node>,
        variables: Variables<'_>,
    ) -> Option<Confinement> {
        let mut confinement = Confinement::default();
        for (key, node) in self.parts(field, Some(node?), &SANDBOX) {
            let path = format!("{field}.{key}");
            match key.as_str() {
                "network" => confinement.network = self.flag(&path, node),
                "read" => confinement.read = self.paths(&path, node, variables),
                _ => confinement.write = self.paths(&path, node, variables),
            }
        }
        Some(confinement)
    }

    /// The parts of an object that has these and no others; others are mistakes, because they would promise something.
    pub(super) fn parts<'n>(
        &mut self,
        field: &str,
        node: Option<&'n Node>,
        known: &[&str],
    ) -> Vec<&'n (String, Node)> {
        let entries = match node {
            None => return Vec::new(),
            Some(Node::Object(entries)) => entries,
            Some(other) => {
                self.wrong(field, "an object", other);
                return Vec::new();
            }
        };
        let mut kept: Vec<&(String, Node)> = Vec::new();
        for entry in entries {
            let (key, node) = entry;
            let path = format!("{field}.{key}");
            if !known.contains(&key.as_str()) {
                let near = nearest(key, known.iter().copied());
                let hint = near.map_or_else(
                    || format!("; there are `{}`", known.join("`, `")),
                    |near| format!("; did you mean `{near}`?"),
                );
                self.findings
                    .mistake(&path, format!("is no field of this object{hint}"));
            } else if kept.iter().any(|(other, _)| other == key) {
                self.findings.mistake(&path, "the field appears more than once");
            } else if *node != Node::Null {
                kept.push(entry);
            }
        }
        kept
    }

    fn flag(&mut self, field: &str, node: &Node) -> bool {
        if let Node::Bool(flag) = node {
            return *flag;
        }
        self.wrong(field, "true or false", node);
        false
    }

    fn count(&mut self, field: &str, node: &Node, most: u32) -> Option<u32> {
        if let Node::Natural(count) = node
            && let Ok(count) = u32::try_from(*count)
            && (1..=most).contains(&count)
        {
            return Some(count);
        }
        let rule = format!("expected a whole number from 1 to {most}, found {}", node.kind());
        self.findings.mistake(field, rule);
        None
    }

    fn size(&mut self, field: &str, node: &Node) -> Option<u64> {
        let Node::String(text) = node else {
            self.wrong(field, "a size such as \"512 MiB\"", node);
            return None;
        };
        match units::size(text) {
            Ok(bytes) if bytes >= LEAST_MEMORY => Some(bytes),
            Ok(_) => {
                self.findings
                    .mistake(field, "no program starts with so little; write at least `1 MiB`");
                None
            }
            Err(error) => {
                self.findings.mistake(field, error);
                None
            }
        }
    }

    /// Paths relative to the file's directory.
    fn paths(&mut self, field: &str, node: &Node, variables: Variables<'_>) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for (index, text) in self.strings(field, Some(node), variables).into_iter().enumerate() {
            let place = format!("{field}[{index}]");
            if text.trim().is_empty() {
                self.findings.mistake(&place, "is empty; write a path");
            } else if text == "~" || text.starts_with("~/") {
                self.findings
                    .mistake(&place, "`~` means nothing here; write `${HOME}` in its place");
            } else {
                paths.push(self.directory().join(text));
            }
        }
        paths
    }
}
