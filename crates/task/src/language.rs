//! Which language a task seems to be in, for telling that only English is read.

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
            "el", "los", "las", "una", "y", "es", "para", "con", "mi", "del", "por", "qu\u{e9}", "luego",
            "un", "al",
        ],
    ),
    (
        "Portuguese",
        &[
            "o", "os", "uma", "e", "para", "com", "meu", "minha", "do", "da", "n\u{e3}o", "depois", "um",
        ],
    ),
    (
        "Italian",
        &[
            "il", "gli", "una", "e", "per", "con", "mio", "mia", "della", "del", "poi", "che", "un",
        ],
    ),
    (
        "Dutch",
        &[
            "het", "een", "en", "van", "voor", "met", "mijn", "dan", "naar", "niet", "de",
        ],
    ),
];

/// What the text is in, if it does not seem to be English.
pub(crate) fn foreign(text: &str) -> Option<&'static str> {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (latin, other) = letters.fold((0, 0), |(latin, other), c| match c {
        c if c.is_ascii() || ('\u{c0}'..='\u{24f}').contains(&c) => (latin + 1, other),
        _ => (latin, other + 1),
    });
    if other > latin {
        return Some("a language that is not written in Latin letters");
    }
    let words: Vec<String> = catalog::words(text).map(str::to_lowercase).collect();
    let counted = SMALL_WORDS.map(|(language, small)| {
        (
            language,
            words.iter().filter(|word| small.contains(&word.as_str())).count(),
        )
    });
    let (language, count) = counted.into_iter().rev().max_by_key(|(_, count)| *count)?;
    (count >= 2 || count == 1 && words.len() <= 4).then_some(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(foreign(text), expected, "{text}");
        check("Update my calendar", None);
        check("Calculate the sum of 5 and 3, then save it", None);
        check("Rechne bitte 5 und 3 zusammen", Some("German"));
        check("Calcule la somme et envoie le r\u{e9}sultat", Some("French"));
        check(
            "\u{8ba1}\u{7b97} 5 + 3",
            Some("a language that is not written in Latin letters"),
        );
    }
}
