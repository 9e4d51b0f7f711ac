//! The view of a person: used servers, warnings, and all mistakes together.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use environment::ChangeLock;
use registry::{Sources, review};
use test_support::FakeEnvironment;

use crate::{Arguments, Loaded, load};

/// Compares with the test's snapshot, which omits the input.
macro_rules! assert_snapshot {
    ($shown:expr) => {
        insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!($shown) })
    };
}

const USER_FILE: &str = "/home/ana/.config/codeyard/mcp.json";
const SETTINGS_FILE: &str = "/home/ana/.config/codeyard/codeyard.toml";

fn machine() -> FakeEnvironment {
    FakeEnvironment::new()
        .var("HOME", "/home/ana")
        .var("TOKEN", "s3cret")
}

fn shown(env: &FakeEnvironment, arguments: &Arguments) -> String {
    match load(arguments, env) {
        Ok(loaded) => show(&loaded),
        Err(mistakes) => mistakes
            .to_string()
            .lines()
            .map(|line| format!("mistake: {line}\n"))
            .collect(),
    }
}

fn show(loaded: &Loaded) -> String {
    let mut out = String::new();
    for server in &loaded.servers {
        writeln!(out, "server: {server:?}").unwrap();
    }
    for warning in &loaded.warnings {
        writeln!(out, "warning: {warning}").unwrap();
    }
    out
}

fn of_servers(json: &str) -> String {
    shown(&machine().file(USER_FILE, json), &Arguments::default())
}

fn of_settings(toml: &str) -> String {
    let env = machine().file(SETTINGS_FILE, toml);
    match load(&Arguments::default(), &env) {
        Ok(loaded) => format!("{:#?}", loaded.settings),
        Err(mistakes) => mistakes.to_string(),
    }
}

fn explicit(files: &[&str]) -> Arguments {
    Arguments {
        sources: Sources {
            files: files.iter().map(PathBuf::from).collect(),
            ..Sources::default()
        },
        ..Arguments::default()
    }
}

#[test]
fn a_server_with_every_field() {
    assert_snapshot!(of_servers(
        r#"{
            "$schema": "x",
            "mcpServers": {
                "github": {
                    "type": "stdio",
                    "command": "${HOME}/bin/server",
                    "args": ["--token", "${TOKEN}", "${MISSING:-none}", "$HOME"],
                    "env": {"TOKEN": "x-${TOKEN}", "EMPTY": ""},
                    "cwd": "work",
                    "description": "Issues; ${TOKEN} stays as it is",
                    "disabled": false,
                    "timeout": 1500
                },
                "small": {"command": "x", "args": null}
            }
        }"#
    ));
}

#[test]
fn how_a_server_lives_is_read_and_every_mistake_of_it_told() {
    assert_snapshot!(of_servers(
        r#"{"mcpServers": {
            "a": {"command": "x", "trusted": true, "maxCalls": 4, "maxCallsPerMinute": 60, "idleStop": 0, "limits": {"memory": "512MiB", "processes": 64},
                "sandbox": {"read": ["data", "${HOME}/.venv"], "write": ["/tmp/x"], "network": true}},
            "b": {"command": "x", "sandbox": {}, "idleStop": 1000, "trusted": null, "limits": {"memory": null}}
        }}"#
    ));
    assert_snapshot!(of_servers(
        r#"{"mcpServers": {
            "a": {"command": "x", "trusted": "yes", "maxCalls": 0, "maxCallsPerMinute": 0, "idleStop": -1, "limits": {"memory": "512MB", "process": 64}},
            "b": {"command": "x", "sandbox": {"reads": [], "write": "x", "network": "no"}, "limits": {"memory": 5, "processes": 0}},
            "c": {"command": "x", "sandbox": {"read": ["~/x", "", "${NOT_SET}"]}, "limits": {"memory": "1 KiB"}, "maxcalls": 3},
            "d": {"command": "x", "sandbox": true}
        }}"#
    ));
}

#[test]
fn what_other_clients_write_is_a_warning() {
    assert_snapshot!(of_servers(
        r#"{
            "inputs": [],
            "mcpServers": {
                "a": {"command": "x", "alwaysAllow": ["y"], "enabled": false, "arg": ["z"], "type": "http"},
                "b": {"url": "https://mcp.example/x", "headers": {"Authorization": "Bearer ${TOKEN}"}, "alwaysAllow": []},
                "c": {"type": "sse", "serverUrl": "https://mcp.example/sse", "disabled": true},
                "d": {"command": "x", "env": {"T": "${NOT_SET}"}, "disabled": true}
            }
        }"#
    ));
}

