//! A row of the audit table, and the format of its texts.

use crate::connection::SqlRow;

/// Maximum characters of an object's id and of a detail.
const MAX_TEXT: usize = 256;

/// One row. Texts that are unknown to this version stay unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// 1 for the first row of the database, over all tenants.
    pub sequence: i64,
    /// By the database's clock, in milliseconds since 1970.
    pub at_ms: i64,
    /// The tenant of the object.
    pub tenant: String,
    /// The user's address, or [`super::COMMAND_LINE`].
    pub actor: String,
    /// Id of the user's token; empty for the command line.
    pub token: String,
    /// A word of [`identity::AuditAction`].
    pub action: String,
    /// The kind of the object.
    pub object: String,
    /// Names the object; `team/user` for a member; empty if the request named none.
    pub object_id: String,
    /// `done`, the status of a refusal, or `refused` by the command line.
    pub outcome: String,
    /// Text for people.
    pub detail: String,
    /// Hash of the previous row.
    pub previous: String,
    /// Hash of this row.
    pub hash: String,
}

// === impl AuditRow ===

impl AuditRow {
    pub(crate) fn read(row: &SqlRow) -> Result<AuditRow, sqlx::Error> {
        Ok(AuditRow {
            sequence: row.get("sequence")?,
            at_ms: row.get("at_ms")?,
            tenant: row.get("tenant")?,
            actor: row.get("actor")?,
            token: row.get("token")?,
            action: row.get("action")?,
            object: row.get("object")?,
            object_id: row.get("object_id")?,
            outcome: row.get("outcome")?,
            detail: row.get("detail")?,
            previous: row.get("previous")?,
            hash: row.get("hash")?,
        })
    }
}

/// Replaces NUL, masks API tokens and truncates the text. A caller may have put a token where an id belongs.
pub(super) fn clean(text: &str) -> String {
    let cleaned = mask_tokens(text).replace('\0', "\u{fffd}");
    match cleaned.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}\u{2026}", &cleaned[..end]),
        None => cleaned,
    }
}

/// The text without the secret part of API tokens.
pub(crate) fn mask_tokens(text: &str) -> String {
    let mut cleaned = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(identity::PREFIX) {
        let (before, token) = rest.split_at(at + identity::PREFIX.len());
        cleaned.push_str(before);
        rest = token.trim_start_matches(|character: char| character.is_ascii_alphanumeric());
        if rest.len() < token.len() {
            cleaned.push('\u{2026}');
        }
    }
    cleaned.push_str(rest);
    cleaned
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_and_nul_are_masked_and_long_texts_are_cut() {
        let token = format!("cyd_{}", "ab".repeat(32));
        assert_eq!(
            clean(&format!("a {token}, b{token}")),
            "a cyd_\u{2026}, bcyd_\u{2026}"
        );
        assert_eq!(clean("cyd_ and cyd_"), "cyd_ and cyd_");
        assert_eq!(clean("a\0b"), "a\u{fffd}b");
        let long = clean(&"\u{e4}".repeat(300));
        assert_eq!(long.chars().count(), 257);
    }

    proptest! {
        #[test]
        fn no_token_survives(before in "\\PC{0,300}", digits in "[0-9a-f]{64}", after in "\\PC{0,20}") {
            let cleaned = clean(&format!("{before}cyd_{digits}{after}"));
            prop_assert!(!cleaned.contains(&digits));
            prop_assert!(cleaned.chars().count() <= MAX_TEXT + 1);
        }
    }
}
