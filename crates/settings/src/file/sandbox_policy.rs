//! `[surface.sandbox_policy]`: limits of programs on the surface `server`, under system 0's names.

use types::{PolicyNumber, Runtime, SandboxPolicy};

use super::table::{Value, unknown};

/// Keys of a [`SandboxPolicy`] that apply here. The other keys are for servers of the gateway.
const KEYS: [&str; 8] = [
    "runtime",
    "max_execution_time_ms",
    "max_memory_mb",
    "max_cpu_percent",
    "max_network_connections",
    "max_file_size_mb",
    "max_total_disk_mb",
    "allow_raw_http",
];

/// Reads the table. An error is the first mistake with its key.
pub(super) fn read(table: &Value<'_>) -> Result<SandboxPolicy, String> {
    let Some(section) = table.table() else {
        return Err(format!("expected a table, found {}", table.kind()));
    };
    let mut policy = SandboxPolicy::default();
    for (key, value) in section.entries() {
        set(&mut policy, key, &value).map_err(|message| format!("`{key}`: {message}"))?;
    }
    Ok(policy)
}

fn set(policy: &mut SandboxPolicy, key: &str, value: &Value<'_>) -> Result<(), String> {
    if !KEYS.contains(&key) {
        return Err(unknown("key", key, KEYS));
    }
    match PolicyNumber::from_name(key) {
        Some(number) => policy.set_number(number, value.written())?,
        None if key == "runtime" => {
            policy.runtime = value.one_of(Runtime::ALL.map(|runtime| (runtime.name(), runtime)))?;
        }
        None => policy.allow_raw_http = value.boolean()?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use policy::PolicyConfig;

    /// The default limits after a policy with these keys.
    fn bound(keys: &str) -> Result<PolicyConfig, String> {
        let text = format!("[surface.sandbox_policy]\n{keys}");
        let (file, diagnostics) = super::super::read("codeyard.toml".as_ref(), &text);
        let mistakes: Vec<String> = diagnostics.mistakes.iter().map(ToString::to_string).collect();
        if !mistakes.is_empty() {
            return Err(mistakes.join("; "));
        }
        let mut config = file.settings.policy;
        config.bind(&file.settings.surface.sandbox_policy.expect("a policy"));
        Ok(config)
    }

    #[test]
    fn s0_11_the_keys_of_the_table_are_limits() {
        let config = bound("max_execution_time_ms = 500\nmax_cpu_percent = 7\nmax_total_disk_mb = 12")
            .expect("a policy");
        assert_eq!(config.limits.wall_time, Duration::from_millis(500));
        assert_eq!((config.limits.cpu_rate, config.limits.disk), (0.07, 12 << 20));
        assert_eq!(config.limits.memory, 256 << 20);
    }

    #[test]
    fn s0_11_values_out_of_bounds_and_unknown_keys_are_mistakes() {
        for (keys, message) in [
            (
                "max_memory_mb = 8",
                "`max_memory_mb`: 8 is out of range; write 16 to 4096",
            ),
            (
                "max_cpu_percent = 101",
                "`max_cpu_percent`: 101 is out of range; write 1 to 100",
            ),
            (
                "max_network_connections = 33",
                "33 is out of range; write 0 to 32",
            ),
            (
                "max_execution_time_ms = true",
                "`max_execution_time_ms`: expected a whole number",
            ),
            ("runtime = \"node\"", "`runtime`: expected \"deno\" or \"python\""),
            ("permissions = {}", "unknown key `permissions`"),
            ("max_runs_per_minute = 5", "unknown key `max_runs_per_minute`"),
        ] {
            let mistake = bound(keys).expect_err(keys);
            assert!(
                mistake.contains("surface.sandbox_policy") && mistake.contains(message),
                "{mistake}"
            );
        }
    }
}