#[test]
fn every_mistake_of_a_file_is_told_at_once() {
    assert_snapshot!(of_servers(
        r#"{
            "mcpServers": {
                "no command": {"args": []},
                "empty": {"command": " "},
                "listed": {"command": ["node", "x.js"]},
                "types": {"command": 5, "args": "x", "env": ["A=b"], "cwd": {}, "description": 1, "disabled": "yes", "timeout": "5s"},
                "inside": {"command": "x", "args": ["a", 2, null], "env": {"PORT": 80, "A=B": "x", "": "y"}},
                "times": {"command": "x", "timeout": 0},
                "later": {"command": "x", "timeout": 1.5},
                "unset": {"command": "${A}/x", "args": ["${B} ${C}"], "env": {"T": "${D}"}, "cwd": "${E}"},
                "foreign": {"command": "x", "args": ["${env:HOME}", "${workspaceFolder}", "${input:key}"], "env": {"X": "${open"}},
                "text": "x",
                "": {"command": "x"},
                "twice": {"command": "x", "command": "y", "env": {"A": "1", "A": "2"}},
                "twice": {"command": "x"},
                "nul": {"command": "a\u0000b"}
            }
        }"#
    ));
}

#[test]
fn files_that_hold_no_list() {
    let cases = [
        "",
        "{",
        "{} x",
        "[]",
        "{}",
        r#"{"mcpservers": {}}"#,
        r#"{"servers": {"a": {"command": "x"}}}"#,
        r#"{"mcpServers": []}"#,
        r#"{"mcpServers": {}, "mcpServers": {}}"#,
        "{\"mcpServers\": {\"a\": {\"command\": \"x\",}}}",
        "\u{feff}{\"mcpServers\": {}}",
    ];
    let mut out = String::new();
    for case in cases {
        write!(out, "{case:?}\n{}\n", of_servers(case)).unwrap();
    }
    assert_snapshot!(out);
}

#[test]
fn an_unset_variable_leaves_out_one_server_only() {
    let text =
        r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "env": {"T": "${NOT_SET}"}}}}"#;
    let shown = of_servers(text);
    assert!(shown.starts_with("server: ServerConfig { name: \"a\""), "{shown}");
    assert_eq!(shown.matches("server: ").count(), 1, "{shown}");
    let told = "mcpServers.b.env.T: the server is not used: the variable NOT_SET is not set";
    assert!(shown.contains(told), "{shown}");
}

#[test]
fn mistakes_of_all_files_come_together() {
    let env = machine()
        .file(
            "/project/a.json",
            r#"{"mcpServers": {"x": {}, "both": {"command": "1"}}}"#,
        )
        .file(
            "/project/b.json",
            r#"{"mcpServers": {"both": {"command": "2"}, "y": {"command": "${NOT_SET}"}}}"#,
        )
        .file("/project/locked.json", "<unreadable>")
        .file("/project/s.toml", "[limits]\nmemory = 5\n");
    let arguments = Arguments {
        settings: Some(PathBuf::from("s.toml")),
        ..explicit(&["a.json", "b.json", "missing.json", "locked.json"])
    };
    assert_snapshot!(shown(&env, &arguments));
}

#[test]
fn files_named_on_the_command_line_replace_the_default_ones() {
    let env = machine()
        .file(USER_FILE, r#"{"mcpServers": {"user": {"command": "x"}}}"#)
        .file(
            "/project/.mcp.json",
            r#"{"mcpServers": {"project": {"command": "x"}}}"#,
        )
        .file(
            "/project/a.json",
            r#"{"mcpServers": {"named": {"command": "x"}}}"#,
        );
    let loaded = load(&explicit(&["a.json"]), &env).unwrap();
    let names: Vec<_> = loaded.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["named"]);
    assert!(loaded.warnings.is_empty());
}

