//! Checks what a guest returns: results within the requested size, and only a summary of results that stay in the
//! guest.

use std::io::{self, Write};

use guest::frames::{Done, ResultText};
use serde_json::Value;
use types::{Body, Content, Kept, Results, WrittenFile, is_unseen};

use crate::Run;
use crate::wire::WireError;

/// Limits in bytes: the name of a result; its type or size.
const MOST_NAME: usize = 20;
const MOST_WORDS: usize = 600;
/// Limit on the first key.
const MOST_FIRST: usize = 60;
/// Limit on the sample of a result, in bytes of JSON.
const MOST_SAMPLE: usize = 8 * 1024;

/// Bytes of text in `content` that do not count as part of the result.
const FREE_TEXT: usize = 4 * 1024;
/// Limits: parts with bytes, and bytes of base64 per part.
const MOST_BINARY: usize = 10;
const MOST_DATA: usize = 7 * 1024 * 1024;
/// Limit on a media type, in bytes.
const MOST_MIME: usize = 100;
/// Limit on a file's path, in bytes.
const MOST_PATH: usize = 4096;
/// Directories that listed files may be in.
const LISTED: [&str; 3] = ["/workspace/", "/results/", "/scratch/"];

/// Checks the end of a run that came in a frame of `size` bytes.
///
/// # Errors
/// What the frame contains that no guest of codeyard sends.
pub fn check(done: &Done, size: usize, run: &Run) -> Result<(), WireError> {
    let is_listed = |path: &str| LISTED.iter().any(|root| path.starts_with(root));
    let is_path = |file: &WrittenFile| file.path.len() <= MOST_PATH && is_listed(&file.path);
    if !done.files.iter().all(is_path) {
        return Err(refused("a file outside the session"));
    }
    if !done.unused.iter().all(|line| is_line(line)) {
        return Err(refused("more than a line of what was not used"));
    }
    let text = check_content(&done.content)?;
    let Results::UpTo(most) = run.profile.results else {
        return match done.kept {
            Some(_) => Err(refused("a result that stays, where all of it was asked for")),
            None => Ok(()),
        };
    };
    if let Some(kept) = &done.kept {
        check_kept(kept)?;
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    // The host may write numbers longer than the guest: `1e-5` as `0.00001`.
    let room = most.saturating_mul(2);
    let text = if text > FREE_TEXT { text } else { 0 };
    if size > room && result_size(&done.result) + text > room {
        return Err(refused("a result larger than was asked for"));
    }
    Ok(())
}

/// Checks all parts; returns the bytes of text.
fn check_content(content: &[Content]) -> Result<usize, WireError> {
    let mut text_bytes = 0;
    for part in content {
        text_bytes += match part {
            Content::Text { text } => text.len(),
            Content::Image { mime, .. } => typed(mime, "image/")?,
            Content::Audio { mime, .. } => typed(mime, "audio/")?,
            Content::Resource { uri, mime, body } => {
                mime.as_deref().map_or(Ok(0), |mime| typed(mime, ""))?;
                let Body::Text(text) = body else { continue };
                uri.len() + text.len()
            }
            Content::Link { uri, name, mime, .. } => {
                mime.as_deref().map_or(Ok(0), |mime| typed(mime, ""))?;
                uri.len() + name.len()
            }
        };
        if part
            .data()
            .is_some_and(|data| data.len() > MOST_DATA || !is_base64(data))
        {
            return Err(refused("content that is too large or not base64"));
        }
    }
    if content.iter().filter(|part| part.data().is_some()).count() > MOST_BINARY {
        return Err(refused("too many images"));
    }
    Ok(text_bytes)
}

/// Checks a media type; returns 0 bytes of text.
fn typed(mime: &str, kind: &str) -> Result<usize, WireError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.+-".contains(&byte);
    if mime.len() <= MOST_MIME && mime.starts_with(kind) && mime.bytes().all(is_plain) {
        Ok(0)
    } else {
        Err(refused("content of an unknown type"))
    }
}

/// Whether a text is base64 of the standard alphabet with padding.
fn is_base64(data: &str) -> bool {
    let digits = data
        .strip_suffix("==")
        .or_else(|| data.strip_suffix('='))
        .unwrap_or(data);
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    data.len().is_multiple_of(4) && digits.bytes().all(is_digit)
}

fn result_size(result: &ResultText) -> usize {
    match result {
        ResultText::Absent => 0,
        ResultText::Value(value) => written(Some(value)),
        ResultText::TooLarge(measure) => measure.text,
    }
}

fn check_kept(kept: &Kept) -> Result<(), WireError> {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if kept.name.len() > MOST_NAME || !kept.name.strip_prefix('r').is_some_and(is_number) {
        return Err(refused("a result of no such name"));
    }
    if !is_line(&kept.kind) || !is_line(&kept.size) || written(kept.sample.as_ref()) > MOST_SAMPLE {
        return Err(refused("more of a result than its beginning"));
    }
    if kept
        .first
        .as_ref()
        .is_some_and(|first| first.len() > MOST_FIRST || !is_line(first))
    {
        return Err(refused("more of a key than a program needs"));
    }
    Ok(())
}

