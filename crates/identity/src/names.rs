//! Ids of teams, and display names of teams and tokens.

use types::TeamId;

/// Longest name of a team or a token, in characters.
pub const MAX_NAME: usize = 100;
/// Maximum bytes.
const MAX_TEAM_ID: usize = 64;

/// An invalid name or id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// An invalid id of a team.
    #[error(
        "team: an id is 1 to {MAX_TEAM_ID} of a-z 0-9 . _ - and begins with a letter or digit, not '{0}'"
    )]
    TeamId(String),
    /// An invalid display name.
    #[error("name: expected 1 to {MAX_NAME} visible characters, got '{0}'")]
    Name(String),
}

/// The id of a team, such as `platform-eng`. Unique within its tenant.
///
/// # Errors
/// If the text has other characters or is too long.
pub fn team_id(text: &str) -> Result<TeamId, BadName> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if text.len() <= MAX_TEAM_ID && begins && text.chars().all(allowed) {
        Ok(TeamId::new(text))
    } else {
        Err(BadName::TeamId(shown(text)))
    }
}

/// Checks a display name.
///
/// # Errors
/// If the name is empty or too long, or has invisible characters.
pub fn check_name(text: &str) -> Result<(), BadName> {
    let is_long = text.chars().take(MAX_NAME + 1).count() > MAX_NAME;
    if text.trim().is_empty() || is_long || text.chars().any(types::is_unseen) {
        return Err(BadName::Name(shown(text)));
    }
    Ok(())
}

fn shown(text: &str) -> String {
    types::spelled_out(&text.chars().take(MAX_TEAM_ID).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_teams() {
        for right in [
            "a",
            "team-a",
            "platform-eng",
            "0f",
            "a.b_c",
            &"x".repeat(MAX_TEAM_ID),
        ] {
            assert_eq!(team_id(right).map(|id| id.to_string()).as_deref(), Ok(right));
        }
        for wrong in [
            "",
            "-a",
            ".",
            "..",
            "_a",
            "A",
            "a b",
            "a/b",
            "a\n",
            "\u{e4}",
            &"x".repeat(MAX_TEAM_ID + 1),
        ] {
            let told = team_id(wrong).expect_err(wrong).to_string();
            assert!(told.starts_with("team: an id is 1 to 64"), "{told}");
        }
    }

    #[test]
    fn names_for_people() {
        let long = "\u{e9}".repeat(MAX_NAME);
        for right in ["CI of main", "Zürich 東京", &long] {
            assert_eq!(check_name(right), Ok(()), "{right}");
        }
        let longer = format!("{long}x");
        for wrong in [
            "",
            " ",
            "a\nb",
            "a\u{202e}b",
            "a\0",
            &longer,
            &"x".repeat(1_000_000),
        ] {
            assert!(check_name(wrong).is_err_and(|error| error.to_string().len() < 300));
        }
    }
}