#[test]
fn the_project_file_counts_only_while_its_content_is_trusted() {
    const PROJECT: &str = "/project/.mcp.json";
    let user = r#"{"mcpServers": {"both": {"command": "user"}}}"#;
    let project = r#"{"mcpServers": {"both": {"command": "project"}, "own": {"command": "${NOT_SET:-x}"}}}"#;
    let env = machine().file(USER_FILE, user).file(PROJECT, project);
    let arguments = Arguments::default();
    let before = shown(&env, &arguments);

    let reviewed = review(Path::new("/project"), &env);
    // The fake machine has no directories, so name the file itself.
    assert!(reviewed.is_err());
    let reviewed = review(Path::new(".mcp.json"), &env).unwrap();
    assert_eq!(
        reviewed.servers[1].transport.stdio().unwrap().command,
        "${NOT_SET:-x}",
        "a review shows unexpanded variables"
    );
    let data = Path::new("/home/ana/.local/share/codeyard");
    let lock = ChangeLock::acquire(data, &env).unwrap();
    reviewed.trust(&lock).unwrap();
    let trusted = shown(&env, &arguments);

    let env = env.file(PROJECT, &format!("{project} "));
    let changed = shown(&env, &arguments);
    let env = env.file("/home/ana/.local/share/codeyard/trust.json", "{}");
    let damaged = shown(&env, &arguments);
    assert_snapshot!(format!(
        "before\n{before}\ntrusted\n{trusted}\nchanged\n{changed}\ndamaged list\n{damaged}"
    ));
}

#[test]
fn a_file_with_mistakes_is_not_trusted() {
    let env = machine().file("/project/.mcp.json", r#"{"mcpServers": {"x": {}}}"#);
    let error = review(Path::new(".mcp.json"), &env).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/project/.mcp.json: mcpServers.x.command: is missing; write the program that starts the server"
    );
}

#[test]
fn without_home_there_is_no_data_directory() {
    let env = FakeEnvironment::new();
    assert_eq!(
        shown(&env, &Arguments::default()),
        "mistake: there is no data directory: HOME is not set; set it, or name a directory with --data\n"
    );
    let named = Arguments {
        sources: Sources {
            data: Some(PathBuf::from("d")),
            ..Sources::default()
        },
        ..Arguments::default()
    };
    assert_eq!(load(&named, &env).unwrap().data_dir, Path::new("/project/d"));
    let relative = FakeEnvironment::new()
        .var("HOME", "/h")
        .var("XDG_DATA_HOME", "relative");
    assert_eq!(
        load(&Arguments::default(), &relative).unwrap().data_dir,
        Path::new("/h/.local/share/codeyard")
    );
}

/// A file that differs from the defaults in every section.
const EVERY_KEY: &str = r#"
        [limits]
        wall_time = "30s"
        max_wall_time = "2m"
        cpu_time = "2m"
        cpu_rate = 2
        memory = "512 MiB"
        processes = 32
        open_files = 128
        file_size = "64 MiB"
        disk = "128 MiB"
        inodes = 10_000
        disk_rate = "16 MiB"
        output = "64 KiB"
        host_calls = 500
        concurrent_host_calls = 8
        network = "none"

        [policy]
        allow = ["github/*"]
        deny = ["github/delete_*"]

        [sandbox]
        backend = "landlock"
        require = "tenant-isolation"
        exec = true

        [workspace]
        enabled = false
        quota = "none"
        inodes = 1000
        owner = 1000
        enforce = "kernel"

        [pool]
        size = 0
        recycle_sessions = 100
        recycle_minutes = 5

        [sessions]
        max = 3
        idle_minutes = 1
        idle_memory = "64 MiB"

        [learned]
        enabled = false
        shared = true

        [[mounts]]
        path = "/usr"
        target = "/data"

        [gateway]
        runs = 8
        runs_of_user = 2
        sessions = 100
        sessions_of_user = 3
        cpu_seconds_per_minute_of_user = 30
        cpu_seconds_per_minute_of_tenant = "off"
        command_upstreams = true

        [[gateway.sinks]]
        name = "siem"
        syslog = "tls://logs.example.com"
        records = ["audit", "events", "audit"]

        [[gateway.sinks]]
        name = "collector"
        otlp = "https://otlp.example.com"
        headers_file = "otlp-headers"
        payloads = true

        [[gateway.sinks]]
        name = "executions"
        file = "/var/log/mcp-executions/"
        max_size = "1 MiB"
        max_files = 3

        [[gateway.sinks]]
        name = "cloudwatch"
        cloudwatch = "eu-central-1"
        namespace = "Lab"
        dimensions = ["Status", "ServerId"]
        credentials_file = "aws-credentials"

        [gateway.traces]
        otlp = "https://otlp.example.com"
        headers_file = "otlp-headers"
        share = 0.25
        user = "hash"

        [[gateway.issuers]]
        issuer = "https://login.example.com/realms/one"
        audiences = ["https://yard.example.com", "6f2c"]
        logout_audiences = ["codeyard"]
        algorithms = ["PS256", "EdDSA"]
        jwks_uri = "https://login.example.com/keys"
        leeway = "1m"
        user_claim = "preferred_username"
        new_users = "refuse"
        role = "developer"
        agents = ["agent-7"]
        scopes = { "mcp:use" = ["servers.read", "servers.use"] }

        [[gateway.issuers.claims]]
        claim = "groups"
        value = "platform"
        role = "platform_admin"

        [[gateway.issuers.claims]]
        claim = "realm_access.roles"
        value = "crm"
        team = "crm"

        [http]
        tls_cert = "yard.crt"
        tls_key = "yard.key"
        trusted_proxies = ["127.0.0.1", "10.0.0.0/8"]

        [check]
        default = "warn"

        [output]
        format = "toon"
        max_result = "2 KiB"
        max_printed = "4 KiB"

        [records]
        record = ["full", "required"]
        keep_for = "7d"
        keep_size = "10 MiB"

        [receipts]
        default = true

        [surface]
        names = false
        language = "typescript"

        [surface.sandbox_policy]
        runtime = "python"
        max_memory_mb = 128

        [expose]
        tools = ["crm.find"]
        budget = 500

        [tools]
        directories = ["/usr"]

        [python]
        path = "python3.12"
        profile = "data"

        [typescript]
        engine = "quickjs"

        [log]
        level = "info,upstream=debug"
        "#;

