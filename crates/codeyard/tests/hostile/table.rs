//! What an attempt must meet inside, and what outside, where nothing confines it.

use std::collections::BTreeMap;

use test_support::Mode;

/// Attempts of one program that must end alike.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    pub inside: Inside,
    pub outside: Outside,
    /// Their names, as the program prints them.
    pub attempts: &'static [&'static str],
}

/// What the program must print of an attempt in a session.
#[derive(Debug, Clone, Copy)]
pub enum Inside {
    /// Exactly this; `|` stands between alternatives.
    Is(&'static str),
    /// This where control groups count the memory of the kernel, and `EPERM` where nothing does.
    IfCounted(&'static str),
}

/// What the program must print of the same attempt outside of any session.
#[derive(Debug, Clone, Copy)]
pub enum Outside {
    /// It succeeds.
    Allowed,
    /// It succeeds for root; an ordinary user may not, on this machine or on any.
    AllowedForRoot,
    /// It gets past the check that refuses it inside and fails later, on purpose or because this machine has no such
    /// part: to let it succeed would change the machine.
    Reaches,
    /// As `Reaches`, for root; an ordinary user is refused before.
    ReachesForRoot,
    /// It cannot be made outside, for this reason.
    Untested(&'static str),
}

// === impl Inside ===

impl Inside {
    /// Whether the answer is what a session in this mode must meet.
    fn accepts(self, answer: &str, mode: Mode) -> bool {
        match self {
            Inside::Is(expected) => expected.split('|').any(|expected| expected == answer),
            Inside::IfCounted(expected) if mode.groups => expected == answer,
            Inside::IfCounted(_) => answer == "EPERM",
        }
    }
}

// === impl Outside ===

impl Outside {
    /// Whether the answer shows that the wall, and nothing else, is what refuses it inside.
    fn accepts(self, answer: &str, inside: &str, is_root: bool) -> bool {
        match self {
            Outside::Allowed => answer == "allowed",
            Outside::AllowedForRoot => answer == "allowed" || !is_root,
            Outside::Reaches => answer != inside,
            Outside::ReachesForRoot => answer != inside || !is_root,
            Outside::Untested(_why) => true,
        }
    }
}

/// Reads `attempt: answer` lines.
pub fn answers(printed: &str) -> BTreeMap<&str, &str> {
    printed.lines().filter_map(|line| line.split_once(": ")).collect()
}

/// Compares what a program printed inside and outside with its table; gives what is wrong.
pub fn compare(rows: &[Rows], inside: &str, outside: Option<&str>, mode: Mode) -> Vec<String> {
    let (inside, outside) = (answers(inside), outside.map(answers));
    let mut wrong = Vec::new();
    let mut listed = 0;
    for row in rows {
        for attempt in row.attempts {
            listed += 1;
            let Some(answer) = inside.get(attempt) else {
                wrong.push(format!("{attempt}: not attempted inside"));
                continue;
            };
            if !row.inside.accepts(answer, mode) {
                wrong.push(format!("{attempt}: {answer} inside, not {:?}", row.inside));
            }
            let Some(outside) = &outside else { continue };
            let control = outside.get(attempt).copied().unwrap_or("not attempted");
            if !row.outside.accepts(control, answer, mode.is_root) {
                wrong.push(format!("{attempt}: {control} outside, not {:?}", row.outside));
            }
        }
    }
    if listed != inside.len() {
        wrong.push(format!(
            "{listed} attempts are listed, {} were made",
            inside.len()
        ));
    }
    wrong
}

#[test]
fn a_hole_a_gap_and_a_control_that_fails_are_found() {
    const TABLE: &[Rows] = &[Rows {
        inside: Inside::Is("EPERM|EACCES"),
        outside: Outside::Allowed,
        attempts: &["one", "two"],
    }];
    let mode = Mode {
        groups: true,
        own_users: true,
        is_root: true,
    };
    let check = |inside: &str, outside: &str, wrong: usize| {
        let found = compare(TABLE, inside, Some(outside), mode);
        assert_eq!(found.len(), wrong, "{found:?}");
    };
    let well = "one: EPERM\ntwo: EACCES\n";
    let control = "one: allowed\ntwo: allowed\n";
    check(well, control, 0);
    check("one: allowed\ntwo: EACCES\n", control, 1);
    check("one: EPERM\n", control, 2);
    check("one: EPERM\ntwo: EACCES\nthree: EPERM\n", control, 1);
    check(well, "one: allowed\ntwo: EPERM\n", 1);
    check(well, "one: allowed\n", 1);
}
