//! Splits Rust source into code and comments, line by line, without the contents of literals.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Without comments; literals are empty.
    pub(super) code: String,
    pub(super) comment: String,
}

impl Line {
    pub(super) fn is_code(&self) -> bool {
        !self.code.trim().is_empty()
    }
}

pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut scanner = Scanner {
        characters: text.chars().collect(),
        at: 0,
        lines: vec![Line::default()],
    };
    while scanner.at < scanner.characters.len() {
        scanner.step();
    }
    scanner.lines
}

struct Scanner {
    characters: Vec<char>,
    at: usize,
    lines: Vec<Line>,
}

impl Scanner {
    fn peek(&self, ahead: usize) -> char {
        self.characters.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn line(&mut self) -> &mut Line {
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    fn take(&mut self) {
        let character = self.peek(0);
        self.at += 1;
        self.put_code(character);
    }

    fn put_code(&mut self, character: char) {
        if character == '\n' {
            self.lines.push(Line::default())
        } else {
            self.line().code.push(character)
        }
    }

    /// Skips one character of a literal, but counts line ends.
    fn pass(&mut self) {
        if self.peek(0) == '\n' {
            self.lines.push(Line::default());
        }
        self.at += 1;
    }

    fn put_comment(&mut self) {
        let character = self.peek(0);
        self.at += 1;
        if character == '\n' {
            self.lines.push(Line::default())
        } else {
            self.line().comment.push(character)
        }
    }

    fn step(&mut self) {
        let after_word = self
            .line()
            .code
            .chars()
            .next_back()
            .is_some_and(|last| last.is_alphanumeric() || last == '_');
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => {
                while self.at < self.characters.len() && self.peek(0) != '\n' {
                    self.put_comment();
                }
            }
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string(),
            ('r', '"' | '#') if !after_word => self.raw_string(1),
            ('b' | 'c', 'r') if !after_word && matches!(self.peek(2), '"' | '#') => self.raw_string(2),
            ('\'', _) => self.quote(),
            _ => self.take(),
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.characters.len() {
            match (self.peek(0), self.peek(1)) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    self.put_comment();
                    continue;
                }
            }
            self.put_comment();
            self.put_comment();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.take();
        while self.at < self.characters.len() && self.peek(0) != '"' {
            if self.peek(0) == '\\' {
                self.pass();
            }
            self.pass();
        }
        self.take_if('"');
    }

    /// A raw string, or a raw identifier (`r#name`).
    fn raw_string(&mut self, prefix: usize) {
        let hashes = (prefix..).take_while(|ahead| self.peek(*ahead) == '#').count();
        if self.peek(prefix + hashes) != '"' {
            self.take();
            return;
        }
        for _ in 0..=prefix + hashes {
            self.take();
        }
        while self.at < self.characters.len() {
            if self.peek(0) == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == '#') {
                for _ in 0..=hashes {
                    self.take();
                }
                return;
            }
            self.pass();
        }
    }

    /// A character, or a lifetime, which has no closing quote.
    fn quote(&mut self) {
        if self.peek(1) == '\\' {
            self.take();
            self.pass();
            self.pass();
            while self.at < self.characters.len() && self.peek(0) != '\'' {
                self.pass();
            }
            self.take_if('\'');
        } else if self.peek(2) == '\'' {
            self.take();
            self.pass();
            self.take();
        } else {
            self.take();
        }
    }

    fn take_if(&mut self, character: char) {
        if self.peek(0) == character {
            self.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        lines(text)
            .iter()
            .map(|line| line.code.trim_end())
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn comments_and_the_contents_of_literals_are_not_code() {
        let cases = [
            ("let a = 1; // unsafe", "let a = 1;"),
            ("/* one /* two */\nunsafe */ fn f() {}", "\n fn f() {}"),
            (r#"call("unsafe \" // no", 2)"#, r#"call("", 2)"#),
            ("call(\"two\nlines\", 3)", "call(\"\n\", 3)"),
            (r###"let a = r#"unsafe " x"# ;"###, r###"let a = r#""# ;"###),
            (r##"let a = br"let x";"##, r##"let a = br"";"##),
            (
                "fn f<'a>(x: &'a str) -> char { '\"' }",
                "fn f<'a>(x: &'a str) -> char { '' }",
            ),
            (
                r"let a = '\''; let b = '\u{1F600}'; b",
                "let a = ''; let b = ''; b",
            ),
            ("let r#type = 1; for_r\"x\"", "let r#type = 1; for_r\"\""),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn comments_keep_their_text_on_their_line() {
        let lines = lines("a(); // SAFETY: yes\n/* two\nthree */ b();");
        assert_eq!(lines[0].comment, "// SAFETY: yes");
        assert_eq!(lines[1].comment, "/* two");
        assert_eq!(lines[2].comment, "three */");
        assert!(lines[2].is_code() && !lines[1].is_code());
    }
}
