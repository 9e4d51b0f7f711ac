//! Expands `${VAR}` and `${VAR:-default}` once; values of variables stay unexpanded.

use environment::Environment;

/// Why a reference cannot be expanded, without the variable's value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExpandError {
    #[error("the variable {0} is not set; set it, or write a default as in ${{{0}:-default}}")]
    Unset(String),
    #[error(
        "{0} is in your secrets.json, which a project's file cannot use; set a variable {0} where codeyard is started, or define the server in your own file"
    )]
    Withheld(String),
    #[error("the variable {0} holds bytes that are not valid UTF-8")]
    NotUnicode(String),
    #[error("`{0}` has no closing brace")]
    Unclosed(String),
    #[error(
        "`${{{0}}}` is another program's form; codeyard expands ${{VAR}} and ${{VAR:-default}} from its environment"
    )]
    Foreign(String),
    #[error("`${{{0}}}` names no variable; write a name of letters, digits and underscores")]
    BadName(String),
}

impl ExpandError {
    /// Whether the variable is unset; other errors are mistakes of the text.
    pub(crate) fn is_unset(&self) -> bool {
        matches!(self, ExpandError::Unset(_) | ExpandError::Withheld(_))
    }
}

/// Expands every reference. The error names every reference that cannot be expanded.
pub(crate) fn expand(text: &str, env: &dyn Environment) -> Result<String, Vec<ExpandError>> {
    let mut out = String::with_capacity(text.len());
    let mut errors = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let Some(end) = inner.find('}') else {
            errors.push(ExpandError::Unclosed(rest[start..].to_owned()));
            rest = "";
            break;
        };
        match reference(&inner[..end], env) {
            Ok(value) => out.push_str(&value),
            Err(error) => errors.push(error),
        }
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    if errors.is_empty() { Ok(out) } else { Err(errors) }
}

/// Values in `text` from stored secrets, or from variables whose names look secret.
pub(crate) fn secrets(text: &str, env: &dyn Environment) -> Vec<String> {
    let references = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
    let secret = references.filter(|(inner, _)| {
        let name = inner.split_once(":-").map_or(*inner, |(name, _)| name);
        env.is_secret(name) || clients::names_secret(name)
    });
    secret
        .filter_map(|(inner, _)| reference(inner, env).ok())
        .collect()
}

fn reference(inner: &str, env: &dyn Environment) -> Result<String, ExpandError> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    if !is_name(name) {
        let foreign = name.contains(':') || name.starts_with("workspaceFolder");
        return Err(if foreign {
            ExpandError::Foreign(inner.to_owned())
        } else {
            ExpandError::BadName(inner.to_owned())
        });
    }
    let value = env
        .var(name)
        .map_err(|_| ExpandError::NotUnicode(name.to_owned()))?;
    match (value, default) {
        // As in a shell, an empty variable takes the default.
        (Some(value), Some(default)) if value.is_empty() => Ok(default.to_owned()),
        (Some(value), _) => Ok(value),
        (None, Some(default)) => Ok(default.to_owned()),
        (None, None) if env.withholds(name) => Err(ExpandError::Withheld(name.to_owned())),
        (None, None) => Err(ExpandError::Unset(name.to_owned())),
    }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use test_support::FakeEnvironment;

    use super::*;

    fn expanded(text: &str) -> String {
        let env = FakeEnvironment::new()
            .var("HOME", "/home/ana")
            .var("EMPTY", "")
            .var("TRICK", "${HOME}");
        match expand(text, &env) {
            Ok(text) => text,
            Err(errors) => errors
                .iter()
                .map(|error| format!("error: {error}"))
                .collect::<Vec<_>>()
                .join(" | "),
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(expanded(text), expected, "{text}");
    }

    #[test]
    fn references() {
        check("plain $HOME $$ {x} $", "plain $HOME $$ {x} $");
        check("${HOME}/bin:${HOME}", "/home/ana/bin:/home/ana");
        check("${MISSING:-x y}", "x y");
        check("${MISSING:-}", "");
        check("${EMPTY}", "");
        check("${EMPTY:-default}", "default");
        check("${HOME:-default}", "/home/ana");
        check("${TRICK}", "${HOME}");
        check("${MISSING:-a:-b}", "a:-b");
    }

    #[test]
    fn mistakes_name_the_variable_and_the_remedy() {
        check(
            "${A} and ${B}",
            "error: the variable A is not set; set it, or write a default as in ${A:-default} | \
             error: the variable B is not set; set it, or write a default as in ${B:-default}",
        );
        check("x ${HOME", "error: `${HOME` has no closing brace");
        check(
            "${env:TOKEN}",
            "error: `${env:TOKEN}` is another program's form; codeyard expands ${VAR} and ${VAR:-default} from its environment",
        );
        check(
            "${1x}${}",
            "error: `${1x}` names no variable; write a name of letters, digits and underscores | \
             error: `${}` names no variable; write a name of letters, digits and underscores",
        );
    }

    /// A piece of text with its expansion.
    fn piece() -> impl Strategy<Value = (String, String)> {
        let name = "[A-Za-z_][A-Za-z0-9_]{0,5}";
        prop_oneof![
            "[^$]{0,12}".prop_map(|text| (text.clone(), text)),
            Just(("$".to_owned(), "$".to_owned())),
            (name, ".{0,12}").prop_map(|(name, _)| (format!("${{{name}:-}}"), String::new())),
            (name, "[^}]{0,12}").prop_map(|(name, default)| (format!("${{{name}:-{default}}}"), default)),
        ]
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,80}") {
            let _ = expand(&text, &FakeEnvironment::new());
        }

        #[test]
        fn without_variables_every_default_is_taken_and_the_rest_kept(pieces in prop::collection::vec(piece(), 0..8)) {
            let text: String = pieces.iter().map(|piece| piece.0.as_str()).collect();
            let expected: String = pieces.iter().map(|piece| piece.1.as_str()).collect();
            // A dollar before the next piece's brace would form another reference.
            let said: Vec<&str> = pieces.iter().map(|piece| piece.0.as_str()).filter(|text| !text.is_empty()).collect();
            prop_assume!(!said.windows(2).any(|pair| pair[0] == "$" && pair[1].starts_with('{')));
            prop_assert_eq!(expand(&text, &FakeEnvironment::new()), Ok(expected));
        }

        #[test]
        fn a_value_is_never_expanded_again(value in ".{0,40}", before in "[^$]{0,9}", after in "[^$]{0,9}") {
            let env = FakeEnvironment::new().var("V", &value);
            prop_assert_eq!(expand(&format!("{before}${{V}}{after}"), &env), Ok(format!("{before}{value}{after}")));
        }
    }
}
