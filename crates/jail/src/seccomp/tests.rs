//! Compares the compiled filters with their rules, over the whole space of calls.

use proptest::prelude::*;

use super::compile::{JUMP, JUMP_EQUAL, JUMP_GREATER_EQUAL, JUMP_SET, LOAD, Preamble, RETURN};
use super::rules::{Condition, Table};
use super::*;

const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
const AUDIT_ARCH_I386: u32 = 0x4000_0003;
const ALLOW: u32 = 0x7fff_0000;
const EPERM: u32 = 0x0005_0001;
const ENOSYS: u32 = 0x0005_0026;
const EOPNOTSUPP: u32 = 0x0005_005f;
const KILL: u32 = 0x8000_0000;

fn emulate(program: &[Instruction], architecture: u32, number: u32, arguments: &[u64; 6]) -> u32 {
    let mut data = vec![];
    data.extend(number.to_le_bytes());
    data.extend(architecture.to_le_bytes());
    data.extend(0u64.to_le_bytes());
    arguments
        .iter()
        .for_each(|argument| data.extend(argument.to_le_bytes()));
    let (mut counter, mut accumulator) = (0usize, 0u32);
    loop {
        let Instruction {
            code,
            jump_true,
            jump_false,
            operand,
        } = program[counter];
        counter += 1;
        let holds = match code {
            LOAD => {
                let at = operand as usize;
                accumulator = u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
                continue;
            }
            RETURN => return operand,
            JUMP => {
                counter += operand as usize;
                continue;
            }
            JUMP_EQUAL => accumulator == operand,
            JUMP_GREATER_EQUAL => accumulator >= operand,
            JUMP_SET => accumulator & operand != 0,
            other => panic!("unexpected code {other:#x}"),
        };
        counter += usize::from(if holds { jump_true } else { jump_false });
    }
}

/// The answer for one call under both filters of a session: the stricter answer wins.
fn check(name: &str, arguments: [u64; 6], memory: KernelMemory, namespaces: Namespaces, expected: u32) {
    let rules = parse(RULES, &numbers()).unwrap();
    let zygote = compile(&rules.zygote(namespaces), Preamble::CheckArchitecture);
    let session = compile(&rules.session(memory, namespaces), Preamble::None);
    let number = numbers()[name];
    let first = emulate(&zygote, AUDIT_ARCH_X86_64, number, &arguments);
    let second = emulate(&session, AUDIT_ARCH_X86_64, number, &arguments);
    let strict = |answer: u32| {
        if answer == ALLOW {
            u32::MAX
        } else {
            answer & 0xffff_0000
        }
    };
    let answer = if strict(first) <= strict(second) {
        first
    } else {
        second
    };
    assert_eq!(answer, expected, "{name} {arguments:x?}");
}

#[test]
fn what_sessions_may_do() {
    let counted =
        |name, arguments, expected| check(name, arguments, KernelMemory::Counted, Namespaces::Own, expected);
    for (name, arguments, expected) in [
        ("read", [0; 6], ALLOW),
        ("mount", [0; 6], EPERM),
        ("unshare", [0; 6], EPERM),
        ("ptrace", [0; 6], EPERM),
        ("bpf", [0; 6], EPERM),
        ("io_uring_setup", [0; 6], EPERM),
        ("keyctl", [0; 6], EPERM),
        ("clone3", [0; 6], ENOSYS),
        ("openat2", [0; 6], ENOSYS),
        ("clone", [17, 0, 0, 0, 0, 0], ALLOW),
        ("clone", [0x1000_0000, 0, 0, 0, 0, 0], EPERM),
        ("clone", [0x8000, 0, 0, 0, 0, 0], EPERM),
        ("clone", [18, 0, 0, 0, 0, 0], EPERM),
        ("kill", [1, 15, 0, 0, 0, 0], ALLOW),
        ("kill", [1, 18, 0, 0, 0, 0], EPERM),
        ("kill", [1, 0xffff_ffff_0000_0012, 0, 0, 0, 0], EPERM),
        ("tkill", [1, 18, 0, 0, 0, 0], EPERM),
        ("tgkill", [1, 1, 18, 0, 0, 0], EPERM),
        ("pidfd_send_signal", [3, 18, 0, 0, 0, 0], EPERM),
        ("clone", [0xffff_ffff_0000_0011, 0, 0, 0, 0, 0], ALLOW),
        ("socket", [1, 1, 0, 0, 0, 0], ALLOW),
        ("socket", [2, 1, 0, 0, 0, 0], EPERM),
        ("ioctl", [0, 0x5401, 0, 0, 0, 0], ALLOW),
        ("ioctl", [0, 0x5412, 0, 0, 0, 0], EPERM),
        ("ioctl", [0, 0xffff_ffff_0000_5412, 0, 0, 0, 0], EPERM),
        ("chmod", [0, 0o755, 0, 0, 0, 0], ALLOW),
        ("chmod", [0, 0o4755, 0, 0, 0, 0], EPERM),
        ("openat", [0, 0, 0, 0o2755, 0, 0], EPERM),
        ("prlimit64", [0, 7, 0, 1, 0, 0], ALLOW),
        ("prlimit64", [0, 7, 0x1_0000_0000, 0, 0, 0], EPERM),
        ("prctl", [15, 0, 0, 0, 0, 0], ALLOW),
        ("prctl", [1, 0, 0, 0, 0, 0], EPERM),
        ("setsockopt", [3, 1, 2, 0, 0, 0], ALLOW),
        ("setsockopt", [3, 1, 7, 0, 0, 0], EPERM),
        ("setsockopt", [3, 0, 2, 0, 0, 0], EPERM),
        ("memfd_create", [0, 1, 0, 0, 0, 0], ALLOW),
        ("memfd_create", [0, 4, 0, 0, 0, 0], EPERM),
        ("mmap", [0, 0, 0, 0x22, 0, 0], ALLOW),
        ("mmap", [0, 0, 0, 0x40022, 0, 0], EPERM),
        ("renameat2", [0, 0, 0, 0, 2, 0], ALLOW),
        ("renameat2", [0, 0, 0, 0, 3, 0], EPERM),
        ("renameat2", [0, 0, 0, 0, 4, 0], EPERM),
    ] {
        counted(name, arguments, expected);
    }
    check(
        "memfd_create",
        [0, 1, 0, 0, 0, 0],
        KernelMemory::Uncounted,
        Namespaces::Own,
        EPERM,
    );
}

