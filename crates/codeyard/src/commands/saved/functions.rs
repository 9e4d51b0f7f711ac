//! Finds the top-level functions of a Python file by its text; never runs the file.

/// A top-level statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// First line, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// Byte length of `text` without trailing empty lines.
    end: usize,
    /// The name, if the statement is a function.
    pub(super) function: Option<String>,
    /// Whether every bracket and string is closed.
    pub(super) is_whole: bool,
}

/// Open brackets or string at a line's start, where text may look like a new statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ScanState {
    depth: usize,
    /// The quotes that end the open string: one or three.
    string: Option<String>,
    /// The previous line ended with a backslash.
    is_continued: bool,
}

/// The statements in file order, without the comments and blank lines between them.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let text = text.trim_start_matches('\u{feff}');
    let mut statements: Vec<Statement> = Vec::new();
    let mut state = ScanState::default();
    // The decorated function follows.
    let mut is_decorator = false;
    for (index, line) in text.lines().enumerate() {
        let is_fresh = state == ScanState::default();
        let is_empty = is_fresh && (line.trim().is_empty() || line.starts_with('#'));
        let begins = is_fresh && !is_empty && !line.starts_with([' ', '\t']);
        if begins && !is_decorator || statements.is_empty() && !is_empty {
            statements.push(Statement::new(index + 1));
        }
        state = state.after(line);
        let Some(statement) = statements.last_mut() else {
            continue;
        };
        statement.text.push_str(line);
        statement.text.push('\n');
        if !is_empty {
            // Empty lines belong to the statement only if another line follows.
            statement.end = statement.text.len();
        }
        statement.is_whole = state == ScanState::default();
        if begins {
            is_decorator = line.starts_with('@');
            statement.function = name(line);
        }
    }
    for statement in &mut statements {
        statement.text.truncate(statement.end);
    }
    statements
}

// === impl Statement ===

impl Statement {
    fn new(line: usize) -> Statement {
        Statement {
            line,
            text: String::new(),
            end: 0,
            function: None,
            is_whole: true,
        }
    }
}

/// The name in `def name(` at the start of a line.
fn name(line: &str) -> Option<String> {
    let rest = match line.strip_prefix("async") {
        Some(rest) => rest.strip_prefix([' ', '\t'])?.trim_start(),
        None => line,
    };
    let rest = rest.strip_prefix("def")?.strip_prefix([' ', '\t'])?.trim_start();
    let end = rest.find(|c: char| "([".contains(c) || c.is_whitespace())?;
    Some(rest[..end].to_owned())
}

// === impl ScanState ===

impl ScanState {
    /// The state after this line.
    fn after(mut self, line: &str) -> ScanState {
        self.is_continued = false;
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let step = match self.string.clone() {
                Some(quotes) => self.in_string(rest, &quotes),
                None => self.in_code(rest, first),
            };
            rest = &rest[step.min(rest.len())..];
        }
        // A single-quoted string ends with its line, unless continued.
        if !self.is_continued && self.string.as_ref().is_some_and(|quotes| quotes.len() == 1) {
            self.string = None;
        }
        self
    }

    /// Scans inside a string; returns the bytes consumed.
    fn in_string(&mut self, rest: &str, quotes: &str) -> usize {
        if let Some(escaped) = rest.strip_prefix('\\') {
            self.is_continued = escaped.is_empty();
            return 1 + escaped.chars().next().map_or(0, char::len_utf8);
        }
        if rest.starts_with(quotes) {
            self.string = None;
            return quotes.len();
        }
        rest.chars().next().map_or(1, char::len_utf8)
    }

    /// Scans outside strings; returns the bytes consumed.
    fn in_code(&mut self, rest: &str, first: char) -> usize {
        match first {
            '#' => return rest.len(),
            '\\' => self.is_continued = rest.len() == 1,
            '"' | '\'' => {
                let three = first.to_string().repeat(3);
                let quotes = if rest.starts_with(&three) {
                    three
                } else {
                    first.to_string()
                };
                let length = quotes.len();
                self.string = Some(quotes);
                return length;
            }
            '(' | '[' | '{' => self.depth += 1,
            ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        first.len_utf8()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected text: first lines and names, `-` for a non-function, `!` after an incomplete statement.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found: Vec<String> = statements(text)
            .iter()
            .map(|statement| {
                let name = statement.function.as_deref().unwrap_or("-");
                let mark = if statement.is_whole { "" } else { "!" };
                format!("{}:{name}{mark}", statement.line)
            })
            .collect();
        assert_eq!(found.join(" "), expected, "{text}");
    }

    #[test]
    fn functions_are_found_between_everything_else() {
        check("", "");
        check("\u{feff}\n# only a comment\n\n", "");
        check("def f():\n    pass\n\n\ndef g(x): return x\n", "1:f 5:g");
        check(
            "import math\n\n\ndef area(r):\n    return math.pi * r\n\nX = 1\n",
            "1:- 4:area 7:-",
        );
        check(
            "async def f(\n    a,\n) -> int:\n    return a\nasync  def g(): pass",
            "1:f 5:g",
        );
        check(
            "@cache\n@other(\n  1,\n)\ndef f(): pass\n@last\nclass C: pass",
            "1:f 6:-",
        );
        check("class C:\n    def method(self): pass\n", "1:-");
        check("def f[T](x: T) -> T:\n    return x", "1:f");
        check("define = 1\ndefault(2)\ndef\tf (): pass", "1:- 2:- 3:f");
        check("    def indented(): pass\ndef f(): pass", "1:- 2:f");
    }

    #[test]
    fn text_like_a_function_in_a_string_or_bracket_is_ignored() {
        check(
            "def f():\n    return \"\"\"\ndef no(): pass\n\"\"\"\ndef g(): pass",
            "1:f 5:g",
        );
        check(
            "def f():\n    '''it's\ndef no():'''\n    return 1\ndef g(): pass",
            "1:f 5:g",
        );
        check("x = [\ndef_,\n]\ndef f(): pass", "1:- 4:f");
        check("x = 'a\\\ndef no():'\ndef f(): pass", "1:- 3:f");
        check("x = 1 + \\\n2\ndef f(): pass", "1:- 3:f");
        check("x = 'it\\'s (' # (\ndef f(): pass", "1:- 2:f");
        check("x = r'\\\\' + \"''' [\"\ndef f(): pass", "1:- 2:f");
        check("def f():\n    return (\n\ndef g(): pass", "1:f!");
        check("def f():\n    return '''\n\ndef g(): pass", "1:f!");
        check("def f():\n    return 'unclosed\ndef g(): pass", "1:f 3:g");
    }

    #[test]
    fn the_text_of_a_function_is_its_own() {
        let text = "# about f\ndef f():\n    a = 1\n\n# inside\n    return a\n\n# about g\n\ndef g():\r\n    pass\r\n";
        let found = statements(text);
        assert_eq!(found[0].text, "def f():\n    a = 1\n\n# inside\n    return a\n");
        assert_eq!(found[1].text, "def g():\n    pass\n");
    }
}
