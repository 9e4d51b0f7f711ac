//! The expected result of each attempt of a program, and the differences.

use std::collections::BTreeMap;

use test_support::Mode;

/// Attempts of one program with the same expected result.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    /// The expected output; `|` separates alternatives.
    pub met: &'static str,
    /// The expected output where kernel memory is not counted.
    pub uncounted: &'static str,
    /// Their names, as the program prints them.
    pub attempts: &'static [&'static str],
}

/// Attempts with the same expected output in every mode.
pub const fn rows(met: &'static str, attempts: &'static [&'static str]) -> Rows {
    Rows {
        met,
        uncounted: met,
        attempts,
    }
}

/// Reads `attempt: answer` lines.
pub fn answers(printed: &str) -> BTreeMap<&str, &str> {
    printed.lines().filter_map(|line| line.split_once(": ")).collect()
}

/// Compares a program's output with its table; returns the differences.
pub fn compare(rows: &[Rows], printed: &str, mode: Mode) -> Vec<String> {
    let printed = answers(printed);
    let mut wrong = Vec::new();
    let mut listed = 0;
    for row in rows {
        let expected = if mode.groups { row.met } else { row.uncounted };
        for attempt in row.attempts {
            listed += 1;
            let answer = printed.get(attempt).copied().unwrap_or("not attempted");
            if !expected.split('|').any(|expected| expected == answer) {
                wrong.push(format!("{attempt}: {answer}, not {expected}"));
            }
        }
    }
    if listed != printed.len() {
        wrong.push(format!(
            "{listed} attempts are listed, {} were made",
            printed.len()
        ));
    }
    wrong
}

#[test]
fn a_wrong_and_a_missing_attempt_are_found() {
    const TABLE: &[Rows] = &[rows("EPERM|EACCES", &["one", "two"])];
    let mode = Mode {
        groups: true,
        own_users: true,
        is_root: true,
        disk_rate: true,
    };
    let check = |printed: &str, wrong: usize| {
        let found = compare(TABLE, printed, mode);
        assert_eq!(found.len(), wrong, "{found:?}");
    };
    check("one: EPERM\ntwo: EACCES\n", 0);
    check("one: allowed\ntwo: EACCES\n", 1);
    check("one: EPERM\n", 2);
    check("one: EPERM\ntwo: EACCES\nthree: EPERM\n", 1);
}
