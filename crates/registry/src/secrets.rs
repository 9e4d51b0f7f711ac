//! Stored secrets: `secrets.json` of the data directory.
//!
//! Secrets take precedence over variables in `${NAME}`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use environment::{ChangeLock, Diagnostics, Environment, Mistakes, NotUnicode};

use crate::edit::EditError;

/// Stored secrets, over the process's variables.
#[derive(Clone)]
pub struct Secrets<'a> {
    env: &'a dyn Environment,
    path: PathBuf,
    known: BTreeMap<String, String>,
    /// Content when read.
    before: Option<Vec<u8>>,
    /// False for definitions that receive no secrets.
    are_visible: bool,
}

impl<'a> Secrets<'a> {
    /// Reads the file; a missing file counts as empty.
    ///
    /// # Errors
    /// If other users may read or change the file, or if the file is unreadable.
    pub fn load(data: &Path, env: &'a dyn Environment) -> Result<Secrets<'a>, Mistakes> {
        let mut diagnostics = Diagnostics::of(None);
        let secrets = Secrets::read(data, env, &mut diagnostics);
        if diagnostics.mistakes.is_empty() {
            Ok(secrets)
        } else {
            Err(Mistakes(diagnostics.mistakes))
        }
    }

    pub(crate) fn read(data: &Path, env: &'a dyn Environment, diagnostics: &mut Diagnostics) -> Secrets<'a> {
        let path = path(data);
        let before = env.read_protected(&path);
        let mut found = Diagnostics::of(Some(&path));
        let mut known = BTreeMap::new();
        match &before {
            Ok(_) if !env.is_private(&path) => {
                found.mistake("", "other users may read the file; run `chmod 600` on it");
            }
            Ok(bytes) => match serde_json::from_slice(bytes) {
                Ok(secrets) => known = secrets,
                Err(error) => {
                    let place = format!("line {}", error.line());
                    found.mistake(&place, "expected one object of strings");
                }
            },
            // Other commands report a data directory that is not a directory.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) => {}
            Err(error) => found.mistake("", environment::why_unreadable(error)),
        }
        diagnostics.merge(found);
        Secrets {
            env,
            path,
            known,
            before: before.ok(),
            are_visible: true,
        }
    }

    /// The process's variables, for a definition that receives no secrets.
    pub(crate) fn withheld(&self) -> Secrets<'a> {
        Secrets {
            are_visible: false,
            ..self.clone()
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a secret in memory and returns its name: `wanted`, with a number if taken. A name in `referred` counts as
    /// taken, because the server of that definition would receive the secret.
    pub fn insert_unique(&mut self, wanted: &str, secret: &str, referred: &[String]) -> String {
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
            None => self.env.var(name) == Ok(None) && !referred.iter().any(|known| known == name),
        }
    }

    /// Sets a secret in memory.
    pub fn insert(&mut self, name: &str, secret: &str) {
        self.known.insert(name.to_owned(), secret.to_owned());
    }

    /// Removes secrets in memory; returns the names that existed.
    pub fn remove(&mut self, names: &[String]) -> Vec<String> {
        let known = names.iter().filter(|name| self.known.remove(*name).is_some());
        known.cloned().collect()
    }

    /// The value, if stored.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.known.get(name).map(String::as_str)
    }

    /// Writes the file, private to its owner.
    ///
    /// # Errors
    /// If the file was changed after it was read, or cannot be written.
    pub fn save(&self, lock: &ChangeLock<'_>) -> Result<(), EditError> {
        if lock.env().read(&self.path).ok() != self.before {
            return Err(EditError::Changed(self.path.clone()));
        }
        let written = serde_json::to_vec_pretty(&self.known).map_err(io::Error::from);
        let written = written.and_then(|mut text| {
            text.push(b'\n');
            lock.env().replace(&self.path, &text)
        });
        written.map_err(|cause| EditError::Write {
            file: self.path.clone(),
            cause,
        })
    }
}

impl Environment for Secrets<'_> {
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode> {
        match self.known.get(name) {
            Some(secret) if self.are_visible => Ok(Some(secret.clone())),
            _ => self.env.var(name),
        }
    }

    fn withholds(&self, name: &str) -> bool {
        !self.are_visible && self.known.contains_key(name)
    }

    fn is_secret(&self, name: &str) -> bool {
        self.are_visible && self.known.contains_key(name)
    }

    fn names(&self, prefix: &str) -> Vec<String> {
        self.env.names(prefix)
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        self.env.current_dir()
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.env.canonical(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.env.read(path)
    }

    fn read_protected(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.env.read_protected(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.env.replace(path, bytes)
    }

    fn is_private(&self, path: &Path) -> bool {
        self.env.is_private(path)
    }
}

pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("secrets.json")
}

#[cfg(test)]
mod tests {
    use test_support::FakeEnvironment;

    use super::*;

    const DATA: &str = "/data";

    #[test]
    fn secrets_override_the_environment_and_are_expanded_once() {
        let env = FakeEnvironment::new()
            .var("B", "env")
            .var("A", "env")
            .file("/data/secrets.json", r#"{"A": "x${B}"}"#);
        let secrets = Secrets::load(Path::new(DATA), &env).unwrap();
        assert_eq!(crate::expand::expand("${A} ${B}", &secrets).unwrap(), "x${B} env");
    }

    #[test]
    fn a_definition_without_secrets_has_the_environment() {
        let env = FakeEnvironment::new()
            .var("A", "env")
            .file("/data/secrets.json", r#"{"A": "hidden", "B": "hidden"}"#);
        let secrets = Secrets::load(Path::new(DATA), &env).unwrap().withheld();
        assert_eq!(crate::expand::expand("${A} ${B:-x}", &secrets).unwrap(), "env x");
        let errors = crate::expand::expand("${B} ${C}", &secrets).unwrap_err();
        assert!(
            errors[0]
                .to_string()
                .contains("which a project's file cannot use"),
            "{errors:?}"
        );
        assert!(
            errors[1].to_string().contains("the variable C is not set"),
            "{errors:?}"
        );
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let env = FakeEnvironment::new().var("TOKEN", "env");
        let mut secrets = Secrets::load(Path::new(DATA), &env).unwrap();
        assert_eq!(secrets.insert_unique("TOKEN", "one", &[]), "TOKEN_2");
        assert_eq!(secrets.insert_unique("TOKEN", "two", &[]), "TOKEN_3");
        assert_eq!(secrets.insert_unique("TOKEN", "one", &[]), "TOKEN_2");
        assert_eq!(secrets.insert_unique("KEY", "three", &[]), "KEY");
        let referred = ["ID".to_owned()];
        assert_eq!(secrets.insert_unique("ID", "four", &referred), "ID_2");
        secrets
            .save(&ChangeLock::acquire(Path::new(DATA), &env).unwrap())
            .unwrap();
        let again = Secrets::load(Path::new(DATA), &env).unwrap();
        assert_eq!(again.get("TOKEN_3"), Some("two"));
    }

    #[test]
    fn the_error_of_a_broken_file_hides_its_content() {
        for text in [
            "{\"A\": 1, \"B\": \"hidden\"}",
            "{\"B\": \"hidden\"",
            "[\"hidden\"]",
        ] {
            let env = FakeEnvironment::new().file("/data/secrets.json", text);
            let error = Secrets::load(Path::new(DATA), &env).err().unwrap().to_string();
            assert!(
                error.contains("secrets.json: line 1") && !error.contains("hidden"),
                "{error}"
            );
        }
    }
}