/// Whether the text is short and on one line.
fn is_line(words: &str) -> bool {
    words.len() <= MOST_WORDS && !words.chars().any(is_unseen)
}

fn refused(what: &str) -> WireError {
    WireError::Protocol(what.to_owned())
}

fn written(value: Option<&Value>) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and every value parsed from JSON can be written as JSON.
    if let Some(value) = value {
        let _ = serde_json::to_writer(&mut count, value);
    }
    count.0
}

#[cfg(test)]
mod tests {
    use guest::frames::{Body, GuestFrame, Incoming};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn told(results: Results, mut done: serde_json::Value) -> String {
        done["t"] = json!("done");
        let body = done.to_string();
        let mut incoming = Incoming::default();
        incoming.push(&u32::try_from(body.len()).unwrap().to_le_bytes());
        incoming.push(body.as_bytes());
        let (frame, size) = match incoming.take().unwrap().unwrap() {
            Body::Frame(frame, size) => (frame, size),
            Body::Large(large) => large.parse().unwrap(),
        };
        let GuestFrame::Done(done) = frame else {
            panic!("{frame:?}");
        };
        let mut run = Run::of("1", types::Limits::default());
        run.profile.results = results;
        match check(&done, size, &run) {
            Ok(()) => "good".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_guest_sends_no_more_of_a_result_than_requested() {
        let text = |length: usize| json!({"id": 1, "result": "x".repeat(length)});
        assert_eq!(told(Results::Whole, text(100_000)), "good");
        assert_eq!(told(Results::UpTo(1000), text(998)), "good");
        assert!(told(Results::UpTo(1000), text(2100)).contains("larger than was asked for"));
        let content = json!([{"type": "image", "mime": "image/png", "data": "A".repeat(9000)}]);
        let image = json!({"id": 1, "result": 1, "content": content});
        assert_eq!(told(Results::UpTo(1000), image), "good");
        // Python writes these numbers as `1e-05`, which gives 985 bytes.
        let mut floats = json!({"id": 1, "result": vec![0.00001; 164]});
        floats["content"] = json!([{"type": "image", "mime": "image/png", "data": "A".repeat(9000)}]);
        assert_eq!(told(Results::UpTo(1000), floats), "good");
        let kept = |kept: serde_json::Value| told(Results::UpTo(1000), json!({"id": 1, "kept": kept}));
        assert_eq!(
            kept(json!({"name": "r3", "kind": "list", "size": "9 items", "sample": [1]})),
            "good"
        );
        assert_eq!(kept(json!({"name": "r3"})), "good");
        for bad in [
            json!({"name": ""}),
            json!({"name": "r"}),
            json!({"name": "r3)"}),
            json!({"name": "r".to_owned() + &"1".repeat(40)}),
            json!({"name": "r3", "kind": "x".repeat(1000)}),
            json!({"name": "r3", "size": "a\nb"}),
            json!({"name": "r3", "first": "a\nb"}),
            json!({"name": "r3", "first": "x".repeat(61)}),
            json!({"name": "r3", "sample": "x".repeat(10_000)}),
        ] {
            assert_ne!(kept(bad.clone()), "good", "{bad}");
        }
        assert_ne!(
            told(Results::Whole, json!({"id": 1, "kept": {"name": "r3"}})),
            "good"
        );
    }

    #[test]
    fn texts_images_and_names_are_checked() {
        let content =
            |part: serde_json::Value| told(Results::UpTo(1000), json!({"id": 1, "content": [part]}));
        let image = |mime: &str, data: &str| content(json!({"type": "image", "mime": mime, "data": data}));
        let text = |length: usize| content(json!({"type": "text", "text": "x".repeat(length)}));
        assert_eq!(image("image/png", "AAA="), "good");
        assert_eq!(text(4000), "good");
        assert!(text(5000).contains("larger than was asked for"));
        assert!(image("text/html", "AAA=").contains("unknown type"));
        for data in ["AAA", "A A=", "A===", "=AAA", "AA-_"] {
            assert!(image("image/png", data).contains("not base64"), "{data}");
        }
        let image = json!({"type": "image", "mime": "image/png", "data": "AAA="});
        let images = json!({"id": 1, "content": vec![image; 11]});
        assert!(told(Results::Whole, images).contains("too many images"));
        let link = |uri: &str| content(json!({"type": "link", "uri": uri, "name": "x", "size": 1}));
        assert_eq!(link("a:b"), "good");
        assert!(link(&"x".repeat(5000)).contains("larger than was asked for"));
        for path in ["/etc/passwd", "results/x", "/results/x", "/workspace/x"] {
            let files = json!({"id": 1, "files": [[path, 1]]});
            let is_good = path.starts_with("/results/") || path.starts_with("/workspace/");
            assert_eq!(told(Results::Whole, files) == "good", is_good, "{path}");
        }
        let long = json!({"id": 1, "files": [["/results/".to_owned() + &"x".repeat(4097), 1]]});
        assert!(told(Results::Whole, long).contains("outside the session"));
        for line in ["a\nb".to_owned(), "x".repeat(601), "\u{1b}[2J".to_owned()] {
            let unused = json!({"id": 1, "unused": [line]});
            assert!(told(Results::Whole, unused).contains("not used"));
        }
    }
}
