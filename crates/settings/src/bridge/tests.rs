//! Values and mistakes of the variables, and their effect on the settings.

use std::time::Duration;

use test_support::FakeEnvironment;

use super::variables::{KNOWN, SERVERS_CONFIG};
use crate::{Arguments, Bridge, Loaded, OutputMode, load_bridge};

const SETTINGS_FILE: &str = "/home/ana/.config/codeyard/codeyard.toml";

fn env(variables: &[(&str, &str)]) -> FakeEnvironment {
    let home = FakeEnvironment::new().var("HOME", "/home/ana");
    variables
        .iter()
        .fold(home, |env, (name, value)| env.var(name, value))
}

fn read(variables: &[(&str, &str)]) -> (Loaded, Bridge) {
    load_bridge(&Arguments::default(), &env(variables)).expect("no mistake")
}

fn with_settings(toml: &str, limits: &[&str], variables: &[(&str, &str)]) -> (Loaded, Bridge) {
    let arguments = Arguments {
        limits: limits.iter().map(|limit| (*limit).to_owned()).collect(),
        ..Arguments::default()
    };
    let env = env(variables).file(SETTINGS_FILE, toml);
    load_bridge(&arguments, &env).expect("no mistake")
}

fn warnings(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

fn refused(name: &str, value: &str, expected: &str) {
    let mistakes = load_bridge(&Arguments::default(), &env(&[(name, value)])).expect_err(value);
    assert_eq!(mistakes.to_string(), format!("{name}: {expected}"));
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn without_variables_the_defaults_apply() {
    let (loaded, bridge) = read(&[]);
    assert_eq!(
        bridge,
        Bridge {
            timeout: seconds(30),
            max_timeout: seconds(120),
            user: 65534,
            group: 65534,
            output: OutputMode::Compact,
            state_dir: None,
            container: None,
            allow_self: false,
            servers_config: None,
            extra_config: false,
        }
    );
    let settings = &loaded.settings;
    let limits = &settings.policy.limits;
    assert_eq!((limits.memory, limits.processes), (512 << 20, 128));
    assert!((limits.cpu_rate - 1.0).abs() < f64::EPSILON);
    assert_eq!(limits.cpu_time, seconds(120));
    assert_eq!(limits.wall_time, seconds(30));
    assert_eq!(settings.policy.max_wall_time, seconds(120));
    assert_eq!(settings.sessions.idle_time, seconds(300));
    assert_eq!(settings.workspace.keeping, workspace::Keeping::Own);
    assert_eq!(settings.log, None);
    assert!(loaded.servers.is_empty() && loaded.warnings.is_empty() && !loaded.allow_self);
}

#[test]
fn every_variable_has_its_effect() {
    let (loaded, bridge) = read(&[
        ("MCP_BRIDGE_TIMEOUT", "2m"),
        ("MCP_BRIDGE_MAX_TIMEOUT", "3600"),
        ("MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT", "500ms"),
        ("MCP_BRIDGE_MEMORY", "1g"),
        ("MCP_BRIDGE_PIDS", "20"),
        ("MCP_BRIDGE_CPUS", "2.5"),
        ("MCP_BRIDGE_CONTAINER_USER", "1000:100"),
        ("MCP_BRIDGE_STATE_DIR", "~/state"),
        ("MCP_BRIDGE_OUTPUT_MODE", "TOON"),
        ("MCP_BRIDGE_LOG_LEVEL", "Warning"),
        ("MCP_BRIDGE_ALLOW_SELF_SERVER", "Yes"),
        ("MCP_BRIDGE_RUNTIME", "Podman"),
        ("MCP_BRIDGE_IMAGE", "python:3.14-slim"),
        ("MCP_BRIDGE_EXTRA_CONFIG", "1"),
        ("MCP_SERVERS_CONFIG", "servers.toml"),
    ]);
    assert_eq!(
        bridge,
        Bridge {
            timeout: seconds(120),
            max_timeout: seconds(3600),
            user: 1000,
            group: 100,
            output: OutputMode::Toon,
            state_dir: Some("/home/ana/state".into()),
            container: Some("MCP_BRIDGE_RUNTIME=podman and MCP_BRIDGE_IMAGE=python:3.14-slim".to_owned()),
            allow_self: true,
            servers_config: Some("/project/servers.toml".into()),
            extra_config: true,
        }
    );
    let settings = &loaded.settings;
    let limits = &settings.policy.limits;
    assert_eq!((limits.memory, limits.processes), (1 << 30, 20));
    assert!((limits.cpu_rate - 2.5).abs() < f64::EPSILON);
    assert_eq!(limits.cpu_time, seconds(9000));
    assert_eq!(settings.policy.max_wall_time, seconds(3600));
    assert_eq!(settings.sessions.idle_time, Duration::from_millis(500));
    assert_eq!(settings.log.as_deref(), Some("warn"));
    assert!(loaded.allow_self && loaded.warnings.is_empty());
    policy::Policy::new(settings.policy.clone()).expect("settings that can be served");
}

// C329, C330
#[test]
fn every_mistake_is_told_at_once_with_variable_value_and_form() {
    let env = env(&[
        ("MCP_BRIDGE_TIMEOUT", "abc"),
        ("MCP_BRIDGE_MAX_TIMEOUT", "1h"),
        ("MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT", "-1"),
        ("MCP_BRIDGE_MEMORY", "lots"),
        ("MCP_BRIDGE_PIDS", "0"),
        ("MCP_BRIDGE_CPUS", "all"),
        ("MCP_BRIDGE_CONTAINER_USER", "root"),
        ("MCP_BRIDGE_LOG_LEVEL", "loud"),
        ("MCP_BRIDGE_ALLOW_SELF_SERVER", "maybe"),
        ("MCP_BRIDGE_RUNTIME", "nonexistent"),
        ("MCP_BRIDGE_EXTRA_CONFIG", "2"),
        ("MCP_BRIDGE_STATE_DIR", "~ann/state"),
    ])
    .file(SETTINGS_FILE, "[limits]\nmemory = 5\n");
    let mistakes = load_bridge(&Arguments::default(), &env).expect_err("mistakes");
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(mistakes.to_string()) });
}

