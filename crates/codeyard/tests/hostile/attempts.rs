//! Attempts to get out: every call, file, process, family and door, each with its control.

use serde_json::json;
use test_support::Codeyard;

use crate::control::Control;
use crate::table::Inside::{IfCounted, Is};
use crate::table::Outside::{Allowed, AllowedForRoot, Reaches, ReachesForRoot, Untested};
use crate::table::Rows;
use crate::yard::{Guest, LIMITS, Yard};

const fn rows(
    inside: &'static str,
    outside: crate::table::Outside,
    attempts: &'static [&'static str],
) -> Rows {
    Rows {
        inside: Is(inside),
        outside,
        attempts,
    }
}

const KERNEL: Guest = Guest {
    name: "kernel",
    control: Control::Plain,
    rows: &[
        rows(
            "EPERM",
            Allowed,
            &[
                "io_uring_setup",
                "userfaultfd",
                "keyctl",
                "add_key",
                "ptrace_traceme",
                "process_vm_readv",
                "pidfd_getfd",
                "kcmp",
                "personality",
                "modify_ldt",
                "fanotify_init",
                "inotify_init",
                "timer_create",
                "mincore",
                "readahead",
                "landlock_create_ruleset",
                "seccomp",
                "sysinfo",
                "rt_sigqueueinfo",
            ],
        ),
        rows("ENOSYS", Allowed, &["clone3", "openat2"]),
        rows("EINVAL", Allowed, &["splice"]),
        rows(
            "EPERM",
            AllowedForRoot,
            &["bpf", "perf_event_open", "settimeofday", "adjtimex", "syslog"],
        ),
        rows(
            "EPERM",
            Reaches,
            &[
                "request_key",
                "clock_settime",
                "open_by_handle_at",
                "get_mempolicy",
                "move_pages",
                "process_madvise",
                "memfd_secret",
                "statmount",
            ],
        ),
        rows(
            "EPERM",
            ReachesForRoot,
            &[
                "init_module",
                "finit_module",
                "delete_module",
                "kexec_load",
                "kexec_file_load",
                "swapon",
                "swapoff",
                "reboot",
                "acct",
                "iopl",
            ],
        ),
    ],
};

const NAMESPACES: Guest = Guest {
    name: "namespaces",
    control: Control::Namespaces,
    rows: &[rows(
        "EPERM",
        Allowed,
        &[
            "mount_tmpfs",
            "mount_proc",
            "mount_bind",
            "remount",
            "umount",
            "umount_own_proc",
            "fsopen",
            "open_tree",
            "fspick",
            "mount_setattr",
            "pivot_root",
            "chroot",
            "unshare_time",
            "unshare_mount",
            "unshare_cgroup",
            "unshare_uts",
            "unshare_ipc",
            "unshare_user",
            "unshare_pid",
            "unshare_net",
            "clone_mount",
            "clone_cgroup",
            "clone_uts",
            "clone_ipc",
            "clone_user",
            "clone_pid",
            "clone_net",
            "clone_parent",
            "clone_ptrace",
            "setns_mnt",
            "setns_uts",
            "setns_ipc",
            "setns_net",
            "setns_cgroup",
            "sethostname",
            "setdomainname",
            "shmget",
            "semget",
            "msgget",
            "mq_open",
        ],
    )],
};

const IDENTITY: Guest = Guest {
    name: "identity",
    control: Control::Plain,
    rows: &[
        rows(
            "EPERM",
            Allowed,
            &[
                "setuid",
                "setgid",
                "setresuid",
                "setreuid",
                "capset",
                "prctl_dumpable",
                "prctl_dumpable_high_bits",
                "prctl_keepcaps",
                "prctl_pdeathsig",
                "prctl_subreaper",
                "arch_prctl_gs",
                "prlimit_nofile",
                "prlimit_nproc",
                "prlimit_core",
                "setrlimit",
                "sched_setaffinity",
                "sched_setscheduler",
                "setpriority",
                "ioprio_set",
                "mlock",
                "chown",
                "fchown",
                "lchown",
                "fchownat",
                "chmod_setuid",
                "chmod_setuid_high_bits",
                "fchmod_setuid",
                "fchmodat_setuid",
                "open_setuid",
                "creat_setuid",
                "chmod_setgid",
                "chmod_setgid_high_bits",
                "fchmod_setgid",
                "fchmodat_setgid",
                "open_setgid",
                "creat_setgid",
                "mkdir_setgid",
                "mknod_fifo",
            ],
        ),
        rows("EACCES", Allowed, &["oom_score"]),
        rows("EPERM", AllowedForRoot, &["setgroups", "mknod_device"]),
        // Old kernels and file systems have no such call or attribute.
        rows(
            "EPERM",
            Reaches,
            &["fchmodat2_setuid", "fchmodat2_setgid", "setxattr"],
        ),
        rows("allowed", Allowed, &["prctl_name", "chmod"]),
    ],
};