#[test]
fn settings_with_every_key() {
    let named: toml::Table = EVERY_KEY.parse().unwrap();
    let sections = crate::file::SECTIONS.into_iter();
    let missing: Vec<&str> = sections.filter(|section| !named.contains_key(*section)).collect();
    assert_eq!(missing, [""; 0], "sections that this text lacks");
    let page: toml::Table = defaults_of_the_page().parse().unwrap();
    for (section, keys) in page {
        for key in keys.as_table().into_iter().flat_map(toml::Table::keys) {
            assert!(named[&section].get(key).is_some(), "{section}.{key} is missing");
        }
    }
    assert_snapshot!(of_settings(EVERY_KEY));
}

#[test]
fn mistakes_of_http_come_together() {
    let toml =
        "[http]\ntls_cert = 'yard.crt'\ntrusted_proxies = ['10.1.0.0/8', '127.0.0.1', 'x']\ntls = true\n";
    let told = of_settings(toml);
    for part in [
        "`10.1.0.0/8` has bits behind its prefix; write 10.0.0.0/8; `x` is not an IP address",
        "http.tls: unknown key `tls`",
        "http.tls_cert: `tls_key` is missing",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(of_settings("[http]\ntls_key = 'yard.key'\n").contains("http.tls_key: `tls_cert` is missing"));
}

#[test]
fn without_a_file_the_defaults_apply() {
    assert_eq!(of_settings(""), format!("{:#?}", crate::Settings::default()));
}

/// The defaults in the documentation.
fn defaults_of_the_page() -> &'static str {
    let page = include_str!("../../../docs/configuration.md");
    let toml = page
        .split("```toml\n")
        .map(|part| part.split("```").next().unwrap_or_default());
    toml.filter(|text| text.contains("[limits]")).last().unwrap()
}

#[test]
fn the_page_shows_every_default() {
    let mut settings = crate::Settings {
        log: Some("warn".to_owned()),
        ..crate::Settings::default()
    };
    // A file without `record` leaves it to the command.
    settings.records.recording = Some(store::Recording::default());
    assert_eq!(of_settings(defaults_of_the_page()), format!("{settings:#?}"));
}

#[test]
fn a_pool_beyond_the_memory_is_refused() {
    let machine = |kib: u64| {
        machine()
            .file(
                "/proc/meminfo",
                &format!("MemTotal:       {kib} kB\nMemFree: 1 kB\n"),
            )
            .file(SETTINGS_FILE, "[pool]\nsize = 100\n")
    };
    assert_eq!(shown(&machine(16 * 1024 * 1024), &Arguments::default()), "");
    assert_eq!(
        shown(&machine(1024 * 1024), &Arguments::default()),
        format!(
            "mistake: {SETTINGS_FILE}: pool.size: 100 sessions of each kind need about 1600 MiB, more than half of this machine's 1024 MiB; write at most 32\n"
        )
    );
}

