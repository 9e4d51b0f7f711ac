//! Credentials in a file like `~/.aws/credentials`: the section `[default]`, or lines without a section.

use std::path::Path;

use crate::config::AwsCredentials;

const SECTION: &str = "default";

/// Reads a file that only its owner may read. Errors show no value.
pub(super) async fn read(file: &Path) -> Result<AwsCredentials, String> {
    let wrong = |why: String| format!("`credentials_file` {}: {why}", file.display());
    let text = upstream_wire::read_secret_file(file.to_owned())
        .await
        .map_err(wrong)?;
    parse(&text).map_err(|missing| wrong(format!("`{missing}` is missing in [{SECTION}]")))
}

/// The credentials, or the missing key.
fn parse(text: &str) -> Result<AwsCredentials, &'static str> {
    let (mut id, mut secret, mut session) = (None, None, None);
    let mut section = SECTION;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.trim();
        } else if section == SECTION
            && let Some((key, value)) = line.split_once('=')
        {
            let value = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
            match key.trim() {
                "aws_access_key_id" => id = value,
                "aws_secret_access_key" => secret = value,
                "aws_session_token" => session = value,
                _ => {}
            }
        }
    }
    Ok(AwsCredentials {
        id: id.ok_or("aws_access_key_id")?,
        secret: secret.ok_or("aws_secret_access_key")?,
        session,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_section_counts() {
        let text = "[other]\naws_access_key_id = O\n[default]\naws_access_key_id = A\naws_secret_access_key=s=\n\
                    region = x\naws_session_token = t\n[more]\naws_secret_access_key = m\n";
        let found = parse(text).expect("credentials");
        assert_eq!(
            (found.id.as_str(), found.secret.as_str(), found.session.as_deref()),
            ("A", "s=", Some("t"))
        );
        let plain = parse("aws_access_key_id = A\naws_secret_access_key = s").expect("credentials");
        assert_eq!(plain.session, None);
        assert_eq!(
            parse("[default]\naws_access_key_id = A").unwrap_err(),
            "aws_secret_access_key"
        );
        assert_eq!(parse("").unwrap_err(), "aws_access_key_id");
    }
}
