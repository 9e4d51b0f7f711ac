//! Artifacts as MCP resources: `codeyard://results/<session>/<path>`, percent-encoded.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use types::{SessionName, spelled_out};
use workspace::{Artifact, Artifacts};

use crate::error::RequestError;

const PREFIX: &str = "codeyard://results/";

/// RFC 6570 template of all artifacts.
const TEMPLATE: &str = "codeyard://results/{session}/{+path}";

/// Resources on one page.
const PAGE: usize = 100;

/// Largest file sent, in bytes; a file is sent as one message.
pub(super) const LARGEST: u64 = 8 * 1024 * 1024;

/// Media types by extension. Other files are `text/plain` or `application/octet-stream` by content.
const MEDIA: [(&str, &str); 20] = [
    ("csv", "text/csv"),
    ("css", "text/css"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("py", "text/x-python"),
    ("svg", "image/svg+xml"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

/// The session and path in an artifact's URI, decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ArtifactName {
    pub(super) session: SessionName,
    pub(super) path: PathBuf,
}

/// A page of the listing. The cursor is the number of files before the page.
pub(super) fn page(artifacts: &Artifacts, cursor: Option<&str>) -> Result<ListResourcesResult, RequestError> {
    let start = match cursor.map(str::parse::<usize>) {
        None => 0,
        Some(Ok(start)) if start <= artifacts.files.len() => start,
        Some(_) => return Err(RequestError::ArtifactsCursor),
    };
    let rest = &artifacts.files[start..];
    let resources = rest.iter().take(PAGE).map(resource).collect();
    let mut page = ListResourcesResult::with_all_items(resources)
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private);
    page.next_cursor = (rest.len() > PAGE).then(|| (start + PAGE).to_string());
    Ok(page)
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "result")
        .with_title("A file that a program wrote to /results")
        .with_description("`session` is the session of the run, `path` a name of its `artifacts`.");
    ListResourceTemplatesResult::with_all_items(vec![template])
        .with_ttl_ms(60 * 60 * 1000)
        .with_cache_scope(CacheScope::Public)
}

/// A file's content, as text if it is valid UTF-8.
pub(super) fn contents(uri: &str, file: &ArtifactName, content: &[u8]) -> ReadResourceResult {
    let known = media_type(&file.path);
    let text = std::str::from_utf8(content)
        .ok()
        .filter(|text| !text.contains('\0'));
    let contents = match text {
        Some(text) => ResourceContents::text(text, uri).with_mime_type(known.unwrap_or("text/plain")),
        None => ResourceContents::blob(STANDARD.encode(content), uri)
            .with_mime_type(known.unwrap_or("application/octet-stream")),
    };
    ReadResourceResult::new(vec![contents])
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private)
}

/// Parses an artifact's URI; `None` if the URI belongs to another server.
pub(super) fn parse(uri: &str) -> Option<ArtifactName> {
    let (session, path) = uri.strip_prefix(PREFIX)?.split_once('/')?;
    let session = String::from_utf8(decode(session)?).ok()?;
    let path = PathBuf::from(OsString::from_vec(decode(path)?));
    let is_named = !session.is_empty() && !path.as_os_str().is_empty();
    is_named.then(|| ArtifactName {
        session: SessionName::new(session),
        path,
    })
}

pub(super) fn uri(session: &SessionName, path: &Path) -> String {
    let mut uri = String::from(PREFIX);
    encode(session.as_str().as_bytes(), &mut uri, is_plain);
    uri.push('/');
    encode(path.as_os_str().as_bytes(), &mut uri, |byte| {
        is_plain(byte) || byte == b'/'
    });
    uri
}

fn resource(artifact: &Artifact) -> Resource {
    // People and models read the name, so control, reordering and unprintable characters are escaped.
    let mut name = String::new();
    for chunk in artifact.path.as_os_str().as_bytes().utf8_chunks() {
        name.push_str(&spelled_out(chunk.valid()));
        name.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    let mut resource = Resource::new(uri(&artifact.session, &artifact.path), name)
        .with_description(format!("written in session '{}'", artifact.session))
        .with_size(artifact.size);
    resource.mime_type = media_type(&artifact.path).map(str::to_owned);
    resource
}

fn media_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let (_, media) = MEDIA.iter().find(|(known, _)| *known == extension)?;
    Some(media)
}

