//! English words that say how a sentence is built, not what it is about; none of them names a tool.

/// Words that begin an instruction, in the form in which they begin it. Words that tools begin with count beside these.
const IMPERATIVES: &[&str] = &[
    "add",
    "analyze",
    "append",
    "apply",
    "approve",
    "archive",
    "ask",
    "assign",
    "attach",
    "block",
    "book",
    "build",
    "buy",
    "call",
    "cancel",
    "change",
    "check",
    "clean",
    "clear",
    "close",
    "collect",
    "compare",
    "compute",
    "convert",
    "copy",
    "count",
    "create",
    "cut",
    "decode",
    "delete",
    "deploy",
    "describe",
    "destroy",
    "disable",
    "discard",
    "display",
    "divide",
    "download",
    "draw",
    "drop",
    "email",
    "empty",
    "enable",
    "encode",
    "erase",
    "estimate",
    "evaluate",
    "execute",
    "export",
    "extract",
    "fetch",
    "fill",
    "filter",
    "find",
    "fix",
    "format",
    "generate",
    "get",
    "give",
    "grant",
    "group",
    "hide",
    "import",
    "insert",
    "inspect",
    "install",
    "invite",
    "join",
    "keep",
    "list",
    "load",
    "lock",
    "look",
    "mail",
    "make",
    "mark",
    "measure",
    "merge",
    "move",
    "notify",
    "open",
    "order",
    "overwrite",
    "parse",
    "pay",
    "pick",
    "plan",
    "play",
    "plot",
    "post",
    "print",
    "publish",
    "purge",
    "put",
    "read",
    "record",
    "register",
    "remind",
    "remove",
    "rename",
    "repeat",
    "replace",
    "reply",
    "report",
    "reserve",
    "reset",
    "resolve",
    "restart",
    "restore",
    "return",
    "revert",
    "review",
    "revoke",
    "round",
    "run",
    "save",
    "schedule",
    "search",
    "select",
    "send",
    "set",
    "share",
    "ship",
    "show",
    "sign",
    "solve",
    "sort",
    "split",
    "start",
    "stop",
    "store",
    "submit",
    "subtract",
    "sum",
    "summarize",
    "switch",
    "tag",
    "take",
    "tell",
    "test",
    "train",
    "transfer",
    "translate",
    "truncate",
    "turn",
    "undo",
    "unlock",
    "update",
    "upload",
    "use",
    "validate",
    "verify",
    "visit",
    "watch",
    "wipe",
    "write",
];

/// Instructions of which one is often said for another.
const ALIKE: &[&[&str]] = &[
    &[
        "check", "count", "describe", "display", "fetch", "find", "get", "give", "inspect", "list", "look",
        "open", "print", "read", "report", "return", "search", "select", "show", "tell", "watch",
    ],
    &[
        "export",
        "keep",
        "overwrite",
        "place",
        "put",
        "record",
        "save",
        "store",
        "write",
    ],
    &["add", "append", "insert"],
    &[
        "clean", "clear", "cut", "delete", "destroy", "discard", "drop", "empty", "erase", "purge", "remove",
        "truncate", "wipe",
    ],
    &["restore", "revert", "undo"],
    &["email", "mail", "notify", "post", "send", "share", "submit"],
    &[
        "book", "build", "create", "generate", "make", "open", "order", "plan", "publish", "record",
        "reserve", "schedule",
    ],
    &[
        "change", "fix", "mark", "replace", "set", "switch", "turn", "update",
    ],
    &["compute", "estimate", "evaluate", "measure", "solve"],
];

/// Words with which tools begin that change nothing: verbs of reading and reckoning, and nouns of what is told.
const READING: &[&str] = &[
    "amount",
    "analyze",
    "average",
    "balance",
    "check",
    "compare",
    "compute",
    "convert",
    "cost",
    "count",
    "current",
    "decode",
    "describe",
    "details",
    "display",
    "distance",
    "divide",
    "duration",
    "encode",
    "estimate",
    "evaluate",
    "extract",
    "fetch",
    "filter",
    "find",
    "format",
    "get",
    "how",
    "inspect",
    "list",
    "look",
    "lookup",
    "mean",
    "measure",
    "number",
    "parse",
    "price",
    "query",
    "quote",
    "rate",
    "read",
    "resolve",
    "return",
    "say",
    "search",
    "select",
    "show",
    "solve",
    "sort",
    "status",
    "subtract",
    "sum",
    "summarize",
    "tell",
    "the",
    "total",
    "translate",
    "validate",
    "verify",
    "watch",
    "what",
    "whether",
    "which",
];

/// Words that turn round, or take from, what is said; those in "n't" are not among them.
const NEGATIONS: &[&str] = &[
    "avoid",
    "but",
    "cannot",
    "cant",
    "didnt",
    "doesnt",
    "don",
    "dont",
    "except",
    "excluding",
    "instead",
    "isnt",
    "neither",
    "never",
    "no",
    "nobody",
    "non",
    "none",
    "nor",
    "not",
    "nothing",
    "refrain",
    "shouldnt",
    "without",
    "wont",
];

/// Words of greeting and thanks.
const COURTESY: &[&str] = &[
    "cheers", "dear", "hello", "hey", "hi", "kindly", "lot", "many", "much", "please", "so", "thank",
    "thanks", "there", "very", "you",
];

/// Words that begin a question.
const QUESTIONS: &[&str] = &[
    "am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "how", "is", "may", "might",
    "should", "shall", "was", "were", "what", "when", "where", "which", "who", "whom", "whose", "why",
    "will", "would",
];

