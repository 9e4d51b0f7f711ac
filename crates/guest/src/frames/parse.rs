//! Parses the body of a guest's frame; checks the size of its values before it builds any.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use serde_json::Error;
use serde_json::value::RawValue;
use types::{Body, Content, WrittenFile};

use super::measure::{Measure, measure};
use super::{Args, Done, DoneError, GuestFrame, ResultText};

/// Most values in `content`: the list, and 32 parts of five fields each.
const MAX_CONTENT_NODES: usize = 1 + 32 * 6;
/// Most pairs in `files`.
const MAX_FILES: usize = 1_000;
/// Most lines in `unused`.
const MAX_UNUSED: usize = 32;
/// Most names in `copied`: the two streams.
const MAX_COPIED: usize = 2;
/// Most bytes of `reads`.
const MAX_READS: usize = 256 * 1024;
/// Most bytes of the description of a result that stays in the session.
const MAX_KEPT: usize = 64 * 1024;

#[derive(Deserialize)]
struct Tag<'a> {
    t: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Jail {
    #[serde(rename = "t")]
    _tag: IgnoredAny,
    step: u32,
    errno: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    #[serde(rename = "t")]
    _tag: IgnoredAny,
    v: u32,
    interpreter: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Warmed {
    #[serde(rename = "t")]
    _tag: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallFrame<'a> {
    #[serde(rename = "t")]
    _tag: IgnoredAny,
    id: u64,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    args: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct End<'a> {
    #[serde(rename = "t")]
    _tag: IgnoredAny,
    id: u64,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    kept: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<DoneError>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    unused: Option<&'a RawValue>,
    #[serde(borrow, default)]
    files: Option<&'a RawValue>,
    #[serde(borrow, default)]
    copied: Option<&'a RawValue>,
    #[serde(default)]
    disk: Option<u64>,
    #[serde(default)]
    engine: Option<u32>,
    #[serde(borrow, default)]
    reads: Option<&'a RawValue>,
}

/// A [`Content`] without the buffering of a tagged enum.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContentPart {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    mime: Option<String>,
    data: Option<String>,
    uri: Option<String>,
    name: Option<String>,
    size: Option<u64>,
}

/// Fails if the frame is malformed or nested too deeply, or if one of its lists is too long.
pub(super) fn parse(body: &[u8]) -> Result<GuestFrame, Error> {
    let frame = match serde_json::from_slice::<Tag<'_>>(body)?.t {
        "jail" => {
            let Jail { step, errno, .. } = serde_json::from_slice(body)?;
            GuestFrame::Jail { step, errno }
        }
        "ready" => {
            let Ready { v, interpreter, .. } = serde_json::from_slice(body)?;
            GuestFrame::Ready { v, interpreter }
        }
        "warmed" => {
            let Warmed { .. } = serde_json::from_slice(body)?;
            GuestFrame::Warmed
        }
        "call" => {
            let CallFrame { id, name, args, .. } = serde_json::from_slice(body)?;
            GuestFrame::Call {
                id,
                name: name.into_owned(),
                args: Args {
                    measure: measured(args)?,
                    text: args.to_owned(),
                },
            }
        }
        "done" => GuestFrame::Done(Box::new(end(serde_json::from_slice(body)?)?)),
        _ => return Err(Error::custom("unknown kind of frame")),
    };
    Ok(frame)
}

fn end(end: End<'_>) -> Result<Done, Error> {
    Ok(Done {
        id: end.id,
        result: end.result.map(result).transpose()?.unwrap_or_default(),
        kept: end.kept.map(kept).transpose()?.flatten(),
        error: end.error,
        content: end.content.map(content).transpose()?.unwrap_or_default(),
        unused: names(end.unused, MAX_UNUSED)?,
        files: files(end.files)?,
        copied: names(end.copied, MAX_COPIED)?,
        disk: end.disk,
        engine: end.engine,
        reads: end.reads.filter(|raw| is_kept(raw)).map(ToOwned::to_owned),
    })
}

fn result(raw: &RawValue) -> Result<ResultText, Error> {
    let measure = measured(raw)?;
    if measure.fits_result() {
        Ok(ResultText::Value(serde_json::from_str(raw.get())?))
    } else {
        Ok(ResultText::TooLarge(measure))
    }
}

fn kept(raw: &RawValue) -> Result<Option<types::Kept>, Error> {
    if raw.get().len() > MAX_KEPT || !measured(raw)?.fits() {
        return Err(Error::custom("more of a result than its beginning"));
    }
    serde_json::from_str(raw.get())
}

/// Whether the host keeps these `reads`, without looking inside. A guest bounds them itself, and their loss must not
/// cost the run's result.
fn is_kept(reads: &RawValue) -> bool {
    reads.get().len() <= MAX_READS && measured(reads).is_ok_and(|measure| measure.fits())
}

fn content(raw: &RawValue) -> Result<Vec<Content>, Error> {
    if measured(raw)?.nodes > MAX_CONTENT_NODES {
        return Err(Error::custom("too many parts in `content`"));
    }
    let parts: Vec<ContentPart> = serde_json::from_str(raw.get())?;
    parts.into_iter().map(|it| part(it).ok_or_else(no_part)).collect()
}

fn no_part() -> Error {
    Error::custom("a part of `content` has an unknown type")
}

fn part(part: ContentPart) -> Option<Content> {
    let ContentPart {
        kind,
        text,
        mime,
        data,
        uri,
        name,
        size,
    } = part;
    match (kind.as_str(), text, mime, data, uri, name, size) {
        ("text", Some(text), None, None, None, None, None) => Some(Content::Text { text }),
        ("image", None, Some(mime), Some(data), None, None, None) => Some(Content::Image { mime, data }),
        ("audio", None, Some(mime), Some(data), None, None, None) => Some(Content::Audio { mime, data }),
        ("resource", Some(text), mime, None, Some(uri), None, None) => Some(Content::Resource {
            uri,
            mime,
            body: Body::Text(text),
        }),
        ("resource", None, mime, Some(data), Some(uri), None, None) => Some(Content::Resource {
            uri,
            mime,
            body: Body::Data(data),
        }),
        ("link", None, mime, None, Some(uri), Some(name), size) => Some(Content::Link {
            uri,
            name,
            mime,
            size,
        }),
        _ => None,
    }
}

/// Pairs of path and size.
fn files(raw: Option<&RawValue>) -> Result<Vec<WrittenFile>, Error> {
    let Some(raw) = raw else {
        return Ok(Vec::new());
    };
    if measured(raw)?.nodes > 1 + 3 * MAX_FILES {
        return Err(Error::custom("too many pairs in `files`"));
    }
    let pairs: Vec<(String, u64)> = serde_json::from_str(raw.get())?;
    Ok(pairs
        .into_iter()
        .map(|(path, size)| WrittenFile { path, size })
        .collect())
}

fn names(raw: Option<&RawValue>, most: usize) -> Result<Vec<String>, Error> {
    let Some(raw) = raw else {
        return Ok(Vec::new());
    };
    if measured(raw)?.nodes > 1 + most {
        return Err(Error::custom("too many texts in `unused` or `copied`"));
    }
    serde_json::from_str(raw.get())
}

fn measured(raw: &RawValue) -> Result<Measure, Error> {
    measure(raw.get()).ok_or_else(|| Error::custom("a value is nested too deeply"))
}

/// Distinguishes `"result": null` from an absent result.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}
