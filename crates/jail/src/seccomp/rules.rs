//! The rule language: sections of names with conditions on arguments.

use std::collections::BTreeMap;

use super::{KernelMemory, Namespaces};
use crate::session::NetworkAccess;

/// The rule for a system call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// The same for all arguments.
    Plain(Action),
    /// Allowed if every condition holds, else `EPERM`.
    When(Vec<Condition>),
}

/// A filter's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Allow the call.
    Allow,
    /// Fail with this error number.
    Errno(u16),
    /// End the process.
    Kill,
}

/// A condition on one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The low 32 bits are one of these.
    In {
        /// Index of the argument, 0 to 5.
        argument: u8,
        /// Allowed values.
        values: Vec<u32>,
    },
    /// The low 32 bits are none of these.
    NotIn {
        /// Index of the argument.
        argument: u8,
        /// Refused values.
        values: Vec<u32>,
    },
    /// None of these bits of the low 32 is set.
    Without {
        /// Index of the argument.
        argument: u8,
        /// Refused bits.
        mask: u32,
    },
    /// All 64 bits equal this.
    Equals {
        /// Index of the argument.
        argument: u8,
        /// Allowed value.
        value: u64,
    },
}

/// Rules by system call number, and the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// By number.
    pub rules: BTreeMap<u32, Rule>,
    /// Applies to every other number.
    pub default: Action,
}

/// Parsed rules, by section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    both: BTreeMap<u32, Rule>,
    confine: BTreeMap<u32, Rule>,
    no_memory_cgroup: BTreeMap<u32, Rule>,
    no_namespaces: BTreeMap<u32, Rule>,
    container: BTreeMap<u32, Rule>,
    no_network: BTreeMap<u32, Rule>,
}

/// A mistake in a rules file, with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's message says what it is")]
pub enum RulesError {
    #[error("line {line}: unknown system call `{name}` on this architecture")]
    UnknownCall { line: usize, name: String },
    #[error("line {line}: `{name}` has a rule already")]
    Duplicate { line: usize, name: String },
    #[error("line {line}: unknown section `{name}`")]
    UnknownSection { line: usize, name: String },
    #[error("line {line}: a rule before the first section")]
    NoSection { line: usize },
    #[error(
        "line {line}: cannot read `{text}`: expected `argN in …` or `argN not in …` with at most {MOST_VALUES} values, `argN == …`, `argN without …`, `allow` or `errno NAME`"
    )]
    Malformed { line: usize, text: String },
}

const ERRNOS: [(&str, u16); 4] = [("EPERM", 1), ("EINVAL", 22), ("ENOSYS", 38), ("EOPNOTSUPP", 95)];
/// Most values of one `in` or `not in`: a jump in a filter skips at most this many instructions.
const MOST_VALUES: usize = 255;
/// For a call without a rule.
const DENIED: Action = Action::Errno(1);
/// For a call newer than the list of numbers: `ENOSYS`.
const UNKNOWN: Action = Action::Errno(38);

#[derive(Clone, Copy)]
enum Section {
    Allow,
    Confine,
    NoMemoryCgroup,
    NoNamespaces,
    Container,
    NoNetwork,
    Errno(u16),
}

/// Parses a rules file.
///
/// # Errors
/// The first mistake, with its line.
pub fn parse(text: &str, numbers: &BTreeMap<&str, u32>) -> Result<Rules, RulesError> {
    let mut rules = Rules::default();
    let mut section = None;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = Some(parse_section(name, number)?);
            continue;
        }
        let section = section.ok_or(RulesError::NoSection { line: number })?;
        for (name, rule) in parse_line(line, section, number)? {
            let call = *numbers.get(name).ok_or_else(|| RulesError::UnknownCall {
                line: number,
                name: name.to_owned(),
            })?;
            let table = match section {
                Section::Allow | Section::Errno(_) => &mut rules.both,
                Section::Confine => &mut rules.confine,
                Section::NoMemoryCgroup => &mut rules.no_memory_cgroup,
                Section::NoNamespaces => &mut rules.no_namespaces,
                Section::Container => &mut rules.container,
                Section::NoNetwork => &mut rules.no_network,
            };
            if table.insert(call, rule).is_some() {
                return Err(RulesError::Duplicate {
                    line: number,
                    name: name.to_owned(),
                });
            }
        }
    }
    Ok(rules)
}

fn parse_section(name: &str, line: usize) -> Result<Section, RulesError> {
    let unknown = || RulesError::UnknownSection {
        line,
        name: name.to_owned(),
    };
    match name {
        "allow" => Ok(Section::Allow),
        "confine" => Ok(Section::Confine),
        "no memory cgroup" => Ok(Section::NoMemoryCgroup),
        "no namespaces" => Ok(Section::NoNamespaces),
        "container" => Ok(Section::Container),
        "no network" => Ok(Section::NoNetwork),
        _ => name
            .strip_prefix("errno ")
            .and_then(errno)
            .map(Section::Errno)
            .ok_or_else(unknown),
    }
}