const DESCRIPTORS: Guest = Guest {
    name: "descriptors",
    control: Control::Plain,
    rows: &[
        rows(
            "EPERM",
            Allowed,
            &[
                "send_buffer",
                "receive_buffer",
                "send_buffer_high_level",
                "attach_filter",
                "busy_poll",
                "sendto_out_of_band",
                "sendmsg_out_of_band",
                "sendmmsg_out_of_band",
                "recvfrom_out_of_band",
                "recvmsg_out_of_band",
                "recvmmsg_out_of_band",
                "pipe_size",
                "lease",
                "lease_end",
                "notify",
                "owner",
                "owner_high_bits",
                "interface_list",
                "locked_pages",
                "advise_pageout",
                "advise_populate",
                "fallocate_keep_size",
                "fallocate_punch_hole",
                "read_nowait",
                "write_dsync",
                "advise_dontneed",
                "sync_file_range",
                "membarrier_global",
                "tee",
                "vmsplice",
                "memfd_no_seal",
            ],
        ),
        // A kernel without huge pages, samepage merging or SO_PEERPIDFD says so.
        rows(
            "EPERM",
            Reaches,
            &["huge_pages", "memfd_huge", "advise_mergeable", "peer_pidfd"],
        ),
        rows("ENOENT", Allowed, &["pseudo_terminal"]),
        rows(
            "EPERM",
            AllowedForRoot,
            &["terminal_input", "terminal_input_high_bits"],
        ),
        rows("allowed", Allowed, &["keepalive", "flock"]),
        Rows {
            inside: IfCounted("allowed"),
            outside: Allowed,
            attempts: &["memfd"],
        },
    ],
};

const SOCKETS: Guest = Guest {
    name: "sockets",
    control: Control::Plain,
    rows: &[
        rows(
            "EPERM",
            Allowed,
            &[
                "socket_inet",
                "socket_inet6",
                "socket_netlink",
                "socket_inet_high_bits",
                "every_family",
            ],
        ),
        rows(
            "EPERM",
            ReachesForRoot,
            &[
                "socket_packet",
                "socket_alg",
                "socket_vsock",
                "socket_xdp",
                "socketpair_inet",
            ],
        ),
        rows("allowed", Allowed, &["socket_unix", "bind_path", "bind_abstract"]),
    ],
};

const PROCESSES: Guest = Guest {
    name: "processes",
    control: Control::Plain,
    rows: &[
        rows(
            "ENOENT",
            Allowed,
            &[
                "see",
                "command",
                "environment",
                "memory",
                "root",
                "descriptors",
                "others",
            ],
        ),
        rows(
            "ESRCH",
            Allowed,
            &[
                "signal",
                "signal_by_thread",
                "signal_by_descriptor",
                "signal_group",
                "limits",
                "scheduler",
            ],
        ),
        rows("EPERM", Allowed, &["priority", "cores"]),
        // A security module may refuse to trace who is no child.
        rows("EPERM", AllowedForRoot, &["trace", "memory_by_call"]),
    ],
};

const FILES: Guest = Guest {
    name: "files",
    control: Control::Plain,
    rows: &[
        rows(
            "ENOENT",
            Allowed,
            &[
                "canary",
                "canary_in_home",
                "configuration",
                "data_directory",
                "write_canary",
                "remove_canary",
                "list_directory_of_canary",
                "through_root",
                "through_working_directory",
                "through_descriptors",
                "through_link",
                "sys",
                "run",
                "var",
                "boot",
                "devices",
                "kernel_files",
            ],
        ),
        rows(
            "ENOENT",
            AllowedForRoot,
            &["shadow", "root_home", "host_name_of_kernel"],
        ),
        rows("ENOENT", Reaches, &["homes"]),
        rows(
            "ENOENT",
            Untested("not every machine has one"),
            &["machine_id", "disks"],
        ),
        rows(
            "EACCES|EROFS",
            AllowedForRoot,
            &["write_system_file", "write_users"],
        ),
        rows("EROFS", AllowedForRoot, &["touch_system_file"]),
    ],
};