/// Characters that need no escape anywhere in a URI.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn encode(bytes: &[u8], uri: &mut String, plain: impl Fn(u8) -> bool) {
    for byte in bytes {
        if plain(*byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn artifact(path: &str) -> Artifact {
        Artifact {
            session: SessionName::new("default"),
            path: PathBuf::from(path),
            size: 3,
            modified: SystemTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn uris_name_files() {
        for (path, expected) in [
            ("a.txt", "codeyard://results/default/a.txt"),
            ("b/c d.csv", "codeyard://results/default/b/c%20d.csv"),
            ("ü?#%", "codeyard://results/default/%C3%BC%3F%23%25"),
        ] {
            assert_eq!(uri(&SessionName::new("default"), Path::new(path)), expected);
        }
        for foreign in [
            "",
            "file:///etc/passwd",
            "codeyard://results/",
            "codeyard://results/default",
            "codeyard://results/default/",
            "codeyard://results//a",
            "codeyard://results/default/%",
            "codeyard://results/default/%+1",
            "codeyard://results/%ff/a",
            "codeyard://other/default/a",
        ] {
            assert_eq!(parse(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn content_says_what_it_is() {
        let read = |path: &str, content: &[u8]| {
            let named = ArtifactName {
                session: SessionName::new("s"),
                path: PathBuf::from(path),
            };
            serde_json::to_value(contents("u", &named, content)).unwrap()["contents"][0].clone()
        };
        assert_eq!(
            read("a", b"text"),
            json!({"uri": "u", "mimeType": "text/plain", "text": "text"})
        );
        assert_eq!(
            read("a.CSV", b"a,b"),
            json!({"uri": "u", "mimeType": "text/csv", "text": "a,b"})
        );
        assert_eq!(
            read("a.png", b"\x89PNG"),
            json!({"uri": "u", "mimeType": "image/png", "blob": "iVBORw=="})
        );
        assert_eq!(
            read("a", b"a\0b"),
            json!({"uri": "u", "mimeType": "application/octet-stream", "blob": "YQBi"})
        );
        assert_eq!(
            read("a.txt", b""),
            json!({"uri": "u", "mimeType": "text/plain", "text": ""})
        );
    }

    #[test]
    fn pages_hold_everything_once() {
        let files: Vec<_> = (0..250).map(|number| artifact(&format!("f{number}"))).collect();
        let artifacts = Artifacts { files, more: false };
        let mut names = Vec::new();
        let mut cursor: Option<String> = None;
        let mut pages = 0;
        loop {
            let page = page(&artifacts, cursor.as_deref()).unwrap();
            names.extend(page.resources.into_iter().map(|resource| resource.name));
            pages += 1;
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!((pages, names.len()), (3, 250));
        names.dedup();
        assert_eq!(names.len(), 250);
        for wrong in ["x", "-1", "251", "99999999999999999999999"] {
            assert!(page(&artifacts, Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_of_other_bytes_are_spelled_out() {
        for (bytes, shown) in [
            (b"a\xff\x1b[31m.txt".as_slice(), r"a\xff\u{1b}[31m.txt"),
            (b"a\nnotice: all is well", r"a\nnotice: all is well"),
            ("safe\u{202e}txt.exe".as_bytes(), r"safe\u{202e}txt.exe"),
            ("a\u{2028}b\u{200b}".as_bytes(), r"a\u{2028}b\u{200b}"),
        ] {
            let mut odd = artifact("x");
            odd.path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let resource = resource(&odd);
            assert_eq!(resource.name, shown);
            assert_eq!(parse(&resource.uri).unwrap().path, odd.path);
        }
    }

    proptest! {
        #[test]
        fn every_path_comes_back(session in "[A-Za-z0-9_.-]{1,64}", path in prop::collection::vec(1_u8.., 1..40)) {
            let path = PathBuf::from(OsString::from_vec(path));
            let uri = uri(&SessionName::new(session.clone()), &path);
            prop_assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert_eq!(parse(&uri), Some(ArtifactName { session: SessionName::new(session), path }));
        }
    }
}
