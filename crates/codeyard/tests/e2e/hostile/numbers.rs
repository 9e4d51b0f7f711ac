//! The session's filter refuses every number that is not one of its system calls.

use std::collections::BTreeMap;

use serde_json::json;

use crate::hostile::table::answers;
use crate::hostile::yard::Yard;

const NAMES: &str = include_str!("../../../../jail/data/x86_64/syscalls.txt");
const RULES: &str = include_str!("../../../../jail/data/x86_64/session.rules");
/// Above every number of today's kernels.
const LAST: u32 = 1023;
/// Calls refused with another error, so that libraries try an alternative.
const OTHERWISE: [(&str, &str); 3] = [("clone3", "ENOSYS"), ("openat2", "ENOSYS"), ("splice", "EINVAL")];
/// `uretprobe` and `uprobe`: newer kernels hide them from filters, and end the calling process with SIGILL.
const NOT_FILTERED: [u32; 2] = [335, 336];

/// Names of calls that a session may make, with any arguments.
fn allowed() -> Vec<&'static str> {
    let mut section = "";
    let mut names = Vec::new();
    for line in RULES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if line.starts_with('[') {
            section = line;
        } else if section == "[allow]" || (section == "[confine]" && !line.contains(" errno ")) {
            let is_rule = line.contains(" arg");
            names.extend(line.split_whitespace().take(if is_rule { 1 } else { usize::MAX }));
        }
    }
    names
}

#[tokio::test]
async fn every_other_number_is_refused() {
    let numbers: BTreeMap<&str, u32> = NAMES
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(name, number)| Some((name, number.parse().ok()?)))
        .collect();
    let allowed: Vec<u32> = allowed()
        .iter()
        .filter_map(|name| numbers.get(name).copied())
        .collect();
    assert!(
        (150..250).contains(&allowed.len()),
        "{} calls are allowed",
        allowed.len()
    );
    let refused: Vec<u32> = (0..=LAST)
        .filter(|number| !allowed.contains(number) && !NOT_FILTERED.contains(number))
        .collect();
    let mut yard = Yard::new().await;
    let ran = yard.run("every_number", json!({"numbers": refused})).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let mut met = answers(ran.stdout());
    let count = met.remove("EPERM").unwrap_or_default().split(' ').count();
    assert_eq!(count, refused.len() - OTHERWISE.len(), "{met:?}");
    for (name, error) in OTHERWISE {
        let number = numbers[name].to_string();
        assert!(met[error].split(' ').any(|met| met == number), "{name}: {met:?}");
    }
    yard.check_well().await;
    yard.end().await;
}