const OWN_HOUSE: Guest = Guest {
    name: "own_house",
    control: Control::Careless,
    rows: &[
        rows("0=null 1=pipe 2=pipe 3=socket", Reaches, &["descriptors"]),
        rows("EROFS", Allowed, &["mapped_files_writable"]),
        rows("none", Allowed, &["mapped_shared_writable"]),
        rows(
            "EROFS",
            AllowedForRoot,
            &["change_mapped_files", "chmod_exe", "touch_exe"],
        ),
        rows(
            "EACCES",
            Untested("the program that runs is busy, or root's"),
            &["write_exe"],
        ),
        rows("EACCES", Allowed, &["write_memory"]),
        rows("ENXIO", Untested("it has no channel"), &["channel_again"]),
        rows(
            "EACCES|EPERM",
            Untested("it is in nobody's namespace"),
            &["map_users"],
        ),
        rows("none", AllowedForRoot, &["capabilities"]),
        rows("never", Allowed, &["new_privileges"]),
        rows("2", Reaches, &["seccomp"]),
        rows("1 0", Reaches, &["process"]),
        rows("sandbox", Reaches, &["host_name"]),
        rows("no", Allowed, &["root_of_host_mapped"]),
    ],
};

const DOORS: Guest = Guest {
    name: "doors",
    control: Control::Plain,
    rows: &[
        // A kernel without 32-bit programs or x32 says ENOSYS.
        rows("SIGSYS", Reaches, &["int80", "x32"]),
        rows("allowed", Allowed, &["native"]),
    ],
};

#[tokio::test]
async fn the_kernel_is_asked_for_nothing_but_what_programs_need() {
    let mut yard = Yard::new().await;
    yard.check(KERNEL, json!({})).await;
    yard.check(NAMESPACES, json!({})).await;
    yard.check(IDENTITY, json!({})).await;
    yard.check(DESCRIPTORS, json!({})).await;
    yard.check(SOCKETS, json!({})).await;
    yard.end().await;
}

/// What a program can reach by name.
async fn check_names(yard: &mut Yard) {
    let victim = Victim::start();
    yard.check(PROCESSES, json!({"victim": victim.0.id().unwrap()}))
        .await;
    let root = yard.client.codeyard.directory();
    let given = json!({
        "canary": yard.canaries.file,
        "home": yard.canaries.home,
        "configuration": root.join("config/codeyard/mcp.json"),
        "data": yard.client.codeyard.data_directory(),
    });
    yard.check(FILES, given).await;
    yard.check(OWN_HOUSE, json!({})).await;
}

#[tokio::test]
async fn nothing_of_the_host_is_there() {
    let mut yard = Yard::new().await;
    check_names(&mut yard).await;
    yard.end().await;
}

#[tokio::test]
async fn nothing_of_the_host_is_there_where_numpy_and_pandas_are_loaded() {
    let codeyard = Codeyard::new().unwrap().managed_environment();
    let mut yard = Yard::with(codeyard.settings(LIMITS).settings("[python]\nprofile = \"data\"")).await;
    check_names(&mut yard).await;
    yard.check(KERNEL, json!({})).await;
    yard.end().await;
}

#[tokio::test]
async fn other_doors_into_the_kernel_end_the_process() {
    let mut yard = Yard::new().await;
    yard.check(DOORS, json!({})).await;
    for door in ["int80", "x32"] {
        let ran = yard.run("doors", json!({"door": door})).await;
        assert_eq!(ran.status(), "failed", "{ran:?}");
        assert!(ran.error().contains("SandboxLost"), "{ran:?}");
        assert_eq!(ran.fields()["session_state"], "lost");
        let printed = ran.stdout();
        assert!(printed.ends_with("entering\n"), "{door}: {printed}");
        yard.check_well().await;
    }
    yard.end().await;
}

/// A process of the host with something to hide.
struct Victim(tokio::process::Child);

impl Victim {
    fn start() -> Victim {
        #[expect(
            clippy::disallowed_methods,
            reason = "the test owns the process and kills it on drop"
        )]
        let mut command = tokio::process::Command::new("sleep");
        command.arg("600").env("TOKEN", "of the victim");
        // In a process group of its own, which a program may try to signal.
        Victim(command.process_group(0).kill_on_drop(true).spawn().unwrap())
    }
}
