//! The memory cost of untrusted files: settings with their policy, definitions, and configurations of
//! other clients.

use std::fs;
use std::process::Stdio;

use anyhow::{Context, Result};
use test_support::amplify::Shape;

use super::{KIB, MIB, TREE_FACTOR, bound};
use crate::figures::Input;
use crate::setting::Setting;

const PEAK: &str = include_str!("peak.py");
const SIZES: [usize; 2] = [256 * KIB, MIB];

struct Kind {
    name: &'static str,
    /// Relative to the home directory; empty for the settings.
    path: &'static str,
    command: &'static [&'static str],
    write: fn(Shape, usize) -> String,
}

const KINDS: [Kind; 5] = [
    Kind {
        name: "settings (TOML)",
        path: "",
        command: &["servers"],
        write: toml,
    },
    Kind {
        name: "client's file (JSON)",
        path: ".cursor/mcp.json",
        command: &["import", "cursor"],
        write: Shape::json,
    },
    Kind {
        name: "client's file (TOML)",
        path: ".codex/config.toml",
        command: &["import", "codex"],
        write: toml,
    },
    Kind {
        name: "client's file (YAML)",
        path: ".config/goose/config.yaml",
        command: &["import", "goose"],
        write: yaml,
    },
    Kind {
        name: "definitions of the bridge (JSON)",
        path: "MCPs/amplified.json",
        command: &["mcp", "--surface", "bridge"],
        write: Shape::json,
    },
];

/// Each file is measured against an empty one.
pub fn measure(setting: &Setting) -> Result<Vec<Input>> {
    let mut inputs = Vec::new();
    for kind in KINDS {
        let floor = kind.peak(setting, String::new())?;
        for shape in Shape::ALL {
            for bytes in SIZES {
                let peak = kind.peak(setting, (kind.write)(shape, bytes))?;
                let input = Input {
                    parser: kind.name.to_owned(),
                    shape: shape.name().to_owned(),
                    bytes,
                    growth: (peak - floor).max(0.0),
                    bound: bound(TREE_FACTOR, bytes),
                    delay: None,
                };
                eprintln!("    {}", input.line());
                inputs.push(input);
            }
        }
    }
    Ok(inputs)
}

// === impl Kind ===

impl Kind {
    /// The command's peak memory in bytes, whether it accepts or refuses the file.
    fn peak(&self, setting: &Setting, text: String) -> Result<f64> {
        let mut codeyard = setting.codeyard()?;
        codeyard = match self.path {
            "" => codeyard.settings(&text),
            path => codeyard.home_file(path, &text)?,
        };
        let noted = codeyard.directory().join("peak");
        let wrapper = ["python3", "-I", "-c", PEAK, &noted.to_string_lossy()].map(str::to_owned);
        // The installation's directories must outlive the command.
        let codeyard = codeyard.below(wrapper);
        let command = codeyard.command(self.command)?;
        command
            .into_std()
            .stdin(Stdio::null())
            .status()
            .context("run python3")?;
        let kibibytes: f64 = fs::read_to_string(noted)?.trim().parse()?;
        Ok(kibibytes * 1024.0)
    }
}

fn toml(shape: Shape, bytes: usize) -> String {
    let repeated = |item: &str| item.repeat(bytes / item.len());
    let numbered = |item: &dyn Fn(usize) -> String| {
        let length = item(100_000).len();
        (0..bytes / length).map(item).collect::<String>()
    };
    match shape {
        Shape::Wide => format!("a = [{}]\n", repeated("0,")),
        Shape::Members => numbered(&|number| format!("a{number}=0\n")),
        Shape::Deep => format!(
            "a = [{}]\n",
            repeated(&format!("{}{},", "[".repeat(60), "]".repeat(60)))
        ),
        Shape::Duplicated => repeated("a=0\n"),
        Shape::LongKeys => numbered(&|number| format!("{}{number} = 0\n", "k".repeat(16 * 1024))),
        Shape::Escapes => format!("a = \"{}\"\n", repeated("\\u00e9")),
        Shape::Fanned => numbered(&|number| format!("a{number}.b.c.d.e.f.g=0\n")),
    }
}

fn yaml(shape: Shape, bytes: usize) -> String {
    let repeated = |item: &str| item.repeat(bytes / item.len());
    match shape {
        Shape::Fanned => {
            // Each line refers nine times to the previous line.
            let line = |number: usize| {
                let before = format!("*a{number},").repeat(9);
                format!("a{}: &a{} [{before}]\n", number + 1, number + 1)
            };
            let lines = (0..bytes / line(1_000).len()).map(line);
            format!("a0: &a0 [x]\n{}", lines.collect::<String>())
        }
        Shape::Wide => format!("a: [{}]\n", repeated("0,")),
        Shape::Duplicated => repeated("a: 0\n"),
        _ => format!("a: {}\n", shape.json(bytes)),
    }
}