/// Words that may stand before a sentence.
const OPENING: &[&str] = &[
    "finally",
    "hello",
    "hey",
    "hi",
    "immediately",
    "kindly",
    "now",
    "ok",
    "okay",
    "please",
    "quickly",
    "simply",
    "so",
];

/// Instructions that ask for nothing but to see what came before, which is shown anyway.
const SHOWING: &[&str] = &[
    "display", "give", "output", "print", "report", "return", "say", "show", "tell",
];

/// Words that stand for the result of an earlier step, alone or after an article.
const REFERRING: &[&str] = &[
    "answer", "answers", "it", "its", "output", "outputs", "result", "results", "that", "them", "these",
    "this", "those",
];

/// Words that join and point, which an instruction may have around its words.
const SMALL: &[&str] = &[
    "a", "all", "also", "an", "and", "any", "by", "can", "could", "each", "for", "from", "help", "here", "i",
    "in", "is", "just", "let", "me", "my", "need", "of", "on", "our", "please", "so", "some", "the", "their",
    "there", "to", "us", "want", "we", "will", "with", "would", "you", "your",
];

/// Words that make a noun of the word after them: articles, possessives, words of number and order.
const DETERMINERS: &[&str] = &[
    "a", "all", "an", "another", "any", "both", "each", "every", "few", "first", "half", "her", "his", "its",
    "last", "my", "next", "one", "other", "our", "same", "several", "some", "the", "their", "what", "which",
    "whose", "your",
];

/// Words that begin something on which other steps depend.
const CONDITIONS: &[&str] = &[
    "else",
    "if",
    "otherwise",
    "unless",
    "until",
    "when",
    "whenever",
    "while",
];

/// Words that stand before a value and say what it is to the instruction.
pub(crate) const PREPOSITIONS: &[&str] = &[
    "about",
    "as",
    "at",
    "between",
    "by",
    "called",
    "containing",
    "for",
    "from",
    "in",
    "inside",
    "into",
    "like",
    "matching",
    "named",
    "near",
    "of",
    "on",
    "saying",
    "since",
    "than",
    "titled",
    "to",
    "under",
    "until",
    "using",
    "via",
    "with",
    "within",
];

/// Words of time that need a clock to mean a date.
const RELATIVE_TIMES: &[&str] = &[
    "afternoon",
    "day",
    "days",
    "evening",
    "hour",
    "hours",
    "last",
    "minute",
    "minutes",
    "month",
    "months",
    "morning",
    "next",
    "night",
    "now",
    "today",
    "tomorrow",
    "tonight",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
    "yesterday",
];

/// Words that begin a sentence which tells something and asks for nothing.
const TELLING: &[&str] = &[
    "he", "he'd", "her", "his", "it", "its", "she", "she'd", "the", "their", "these", "they", "they'd",
    "this", "those", "we",
];

const NUMBERS: &[(&str, i64)] = &[
    ("zero", 0),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
    ("thousand", 1000),
];

/// Whether the word, in small letters, begins an instruction in English.
pub(crate) fn is_imperative(word: &str) -> bool {
    IMPERATIVES.contains(&word)
}

/// The instruction of which the word is a form: "shipped" of "ship".
pub(crate) fn imperative_of(word: &str) -> Option<&'static str> {
    let stem = catalog::stem(word.to_owned());
    let mut all = IMPERATIVES.iter();
    all.find(|verb| catalog::stem((**verb).to_owned()) == stem)
        .copied()
}

/// Whether the instruction of this word asks only to see something.
pub(crate) fn is_showing(word: &str) -> bool {
    SHOWING.contains(&word)
}

/// Whether a tool that begins with the word changes nothing.
pub(crate) fn is_reading(word: &str) -> bool {
    READING.contains(&word) || word.strip_suffix('s').is_some_and(|word| READING.contains(&word))
}

/// Whether the word turns round what is said.
pub(crate) fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
}

/// Whether the word is one of greeting or thanks.
pub(crate) fn is_courtesy(word: &str) -> bool {
    COURTESY.contains(&word)
}

/// Whether the word begins a question.
pub(crate) fn is_question(word: &str) -> bool {
    QUESTIONS.contains(&word)
}

/// Whether the word says nothing at the beginning of a sentence: a greeting or politeness.
pub(crate) fn is_opening(word: &str) -> bool {
    OPENING.contains(&word) || matches!(word, "i'd" | "i'll" | "like" | "must" | "we'd" | "we'll")
}

/// Whether one of the instructions is often said for the other.
pub(crate) fn are_alike(one: &str, other: &str) -> bool {
    ALIKE
        .iter()
        .any(|words| words.contains(&one) && words.contains(&other))
}

/// Whether the word stands for an earlier result.
pub(crate) fn is_referring(word: &str) -> bool {
    REFERRING.contains(&word)
}

/// Whether the word says nothing by itself.
pub(crate) fn is_small(word: &str) -> bool {
    SMALL.contains(&word)
}

/// Whether the word makes a noun of the word after it.
pub(crate) fn is_determiner(word: &str) -> bool {
    DETERMINERS.contains(&word)
}

/// Whether the word begins a condition.
pub(crate) fn is_condition(word: &str) -> bool {
    CONDITIONS.contains(&word)
}

/// Whether the word stands before a value.
pub(crate) fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.contains(&word)
}

/// Whether the word is a time that only a clock knows.
pub(crate) fn is_relative_time(word: &str) -> bool {
    RELATIVE_TIMES.contains(&word)
}

/// Whether a sentence that begins with the word tells something.
pub(crate) fn is_telling(word: &str) -> bool {
    TELLING.contains(&word)
}

/// The number that the word is; "one" is too often no number.
pub(crate) fn number(word: &str) -> Option<i64> {
    NUMBERS
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, number)| *number)
}