#[test]
fn mounts_of_the_file_and_the_command_line_come_together() {
    let home = tempfile::tempdir().unwrap();
    let real = home.path().canonicalize().unwrap();
    for name in ["one", "two"] {
        std::fs::create_dir(real.join(name)).unwrap();
    }
    let toml = format!(
        "[[mounts]]\npath = \"{}/one\"\ntarget = \"/one\"\n",
        real.display()
    );
    let env = machine().file(SETTINGS_FILE, &toml);
    let arguments = |mount: &str| Arguments {
        mounts: vec![format!("{}/{mount}", real.display())],
        ..Arguments::default()
    };
    let loaded = load(&arguments("two:/two"), &env).unwrap();
    let mounts: Vec<String> = loaded.settings.mounts.iter().map(ToString::to_string).collect();
    let expected = |name: &str| format!("{}/{name}:/{name}:ro", real.display());
    assert_eq!(mounts, [expected("one"), expected("two")]);
    let text = shown(&env, &arguments("two:/one/more"));
    assert!(
        text.starts_with("mistake: --mount ")
            && text.contains("`/one/more` is taken: another mount has `/one`"),
        "{text}"
    );
    let parts = loaded.into_parts(
        crate::Program {
            executable: PathBuf::from("/bin/codeyard"),
            principal: types::Principal::local(),
        },
        &env,
    );
    assert_eq!(parts.sandbox.mounts, ["/one", "/two"]);
    assert_eq!(
        parts.workspace.root,
        Path::new("/home/ana/.local/share/codeyard/workspaces")
    );
}

#[test]
fn mistakes_of_sinks_come_together() {
    let toml = r#"
        [[gateway.sinks]]
        record = ["runs"]
        name = "a b"

        [[gateway.sinks]]
        headers_file = "x"

        [[gateway.sinks]]
        name = "two"
        syslog = "udp://a"
        otlp = "http://b"

        [[gateway.sinks]]
        name = "same"
        syslog = "udp://a"
        records = ["run"]

        [[gateway.sinks]]
        name = "same"
        syslog = "logs:514"
        payloads = "no"

        [[gateway.sinks]]
        name = "same"
        syslog = "unix:/dev/log"
        records = ["audit"]

        [[gateway.sinks]]
        name = "same"
        syslog = "unix:/dev/log"
        headers_file = "x"

        [[gateway.sinks]]
        name = "same"
        otlp = "http://collector:4318"

        [[gateway.sinks]]
        name = "open"
        otlp = "http://collector:4318"
        headers_file = "x"
        records = []

        [[gateway.sinks]]
        name = "log"
        file = "runs.log"

        [[gateway.sinks]]
        name = "other"
        file = "runs.log"

        [[gateway.sinks]]
        name = "small"
        file = "small.log"
        max_size = "1 KiB"
        max_files = 0

        [gateway.traces]
        otlp = "collector:4318"
        share = 2
        user = "name"
        sample = 1

        [[gateway.sinks]]
        name = "aws"
        cloudwatch = "Frankfurt"
        namespace = "AWS/Lambda"
        dimensions = ["User"]

        [[gateway.sinks]]
        name = "regional"
        file = "regional.log"
        region = "eu-central-1"

        [[gateway.sinks]]
        name = "sized"
        syslog = "unix:/dev/log"
        max_size = "1 MiB"

        [records]
        record = "off"
        "#;
    let mistakes = of_settings(toml);
    assert_snapshot!(mistakes);
    assert!(of_settings("[gateway]\nsinks = 1").contains("separate section `[[gateway.sinks]]`"));
    assert!(of_settings("[gateway]\nsinks = []").contains("sinks: []"));
}

