//! The chain of hashes, without a database.
//!
//! The hash of a row is SHA-256 over its fields, each written as a netstring (`LENGTH:BYTES,`, the length in bytes), in
//! this order: `codeyard-audit-1`, sequence, `at_ms`, tenant, actor, token, action, object, `object_id`, outcome,
//! detail, previous. Numbers are decimal digits. Different rows have different texts.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use super::entry::AuditRow;

/// First field of every hashed text: the version of the format.
const FORM: &str = "codeyard-audit-1";

/// Hash of a row, as 64 lower-case hexadecimal digits. The first row's `previous` is 64 zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditHash(String);

/// Why a row does not continue the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadLink {
    /// The previous row is absent.
    #[error("is missing")]
    Missing,
    /// The row's hash does not match its fields.
    #[error("was changed: its hash does not match its fields")]
    Changed,
    /// The row does not continue the previous row.
    #[error(
        "does not follow the row before it: a row was changed, inserted or removed, or rows were reordered"
    )]
    Unlinked,
    /// The database holds a value of another type.
    #[error("was changed: it cannot be read")]
    Unreadable,
}

/// Progress of a walk along the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Walk {
    pub(super) sequence: i64,
    pub(super) hash: AuditHash,
}

// === impl AuditHash ===

impl AuditHash {
    pub(super) fn zero() -> AuditHash {
        AuditHash("0".repeat(64))
    }

    pub(super) fn of(row: &AuditRow) -> AuditHash {
        let (sequence, at_ms) = (row.sequence.to_string(), row.at_ms.to_string());
        let fields = [
            FORM,
            &sequence,
            &at_ms,
            &row.tenant,
            &row.actor,
            &row.token,
            &row.action,
            &row.object,
            &row.object_id,
            &row.outcome,
            &row.detail,
            &row.previous,
        ];
        let mut hasher = Sha256::new();
        for field in fields {
            hasher.update(format!("{}:{field},", field.len()));
        }
        AuditHash(hex::encode(hasher.finalize()))
    }

    /// 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AuditHash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<AuditHash, &'static str> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        match text.len() == 64 && text.bytes().all(is_digit) {
            true => Ok(AuditHash(text.to_owned())),
            false => Err("expected 64 lower-case hexadecimal digits"),
        }
    }
}

impl fmt::Display for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// === impl Walk ===

impl Walk {
    /// Before the first row.
    pub(super) fn start() -> Walk {
        Walk {
            sequence: 0,
            hash: AuditHash::zero(),
        }
    }

