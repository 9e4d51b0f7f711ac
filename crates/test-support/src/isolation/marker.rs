//! Secret words planted in users' data.
//!
//! Each word encodes its permitted readers, so a search in every answer finds a crossing.

use fastrand::Rng;

/// The letters of the two groups.
const GROUPS: [char; 2] = ['r', 'b'];
const BEGIN: &str = "mk";
const RANDOM: usize = 10;
/// `mk`, group, sharing, member, random digits.
const LENGTH: usize = BEGIN.len() + 2 + 2 + RANDOM;

/// The permitted readers of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Everyone in the group.
    Group,
    /// Its owner.
    Owner,
}

/// The reader of an answer, or the owner of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reader {
    /// 0 or 1.
    pub(super) group: usize,
    /// Less than 256, unique in both groups.
    pub(super) member: usize,
}

/// A new word.
pub(super) fn plant(owner: Reader, sharing: Sharing, rng: &mut Rng) -> String {
    let letter = match sharing {
        Sharing::Group => 's',
        Sharing::Owner => 'o',
    };
    let random: String = (0..RANDOM).map(|_| rng.digit(16)).collect();
    format!(
        "{BEGIN}{}{letter}{:02x}{random}",
        GROUPS[owner.group % 2],
        owner.member
    )
}

/// The words in an answer that its reader must not see and did not send.
pub(super) fn crossings(answer: &str, sent: &str, reader: Reader) -> Vec<String> {
    let starts = answer.match_indices(BEGIN);
    let words = starts.filter_map(|(start, _)| answer.get(start..start + LENGTH));
    words
        .filter(|word| is_hidden(word, reader) && !sent.contains(*word))
        .map(str::to_owned)
        .collect()
}

fn is_hidden(word: &str, reader: Reader) -> bool {
    let letters: Vec<char> = word.chars().collect();
    let [_, _, group, sharing, digits @ ..] = letters.as_slice() else {
        return false;
    };
    let is_word = digits.iter().all(char::is_ascii_hexdigit) && digits.len() == RANDOM + 2;
    let is_own = || word.get(4..6) == Some(&format!("{:02x}", reader.member));
    match (GROUPS.iter().position(|letter| letter == group), sharing) {
        (Some(group), 's') if is_word => group != reader.group,
        (Some(_), 'o') if is_word => !is_own(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_hidden_from_all_but_its_permitted_readers() {
        let mut rng = Rng::with_seed(1);
        let (owner, mate) = (Reader { group: 0, member: 3 }, Reader { group: 0, member: 4 });
        let other = Reader { group: 1, member: 12 };
        for (sharing, crosses_to_mate) in [(Sharing::Group, 0), (Sharing::Owner, 1)] {
            let word = plant(owner, sharing, &mut rng);
            let answer = format!("{{\"name\":\"{word}\"}} mk and words");
            let found = |reader| crossings(&answer, "", reader).len();
            assert_eq!((found(owner), found(mate), found(other)), (0, crosses_to_mate, 1));
            assert!(crossings(&answer, &format!("GET /servers/{word}"), other).is_empty());
        }
    }
}