fn parse_line(line: &str, section: Section, number: usize) -> Result<Vec<(&str, Rule)>, RulesError> {
    let malformed = || RulesError::Malformed {
        line: number,
        text: line.to_owned(),
    };
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if rest.starts_with("arg") {
        let conditions = rest.split(" and ").map(parse_condition).collect::<Option<_>>();
        return Ok(vec![(name, Rule::When(conditions.ok_or_else(malformed)?))]);
    }
    if let Some(error) = rest.strip_prefix("errno ") {
        return Ok(vec![(
            name,
            Rule::Plain(Action::Errno(errno(error).ok_or_else(malformed)?)),
        )]);
    }
    let plain = match section {
        Section::Errno(error) => Action::Errno(error),
        _ => Action::Allow,
    };
    if rest == "allow" {
        return Ok(vec![(name, Rule::Plain(plain))]);
    }
    Ok(line
        .split_whitespace()
        .map(|name| (name, Rule::Plain(plain)))
        .collect())
}

fn parse_condition(text: &str) -> Option<Condition> {
    let mut words = text.split_whitespace();
    let argument = words
        .next()?
        .strip_prefix("arg")?
        .parse()
        .ok()
        .filter(|argument| *argument < 6)?;
    let operator = match words.next()? {
        "not" => words.next().filter(|word| *word == "in").map(|_| "not in")?,
        operator => operator,
    };
    let values: Vec<u64> = words.map(parse_number).collect::<Option<_>>()?;
    let first = *values.first()?;
    let low = || {
        values
            .iter()
            .map(|value| u32::try_from(*value).ok())
            .collect::<Option<Vec<_>>>()
    };
    match (operator, values.len()) {
        ("in", 1..=MOST_VALUES) => low().map(|values| Condition::In { argument, values }),
        ("not in", 1..=MOST_VALUES) => low().map(|values| Condition::NotIn { argument, values }),
        ("==", 1) => Some(Condition::Equals {
            argument,
            value: first,
        }),
        ("without", 1) => Some(Condition::Without {
            argument,
            mask: u32::try_from(first).ok()?,
        }),
        _ => None,
    }
}

fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn errno(name: &str) -> Option<u16> {
    ERRNOS
        .iter()
        .find(|(known, _)| *known == name.trim())
        .map(|(_, number)| *number)
}

// === impl Rules ===

impl Rules {
    /// The zygote's filter: allows everything that sessions and confinement need.
    pub fn zygote(&self, namespaces: Namespaces) -> Table {
        let mut rules = self.both.clone();
        rules.extend(
            self.confine
                .keys()
                .map(|call| (*call, Rule::Plain(Action::Allow))),
        );
        if namespaces == Namespaces::Mapped {
            rules.extend(self.container.clone());
        }
        Table {
            rules,
            default: DENIED,
        }
    }

    /// A child's filter: removes rights from the zygote's.
    pub fn session(&self, memory: KernelMemory, namespaces: Namespaces) -> Table {
        let mut rules = self.confine.clone();
        if memory == KernelMemory::Uncounted {
            rules.extend(self.no_memory_cgroup.clone());
        }
        if namespaces == Namespaces::Shared {
            rules.extend(self.no_namespaces.clone());
        }
        if namespaces == Namespaces::Mapped {
            rules.extend(self.container.keys().map(|call| (*call, Rule::Plain(DENIED))));
        }
        Table {
            rules,
            default: Action::Allow,
        }
    }

    /// A confined server's filter. Calls outside `known` fail with `ENOSYS`.
    pub(crate) fn server(&self, known: impl IntoIterator<Item = u32>, network: NetworkAccess) -> Table {
        let mut rules: BTreeMap<u32, Rule> = known
            .into_iter()
            .map(|call| (call, Rule::Plain(Action::Allow)))
            .collect();
        rules.extend(self.both.clone());
        if network == NetworkAccess::Denied {
            rules.extend(self.no_network.clone());
        }
        Table {
            rules,
            default: UNKNOWN,
        }
    }
}

// === impl Rule ===

impl Rule {
    /// The decision for these arguments; the reference that the compiler is tested against.
    pub fn decide(&self, arguments: &[u64; 6]) -> Action {
        match self {
            Rule::Plain(action) => *action,
            Rule::When(conditions) if conditions.iter().all(|condition| condition.holds(arguments)) => {
                Action::Allow
            }
            Rule::When(_) => DENIED,
        }
    }
}

impl Condition {
    fn holds(&self, arguments: &[u64; 6]) -> bool {
        let low = |argument: &u8| {
            let [a, b, c, d, ..] = arguments[usize::from(*argument)].to_le_bytes();
            u32::from_le_bytes([a, b, c, d])
        };
        match self {
            Condition::In { argument, values } => values.contains(&low(argument)),
            Condition::NotIn { argument, values } => !values.contains(&low(argument)),
            Condition::Without { argument, mask } => low(argument) & mask == 0,
            Condition::Equals { argument, value } => arguments[usize::from(*argument)] == *value,
        }
    }
}
