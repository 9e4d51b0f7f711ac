//! Programs in TypeScript: whatever the text, removing its types and reading its calls ends, and what comes of it is
//! JavaScript.
//!
//! Input: the text of a program.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let found = typescript::calls(text, &typescript::Bound::new());
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    for call in &found.calls {
        assert!(call.line >= 1 && call.line <= lines.max(1), "a call on line {}", call.line);
    }
    let Ok(script) = typescript::script(text, typescript::ProgramValue::Last) else {
        return;
    };
    for line in 1..=u32::try_from(script.code.lines().count()).unwrap_or(u32::MAX) {
        if let Some((source, _)) = script.lines.source(line, 1) {
            assert!(source <= lines.max(1), "line {source} of {lines}");
        }
    }
    // The function is an expression that ends where it should.
    let again = typescript::module(&format!("const program = {};", script.code));
    assert!(again.is_ok(), "{}\n{again:?}", script.code);
});