    /// Advances to the next row. Fails with the row's number if it does not continue the chain.
    pub(super) fn step(&mut self, row: &AuditRow) -> Result<(), (i64, BadLink)> {
        let next = self.sequence + 1;
        if row.sequence != next {
            return Err((next, BadLink::Missing));
        }
        let hash = AuditHash::of(row);
        if hash.as_str() != row.hash {
            return Err((next, BadLink::Changed));
        }
        if row.previous != self.hash.as_str() {
            return Err((next, BadLink::Unlinked));
        }
        *self = Walk { sequence: next, hash };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    fn row(walk: &Walk, [tenant, actor, id, detail]: [String; 4]) -> AuditRow {
        let mut row = AuditRow {
            sequence: walk.sequence + 1,
            at_ms: walk.sequence * 7,
            tenant,
            actor,
            token: String::new(),
            action: "user.create".to_owned(),
            object: "user".to_owned(),
            object_id: id,
            outcome: "done".to_owned(),
            detail,
            previous: walk.hash.to_string(),
            hash: String::new(),
        };
        row.hash = AuditHash::of(&row).to_string();
        row
    }

    fn chain(texts: Vec<[String; 4]>) -> Vec<AuditRow> {
        let mut walk = Walk::start();
        let rows = texts.into_iter().map(|texts| {
            let row = row(&walk, texts);
            walk.step(&row).expect("a row that follows");
            row
        });
        rows.collect()
    }

    /// The head, or the first bad row.
    fn walked(rows: &[AuditRow]) -> Result<Walk, (i64, BadLink)> {
        let mut walk = Walk::start();
        rows.iter().try_for_each(|row| walk.step(row))?;
        Ok(walk)
    }

    /// Every stored text of a row; excludes numbers.
    fn texts(row: &mut AuditRow) -> [&mut String; 10] {
        [
            &mut row.tenant,
            &mut row.actor,
            &mut row.token,
            &mut row.action,
            &mut row.object,
            &mut row.object_id,
            &mut row.outcome,
            &mut row.detail,
            &mut row.previous,
            &mut row.hash,
        ]
    }

    fn chains() -> impl Strategy<Value = Vec<AuditRow>> {
        let texts = proptest::array::uniform4("[a-c:,0-9]{0,6}");
        proptest::collection::vec(texts, 2..12).prop_map(chain)
    }

    proptest! {
        #[test]
        fn an_edit_of_any_field_is_found_in_its_row(
            mut rows in chains(), at: Index, field in 0..12_usize, text in "[a-c:,0-9]{0,6}", number: i64,
        ) {
            let at = at.index(rows.len());
            let before = rows[at].clone();
            match field {
                10 => rows[at].sequence = number,
                11 => rows[at].at_ms = number,
                field => *texts(&mut rows[at])[field] = text,
            }
            prop_assume!(rows[at] != before);
            let (bad, _) = walked(&rows).expect_err("a broken chain");
            prop_assert_eq!(bad, before.sequence);
        }

        #[test]
        fn an_edit_with_a_new_hash_is_found_in_the_next_row(mut rows in chains(), at: Index) {
            // No row follows the last row, so only the noted head shows the change.
            let at = at.index(rows.len() - 1);
            rows[at].detail.push('!');
            rows[at].hash = AuditHash::of(&rows[at]).to_string();
            prop_assert_eq!(walked(&rows), Err((rows[at + 1].sequence, BadLink::Unlinked)));
        }

        #[test]
        fn a_removed_row_is_found_even_with_new_numbers(mut rows in chains(), at: Index) {
            let at = at.index(rows.len() - 1);
            let removed = rows.remove(at);
            prop_assert_eq!(walked(&rows), Err((removed.sequence, BadLink::Missing)));
            for later in &mut rows[at..] {
                later.sequence -= 1;
                later.hash = AuditHash::of(later).to_string();
            }
            prop_assert_eq!(walked(&rows), Err((removed.sequence, BadLink::Unlinked)));
        }

        #[test]
        fn an_inserted_row_is_found(mut rows in chains(), at: Index) {
            let at = at.index(rows.len() - 1);
            let walk = walked(&rows[..at]).expect("a chain");
            let texts = ["a", "b", "c", "inserted"].map(str::to_owned);
            rows.insert(at, row(&walk, texts));
            for later in &mut rows[at + 1..] {
                later.sequence += 1;
            }
            prop_assert!(walked(&rows).is_err());
        }

        #[test]
        fn swapped_rows_are_found(mut rows in chains(), one: Index, other: Index, renumber: bool) {
            let (one, other) = (one.index(rows.len()), other.index(rows.len()));
            prop_assume!(one != other);
            rows.swap(one, other);
            if renumber {
                let sequence = rows[one].sequence;
                rows[one].sequence = rows[other].sequence;
                rows[other].sequence = sequence;
            }
            prop_assert!(walked(&rows).is_err());
        }

        #[test]
        fn a_chain_that_lacks_its_end_has_another_head(rows in chains(), keep: Index) {
            let whole = walked(&rows).expect("a chain");
            let kept = walked(&rows[..keep.index(rows.len())]).expect("a chain");
            prop_assert_ne!(whole, kept);
        }
    }

    #[test]
    fn the_hashed_text_is_the_documented_one() {
        // printf '16:codeyard-audit-1,1:1,1:0,…' | sha256sum
        let rows = chain(vec![
            ["local", "ann@example.com", "bob@example.com", ""].map(str::to_owned),
        ]);
        let text = format!(
            "16:codeyard-audit-1,1:1,1:0,5:local,15:ann@example.com,0:,11:user.create,4:user,15:bob@example.com,4:done,0:,64:{},",
            "0".repeat(64)
        );
        assert_eq!(rows[0].hash, hex::encode(Sha256::digest(text)));
    }
}
