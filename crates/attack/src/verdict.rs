//! The meaning of a probe's answers: the guard held, the guard failed, or nothing is known.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::probe::{Expect, Outside, Probe, Promised};

/// The guards that a mode of this machine provides, as far as promises depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Means {
    /// Each session has its own kernel user.
    pub own_users: bool,
    /// Control groups count memory and processes.
    pub groups: bool,
    /// Read-only folders are seen through overlays.
    pub overlays: bool,
    /// Sessions have namespaces of their own; on the backend `landlock` they do not.
    pub namespaces: bool,
    /// Controls run as root.
    pub is_root: bool,
}

/// How a probe ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every attempt met its expected answer, and at least one control shows that the attempt could
    /// have succeeded.
    Held,
    /// An attempt succeeded.
    Broken,
    /// An attempt succeeded that this mode does not promise to stop.
    NotPromised,
    /// Every attempt was stopped, but no control shows that it could succeed here.
    NotTested,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    /// The attempts that succeeded.
    pub(crate) open: Vec<String>,
    /// Attempts that were stopped without a control to show that they could succeed, each with the reason.
    pub(crate) untested: Vec<String>,
}

/// The output of all participants.
#[derive(Debug, Clone)]
pub(crate) struct Answers {
    /// The attacker's.
    pub(crate) inside: BTreeMap<String, String>,
    /// B's and H's afterwards, as `who.attempt`.
    pub(crate) neighbours: BTreeMap<String, String>,
    pub(crate) noticed: Vec<String>,
    /// The control's, or why there is none.
    pub(crate) outside: Result<BTreeMap<String, String>, String>,
}

impl Promised {
    fn holds(self, means: Means) -> bool {
        match self {
            Promised::Always => true,
            Promised::OwnUsers => means.own_users,
            Promised::Groups => means.groups,
            Promised::Overlays => means.overlays,
        }
    }
}

pub(crate) fn judge(probe: &Probe, answers: &Answers, means: Means) -> Judgement {
    let mut open = answers.noticed.clone();
    let refused = answers
        .neighbours
        .iter()
        .filter(|(_, answer)| *answer != "allowed");
    open.extend(refused.map(|(who, answer)| format!("{who}: {answer}")));
    let (mut untested, mut tested) = (Vec::new(), 0);
    for row in &probe.plan.expect {
        for attempt in &row.attempts {
            // A program that was ended during an attempt was stopped by that end.
            let answer = answers.inside.get(attempt).map_or("ended", String::as_str);
            if !accepts(row, answer, means) {
                open.push(format!("{attempt}: {answer}"));
                continue;
            }
            match control(row, attempt, answer, answers, means) {
                Ok(()) => tested += 1,
                Err(why) => untested.push(format!("{attempt}: {why}")),
            }
        }
    }
    let verdict = match (open.is_empty(), probe.plan.promised.holds(means)) {
        (false, true) => Verdict::Broken,
        (false, false) => Verdict::NotPromised,
        (true, _) if tested == 0 => Verdict::NotTested,
        (true, _) => Verdict::Held,
    };
    Judgement {
        verdict,
        open,
        untested,
    }
}

/// Whether the answer is the expected one for a session in this mode.
fn accepts(row: &Expect, answer: &str, means: Means) -> bool {
    let expected = match (&row.inside_landlock, &row.inside_uncounted) {
        (Some(expected), _) if !means.namespaces => expected,
        (_, Some(expected)) if !means.groups => expected,
        _ => &row.inside,
    };
    expected.split('|').any(|expected| expected == answer)
}

/// Checks with the control that the guard alone stopped the attempt inside; otherwise returns the reason.
fn control(row: &Expect, attempt: &str, inside: &str, answers: &Answers, means: Means) -> Result<(), String> {
    if let Some(why) = &row.untested {
        return Err(why.clone());
    }
    if row.outside == Outside::Harmless {
        return Ok(());
    }
    let outside = answers.outside.as_ref().map_err(Clone::clone)?;
    let control = outside.get(attempt).map_or("not attempted", String::as_str);
    let needs_root = matches!(row.outside, Outside::AllowedForRoot | Outside::ReachesForRoot);
    let shows = match row.outside {
        Outside::Allowed | Outside::AllowedForRoot => control == "allowed",
        Outside::Reaches | Outside::ReachesForRoot => control != inside && control != "not attempted",
        Outside::Harmless => true,
    };
    match (shows, needs_root && !means.is_root) {
        (true, _) => Ok(()),
        (false, true) => Err("only root could do it outside".to_owned()),
        (false, false) => Err(format!("{control} outside as well")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::When;
    use crate::program::answers as read;

    const ROOT: Means = Means {
        own_users: true,
        groups: true,
        overlays: true,
        namespaces: true,
        is_root: true,
    };

    fn probe(plan: &str) -> Probe {
        Probe {
            name: "x".to_owned(),
            when: When::During,
            plan: toml::from_str(plan).unwrap(),
            guest: "",
            before: None,
            after: None,
            again: None,
            later: None,
            control: None,
        }
    }

    #[track_caller]
    fn check(inside: &str, outside: Result<&str, &str>, means: Means, expected: Verdict) {
        let plan = "tries = 'x'\npromised = 'groups'\n[[expect]]\nattempts = ['one', 'two']\ninside = 'EPERM|EACCES'\n\
                    outside = 'allowed-for-root'\n";
        let probe = probe(plan);
        let answers = Answers {
            inside: read(inside),
            neighbours: read("b.fork: allowed"),
            noticed: Vec::new(),
            outside: outside.map(read).map_err(str::to_owned),
        };
        let judged = judge(&probe, &answers, means);
        assert_eq!(judged.verdict, expected, "{judged:?}");
    }

    #[test]
    fn broken_untested_and_failed_controls_are_distinguished() {
        let user = Means {
            groups: false,
            is_root: false,
            ..ROOT
        };
        let (well, control) = ("one: EPERM\ntwo: EACCES\n", "one: allowed\ntwo: allowed\n");
        check(well, Ok(control), ROOT, Verdict::Held);
        check(well, Ok("one: allowed\ntwo: EPERM\n"), ROOT, Verdict::Held);
        check(well, Ok("one: EPERM\ntwo: EPERM\n"), ROOT, Verdict::NotTested);
        check(well, Ok("one: EPERM\ntwo: EPERM\n"), user, Verdict::NotTested);
        check(well, Err("no Python"), ROOT, Verdict::NotTested);
        check("one: allowed\ntwo: EACCES\n", Ok(control), ROOT, Verdict::Broken);
        check(
            "one: allowed\ntwo: EACCES\n",
            Ok(control),
            user,
            Verdict::NotPromised,
        );
        check("one: EPERM\n", Ok(control), ROOT, Verdict::Broken);
    }

    #[test]
    fn a_harmless_attempt_needs_no_control() {
        let plan = "tries = 'x'\nlanguage = 'typescript'\n[[expect]]\nattempts = ['one']\ninside = 'allowed'\n\
                    outside = 'harmless'\n";
        let verdict = |inside: &str| {
            let answers = Answers {
                inside: read(inside),
                neighbours: BTreeMap::new(),
                noticed: Vec::new(),
                outside: Err("no program outside can try it".to_owned()),
            };
            judge(&probe(plan), &answers, ROOT).verdict
        };
        assert_eq!(verdict("one: allowed\n"), Verdict::Held);
        assert_eq!(verdict("one: TypeError\n"), Verdict::Broken);
        assert_eq!(verdict(""), Verdict::Broken);
    }
}