#[test]
fn futexes_without_priority_inheritance_are_allowed() {
    const PRIVATE: u64 = 128;
    const CLOCK: u64 = 256;
    let futex = |operation: u64, expected| {
        let arguments = [0, operation, 0, 0, 0, 0];
        check(
            "futex",
            arguments,
            KernelMemory::Counted,
            Namespaces::Own,
            expected,
        );
    };
    for plain in [0, 1, 3, 4, 5, 9, 10] {
        futex(plain, ALLOW);
        futex(plain | PRIVATE, ALLOW);
    }
    for wait in [0, 9] {
        futex(wait | CLOCK, ALLOW);
        futex(wait | CLOCK | PRIVATE, ALLOW);
    }
    for inheriting in [6, 7, 8, 11, 12, 13] {
        for flags in [0, PRIVATE, CLOCK, PRIVATE | CLOCK] {
            futex(inheriting | flags, EPERM);
        }
    }
}

#[test]
fn calls_refused_without_namespaces() {
    const STREAM: u64 = 1;
    const DATAGRAM: u64 = 2;
    const RAW: u64 = 3;
    const CLOSE_ON_EXEC: u64 = 0x80000;
    for (name, arguments, own, shared) in [
        ("socket", [1, STREAM | CLOSE_ON_EXEC, 0, 0, 0, 0], ALLOW, ALLOW),
        ("socketpair", [1, STREAM, 0, 0, 0, 0], ALLOW, ALLOW),
        ("socketpair", [1, DATAGRAM, 0, 0, 0, 0], ALLOW, EPERM),
        ("socket", [1, DATAGRAM | CLOSE_ON_EXEC, 0, 0, 0, 0], ALLOW, EPERM),
        // The kernel turns this into a datagram socket.
        ("socket", [1, RAW, 0, 0, 0, 0], ALLOW, EPERM),
        ("socket", [2, STREAM, 0, 0, 0, 0], EPERM, EPERM),
        ("connect", [0; 6], ALLOW, EPERM),
        ("bind", [0; 6], ALLOW, EPERM),
        ("chmod", [0, 0o755, 0, 0, 0, 0], ALLOW, EPERM),
        ("utimensat", [0; 6], ALLOW, EPERM),
        ("getxattr", [0; 6], ALLOW, EOPNOTSUPP),
        ("mount", [0; 6], EPERM, EPERM),
        ("read", [0; 6], ALLOW, ALLOW),
    ] {
        for (namespaces, expected) in [(Namespaces::Own, own), (Namespaces::Shared, shared)] {
            check(name, arguments, KernelMemory::Counted, namespaces, expected);
        }
    }
}