// C330
#[test]
fn durations_in_every_notation_of_the_original_documents() {
    let check = |text: &str, expected: u64| {
        let (_, bridge) = read(&[("MCP_BRIDGE_TIMEOUT", text)]);
        assert_eq!(bridge.timeout, seconds(expected), "{text}");
    };
    check("30", 30);
    check("30s", 30);
    check(" 45 s ", 45);
    check("2m", 120);
    check("5000ms", 5);
    check("", 30);
    let (loaded, bridge) = read(&[
        ("MCP_BRIDGE_TIMEOUT", "500ms"),
        ("MCP_BRIDGE_MAX_TIMEOUT", "1500ms"),
    ]);
    assert_eq!((bridge.timeout, bridge.max_timeout), (seconds(1), seconds(2)));
    assert_eq!(
        warnings(&loaded),
        [
            "MCP_BRIDGE_TIMEOUT: is rounded up to 1s: clients count in seconds",
            "MCP_BRIDGE_MAX_TIMEOUT: is rounded up to 2s: clients count in seconds",
        ]
    );
    refused(
        "MCP_BRIDGE_TIMEOUT",
        "0",
        "`0` is out of range; write `1s` to `3600s`",
    );
    refused(
        "MCP_BRIDGE_TIMEOUT",
        "3601s",
        "`3601s` is out of range; write `1s` to `3600s`",
    );
    refused(
        "MCP_BRIDGE_TIMEOUT",
        "99999999999999999999",
        "`99999999999999999999` is not a duration; write whole seconds, or a whole number with `ms`, `s` or `m`, such as `30s`",
    );
}

#[test]
fn sizes_users_and_switches() {
    let memory = |text: &str| {
        read(&[("MCP_BRIDGE_MEMORY", text)])
            .0
            .settings
            .policy
            .limits
            .memory
    };
    assert_eq!(memory("512m"), 512 << 20);
    assert_eq!(memory("536870912"), 512 << 20);
    assert_eq!(memory("2 GiB"), 2 << 30);
    assert_eq!(memory("131072K"), 128 << 20);
    refused(
        "MCP_BRIDGE_MEMORY",
        "1m",
        "`1m` is out of range; write `64m` to `1024g`",
    );
    let user = |text: &str| {
        let (_, bridge) = read(&[("MCP_BRIDGE_CONTAINER_USER", text)]);
        (bridge.user, bridge.group)
    };
    assert_eq!(user("1000"), (1000, 1000));
    assert_eq!(user("1000:2000"), (1000, 2000));
    for wrong in [
        "0",
        "1000:0",
        "0:1000",
        "-1",
        "1000:",
        ":1",
        "4294967295",
        "1:2:3",
    ] {
        refused(
            "MCP_BRIDGE_CONTAINER_USER",
            wrong,
            &format!(
                "`{wrong}` is not a user; write `uid` or `uid:gid` as numbers from 1, such as `65534:65534`"
            ),
        );
    }
    let allowed = |text: &str| read(&[("MCP_BRIDGE_ALLOW_SELF_SERVER", text)]).1.allow_self;
    assert_eq!(
        ["1", "true", "YES", "0", "no", ""].map(allowed),
        [true, true, true, false, false, false]
    );
    refused(
        "MCP_BRIDGE_CPUS",
        "NaN",
        "`NaN` is not a number of cores; write a number from 0.01 to 1024, such as `0.5`",
    );
}

