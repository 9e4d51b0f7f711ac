//! Converts and compares texts and bytes: loops that would be slow in the engine.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray};

use crate::bytes;

/// Decodes both alphabets leniently, after [`base64_digits`].
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("encode", Function::new(ctx.clone(), encode)?)?;
    native.set("decode", Function::new(ctx.clone(), decode)?)?;
    native.set("indexOf", Function::new(ctx.clone(), index_of)?)?;
    native.set("compare", Function::new(ctx.clone(), compare)?)?;
    native.set("swapped", Function::new(ctx.clone(), swapped)?)?;
    native.set("formParse", Function::new(ctx.clone(), form_parse)?)?;
    native.set("formSerialize", Function::new(ctx.clone(), form_serialize)?)
}

/// Encodes a text as Node does: hexadecimal input ends at the first character that is not a digit, and base64 input
/// skips such characters.
fn encode<'js>(ctx: Ctx<'js>, text: String, encoding: String) -> Result<TypedArray<'js, u8>> {
    let encoded = match encoding.as_str() {
        "utf8" => text.into_bytes(),
        "utf16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        // The low byte of each unit, as in Node.
        "latin1" | "ascii" => text.encode_utf16().map(|unit| unit.to_le_bytes()[0]).collect(),
        "hex" => from_hex(&text),
        "base64" | "base64url" => LENIENT.decode(base64_digits(&text)).unwrap_or_default(),
        _ => return Err(unknown(&ctx)),
    };
    TypedArray::new(ctx, encoded)
}

fn from_hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    pairs
        .iter()
        .map_while(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}

/// The digits of the standard alphabet up to the padding. A single last digit encodes no byte.
fn base64_digits(text: &str) -> Vec<u8> {
    let mut digits: Vec<u8> = text
        .bytes()
        .take_while(|byte| *byte != b'=')
        .filter_map(|byte| match byte {
            b'-' => Some(b'+'),
            b'_' => Some(b'/'),
            b'+' | b'/' => Some(byte),
            byte if byte.is_ascii_alphanumeric() => Some(byte),
            _ => None,
        })
        .collect();
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    digits
}

/// Decodes bytes; `None` if they are malformed. UTF-8 without `fatal` is always decoded.
fn decode<'js>(
    ctx: Ctx<'js>,
    data: TypedArray<'js, u8>,
    encoding: String,
    fatal: bool,
) -> Result<Option<String>> {
    let data = bytes::copy(&ctx, &data)?;
    let text = match encoding.as_str() {
        "utf8" => match String::from_utf8(data) {
            Ok(text) => text,
            Err(_) if fatal => return Ok(None),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        },
        "utf16le" => {
            let (pairs, rest) = data.as_chunks::<2>();
            let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
            match String::from_utf16(&units) {
                Ok(text) if rest.is_empty() || !fatal => text,
                _ => return Ok(None),
            }
        }
        "latin1" => data.into_iter().map(char::from).collect(),
        "ascii" => data.into_iter().map(|byte| char::from(byte & 0x7f)).collect(),
        "hex" => hex::encode(data),
        "base64" => base64::engine::general_purpose::STANDARD.encode(data),
        "base64url" => base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(data),
        _ => return Err(unknown(&ctx)),
    };
    Ok(Some(text))
}

/// Position of the needle, searched from `from` forward, or backward if `last` is set; -1 without a match. A negative
/// `from` counts from the end.
fn index_of<'js>(
    ctx: Ctx<'js>,
    data: TypedArray<'js, u8>,
    needle: TypedArray<'js, u8>,
    from: f64,
    last: bool,
) -> Result<f64> {
    let (data, needle) = (bytes::copy(&ctx, &data)?, bytes::copy(&ctx, &needle)?);
    let found = position(&data, &needle, from, last);
    #[expect(clippy::cast_precision_loss, reason = "lengths of buffers are exact")]
    Ok(found.map_or(-1.0, |at| at as f64))
}

fn position(data: &[u8], needle: &[u8], from: f64, last: bool) -> Option<usize> {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the length of the buffer, which is exact"
    )]
    let start = {
        let length = data.len() as f64;
        let from = if from < 0.0 { from + length } else { from };
        if last && from < 0.0 {
            return None;
        }
        from.clamp(0.0, length) as usize
    };
    if needle.is_empty() {
        return Some(start);
    }
    let highest = data.len().checked_sub(needle.len())?;
    if last {
        let end = start.min(highest) + needle.len();
        return memchr::memmem::rfind(&data[..end], needle);
    }
    memchr::memmem::find(data.get(start..)?, needle).map(|at| at + start)
}

fn compare<'js>(ctx: Ctx<'js>, a: TypedArray<'js, u8>, b: TypedArray<'js, u8>) -> Result<i32> {
    Ok(bytes::copy(&ctx, &a)?.cmp(&bytes::copy(&ctx, &b)?) as i32)
}

/// The bytes with each group of `size` bytes reversed.
fn swapped<'js>(ctx: Ctx<'js>, data: TypedArray<'js, u8>, size: usize) -> Result<TypedArray<'js, u8>> {
    let mut data = bytes::copy(&ctx, &data)?;
    data.chunks_exact_mut(size.max(1)).for_each(<[u8]>::reverse);
    TypedArray::new(ctx, data)
}

/// Names and values of a form, alternating.
fn form_parse(input: String) -> Vec<String> {
    url::form_urlencoded::parse(input.as_bytes())
        .flat_map(|(name, value)| [name.into_owned(), value.into_owned()])
        .collect()
}

fn form_serialize(flat: Vec<String>) -> String {
    let (pairs, _) = flat.as_chunks::<2>();
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(pairs.iter().map(|[name, value]| (name, value)));
    form.finish()
}

fn unknown(ctx: &Ctx<'_>) -> rquickjs::Error {
    Exception::throw_message(ctx, "unknown encoding")
}
