//! Simulated machines without a guard: the doctor names the gap, and serving enforces exactly the requirements.

use serde_json::Value;
use test_support::{CodeClient, Codeyard, Mode, codeyard_binary};

/// Runs a command below a filter of system calls.
const REFUSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/kernels/refuse.py");
/// Without stored files, because not every machine's kernel enforces their quota.
const TENANT_ISOLATION: &str = "[sandbox]\nrequire = \"tenant-isolation\"\n[workspace]\nenabled = false";

/// A command that changes the machine for its child.
type Wrapper = Vec<String>;

/// The fate of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Serves {
    /// They run.
    Yes,
    /// Refused, in words that hold each of these.
    No(&'static [&'static str]),
}

/// One machine.
struct Machine {
    name: &'static str,
    wrapper: Wrapper,
    /// A part of some row of the doctor if programs run; else the reason.
    doctor: &'static [&'static str],
    /// With the default requirements.
    single_tenant: Serves,
    /// With required isolation between tenants.
    tenant_isolation: Serves,
}

/// A filter of system calls.
fn without(what: &str) -> Wrapper {
    ["python3", REFUSE, what].map(str::to_owned).to_vec()
}

/// A mount namespace changed by a script. An ordinary user is root in a user namespace there.
fn mounted(mode: Mode, script: &str) -> Wrapper {
    let own: &[&str] = if mode.is_root {
        &[]
    } else {
        &["--user", "--map-root-user"]
    };
    let unshare = ["unshare", "--mount", "--propagation", "private"];
    let script = format!("set -e; {script}; exec \"$@\"");
    let shell = ["sh", "-c", &script, "sh"];
    let words = unshare.iter().chain(own).chain(&shell);
    words.map(|word| (*word).to_owned()).collect()
}

/// A user namespace that may contain no other.
fn no_namespaces() -> Wrapper {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"]
        .map(str::to_owned)
        .to_vec()
}