#[test]
fn only_the_zygote_may_make_containers() {
    const NEW_USER: u64 = 0x1000_0000;
    const NEW_MOUNTS: u64 = 0x2_0000;
    let rules = parse(RULES, &numbers()).unwrap();
    let zygote = |namespaces, name: &str, argument: u64| {
        let program = compile(&rules.zygote(namespaces), Preamble::CheckArchitecture);
        let arguments = [argument, 0, 0, 0, 0, 0];
        emulate(&program, AUDIT_ARCH_X86_64, numbers()[name], &arguments)
    };
    for (name, argument, own, mapped) in [
        ("unshare", NEW_USER, EPERM, ALLOW),
        ("unshare", NEW_USER | NEW_MOUNTS, EPERM, EPERM),
        ("unshare", NEW_MOUNTS, EPERM, EPERM),
        ("unshare", 1 << 32 | NEW_USER, EPERM, EPERM),
        ("landlock_create_ruleset", 0, EPERM, ALLOW),
        ("landlock_add_rule", 0, EPERM, ALLOW),
    ] {
        assert_eq!(
            zygote(Namespaces::Own, name, argument),
            own,
            "{name} {argument:x}"
        );
        assert_eq!(
            zygote(Namespaces::Mapped, name, argument),
            mapped,
            "{name} {argument:x}"
        );
        let arguments = [argument, 0, 0, 0, 0, 0];
        check(name, arguments, KernelMemory::Counted, Namespaces::Mapped, EPERM);
    }
}

#[test]
fn other_entries_end_the_process() {
    let rules = parse(RULES, &numbers()).unwrap();
    let zygote = compile(&rules.zygote(Namespaces::Own), Preamble::CheckArchitecture);
    assert_eq!(emulate(&zygote, AUDIT_ARCH_I386, 0, &[0; 6]), KILL);
    assert_eq!(emulate(&zygote, AUDIT_ARCH_X86_64, 0x4000_0000, &[0; 6]), KILL);
    assert_eq!(emulate(&zygote, AUDIT_ARCH_X86_64, 100_000, &[0; 6]), EPERM);
}

#[test]
fn the_filters_are_small_enough_to_load_per_session() {
    let filters = filters(KernelMemory::Uncounted, Namespaces::Own).unwrap();
    assert!(
        filters.session.len() / 8 <= 64,
        "{} instructions",
        filters.session.len() / 8
    );
    assert!(
        filters.zygote.len() / 8 <= 512,
        "{} instructions",
        filters.zygote.len() / 8
    );
}

#[test]
fn mistakes_name_their_line() {
    let check = |text: &str, expected: &str| {
        assert_eq!(parse(text, &numbers()).unwrap_err().to_string(), expected);
    };
    check("read", "line 1: a rule before the first section");
    check(
        "[allow]\nraed",
        "line 2: unknown system call `raed` on this architecture",
    );
    check("[allow]\nread\n\nread", "line 4: `read` has a rule already");
    check("[deny]", "line 1: unknown section `deny`");
    assert!(parse("[allow]\nioctl arg1 not == 1", &numbers()).is_err());
    check(
        "[allow]\nioctl arg9 in 1",
        "line 2: cannot read `ioctl arg9 in 1`: expected `argN in …` or `argN not in …` with at most 255 values, `argN == …`, `argN without …`, `allow` or `errno NAME`",
    );
}

#[test]
fn a_condition_has_no_more_values_than_a_jump_can_skip() {
    let rules = |count: u32| {
        let values: Vec<String> = (0..count).map(|value| value.to_string()).collect();
        parse(
            &format!("[confine]\nioctl arg1 in {}", values.join(" ")),
            &numbers(),
        )
    };
    assert!(
        rules(256)
            .unwrap_err()
            .to_string()
            .starts_with("line 2: cannot read")
    );
    let session = compile(
        &rules(255)
            .unwrap()
            .session(KernelMemory::Counted, Namespaces::Own),
        Preamble::None,
    );
    let answer = |value| {
        emulate(
            &session,
            AUDIT_ARCH_X86_64,
            numbers()["ioctl"],
            &[0, value, 0, 0, 0, 0],
        )
    };
    assert_eq!([answer(0), answer(254), answer(255)], [ALLOW, ALLOW, EPERM]);
}

fn any_condition() -> impl Strategy<Value = Condition> {
    let argument = 0u8..6;
    prop_oneof![
        (argument.clone(), prop::collection::vec(0u32..8, 1..40))
            .prop_map(|(argument, values)| Condition::In { argument, values }),
        (argument.clone(), prop::collection::vec(0u32..8, 1..40))
            .prop_map(|(argument, values)| Condition::NotIn { argument, values }),
        (argument.clone(), 0u32..8).prop_map(|(argument, mask)| Condition::Without { argument, mask }),
        (argument, prop_oneof![0u64..8, Just(u64::MAX), Just(1 << 32)])
            .prop_map(|(argument, value)| Condition::Equals { argument, value }),
    ]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        Just(Rule::Plain(Action::Allow)),
        (1u16..100).prop_map(|number| Rule::Plain(Action::Errno(number))),
        prop::collection::vec(any_condition(), 1..4).prop_map(Rule::When),
    ]
}

