//! Compiles a table of rules to BPF: a binary search over ranges of numbers, rules at its leaves.

use super::rules::{Action, Condition, Rule, Table};

/// One BPF instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// BPF operation.
    pub code: u16,
    /// Instructions to skip if the comparison holds.
    pub jump_true: u8,
    /// Instructions to skip otherwise.
    pub jump_false: u8,
    /// BPF operand.
    pub operand: u32,
}

/// Code before the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preamble {
    /// Kills the process on another architecture or x32 numbers.
    CheckArchitecture,
    /// An earlier filter has checked the architecture.
    None,
}

pub(super) const LOAD: u16 = 0x20;
pub(super) const JUMP: u16 = 0x05;
pub(super) const JUMP_EQUAL: u16 = 0x15;
pub(super) const JUMP_GREATER_EQUAL: u16 = 0x35;
pub(super) const JUMP_SET: u16 = 0x45;
pub(super) const RETURN: u16 = 0x06;

const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;
const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
const X32_BIT: u32 = 0x4000_0000;

/// A range of numbers with one rule; the next range begins where this one ends.
struct Range<'a> {
    first: u32,
    rule: &'a Rule,
}

/// Compiles a table.
pub fn compile(table: &Table, preamble: Preamble) -> Vec<Instruction> {
    let default = Rule::Plain(table.default);
    let ranges = ranges(table, &default);
    let mut program = Vec::new();
    if preamble == Preamble::CheckArchitecture {
        program.push(Instruction::load(ARCHITECTURE_OFFSET));
        program.push(Instruction::jump_if(JUMP_EQUAL, AUDIT_ARCH_X86_64, 1, 0));
        program.push(Instruction::give(Action::Kill));
    }
    program.push(Instruction::load(NUMBER_OFFSET));
    if preamble == Preamble::CheckArchitecture {
        program.push(Instruction::jump_if(JUMP_GREATER_EQUAL, X32_BIT, 0, 1));
        program.push(Instruction::give(Action::Kill));
    }
    program.extend(search(&ranges));
    program
}

/// All numbers as ranges; neighbours with the same rule are joined.
fn ranges<'a>(table: &'a Table, default: &'a Rule) -> Vec<Range<'a>> {
    let mut ranges: Vec<Range<'a>> = vec![Range {
        first: 0,
        rule: default,
    }];
    let mut push = |first: u32, rule: &'a Rule| {
        if let Some(last) = ranges.last_mut() {
            if last.first == first {
                last.rule = rule;
                return;
            }
            if last.rule == rule {
                return;
            }
        }
        ranges.push(Range { first, rule });
    };
    for (number, rule) in &table.rules {
        push(*number, rule);
        if !table.rules.contains_key(&(number + 1)) {
            push(number + 1, default);
        }
    }
    ranges
}

/// Code that finds the range of the number in the accumulator and applies its rule.
fn search(ranges: &[Range<'_>]) -> Vec<Instruction> {
    match ranges {
        [] => Vec::new(),
        [only] => leaf(only.rule),
        _ => {
            let (low, high) = ranges.split_at(ranges.len() / 2);
            let pivot = high.first().map_or(0, |range| range.first);
            let low = search(low);
            let mut code = match u8::try_from(low.len()) {
                Ok(skip) => vec![Instruction::jump_if(JUMP_GREATER_EQUAL, pivot, skip, 0)],
                Err(_) => vec![
                    Instruction::jump_if(JUMP_GREATER_EQUAL, pivot, 0, 1),
                    Instruction {
                        code: JUMP,
                        jump_true: 0,
                        jump_false: 0,
                        operand: clamp(low.len()),
                    },
                ],
            };
            code.extend(low);
            code.extend(search(high));
            code
        }
    }
}

/// The kernel takes 4,096 instructions, so the value fits.
fn clamp(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Code that applies one rule; every path returns.
fn leaf(rule: &Rule) -> Vec<Instruction> {
    match rule {
        Rule::Plain(action) => vec![Instruction::give(*action)],
        Rule::When(conditions) => {
            let mut code = Vec::new();
            for condition in conditions {
                code.extend(require(condition));
            }
            code.push(Instruction::give(Action::Allow));
            code
        }
    }
}

/// Code that continues if the condition holds and returns EPERM if not.
fn require(condition: &Condition) -> Vec<Instruction> {
    let denied = Instruction::give(Action::Errno(1));
    match condition {
        Condition::In { argument, values } => {
            let mut code = vec![Instruction::load(low(*argument))];
            let count = values.len();
            for (index, value) in values.iter().enumerate() {
                // Skip the remaining comparisons and the return; `parse` limits the number of values accordingly.
                let skip = u8::try_from(count - index).unwrap_or(u8::MAX);
                code.push(Instruction::jump_if(JUMP_EQUAL, *value, skip, 0));
            }
            code.push(denied);
            code
        }
        Condition::NotIn { argument, values } => {
            let mut code = vec![Instruction::load(low(*argument))];
            for (index, value) in values.iter().enumerate() {
                // A match skips the remaining comparisons to the return; the last comparison skips the return if
                // it fails.
                let remaining = u8::try_from(values.len() - index - 1).unwrap_or(u8::MAX);
                let over = u8::from(remaining == 0);
                code.push(Instruction::jump_if(JUMP_EQUAL, *value, remaining, over));
            }
            code.push(denied);
            code
        }
        Condition::Without { argument, mask } => vec![
            Instruction::load(low(*argument)),
            Instruction::jump_if(JUMP_SET, *mask, 0, 1),
            denied,
        ],
        Condition::Equals { argument, value } => vec![
            Instruction::load(low(*argument)),
            Instruction::jump_if(JUMP_EQUAL, halves(*value).0, 0, 2),
            Instruction::load(low(*argument) + 4),
            Instruction::jump_if(JUMP_EQUAL, halves(*value).1, 1, 0),
            denied,
        ],
    }
}

fn halves(value: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
}

fn low(argument: u8) -> u32 {
    ARGUMENTS_OFFSET + 8 * u32::from(argument)
}

// === impl Instruction ===

impl Instruction {
    fn load(offset: u32) -> Self {
        Self {
            code: LOAD,
            jump_true: 0,
            jump_false: 0,
            operand: offset,
        }
    }

    fn jump_if(code: u16, operand: u32, jump_true: u8, jump_false: u8) -> Self {
        Self {
            code,
            jump_true,
            jump_false,
            operand,
        }
    }

    fn give(action: Action) -> Self {
        const ALLOW: u32 = 0x7fff_0000;
        const ERRNO: u32 = 0x0005_0000;
        const KILL_PROCESS: u32 = 0x8000_0000;
        let operand = match action {
            Action::Allow => ALLOW,
            Action::Errno(number) => ERRNO | u32::from(number),
            Action::Kill => KILL_PROCESS,
        };
        Self {
            code: RETURN,
            jump_true: 0,
            jump_false: 0,
            operand,
        }
    }

    /// Encodes for the kernel.
    pub fn to_bytes(self) -> [u8; 8] {
        let [a, b] = self.code.to_ne_bytes();
        let [c, d, e, f] = self.operand.to_ne_bytes();
        [a, b, self.jump_true, self.jump_false, c, d, e, f]
    }
}
