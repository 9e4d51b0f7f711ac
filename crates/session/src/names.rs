//! Checks session names from clients, and creates names for the host.

use std::hash::{BuildHasher, Hasher, RandomState};

use types::{RunId, SessionId, SessionName};

/// Maximum characters.
const MAX_NAME: usize = 64;

/// Maximum bytes of a wrong name in an error.
const MAX_SHOWN: usize = 80;

/// Letters of new names, without easily confused letters.
const LETTERS: [char; 32] = [
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'j', 'k', 'm', 'n', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x',
    'y', 'z', '2', '3', '4', '5', '6', '7', '8', '9', 'i',
];

/// An invalid session name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("session must be 1 to 64 of the characters A-Z a-z 0-9 _ . -, not '{0}'")]
pub struct BadName(String);

/// Checks the text of a session name.
pub fn session_name(name: &str) -> Result<SessionName, BadName> {
    let right = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if (1..=MAX_NAME).contains(&name.len()) && name.chars().all(right) {
        Ok(SessionName::new(name))
    } else {
        Err(BadName(shown(name)))
    }
}

/// The session of requests without a name.
pub fn default_name() -> SessionName {
    SessionName::new("default")
}

/// The name of a client's own session, if several clients of a principal share a host.
pub fn mint_own_session() -> SessionName {
    SessionName::new(format!("c-{}", random(8)))
}

/// A new name for which `taken` returns false.
pub(crate) fn mint_session(taken: impl Fn(&SessionName) -> bool) -> SessionName {
    let mut length = 4;
    loop {
        let name = SessionName::new(format!("s-{}", random(length)));
        if !taken(&name) {
            return name;
        }
        length = (length + 1).min(12);
    }
}

pub(crate) fn mint_id(name: &SessionName, life: u64) -> SessionId {
    SessionId::new(format!("{name}.{life}"))
}

/// The handle of a new run.
pub fn mint_run() -> RunId {
    RunId::new(format!("r-{}", random(12)))
}

/// Random letters that make names distinct; the letters need not be secret.
fn random(length: usize) -> String {
    let mut number = RandomState::new().build_hasher().finish();
    let mut letter = || {
        let index = usize::try_from(number % 32).unwrap_or(0);
        number /= 32;
        LETTERS[index]
    };
    (0..length.min(12)).map(|_| letter()).collect()
}

fn shown(name: &str) -> String {
    let cut = &name[..name.floor_char_boundary(MAX_SHOWN)];
    let dots = if cut.len() < name.len() { "…" } else { "" };
    format!("{}{dots}", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn session_names() {
        let longest = "x".repeat(64);
        for right in ["a", "my.session-2_B", "..", longest.as_str()] {
            assert_eq!(
                session_name(right).map(|name| name.to_string()).as_deref(),
                Ok(right)
            );
        }
        let too_long = "x".repeat(65);
        for wrong in ["", "a b", "a/b", "ä", "a\n", too_long.as_str()] {
            let error = session_name(wrong).expect_err("wrong").to_string();
            let lead = "session must be 1 to 64 of the characters A-Z a-z 0-9 _ . -, not '";
            assert!(error.starts_with(lead) && !error.contains('\n'), "{error}");
        }
        assert!(
            session_name(&"x".repeat(1_000_000))
                .expect_err("wrong")
                .to_string()
                .len()
                < 200
        );
    }

    #[test]
    fn minted_names_are_new_and_valid() {
        let taken = RefCell::new(HashSet::new());
        for _ in 0..1000 {
            let name = mint_session(|name| taken.borrow().contains(name));
            assert!(name.as_str().starts_with("s-") && session_name(name.as_str()).is_ok());
            assert!(taken.borrow_mut().insert(name));
        }
        let runs: HashSet<RunId> = (0..1000).map(|_| mint_run()).collect();
        assert_eq!(runs.len(), 1000);
    }
}