// C371
#[test]
fn an_unknown_output_mode_is_toon_with_a_warning() {
    let (loaded, bridge) = read(&[("MCP_BRIDGE_OUTPUT_MODE", "xyz")]);
    assert_eq!(bridge.output, OutputMode::Toon);
    assert_eq!(
        warnings(&loaded),
        [
            "MCP_BRIDGE_OUTPUT_MODE: `xyz` is not a mode, so results are TOON; write `compact`, `toon` or `json`"
        ]
    );
    assert_eq!(
        read(&[("MCP_BRIDGE_OUTPUT_MODE", "json")]).1.output,
        OutputMode::Json
    );
}

#[test]
fn an_unknown_variable_is_reported_with_the_nearest_name() {
    let (loaded, _) = read(&[
        ("MCP_BRIDGE_TIME_OUT", "5"),
        ("MCP_BRIDGE_NOTHING_LIKE_IT", "5"),
        ("MCP_BRIDGES", "5"),
    ]);
    assert_eq!(
        warnings(&loaded),
        [
            "MCP_BRIDGE_NOTHING_LIKE_IT: codeyard does not use this variable",
            "MCP_BRIDGE_TIME_OUT: codeyard does not use this variable; did you mean MCP_BRIDGE_TIMEOUT?",
        ]
    );
}

#[test]
fn every_runtime_except_container_engines_selects_the_process_backend() {
    let container = |name: &str, value: &str| read(&[(name, value)]).1.container;
    assert_eq!(container("MCP_BRIDGE_RUNTIME", "auto"), None);
    assert_eq!(container("MCP_BRIDGE_RUNTIME", "process"), None);
    assert_eq!(
        container("MCP_BRIDGE_RUNTIME", "docker").as_deref(),
        Some("MCP_BRIDGE_RUNTIME=docker")
    );
    assert_eq!(
        container("MCP_BRIDGE_IMAGE", "python:3.12").as_deref(),
        Some("MCP_BRIDGE_IMAGE=python:3.12")
    );
}

#[test]
fn an_idle_time_of_zero_keeps_sessions_for_ever() {
    let (loaded, _) = read(&[("MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT", "0")]);
    assert!(loaded.settings.sessions.idle_time > seconds(300 * 24 * 3600));
}

#[test]
fn the_longest_time_bounds_the_time_of_a_run() {
    let (loaded, bridge) = read(&[("MCP_BRIDGE_TIMEOUT", "180")]);
    assert_eq!((bridge.timeout, bridge.max_timeout), (seconds(120), seconds(120)));
    assert_eq!(
        warnings(&loaded),
        ["MCP_BRIDGE_TIMEOUT: 180s exceeds MCP_BRIDGE_MAX_TIMEOUT; the run time is 120s"]
    );
    let (loaded, bridge) = read(&[("MCP_BRIDGE_MAX_TIMEOUT", "10")]);
    assert_eq!((bridge.timeout, bridge.max_timeout), (seconds(10), seconds(10)));
    assert!(loaded.warnings.is_empty());
}

#[test]
fn settings_apply_without_a_variable_and_the_command_line_always() {
    const SETTINGS: &str =
        "[limits]\nmax_wall_time = \"20s\"\nmemory = \"256 MiB\"\nprocesses = 16\ncpu_time = \"5s\"\n";
    let check = |limits: &[&str], variables: &[(&str, &str)], expected: (u64, u64, u64, u32)| {
        let (loaded, bridge) = with_settings(SETTINGS, limits, variables);
        let policy = &loaded.settings.policy;
        let found = (
            bridge.timeout.as_secs(),
            bridge.max_timeout.as_secs(),
            policy.limits.memory >> 20,
            policy.limits.processes,
        );
        assert_eq!(found, expected, "{limits:?} {variables:?}");
        assert_eq!(policy.limits.cpu_time, seconds(5));
        policy::Policy::new(policy.clone()).expect("settings that can be served");
    };
    check(&[], &[], (20, 20, 256, 16));
    let variables = [
        ("MCP_BRIDGE_TIMEOUT", "40"),
        ("MCP_BRIDGE_MAX_TIMEOUT", "60"),
        ("MCP_BRIDGE_MEMORY", "1g"),
        ("MCP_BRIDGE_PIDS", "200"),
    ];
    check(&[], &variables, (40, 60, 1024, 200));
    let limits = ["wall_time=1500ms", "memory=128 MiB", "processes=8"];
    check(&limits, &variables, (2, 2, 128, 8));
    check(&limits, &[], (2, 2, 128, 8));
}

#[test]
fn every_variable_is_in_the_document() {
    const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/surfaces.md");
    let document = std::fs::read_to_string(DOCUMENT).unwrap();
    for name in KNOWN.into_iter().chain([SERVERS_CONFIG]) {
        assert!(document.contains(&format!("\n| `{name}` |")), "{name}");
    }
}
