//! The modules that an engine of its own runs first, as the files that a session finds.

/// The modules below `js/process` and `js/runtime`.
const MODULES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/process_modules.rs"));

/// Methods of the language's own classes, which both kinds of engines take alike.
const PRIMORDIALS: &str = include_str!("../../js/platform/primordials.js");

/// The name that modules of the runtime give what they ask of the machine.
const NATIVE: &str = "\"codeyard:native\"";

/// Name and text of each file.
pub fn files() -> Vec<(&'static str, String)> {
    let shared = [
        ("primordials.js", PRIMORDIALS),
        ("package.json", "{\"type\": \"module\"}\n"),
    ];
    let own = MODULES.iter().filter(|(name, _)| *name != "boot.js").copied();
    own.chain(shared)
        .map(|(name, text)| (name, text.replace(NATIVE, "\"./native.js\"")))
        .collect()
}
