//! Truncates a program's output for a model: keeps the beginning and the end, cut at line ends.

use std::borrow::Cow;

use types::{Outcome, Text};

use crate::binary;

/// Bytes per token of text that tokenizes best.
const BYTES_PER_TOKEN: usize = 4;
/// Longest word in letters. A longer run counts one token for every two letters.
const LONGEST_WORD: usize = 8;
/// Each stream leaves at least 1 / `SHARE` of the limit to the other stream, if needed.
const SHARE: usize = 4;

/// Replaces binary content by markers, then truncates both streams to a joint weight of `most`:
/// bytes, or four times the tokens if that is more.
pub(crate) fn output(outcome: &mut Outcome, most: u64) {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let streams = [&mut outcome.stdout, &mut outcome.stderr];
    let streams = streams.map(|stream| {
        replace_binary(stream);
        let weight = weight(&stream.head) + weight(&stream.tail);
        (stream, weight)
    });
    let [(out, out_weight), (err, err_weight)] = streams;
    if out_weight + err_weight <= most {
        return;
    }
    let for_err = err_weight.min((most / SHARE).max(most.saturating_sub(out_weight)));
    let for_out = out_weight.min(most - for_err);
    shorten(out, for_out);
    shorten(err, for_err);
}

fn replace_binary(stream: &mut Text) {
    let place = match &stream.copy {
        Some(copy) => format!("all of it: {copy}"),
        // Another process printed the stream, or the session was lost.
        None => "no file has it".to_owned(),
    };
    for part in [&mut stream.head, &mut stream.tail] {
        if let Cow::Owned(replaced) = binary::replace(part, &place) {
            *part = replaced;
        }
    }
}

/// Truncates a stream to the weight `most`: half from the beginning, half from the end.
fn shorten(stream: &mut Text, most: usize) {
    if weight(&stream.head) + weight(&stream.tail) <= most {
        return;
    }
    let before = stream.bytes();
    if stream.cut == 0 {
        stream.tail.clone_from(&stream.head);
    }
    let (first, last) = (beginning(&stream.head, most / 2), end(&stream.tail, most / 2));
    let kept = first.len() + last.len();
    (stream.head, stream.tail) = (first.to_owned(), last.to_owned());
    stream.cut = before.saturating_sub(kept as u64);
}

/// The longest beginning within that weight. Ends at a line end if that keeps at least half.
fn beginning(text: &str, most: usize) -> &str {
    let end = longest(
        text.len(),
        |end| text.is_char_boundary(end),
        |end| weight(&text[..end]) <= most,
    );
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    &text[..if line >= end / 2 && line > 0 { line } else { end }]
}

/// The longest end within that weight. Starts at a line start if that keeps at least half.
fn end(text: &str, most: usize) -> &str {
    let start_of = |length: usize| text.len() - length;
    let length = longest(
        text.len(),
        |length| text.is_char_boundary(start_of(length)),
        |length| weight(&text[start_of(length)..]) <= most,
    );
    let text = &text[start_of(length)..];
    match text.find('\n') {
        Some(at) if at < text.len() / 2 => &text[at + 1..],
        _ => text,
    }
}

