//! Which language a task seems to be in, for telling that only English is read.

use crate::literals::Literal;
use crate::vocabulary;

/// Small words of languages that are written in Latin letters, and that English does not have.
const SMALL_WORDS: [(&str, &[&str]); 6] = [
    (
        "German",
        &[
            "und", "der", "die", "das", "den", "ein", "eine", "einen", "nicht", "ist", "mit", "von", "bitte",
            "mir", "wie", "f\u{fc}r", "auf", "meinen", "meine", "dann", "zu",
        ],
    ),
    (
        "French",
        &[
            "le", "la", "les", "une", "des", "et", "est", "pour", "dans", "avec", "moi", "mon", "ma", "mes",
            "du", "puis", "sur", "quel",
        ],
    ),
    (
        "Spanish",
        &[
            "el", "los", "las", "una", "y", "es", "para", "mi", "del", "por", "qu\u{e9}", "luego", "un", "al",
        ],
    ),
    (
        "Portuguese",
        &[
            "o", "os", "uma", "e", "para", "com", "meu", "minha", "da", "n\u{e3}o", "depois", "um",
        ],
    ),
    (
        "Italian",
        &[
            "il", "gli", "una", "e", "mio", "mia", "della", "del", "poi", "che", "un",
        ],
    ),
    (
        "Dutch",
        &["het", "een", "en", "voor", "mijn", "dan", "naar", "niet", "de"],
    ),
];

/// What the text is in, if it does not seem to be English.
pub(crate) fn foreign(text: &str, literals: &[Literal]) -> Option<&'static str> {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (latin, other) = letters.fold((0, 0), |(latin, other), c| match c {
        c if c.is_ascii() || ('\u{c0}'..='\u{24f}').contains(&c) => (latin + 1, other),
        _ => (latin, other + 1),
    });
    if other > latin {
        return Some("a language that is not written in Latin letters");
    }
    let is_literal = |word: &&str| {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        literals.iter().any(|literal| literal.span.contains(&at))
    };
    let plain = text
        .split_whitespace()
        .filter(|word| !is_literal(word))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    // Names may have such words inside, with capitals: "La Paz".
    let plain = plain.filter(|word| word.chars().all(char::is_lowercase) && !word.is_empty());
    let words: Vec<&str> = plain.collect();
    let count = |is_it: &dyn Fn(&str) -> bool| words.iter().filter(|word| is_it(word)).count();
    let english = |word: &str| {
        vocabulary::is_small(word) || vocabulary::is_preposition(word) || vocabulary::is_imperative(word)
    };
    let counted = SMALL_WORDS.map(|(language, small)| (language, count(&|word| small.contains(&word))));
    let (language, foreign) = counted.into_iter().rev().max_by_key(|(_, count)| *count)?;
    let is_short = text.split_whitespace().count() <= 4;
    (foreign > count(&english) && (foreign > 1 || is_short)).then_some(language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literals::literals;

    #[test]
    fn languages_are_told_apart() {
        let check = |text: &str, expected: Option<&str>| {
            let found = foreign(text, &literals(text, &vocabulary::is_imperative));
            assert_eq!(found, expected, "{text}");
        };
        check("Update my calendar", None);
        check("Fly to Los Angeles", None);
        check("Do it now", None);
        check("Book Die Hard", None);
        check("I met Ann in the van", None);
        check("Print \"la vie est belle\"", None);
        check("Get the weather in La Paz, Los Angeles and Le Mans", None);
        check("Lies die Datei /home/a.txt", Some("German"));
        check("Calculate the sum of 5 and 3, then save it", None);
        check("Rechne bitte 5 und 3 zusammen", Some("German"));
        check("Calcule la somme et envoie le r\u{e9}sultat", Some("French"));
        check(
            "\u{8ba1}\u{7b97} 5 + 3",
            Some("a language that is not written in Latin letters"),
        );
    }
}
