//! Text that is replaced, and text that only looks binary and stays.

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Reproducible bytes of every value.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(&mut next).take(length).collect()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(replace(text, "all of it: W"), expected);
}

#[track_caller]
fn stays(text: &str) {
    assert_eq!(replace(text, "all of it: W"), text);
}

#[test]
fn base64_becomes_a_marker() {
    let plain = STANDARD.encode(noise(3000));
    check(&plain, "[base64, 3,000 bytes; all of it: W]");
    check(&plain[..400], "[base64, 300 bytes; all of it: W]");
    check(
        &format!("key={plain} and more"),
        "key=[base64, 3,000 bytes; all of it: W] and more",
    );
    let padded = STANDARD.encode(noise(3001));
    assert!(padded.ends_with("=="));
    check(&padded, "[base64, 3,001 bytes; all of it: W]");
    let png = STANDARD.encode([b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; 3000]].concat());
    check(&png, "[base64 of image/png, 3,008 bytes; all of it: W]");
    check(
        &format!("<img src=\"data:image/gif;base64,{plain}\">"),
        "<img src=\"[base64 of image/gif, 3,000 bytes; all of it: W]\">",
    );
    check(
        &format!("data:application/octet-stream;base64,{plain}"),
        "[base64, 3,000 bytes; all of it: W]",
    );
    let url_safe = plain.replace('+', "-").replace('/', "_");
    check(&url_safe, "[base64, 3,000 bytes; all of it: W]");
    for (length, line_end) in [(76, "\n"), (64, "\r\n")] {
        let lines: Vec<&str> = plain
            .as_bytes()
            .chunks(length)
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect();
        let wrapped = lines.join(line_end);
        check(
            &format!("-----BEGIN X-----\n{wrapped}\n-----END X-----"),
            "-----BEGIN X-----\n[base64, 3,000 bytes; all of it: W]\n-----END X-----",
        );
    }
}

#[test]
fn bytes_become_a_marker() {
    let literal: String = noise(2000).iter().map(|byte| format!("\\x{byte:02x}")).collect();
    check(
        &format!("got b'{literal}' here"),
        "got [bytes, about 2,000; all of it: W] here",
    );
    let raw = String::from_utf8_lossy(&noise(2000)).into_owned();
    let spared = replace(&raw, "all of it: W");
    assert!(
        spared.contains("[binary data, about ") && spared.len() < 300,
        "{spared}"
    );
}

#[test]
fn texts_cut_within_characters_and_literals_are_read() {
    let text = "日本語x".repeat(3) + &"\0".repeat(500);
    assert_eq!(
        replace(&text, "all of it: W"),
        "日本語x日本語x日本語x[binary data, about 500 bytes; all of it: W]"
    );
    check(
        &format!("b'{}'", "\\x".repeat(300)),
        "[bytes, about 0; all of it: W]",
    );
}

#[test]
fn what_only_looks_alike_stays() {
    let hexadecimal: String = noise(1000).iter().map(|byte| format!("{byte:02x}")).collect();
    stays(&hexadecimal);
    stays(&"GATTACA".repeat(2000));
    stays(&"x".repeat(100_000));
    stays(&"thequickbrownfoxjumpsoverthelazydog".repeat(100));
    stays(&"function f(a,b){return a.b+1}var Q9=f(1,2);".repeat(100));
    stays(&"/usr/lib/python3.11/site-packages/numpy\n".repeat(100));
    stays(&"word Another 42 ".repeat(200));
    // A token of three short parts.
    let part = &STANDARD.encode(noise(240))[..320];
    stays(&format!("{part}.{part}.{part}"));
    stays(&STANDARD.encode(noise(200)));
    stays(&STANDARD.encode(noise(297)));
    // Names of many lengths, one a line.
    let names: String = (0..200).map(|n| format!("Customer{n}Name{}\n", n * n)).collect();
    stays(&names);
    stays(&"größer ".repeat(200));
    stays(&"\x1b[31mred\x1b[0m\n".repeat(100));
}

#[test]
fn values_are_spared_wherever_they_are() {
    let plain = STANDARD.encode(noise(900));
    let mut value = json!({"a": [1, {"data": plain, "mimeType": "audio/wav"}], "b": "text"});
    replace_in(&mut value, "all of it: W");
    let marker = "[base64, 900 bytes; all of it: W]";
    assert_eq!(
        value,
        json!({"a": [1, {"data": marker, "mimeType": "audio/wav"}], "b": "text"})
    );
}

#[test]
fn large_texts_take_time_in_proportion() {
    let start = std::time::Instant::now();
    for text in [
        "A".repeat(4_000_000),
        "b'\\x00".repeat(200_000),
        format!("{}\n", "A".repeat(76)).repeat(100_000),
        "b\"".repeat(1_000_000),
        "data:".repeat(400_000),
    ] {
        let _ = replace(&text, "all of it: W");
    }
    let took = start.elapsed();
    assert!(took.as_secs() < 60, "{took:?}");
}

proptest! {
    #[test]
    fn every_text_is_read(text in "([語é\u{0}-\u{1f}x]{1,300}|\u{0}{32}|b['\"](\\\\x[0-9a-f語]{0,2}){60,90}.?|[A-Za-z0-9]{1,90}[=語]?|data:[;a-z64,]{0,20}){0,12}") {
        replace(&text, "all of it: W");
    }

    #[test]
    fn any_text_is_cut_at_characters(text in "(\\PC|[A-Za-z0-9+/]{1,700}|b'(\\\\x[0-9a-f]{2}){1,90}|\\n|\u{fffd}){0,60}") {
        let spared = replace(&text, "all of it: W");
        prop_assert!(spared.len() <= text.len().max(LEAST) + 100);
    }
}