proptest! {
    #[test]
    fn a_program_decides_as_its_rules(
        rules in prop::collection::btree_map(0u32..500, any_rule(), 0..120),
        arguments in prop::array::uniform6(prop_oneof![0u64..9, any::<u64>(), Just(1 << 32)]),
    ) {
        let table = Table { rules, default: Action::Errno(1) };
        let program = compile(&table, Preamble::CheckArchitecture);
        for number in 0..520 {
            let expected = match table.rules.get(&number).map_or(table.default, |rule| rule.decide(&arguments)) {
                Action::Allow => ALLOW,
                Action::Errno(errno) => 0x0005_0000 | u32::from(errno),
                Action::Kill => KILL,
            };
            prop_assert_eq!(emulate(&program, AUDIT_ARCH_X86_64, number, &arguments), expected);
        }
    }
}

fn check_server(name: &str, arguments: [u64; 6], network: NetworkAccess, expected: u32) {
    let filter = server_filter(network).unwrap();
    let program: Vec<Instruction> = filter
        .chunks(8)
        .map(|bytes| Instruction {
            code: u16::from_ne_bytes([bytes[0], bytes[1]]),
            jump_true: bytes[2],
            jump_false: bytes[3],
            operand: u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
        })
        .collect();
    let number = numbers()[name];
    let answer = emulate(&program, AUDIT_ARCH_X86_64, number, &arguments);
    assert_eq!(answer, expected, "{name} {arguments:?}, {network:?}");
    assert_eq!(emulate(&program, AUDIT_ARCH_I386, number, &arguments), KILL);
    let newest = numbers().values().max().copied().unwrap();
    for unknown in [newest + 1, newest + 500] {
        assert_eq!(emulate(&program, AUDIT_ARCH_X86_64, unknown, &arguments), ENOSYS);
    }
}

#[test]
fn a_confined_server_has_ordinary_calls_and_no_way_around_landlock() {
    for network in [NetworkAccess::Denied, NetworkAccess::Allowed] {
        for name in [
            "read",
            "connect",
            "execve",
            "landlock_restrict_self",
            "renameat2",
            "prctl",
        ] {
            check_server(name, [0; 6], network, ALLOW);
        }
        for name in [
            "chmod",
            "setxattr",
            "mount",
            "unshare",
            "ptrace",
            "io_uring_setup",
            "bpf",
            "keyctl",
            "inotify_add_watch",
        ] {
            check_server(name, [0; 6], network, EPERM);
        }
        for name in [
            "getxattr",
            "lgetxattr",
            "fgetxattr",
            "listxattr",
            "llistxattr",
            "flistxattr",
        ] {
            check_server(name, [0; 6], network, EOPNOTSUPP);
        }
        check_server("clone3", [0; 6], network, ENOSYS);
        check_server("clone", [0x1000_0000, 0, 0, 0, 0, 0], network, EPERM);
        check_server("clone", [0x003d_0f00, 0, 0, 0, 0, 0], network, ALLOW);
        check_server("prlimit64", [1, 0, 0, 0, 0, 0], network, EPERM);
        // PRIO_PROCESS, PRIO_PGRP and PRIO_USER: the process, its group, all processes of its user.
        for (what, expected) in [(0, ALLOW), (1, ALLOW), (2, EPERM)] {
            check_server("setpriority", [what, 0, 19, 0, 0, 0], network, expected);
            check_server("setpriority", [what, 1, 19, 0, 0, 0], network, EPERM);
            check_server("ioprio_set", [what + 1, 0, 0, 0, 0, 0], network, expected);
            check_server("ioprio_set", [what + 1, 1, 0, 0, 0, 0], network, EPERM);
        }
        // TCGETS, then FS_IOC_SETFLAGS, also with bits that the kernel ignores.
        for (request, expected) in [
            (0x5401, ALLOW),
            (0x4008_6602, EPERM),
            (0xffff_ffff_4008_6602, EPERM),
            (0x401c_5820, EPERM),
        ] {
            check_server("ioctl", [3, request, 0, 0, 0, 0], network, expected);
        }
        check_server("openat", [0, 0, 0x40, 0o4755, 0, 0], network, EPERM);
        // AF_UNIX, AF_NETLINK, AF_ALG.
        for family in [1, 16, 38] {
            check_server("socket", [family, 1, 0, 0, 0, 0], network, EPERM);
        }
        check_server("socketpair", [1, 2, 0, 0, 0, 0], network, EPERM);
        check_server("socketpair", [1, 1, 0, 0, 0, 0], network, ALLOW);
        for family in [2, 10] {
            let expected = match network {
                NetworkAccess::Allowed => ALLOW,
                NetworkAccess::Denied => EPERM,
            };
            check_server("socket", [family, 1, 0, 0, 0, 0], network, expected);
        }
    }
}
