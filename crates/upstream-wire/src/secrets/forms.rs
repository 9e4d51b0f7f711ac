//! The forms in which a server may repeat a value: single lines, JSON escapes, and URL encodings.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use reqwest::Url;

/// Only forms of at least `min_bytes`.
pub(super) fn of(value: &str, min_bytes: usize) -> Vec<Vec<u8>> {
    let lines = value.lines().filter(|line| line.len() < value.len());
    let written = std::iter::once(value).chain(lines).map(str::trim);
    let mut forms: Vec<String> = Vec::new();
    for text in written.filter(|text| text.len() >= min_bytes) {
        forms.push(text.to_owned());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
        // Plain text looks the same in every encoding.
        if !text.chars().all(is_plain) {
            forms.push(json_escaped(text));
            forms.extend(url_encoded(text));
        }
    }
    forms.retain(|form| form.len() >= min_bytes);
    forms.into_iter().map(String::into_bytes).collect()
}

pub(super) fn password(token: &str) -> Option<String> {
    let token = token.trim();
    let bytes = STANDARD
        .decode(token)
        .or_else(|_| STANDARD_NO_PAD.decode(token))
        .ok()?;
    let text = String::from_utf8(bytes).ok()?;
    text.split_once(':').map(|(_user, password)| password.to_owned())
}

fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The value in a URL's query and path and in a form; and what a URL that holds the value decodes to.
fn url_encoded(text: &str) -> Vec<String> {
    let Ok(mut url) = Url::parse("http://localhost/") else {
        return Vec::new();
    };
    let mut forms = Vec::new();
    if text.contains(['%', '+']) && !text.contains(['&', '#']) {
        url.set_query(Some(&format!("v={text}")));
        forms.extend(url.query_pairs().next().map(|(_name, value)| value.into_owned()));
    }
    url.set_query(Some(text));
    forms.extend(url.query().map(str::to_owned));
    url.set_path(&format!("/{text}"));
    forms.push(url.path()[1..].to_owned());
    url.query_pairs_mut().clear().append_pair("v", text);
    forms.extend(
        url.query()
            .and_then(|query| query.strip_prefix("v="))
            .map(str::to_owned),
    );
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_those_that_servers_write() {
        for (value, expected) in [
            ("ab\"c\\d", r#"ab\"c\\d"#),
            ("a b&c", "a+b%26c"),
            ("a b&c", "a%20b&c"),
            ("ab%2Fcd", "ab/cd"),
            ("ab/cd", "ab%2Fcd"),
            ("first\nsecond", "second"),
        ] {
            let forms = of(value, 4);
            assert!(
                forms.iter().any(|form| form == expected.as_bytes()),
                "{value} {forms:?}"
            );
        }
        assert_eq!(of("abc", 4), Vec::<Vec<u8>>::new());
        assert_eq!(of("abc-d", 4), [b"abc-d".to_vec()]);
    }

    #[test]
    fn basic_holds_a_password() {
        assert_eq!(password("bWU6aHVudGVy").as_deref(), Some("hunter"));
        assert_eq!(password("no base64"), None);
    }
}