impl Machine {
    /// A machine that runs nothing, whatever is required.
    fn refusing(name: &'static str, wrapper: Wrapper, told: &'static [&'static str]) -> Self {
        Self {
            name,
            wrapper,
            doctor: &[],
            single_tenant: Serves::No(told),
            tenant_isolation: Serves::No(told),
        }
    }

    /// A machine of root that lacks nothing relevant.
    fn unharmed(name: &'static str, wrapper: Wrapper, mode: Mode, told: &'static [&'static str]) -> Self {
        Self {
            name,
            wrapper,
            doctor: told,
            single_tenant: Serves::Yes,
            tenant_isolation: if mode.groups {
                Serves::Yes
            } else {
                Serves::No(&["control groups"])
            },
        }
    }

    /// A machine of root without control groups.
    fn uncounted(name: &'static str, wrapper: Wrapper, told: &'static [&'static str]) -> Self {
        Self {
            name,
            wrapper,
            doctor: told,
            single_tenant: Serves::Yes,
            tenant_isolation: Serves::No(told),
        }
    }

    async fn check(&self) {
        for (settings, serves) in [
            ("", self.single_tenant),
            (TENANT_ISOLATION, self.tenant_isolation),
        ] {
            self.check_requiring(settings, serves).await;
        }
    }

    async fn check_requiring(&self, settings: &str, serves: Serves) {
        let name = format!("{}, {settings:?}", self.name);
        let codeyard = Codeyard::new().unwrap().settings(settings).below(&self.wrapper);
        let output = codeyard.run(["doctor", "--json"]).await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {said}"));
        assert!(
            !said.contains("panicked") && !said.contains("error:"),
            "{name}: {said}"
        );
        assert_eq!(report["serves"], serves == Serves::Yes, "{name}: {report:#}");
        let expected = if serves == Serves::Yes { 0 } else { 3 };
        assert_eq!(output.status.code(), Some(expected), "{name}: {report:#}");
        let told = match serves {
            Serves::Yes => self.doctor,
            Serves::No(told) => told,
        };
        for words in told {
            assert!(
                report["checks"].to_string().contains(words),
                "{name}: {words}: {report:#}"
            );
        }

        let output = codeyard
            .run_with_input(["run", "-"], "print('ran')")
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let mut client = CodeClient::of(codeyard).await;
        let ran = client.run("print('ran')").await;
        client.check_healthy().await;
        match serves {
            Serves::Yes => {
                assert_eq!(
                    (output.status.code(), output.stdout.as_slice()),
                    (Some(0), b"ran\n".as_slice()),
                    "{name}: {said}"
                );
                assert_eq!(ran.stdout(), "ran\n", "{name}: {ran:?}");
            }
            Serves::No(told) => {
                assert_eq!(output.status.code(), Some(3), "{name}: {said}");
                assert!(output.stdout.is_empty(), "{name}");
                assert_eq!(ran.status(), "refused", "{name}: {ran:?}");
                for words in told {
                    assert!(said.contains(words), "{name}: {words}: {said}");
                    assert!(ran.error().contains(words), "{name}: {words}: {}", ran.error());
                }
            }
        }
    }
}

async fn mode() -> Mode {
    Mode::of(&Codeyard::new().unwrap()).await.unwrap()
}

#[tokio::test]
async fn without_user_namespaces() {
    let told = &[
        "user namespaces are switched off (user.max_user_namespaces = 0)",
        "sysctl",
    ];
    Machine::refusing("sysctl", no_namespaces(), told).check().await;
    // Root of a user namespace that holds one user only.
    let nested = ["unshare", "--user", "--map-root-user"]
        .map(str::to_owned)
        .to_vec();
    Machine::refusing(
        "a nested root",
        nested,
        &["root here is root of a user namespace"],
    )
    .check()
    .await;
    let told = &["user namespaces are refused here", "seccomp=unconfined"];
    let machine = Machine::refusing("a filter", without("user-namespaces"), told);
    machine.check_requiring("", machine.single_tenant).await;
}

#[tokio::test]
async fn without_landlock() {
    for (what, told) in [
        (
            "landlock-off",
            "Landlock is switched off in this kernel; boot with `lsm=landlock",
        ),
        ("landlock-missing", "Landlock is not built into this kernel"),
        ("landlock-forbidden", "Landlock is forbidden to this process"),
    ] {
        let machine = Machine {
            name: what,
            wrapper: without(what),
            doctor: &[],
            single_tenant: Serves::No(&["Landlock"]),
            tenant_isolation: Serves::No(&["Landlock"]),
        };
        machine.check().await;
        let codeyard = Codeyard::new().unwrap().below(without(what));
        let output = codeyard.run(["doctor"]).await.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(told), "{said}");
    }
}

#[tokio::test]
async fn without_proc() {
    let mode = mode().await;
    let told = &["/proc is not a process file system", "mount -t proc"];
    Machine::refusing("no /proc", mounted(mode, "mount -t tmpfs none /proc"), told)
        .check()
        .await;
    if mode.is_root {
        let masked = mounted(mode, "mount -t tmpfs none /proc/sys/fs");
        let told = &["mount /proc", "unmasked /proc"];
        let machine = Machine::refusing("a masked /proc", masked, told);
        machine.check_requiring("", machine.single_tenant).await;
        // Root still sees all processes.
        let machine = Machine::unharmed(
            "hidepid",
            mounted(mode, "mount -t proc -o hidepid=2 proc /proc"),
            mode,
            &["capabilities 0000000000000000"],
        );
        machine.check().await;
    }
}

#[tokio::test]
async fn without_control_groups() {
    let mode = mode().await;
    if !mode.is_root || !mode.groups {
        return; // Only root changes these mounts, and only where there are groups is there something to take away.
    }
    let each = |action: &str| {
        format!("for group in $(awk '$3 ~ /^cgroup/ {{print $2}}' /proc/mounts); do {action}; done")
    };
    let machines = [
        Machine::uncounted(
            "hidden",
            mounted(mode, &each("umount -l $group 2>/dev/null || true")),
            &["no memory, pids and cpu controllers"],
        ),
        Machine::uncounted(
            "read-only",
            mounted(mode, &each("mount -o remount,bind,ro $group")),
            &["is not writable", "Read-only file system"],
        ),
        Machine::uncounted(
            "files that bind nothing",
            mounted(mode, &each("mount -t tmpfs none $group")),
            &["/sys/fs/cgroup", "systemd-run"],
        ),
    ];
    for machine in &machines {
        machine.check().await;
    }
}

#[tokio::test]
async fn without_shared_memory() {
    let mode = mode().await;
    if !mode.is_root {
        return; // An ordinary user cannot make a /dev of its own.
    }
    let dev = "mkdir \"$HOME/dev\"; mount -t tmpfs dev \"$HOME/dev\"; for node in null zero full random urandom; do \
               touch \"$HOME/dev/$node\"; mount --bind /dev/$node \"$HOME/dev/$node\"; done; mount --rbind \"$HOME/dev\" /dev; \
               umount -l \"$HOME/dev\"; rmdir \"$HOME/dev\"; test ! -e /dev/shm";
    let machine = Machine::unharmed(
        "no /dev/shm",
        mounted(mode, dev),
        mode,
        &["capabilities 0000000000000000"],
    );
    machine.check().await;
}

/// A podman container with the machine's own programs.
fn podman(options: &str) -> Wrapper {
    let script = format!(
        "here=\"${{HOME%/home}}\"; root=\"$here/root\"; mkdir -p \"$root/etc\" \"$root/tmp\" \"$root/usr\"; \
         for link in bin lib lib64 sbin; do ln -sfn usr/$link \"$root/$link\"; done; cp /etc/passwd /etc/group /etc/ld.so.cache \
         \"$root/etc\"; exec podman run --rm --interactive --network none --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --env-host --workdir \"$PWD\" \
         --volume /usr:/usr:ro --volume {program}:{program}:ro --volume \"$here:$here\" {options} --rootfs \"$root\" \"$@\"",
        program = codeyard_binary().display(),
    );
    ["sh", "-c", &script, "sh"].map(str::to_owned).to_vec()
}

#[tokio::test]
async fn inside_a_container() {
    let mode = mode().await;
    let codeyard = Codeyard::new().unwrap().below(podman(""));
    let works = match codeyard.run(["--version"]).await {
        Ok(output) => output.status.success(),
        Err(_) => false,
    };
    if !mode.is_root || !works {
        return; // There is no podman, or it cannot start containers here.
    }
    let told = &["CAP_SYS_ADMIN", "unmask=ALL"];
    let machines = [
        Machine::refusing("podman", podman(""), told),
        Machine::uncounted(
            "podman, with the capability and /proc",
            podman("--cap-add SYS_ADMIN --security-opt unmask=ALL"),
            &["is not writable", "Read-only file system"],
        ),
        Machine::unharmed(
            "podman, privileged",
            podman("--privileged"),
            mode,
            &["capabilities 0000000000000000"],
        ),
    ];
    for machine in &machines {
        machine.check().await;
    }
}

#[tokio::test]
async fn an_ordinary_user_without_a_range_has_no_isolation_of_tenants() {
    let mode = mode().await;
    if mode.is_root {
        return; // Root's sessions have users of their own.
    }
    let codeyard = Codeyard::new().unwrap().settings(TENANT_ISOLATION);
    let output = codeyard.run_with_input(["run", "-"], "print(1)").await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return; // It has a range and groups.
    }
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("`[sandbox] require = \"tenant-isolation\"` needs"),
        "{said}"
    );
    assert!(
        said.contains("doctor --fix") || said.contains("systemd-run"),
        "{said}"
    );
}

#[tokio::test]
async fn the_doctor_names_the_promise_of_each_guard() {
    let codeyard = Codeyard::new().unwrap();
    let mode = Mode::of(&codeyard).await.unwrap();
    let output = codeyard.run(["doctor", "--json"]).await.unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let guards = report["guards"].as_array().unwrap();
    let strength = |name: &str| {
        let guard = guards.iter().find(|guard| guard["name"] == name);
        guard.unwrap_or_else(|| panic!("{name}: {report:#}"))["strength"] == "full"
    };
    for (name, full) in [
        ("kernel user", mode.own_users),
        ("counters", mode.own_users),
        ("memory", mode.groups),
        ("processes", mode.groups),
        ("cpu", mode.groups),
        ("files", mode.own_users),
        ("mounts rw", false),
    ] {
        assert_eq!(strength(name), full, "{name}: {report:#}");
    }
    assert_eq!(guards.len(), 9, "{report:#}");
    let output = codeyard.run(["doctor"]).await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    for guard in guards {
        let promise = guard["promise"].as_str().unwrap();
        assert!(said.contains(promise), "{promise}: {said}");
    }
}
