//! Enums with one word per variant in requests, commands and the database.

/// Maximum characters of a foreign text in an error.
const SHOWN: usize = 64;

/// An unknown word.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} '{word}'; {remedy}")]
pub struct UnknownWord {
    what: &'static str,
    word: String,
    remedy: String,
}

// === impl UnknownWord ===

impl UnknownWord {
    pub(crate) fn new<'a>(what: &'static str, word: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let known: Vec<&str> = known.collect();
        let shown: String = word.chars().take(SHOWN).collect();
        let near = known
            .iter()
            .map(|known| (strsim::damerau_levenshtein(&shown.to_lowercase(), known), *known))
            .min()
            .filter(|(distance, known)| *distance <= 1 + known.len() / 3);
        let remedy = match near {
            Some((_, near)) => format!("did you mean '{near}'?"),
            None => format!("known are {}", known.join(", ")),
        };
        Self {
            what,
            word: types::spelled_out(&shown),
            remedy,
        }
    }
}

macro_rules! words {
    (
        $(#[$doc:meta])*
        $name:ident: $what:literal {
            $($(#[$about:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$about])* $variant,)+
        }

        impl $name {
            /// Every variant, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word in requests, commands and records.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().find(|known| known.name() == text);
                found.copied().ok_or_else(|| {
                    $crate::UnknownWord::new($what, text, Self::ALL.iter().map(|known| known.name()))
                })
            }
        }
    };
}
