//! Words, quotes and pipes of lines.

use proptest::prelude::*;

use super::words::tokens;
use super::*;

/// Words in brackets, pipes between them; an asterisk marks a word that a shell might expand.
#[track_caller]
fn check(line: &str, expected: &str) {
    let found = match tokens(line) {
        Ok(tokens) => tokens.iter().map(shown).collect::<Vec<_>>().join(" "),
        Err(refusal) => format!("{}: {refusal}", refusal.exit()),
    };
    assert_eq!(found, expected, "{line:?}");
}

fn shown(token: &Token) -> String {
    match token {
        Token::Pipe => "|".to_owned(),
        Token::Word(word) if word.form == WordForm::Expandable => format!("[{}]*", word.text),
        Token::Word(word) => format!("[{}]", word.text),
    }
}

#[test]
fn words_and_quotes() {
    for (line, expected) in [
        ("", ""),
        ("ls", "[ls]"),
        ("  ls \t /tools  ", "[ls] [/tools]"),
        ("cat a b c", "[cat] [a] [b] [c]"),
        ("cat 'a b'", "[cat] [a b]"),
        ("cat \"a b\"", "[cat] [a b]"),
        ("cat a' 'b\" \"c", "[cat] [a b c]"),
        ("cat ''", "[cat] []"),
        ("cat \"\" ''", "[cat] [] []"),
        ("cat a\\ b", "[cat] [a b]"),
        ("cat \\'a\\\"", "[cat] ['a\"]"),
        ("cat 'a\\b'", "[cat] [a\\b]"),
        ("cat '\"'", "[cat] [\"]"),
        ("cat \"'\"", "[cat] [']"),
        ("cat \"a\\\"b\"", "[cat] [a\"b]"),
        ("cat \"a\\\\b\\n\"", "[cat] [a\\b\\n]"),
        ("cat \"\\$x \\`\"", "[cat] [$x `]"),
        ("cat 'it'\\''s'", "[cat] [it's]"),
        ("cat \\|", "[cat] [|]"),
        ("jq \".[] as $x | $x\"", "[jq] [.[] as $x | $x]"),
        ("grep foo$ a", "[grep] [foo$] [a]"),
        ("grep a$|cat", "[grep] [a$] | [cat]"),
        ("grep = a", "[grep] [=] [a]"),
        ("grep a#b c", "[grep] [a#b] [c]"),
        ("grep ! a", "[grep] [!] [a]"),
        ("cat über/日本", "[cat] [über/日本]"),
        ("cat a\u{a0}b", "[cat] [a\u{a0}b]"),
        ("cat a~ b/~", "[cat] [a~] [b/~]"),
    ] {
        check(line, expected);
    }
}

#[test]
fn pipes() {
    for (line, expected) in [
        ("a|b", "[a] | [b]"),
        ("a | b", "[a] | [b]"),
        ("a|b|c", "[a] | [b] | [c]"),
        ("a '|' b", "[a] [|] [b]"),
        ("a \"|\" b", "[a] [|] [b]"),
        ("a'|'b", "[a|b]"),
        ("|", "|"),
        ("a | | b", "[a] | | [b]"),
    ] {
        check(line, expected);
    }
}

#[test]
fn words_that_a_shell_might_expand() {
    for (line, expected) in [
        ("ls *.py", "[ls] [*.py]*"),
        ("ls a?", "[ls] [a?]*"),
        ("ls [ab]", "[ls] [[ab]]*"),
        ("ls {a,b}", "[ls] [{a,b}]*"),
        ("ls ~", "[ls] [~]*"),
        ("ls ~/x", "[ls] [~/x]*"),
        ("ls '*'", "[ls] [*]"),
        ("ls \"*\"", "[ls] [*]"),
        ("ls \\*", "[ls] [*]"),
        ("ls '*'*", "[ls] [**]*"),
        ("ls ''~", "[ls] [~]"),
    ] {
        check(line, expected);
    }
}

