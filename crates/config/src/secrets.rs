//! Secrets that were moved out of clients' files: `secrets.json` of the data directory, asked before the environment for `${NAME}`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::edit::EditError;
use crate::host::{Host, NotUnicode};
use crate::kept::Turn;
use crate::mistakes::{Findings, Mistakes};

/// What is kept, over the machine's own variables.
#[derive(Clone)]
pub struct Secrets<'a> {
    host: &'a dyn Host,
    path: PathBuf,
    known: BTreeMap<String, String>,
    /// What the file held when it was read.
    before: Option<Vec<u8>>,
    /// Whether definitions are given them.
    are_given: bool,
}

impl<'a> Secrets<'a> {
    /// Reads them; a file that is not there holds none.
    ///
    /// # Errors
    /// If others may read or change the file, or it cannot be read.
    pub fn load(data: &Path, host: &'a dyn Host) -> Result<Secrets<'a>, Mistakes> {
        let mut findings = Findings::of(None);
        let secrets = Secrets::read(data, host, &mut findings);
        if findings.mistakes.is_empty() {
            Ok(secrets)
        } else {
            Err(Mistakes(findings.mistakes))
        }
    }

    pub(crate) fn read(data: &Path, host: &'a dyn Host, findings: &mut Findings) -> Secrets<'a> {
        let path = path(data);
        let before = host.read_own(&path);
        let mut found = Findings::of(Some(&path));
        let mut known = BTreeMap::new();
        match &before {
            Ok(_) if !host.is_private(&path) => {
                found.mistake("", "others may read it; run `chmod 600` on it")
            }
            Ok(bytes) => match serde_json::from_slice(bytes) {
                Ok(secrets) => known = secrets,
                Err(error) => {
                    let place = format!("line {}", error.line());
                    found.mistake(&place, "expected one object whose members are all texts");
                }
            },
            // Where the data directory cannot be one, whoever needs it says so.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) => {}
            Err(error) => found.mistake("", crate::mistakes::why_unreadable(error)),
        }
        findings.absorb(found);
        Secrets {
            host,
            path,
            known,
            before: before.ok(),
            are_given: true,
        }
    }

    /// The same for a file that is given none of them: its variables are the machine's own.
    pub(crate) fn withheld(&self) -> Secrets<'a> {
        Secrets {
            are_given: false,
            ..self.clone()
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a secret in memory, under this name if that means nothing else yet; gives the name. No name is taken that
    /// definitions refer to already, for they would be given the secret.
    pub fn keep(&mut self, wanted: &str, secret: &str, referred: &[String]) -> String {
        let mut name = wanted.to_owned();
        let mut number = 1;
        while !self.is_free(&name, secret, referred) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        self.known.insert(name.clone(), secret.to_owned());
        name
    }

    fn is_free(&self, name: &str, secret: &str, referred: &[String]) -> bool {
        match self.known.get(name) {
            Some(known) => known == secret,
            None => self.host.var(name) == Ok(None) && !referred.iter().any(|known| known == name),
        }
    }

    /// Keeps what another reading of the file learnt.
    pub fn add(&mut self, name: &str, secret: &str) {
        self.known.insert(name.to_owned(), secret.to_owned());
    }

    /// Keeps those of these names no longer; gives the names of those that there were.
    pub fn forget(&mut self, names: &[String]) -> Vec<String> {
        let known = names.iter().filter(|name| self.known.remove(*name).is_some());
        known.cloned().collect()
    }

    /// The secret of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.known.get(name).map(String::as_str)
    }

    /// Writes the file, for its owner only.
    ///
    /// # Errors
    /// If it was changed meanwhile, or cannot be written.
    pub fn save(&self, turn: &Turn<'_>) -> Result<(), EditError> {
        if turn.host.read(&self.path).ok() != self.before {
            return Err(EditError::Changed(self.path.clone()));
        }
        let written = serde_json::to_vec_pretty(&self.known).map_err(io::Error::from);
        let written = written.and_then(|mut text| {
            text.push(b'\n');
            turn.host.replace(&self.path, &text)
        });
        written.map_err(|cause| EditError::Write {
            file: self.path.clone(),
            cause,
        })
    }
}

impl Host for Secrets<'_> {
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode> {
        match self.known.get(name) {
            Some(secret) if self.are_given => Ok(Some(secret.clone())),
            _ => self.host.var(name),
        }
    }

    fn withholds(&self, name: &str) -> bool {
        !self.are_given && self.known.contains_key(name)
    }

    fn is_secret(&self, name: &str) -> bool {
        self.are_given && self.known.contains_key(name)
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        self.host.names(prefix)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.host.current_dir()
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.host.canonical(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.host.read(path)
    }

    fn read_own(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.host.read_own(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.host.replace(path, bytes)
    }

    fn is_private(&self, path: &Path) -> bool {
        self.host.is_private(path)
    }
}

/// The file of the secrets.
pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("secrets.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use crate::kept::turn;

    const DATA: &str = "/data";

    #[test]
    fn they_go_before_the_environment_and_are_expanded_once() {
        let host = Fake::new()
            .var("B", "env")
            .var("A", "env")
            .file("/data/secrets.json", r#"{"A": "x${B}"}"#);
        let secrets = Secrets::load(Path::new(DATA), &host).unwrap();
        assert_eq!(crate::expand::expand("${A} ${B}", &secrets).unwrap(), "x${B} env");
    }

    #[test]
    fn a_file_that_is_given_none_has_the_environment() {
        let host = Fake::new()
            .var("A", "env")
            .file("/data/secrets.json", r#"{"A": "hidden", "B": "hidden"}"#);
        let secrets = Secrets::load(Path::new(DATA), &host).unwrap().withheld();
        assert_eq!(crate::expand::expand("${A} ${B:-x}", &secrets).unwrap(), "env x");
        let errors = crate::expand::expand("${B} ${C}", &secrets).unwrap_err();
        assert!(
            errors[0].to_string().contains("which no project's file is given"),
            "{errors:?}"
        );
        assert!(
            errors[1].to_string().contains("the variable C is not set"),
            "{errors:?}"
        );
    }

    #[test]
    fn a_name_that_means_something_else_gets_a_number() {
        let host = Fake::new().var("TOKEN", "env");
        let mut secrets = Secrets::load(Path::new(DATA), &host).unwrap();
        assert_eq!(secrets.keep("TOKEN", "one", &[]), "TOKEN_2");
        assert_eq!(secrets.keep("TOKEN", "two", &[]), "TOKEN_3");
        assert_eq!(secrets.keep("TOKEN", "one", &[]), "TOKEN_2");
        assert_eq!(secrets.keep("KEY", "three", &[]), "KEY");
        let referred = ["ID".to_owned()];
        assert_eq!(secrets.keep("ID", "four", &referred), "ID_2");
        secrets.save(&turn(Path::new(DATA), &host).unwrap()).unwrap();
        let again = Secrets::load(Path::new(DATA), &host).unwrap();
        assert_eq!(again.get("TOKEN_3"), Some("two"));
    }

    #[test]
    fn a_broken_file_is_a_mistake_without_what_it_holds() {
        for text in [
            "{\"A\": 1, \"B\": \"hidden\"}",
            "{\"B\": \"hidden\"",
            "[\"hidden\"]",
        ] {
            let host = Fake::new().file("/data/secrets.json", text);
            let error = Secrets::load(Path::new(DATA), &host).err().unwrap().to_string();
            assert!(
                error.contains("secrets.json: line 1") && !error.contains("hidden"),
                "{error}"
            );
        }
    }
}
