//! The compiler of seccomp rules: its programs decide in the kernel as the rules do, read one after
//! the other.
//!
//! Input: a rules file; after an optional NUL byte, arguments of calls: six for each call, eight bytes each.

#![no_main]

use jail::seccomp::{
    Action, Condition, Instruction, KernelMemory, Namespaces, Preamble, Rule, Rules, Table, compile, numbers,
    parse,
};
use libfuzzer_sys::fuzz_target;

/// From the kernel's `uapi/linux/bpf_common.h`, `seccomp.h` and `audit.h`, not from the compiler under test.
const LOAD_WORD: u16 = 0x00 | 0x00 | 0x20;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x05 | 0x10;
const JUMP_GREATER_EQUAL: u16 = 0x05 | 0x30;
const JUMP_SET: u16 = 0x05 | 0x40;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
const X86_64: u32 = 0xc000_003e;
const X32: u32 = 0x4000_0000;
/// Bytes of `struct seccomp_data`.
const DATA: usize = 64;

fuzz_target!(|data: &[u8]| {
    let (text, arguments) = match data.iter().position(|byte| *byte == 0) {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &[][..]),
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    match parse(text, &numbers()) {
        Ok(rules) => compiled(&rules, arguments),
        Err(wrong) => {
            let wrong = wrong.to_string();
            let line: usize = wrong
                .strip_prefix("line ")
                .and_then(|rest| rest.split(':').next()?.parse().ok())
                .expect("a mistake names its line");
            assert!((1..=text.lines().count()).contains(&line), "{wrong}");
        }
    }
});

fn compiled(rules: &Rules, arguments: &[u8]) {
    let session = |memory, namespaces| (rules.session(memory, namespaces), Preamble::None);
    let tables = [
        (rules.zygote(Namespaces::Own), Preamble::CheckArchitecture),
        (rules.zygote(Namespaces::Mapped), Preamble::CheckArchitecture),
        session(KernelMemory::Counted, Namespaces::Own),
        session(KernelMemory::Counted, Namespaces::Mapped),
        session(KernelMemory::Uncounted, Namespaces::Shared),
    ];
    for (table, preamble) in tables {
        let program = compile(&table, preamble);
        well_formed(&program);
        for number in calls(&table) {
            let rule = table.rules.get(&number);
            for arguments in interesting(rule, arguments) {
                let found = run(&program, X86_64, number, &arguments);
                let expected = expected(&table, preamble, number, &arguments);
                assert_eq!(
                    found, expected,
                    "call {number} with {arguments:x?} under {rule:?}"
                );
            }
        }
        if preamble == Preamble::CheckArchitecture {
            assert_eq!(
                run(&program, 0x4000_0003, 0, &[0; 6]),
                KILL_PROCESS,
                "another architecture"
            );
        }
    }
}

/// The kernel's checks of a program.
fn well_formed(program: &[Instruction]) {
    assert_eq!(
        program.last().map(|last| last.code),
        Some(RETURN),
        "a program ends with its answer"
    );
    for (at, instruction) in program.iter().enumerate() {
        let after = program.len() - at - 1;
        let operand = usize::try_from(instruction.operand).unwrap_or(usize::MAX);
        match instruction.code {
            LOAD_WORD => assert!(operand.is_multiple_of(4) && operand < DATA, "{instruction:?}"),
            JUMP => assert!(operand < after, "{instruction:?} of {after}"),
            JUMP_EQUAL | JUMP_GREATER_EQUAL | JUMP_SET => {
                assert!(
                    usize::from(instruction.jump_true) < after && usize::from(instruction.jump_false) < after
                );
            }
            RETURN => {}
            other => panic!("the kernel knows no instruction {other:#x}"),
        }
    }
}

/// Numbers of calls with possibly different decisions: every rule and its neighbours, and the ends
/// of the space.
fn calls(table: &Table) -> Vec<u32> {
    let near = table
        .rules
        .keys()
        .flat_map(|number| [number.saturating_sub(1), *number, number.saturating_add(1)]);
    near.chain([0, 334, 500, X32 - 1, X32, X32 + 1, u32::MAX])
        .collect()
}

/// Arguments that meet each condition or just miss it, and those of the input.
fn interesting(rule: Option<&Rule>, given: &[u8]) -> Vec<[u64; 6]> {
    let mut all = vec![[0; 6], [u64::MAX; 6]];
    all.extend(given.chunks_exact(48).map(|bytes| {
        let (words, _) = bytes.as_chunks::<8>();
        std::array::from_fn(|index| u64::from_le_bytes(words[index]))
    }));
    let Some(Rule::When(conditions)) = rule else {
        return all;
    };
    let mut meets = [0; 6];
    for condition in conditions {
        let (argument, values) = match condition {
            Condition::In { argument, values } => {
                (argument, values.iter().map(|value| u64::from(*value)).collect())
            }
            Condition::NotIn { argument, values } => {
                let refused = values.iter().map(|value| u64::from(*value));
                // The last value meets the condition.
                let other = refused.clone().max().unwrap_or_default() + 1;
                (argument, refused.chain([other]).collect())
            }
            Condition::Without { argument, mask } => (argument, vec![!u64::from(*mask), u64::from(*mask)]),
            Condition::Equals { argument, value } => (argument, vec![*value]),
        };
        let argument = usize::from(*argument);
        for value in values.iter().copied() {
            for near in [
                value,
                value ^ 1,
                value.wrapping_add(1),
                value ^ 1 << 32,
                value ^ 1 << 63,
            ] {
                let mut arguments = meets;
                arguments[argument] = near;
                all.push(arguments);
            }
        }
        meets[argument] = values.last().copied().unwrap_or_default();
    }
    all.push(meets);
    all
}

/// The decision of the rules, read one after the other.
fn expected(table: &Table, preamble: Preamble, number: u32, arguments: &[u64; 6]) -> u32 {
    if preamble == Preamble::CheckArchitecture && number >= X32 {
        return KILL_PROCESS;
    }
    let found = table.rules.iter().find(|(known, _)| **known == number);
    match found.map_or(table.default, |(_, rule)| rule.decide(arguments)) {
        Action::Allow => ALLOW,
        Action::Errno(errno) => ERRNO | u32::from(errno),
        Action::Kill => KILL_PROCESS,
    }
}

/// The decision of the kernel.
fn run(program: &[Instruction], architecture: u32, number: u32, arguments: &[u64; 6]) -> u32 {
    let mut data = [number.to_le_bytes(), architecture.to_le_bytes(), [0; 4], [0; 4]].concat();
    data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
    let (mut at, mut word) = (0, 0_u32);
    loop {
        let Instruction {
            code,
            jump_true,
            jump_false,
            operand,
        } = program[at];
        let offset = usize::try_from(operand).unwrap_or(usize::MAX);
        at += 1;
        let holds = match code {
            LOAD_WORD => {
                word = u32::from_le_bytes(data[offset..offset + 4].try_into().expect("four bytes"));
                continue;
            }
            RETURN => return operand,
            JUMP => {
                at += offset;
                continue;
            }
            JUMP_EQUAL => word == operand,
            JUMP_GREATER_EQUAL => word >= operand,
            JUMP_SET => word & operand != 0,
            other => panic!("the kernel knows no instruction {other:#x}"),
        };
        at += usize::from(if holds { jump_true } else { jump_false });
    }
}