#[test]
fn shell_syntax_is_refused() {
    for (line, operator) in [
        ("ls; id", ";"),
        ("ls;id", ";"),
        ("ls & id", "&"),
        ("ls &", "&"),
        ("ls && id", "&&"),
        ("ls&&id", "&&"),
        ("ls || id", "||"),
        ("ls|&cat", "|&"),
        ("cat a > b", ">"),
        ("cat a>b", ">"),
        ("cat a >> b", ">>"),
        ("cat a 2>/dev/null", ">"),
        ("cat a &> b", "&>"),
        ("cat < a", "<"),
        ("cat << EOF", "<<"),
        ("cat <<< a", "<<<"),
        ("cat <(ls)", "<"),
        ("(ls)", "("),
        ("cat a)", ")"),
        ("ls `id`", "`"),
        ("ls $(id)", "$("),
        ("ls a$(id)", "$("),
        ("ls ${HOME}", "${"),
        ("ls $HOME", "$HOME"),
        ("ls $1", "$1"),
        ("ls $?", "$?"),
        ("ls $'a'", "$'"),
        ("ls $$", "$$"),
        ("ls # all", "#"),
        ("cat \"$(id)\"", "$("),
        ("cat \"${HOME}\"", "${"),
        ("cat \"`id`\"", "`"),
    ] {
        let message = "is not permitted (put it in single quotes to use it as text)";
        check(line, &format!("126: EACCES: operator '{operator}' {message}"));
    }
}

#[test]
fn text_in_single_quotes_is_text() {
    check("cat ';&><()`$(id)#*?'", "[cat] [;&><()`$(id)#*?]");
}

#[test]
fn unfinished_lines_are_refused() {
    for (line, refusal) in [
        ("cat 'a", "2: No closing quotation"),
        ("cat \"a", "2: No closing quotation"),
        ("cat \"a\\\"", "2: No closing quotation"),
        ("cat '", "2: No closing quotation"),
        ("cat a\\", "2: No escaped character"),
        ("ls\ncat", "2: shell: a command is one line"),
        ("ls\rcat", "2: shell: a command is one line"),
    ] {
        check(line, refusal);
    }
}

#[test]
fn every_command_is_known_before_one_runs() {
    let refusal = |line| parse(line).unwrap_err().to_string();
    assert_eq!(parse(" \t "), Ok(Vec::new()));
    assert_eq!(refusal("rm -rf /"), "EACCES: command 'rm' is not permitted");
    assert_eq!(refusal("ls | rm x"), "EACCES: command 'rm' is not permitted");
    assert_eq!(refusal("/bin/ls"), "EACCES: command '/bin/ls' is not permitted");
    assert_eq!(refusal("A=1 ls"), "EACCES: command 'A=1' is not permitted");
    assert_eq!(refusal("'' ls"), "EACCES: command '' is not permitted");
    assert_eq!(
        refusal("'l\x1bs'"),
        "EACCES: command 'l\\u{1b}s' is not permitted"
    );
    for line in ["|", "ls |", "| ls", "ls | | cat", "ls||"] {
        assert!(parse(line).is_err(), "{line}");
    }
    assert_eq!(refusal("ls |"), "shell: missing command beside '|'");
}

/// A word as a person would quote it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn doubly_quoted(word: &str) -> String {
    let escaped: String = word
        .chars()
        .flat_map(|c| "\"\\$`".contains(c).then_some('\\').into_iter().chain([c]))
        .collect();
    format!("\"{escaped}\"")
}

fn escaped(word: &str) -> String {
    word.chars().flat_map(|c| ['\\', c]).collect()
}

proptest! {
    #[test]
    fn quoted_words_come_back(words in prop::collection::vec(r"[^\n\r]{0,8}|[ '\x22\\$`|;&a]{0,8}", 1..6), form in 0..3_u8) {
        let one = |word: &String| match form {
            0 => quoted(word),
            1 => doubly_quoted(word),
            _ if word.is_empty() => quoted(word),
            _ => escaped(word),
        };
        let line = words.iter().map(one).collect::<Vec<_>>().join(" ");
        let found = tokens(&line).unwrap();
        let plain = |text: String| Token::Word(Word { text, form: WordForm::Plain });
        prop_assert_eq!(found, words.into_iter().map(plain).collect::<Vec<_>>());
    }

    #[test]
    fn any_line_is_read_or_refused(line in r"(\PC|[ '\x22\\$`|;&<>(){}*#~\t\n]){0,40}") {
        _ = parse(&line);
    }

    #[test]
    fn a_line_with_an_operator_outside_of_quotes_is_refused(
        before in "[a-z ]{0,8}",
        operator in r"[;&<>()`]|\$\(|\$\{|\$[a-z]|\|\|",
        after in "[a-z ]{0,8}",
    ) {
        let refusal = tokens(&format!("{before}{operator}{after}")).unwrap_err();
        prop_assert_eq!(refusal.exit(), 126);
    }
}