/// The largest length up to `most` that is whole and fits. `fits` must be monotonic (binary search).
fn longest(most: usize, is_whole: impl Fn(usize) -> bool, fits: impl Fn(usize) -> bool) -> usize {
    let whole = |mut length: usize| {
        while !is_whole(length) {
            length -= 1;
        }
        length
    };
    let (mut good, mut bad) = (0, most + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(whole(middle)) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    whole(good)
}

/// Bytes, or four times the tokens if that is more.
fn weight(text: &str) -> usize {
    text.len()
        .max(BYTES_PER_TOKEN * estimated_tokens(text.as_bytes()))
}

/// Estimates a text's tokens, with a bias to too many. An exact count would need a table of 20 MB. The guest uses the
/// same rule (`guest/python/codeyard/printed.py`) to decide which output is written to a file.
pub(crate) fn estimated_tokens(text: &[u8]) -> usize {
    let is_same = |one: &u8, other: &u8| class(*one) == class(*other);
    let mut runs = text.chunk_by(is_same).peekable();
    let mut tokens = 0;
    while let Some(run) = runs.next() {
        tokens += match class(run[0]) {
            Class::Letter if run.len() <= LONGEST_WORD => run.len().div_ceil(4),
            Class::Letter => run.len().div_ceil(2),
            Class::Digit => run.len().div_ceil(3),
            // A single space belongs to the token of the following word, but not to that of a number.
            Class::Space => {
                let is_before_digit = runs.peek().is_some_and(|next| class(next[0]) == Class::Digit);
                usize::from(run.len() > 1 || is_before_digit)
            }
            Class::Other => run.len(),
        };
    }
    tokens
}

#[derive(PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Space,
    Other,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b' ' => Class::Space,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use types::{SessionFate, Status};

    use super::*;

    const MOST: u64 = 400;

    fn most() -> usize {
        usize::try_from(MOST).unwrap_or_default()
    }

    fn shown(stdout: &str, stderr: &str) -> [String; 2] {
        let mut outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
        let stream = |text: &str, name: &str| Text {
            copy: Some(format!("/results/{name}-1.txt")),
            ..Text::whole(text)
        };
        outcome.stdout = stream(stdout, "stdout");
        outcome.stderr = stream(stderr, "stderr");
        output(&mut outcome, MOST);
        [outcome.stdout, outcome.stderr].map(|stream| {
            assert!(
                weight(&stream.head) + weight(&stream.tail) <= most(),
                "{stream:?}"
            );
            stream.shown().into_owned()
        })
    }

    fn lines(count: usize) -> String {
        (0..count).map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(shown("", ""), ["", ""]);
        assert_eq!(shown(&lines(20), "late\n"), [lines(20), "late\n".to_owned()]);
    }

    #[test]
    fn long_output_is_cut_at_line_ends() {
        let [stdout, stderr] = shown(&lines(1000), "one warning\n");
        assert!(stdout.starts_with("line 0\nline 1\n"), "{stdout}");
        assert!(stdout.ends_with("line 998\nline 999\n"), "{stdout}");
        assert!(
            stdout.contains(" bytes cut here; all of it: /results/stdout-1.txt]\nline 9"),
            "{stdout}"
        );
        assert_eq!(stderr, "one warning\n");
    }

    #[test]
    fn neither_stream_uses_the_share_of_the_other() {
        let [stdout, stderr] = shown(&lines(1000), &lines(1000));
        assert!(
            stdout.len() > stderr.len() && stderr.len() > 80,
            "{stdout}\n---\n{stderr}"
        );
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let [stdout, _] = shown(&"é".repeat(5_000), "");
        assert!(stdout.starts_with("éé") && stdout.ends_with("éé"), "{stdout}");
        assert!(stdout.contains("é\n[9,"), "{stdout}");
    }

    #[test]
    fn few_bytes_of_many_tokens_are_cut() {
        let [stdout, _] = shown(&"[({0}),".repeat(50), "");
        assert!(stdout.contains("bytes cut here"), "{stdout}");
    }

    proptest::proptest! {
        #[test]
        fn bytes_are_shown_or_counted(stdout in "[a-zé \n(]{0,900}", stderr in "[a-z0-9\n]{0,900}") {
            let mut outcome = Outcome::bare(Status::Completed, SessionFate::Kept, None);
            (outcome.stdout, outcome.stderr) = (Text::whole(&*stdout), Text::whole(&*stderr));
            output(&mut outcome, MOST);
            let weigh = |stream: &Text| weight(&stream.head) + weight(&stream.tail);
            proptest::prop_assert!(weigh(&outcome.stdout) + weigh(&outcome.stderr) <= most());
            proptest::prop_assert_eq!(outcome.stdout.bytes(), stdout.len() as u64);
            proptest::prop_assert!(stdout.starts_with(&outcome.stdout.head) && stdout.ends_with(&outcome.stdout.tail));
            proptest::prop_assert_eq!(outcome.stderr.bytes(), stderr.len() as u64);
        }
    }
}