#[test]
fn mistakes_of_issuers_come_together() {
    let toml = r#"
        [[gateway.issuers]]
        issuer = "http://login.example.com"
        audiences = []
        algorithms = ["none", "HS256", "RS265", "ES256"]
        jwks_uri = "keys"
        leeway = "1h"
        user_claim = ""
        new_users = "maybe"
        role = "devloper"
        agents = "a"
        scopes = { "a b" = ["servers.use"], "c" = ["servers.usee"], "d" = [] }
        audience = ["x"]

        [[gateway.issuers]]
        [[gateway.issuers.claims]]
        claim = "groups"

        [[gateway.issuers.claims]]
        claim = "groups"
        value = "a"

        [[gateway.issuers.claims]]
        claim = "groups"
        value = "a"
        role = "platform_admin"
        team = "A"

        [[gateway.issuers.claims]]
        claim = "groups"
        value = "a"
        role = "platform_viewer"
        team = "a"

        [[gateway.issuers]]
        issuer = "https://a.example"
        audiences = ["x"]

        [[gateway.issuers]]
        issuer = "https://a.example"
        audiences = ["y"]
        "#;
    assert_snapshot!(of_settings(toml));
    assert!(of_settings("[gateway]\nissuers = 1").contains("headed `[[gateway.issuers]]`"));
    assert!(of_settings("[gateway]\nissuers = []").contains("issuers: []"));
}

#[test]
fn a_lower_maximum_lowers_the_default() {
    let settings = of_settings("[limits]\nmax_wall_time = \"10s\"");
    assert!(
        settings.contains("wall_time: 10s") && settings.contains("max_wall_time: 10s"),
        "{settings}"
    );
    assert_eq!(
        of_settings("[limits]\nmax_wall_time = \"10s\"\nwall_time = \"20s\""),
        "/home/ana/.config/codeyard/codeyard.toml: limits.wall_time: must be at most 10000 ms"
    );
}

#[test]
fn every_mistake_of_the_settings_is_told_at_once() {
    assert_snapshot!(of_settings(
        r#"
        limit = 5
        [limits]
        memroy = "1 GiB"
        memory = "1 GB"
        wall_time = 60
        cpu_time = "1h"
        cpu_rate = 0.0
        processes = 1
        open_files = -5
        disk = "1 KiB"
        inodes = 1.5
        output = "1 TiB"
        host_calls = "many"
        network = "allow-list"
        speed = 1
        [policy]
        allow = ["github/*", 5]
        deny = ["a.[", "github"]
        permit = []
        [sandbox]
        backend = "landlok"
        require = "tenant"
        [records]
        record = "al"
        keep_for = "30"
        keep_size = "1 KiB"
        kept_for = "1d"
        [python]
        path = 3
        profile = "pandas"
        [log]
        level = "loud"
        [sandbx]
        "#
    ));
}

#[test]
fn record_is_a_word_or_an_array_of_words() {
    let check = |written: &str, expected: &str| {
        let shown = of_settings(&format!("[records]\nrecord = {written}\n"));
        assert!(shown.contains(expected), "{written}: {shown}");
    };
    check("\"off\"", "recording: Some(\n            Off");
    check("\"shape\"", "arguments: Shape,\n                required: false");
    check(
        "[\"shape\", \"required\"]",
        "arguments: Shape,\n                required: true",
    );
    check("\"full\"", "arguments: Full,\n                required: false");
    check("[\"full\", \"replay\"]", "replay: true");
    check("[]", "records.record: the array is empty");
    check(
        "[\"off\", \"full\"]",
        "records.record: `\"off\"` cannot be combined with other words",
    );
    check(
        "[\"shape\", \"full\"]",
        "records.record: \"shape\" and \"full\" exclude each other",
    );
    check(
        "true",
        "records.record: expected a word or an array of words, found a boolean",
    );
    check("[\"ful\"]", "found \"ful\"; did you mean `full`?");
}

#[test]
fn settings_that_are_no_toml() {
    let text = [
        "[limits",
        "[limits]\nmemory = 1 GiB",
        "limits = 5",
        "[log]\nlevel = \"info\"\nlevel = \"warn\"",
    ]
    .map(of_settings)
    .join("\n");
    assert_snapshot!(text);
}

#[test]
fn settings_that_are_nested_deep_are_one_mistake() {
    let dotted = ".a".repeat(100_000);
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{a = ".repeat(100_000)),
        format!("a{dotted} = 1"),
        format!("[a{dotted}]"),
    ] {
        let (_, found) = crate::file::read(Path::new("/codeyard.toml"), &text);
        assert_eq!(found.mistakes.len(), 1, "{}", &text[..8]);
    }
}
