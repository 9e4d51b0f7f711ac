//! The modules that a separate engine runs first, as files for sessions.

/// The modules below `js/process` and `js/runtime`.
const MODULES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/process_modules.rs"));

/// Methods of built-in classes, the same for all engines.
const PRIMORDIALS: &str = include_str!("../../js/platform/primordials.js");

/// The import by which runtime modules name the machine's functions.
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
