//! Stores the tools and era of a server between processes, keyed by the hash of the server's definition.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use upstream_wire::{Era, Http, Stdio, Transport};

use crate::config::ServerConfig;

/// A file with another version is treated as absent.
const FORMAT: u32 = 1;
/// Maximum size of a cache file, in bytes.
const MAX_BYTES: u64 = 128 * 1024 * 1024;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CachedList {
    format: u32,
    pub(crate) era: Era,
    pub(crate) description: Option<String>,
    /// Definitions as the server sent them.
    pub(crate) tools: Vec<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Version {
    format: u32,
}

impl CachedList {
    pub(crate) fn new(era: Era, description: Option<String>, tools: Vec<Box<RawValue>>) -> CachedList {
        CachedList {
            format: FORMAT,
            era,
            description,
            tools,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct CacheFile {
    path: PathBuf,
}

impl CacheFile {
    pub(crate) fn new(directory: &Path, server: &ServerConfig) -> CacheFile {
        CacheFile {
            path: directory.join(format!("{}.json", hash(server))),
        }
    }

    /// Returns `None` if the file is absent or has another version. Renames a damaged file with a warning;
    /// the server's next answer is cached instead.
    ///
    /// Callers share one buffer for all files, which avoids fragmented memory.
    pub(crate) fn read(&self, buffer: &mut Vec<u8>) -> Option<CachedList> {
        match self.read_whole(buffer) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return self.set_aside(&error.to_string()),
        }
        match serde_json::from_slice::<CachedList>(buffer) {
            Ok(entry) => (entry.format == FORMAT).then_some(entry),
            Err(error) => match serde_json::from_slice::<Version>(buffer) {
                Ok(Version { format }) if format != FORMAT => None,
                _ => self.set_aside(&error.to_string()),
            },
        }
    }

    fn read_whole(&self, buffer: &mut Vec<u8>) -> io::Result<()> {
        buffer.clear();
        // Opening a pipe would block.
        if !fs::metadata(&self.path)?.is_file() {
            return Err(io::Error::other("this is not a regular file"));
        }
        // A longer file is truncated and therefore invalid JSON.
        let mut file = fs::File::open(&self.path)?.take(MAX_BYTES);
        file.read_to_end(buffer).map(drop)
    }

    fn set_aside(&self, why: &str) -> Option<CachedList> {
        let aside = self.path.with_extension("damaged");
        let (file, kept) = (self.path.display(), aside.display());
        match fs::rename(&self.path, &aside) {
            Ok(()) => tracing::warn!(
                "{file}: this list of tools is damaged ({why}); it was moved to {kept}, and its server is asked again"
            ),
            Err(error) => tracing::warn!(
                "{file}: this list of tools is damaged ({why}) and cannot be moved aside ({error}); its server is asked again"
            ),
        }
        None
    }

    /// Atomic; only this user can read the file.
    pub(crate) fn write(&self, entry: &CachedList) -> io::Result<()> {
        let directory = self.path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(&serde_json::to_vec(entry)?)?;
        file.persist(&self.path)?;
        Ok(())
    }
}

/// Hashes everything in a definition that may change the server's tools. Even the environment is included; it is
/// stored nowhere else.
fn hash(server: &ServerConfig) -> String {
    let ServerConfig {
        name: _,
        description: _,
        timeout: _,
        trusted: _,
        max_calls: _,
        max_calls_per_minute: _,
        idle_stop: _,
        tags: _,
        ownership: _,
        tools: _,
        // The transport already contains the secrets.
        secrets: _,
        transport,
    } = server;
    let definition = match transport {
        Transport::Stdio(Stdio {
            command,
            args,
            env,
            cwd,
            sandbox: _,
            limits: _,
        }) => serde_json::json!([command, args, env, cwd]),
        Transport::Http(Http {
            url,
            kind: _,
            headers,
            bearer_token_file,
            oauth: _,
            login: _,
        }) => serde_json::json!([url, headers, bearer_token_file]),
    };
    let digest = Sha256::digest(definition.to_string().as_bytes());
    hex::encode(&digest[..16])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn server() -> ServerConfig {
        ServerConfig {
            name: "s".to_owned(),
            ..ServerConfig::default()
        }
    }

    #[test]
    fn written_lists_are_read_and_damage_is_ignored() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = CacheFile::new(&directory.path().join("deep/er"), &server());
        assert!(file.read(&mut Vec::new()).is_none());
        let tool = json!({"name": "t", "x": 1.5});
        let tools = vec![to_raw_value(&tool).expect("JSON")];
        let entry = CachedList::new(Era::Modern, Some("d".to_owned()), tools);
        file.write(&entry).expect("written");
        let read = file.read(&mut Vec::new()).expect("what was written");
        assert_eq!((read.era, read.description.as_deref()), (Era::Modern, Some("d")));
        let read: Vec<&str> = read.tools.iter().map(|tool| tool.get()).collect();
        assert_eq!(read, [tool.to_string()]);
        let mode = fs::metadata(&file.path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let others = fs::read_dir(file.path.parent().expect("a parent"))
            .expect("readable")
            .count();
        assert_eq!(others, 1, "a temporary file was left");
        let aside = file.path.with_extension("damaged");
        for (content, is_damaged) in [
            (&b"{\"format\":1,"[..], true),
            (b"", true),
            (b"{\"format\":1,\"era\":\"future\",\"tools\":[]}", true),
            (b"\xff\xfe", true),
            (b"{\"format\":2,\"era\":\"modern\"}", false),
        ] {
            fs::write(&file.path, content).expect("written");
            assert!(file.read(&mut Vec::new()).is_none(), "{content:?}");
            assert_eq!(fs::read(&aside).ok().as_deref(), is_damaged.then_some(content));
            assert_eq!(file.path.exists(), !is_damaged, "{content:?}");
            let _ = fs::remove_file(&aside);
        }
        fs::remove_file(&file.path).expect("removed");
        fs::create_dir(&file.path).expect("a directory");
        assert!(file.read(&mut Vec::new()).is_none() && aside.is_dir());
        file.write(&entry).expect("written again");
        assert!(file.read(&mut Vec::new()).is_some());
    }

    #[test]
    fn the_name_of_the_file_follows_the_definition_only() {
        let path = |change: fn(&mut ServerConfig)| {
            let mut server = server();
            change(&mut server);
            CacheFile::new(Path::new("/c"), &server).path
        };
        let stdio = |change: fn(&mut Stdio)| {
            let mut stdio = Stdio::default();
            change(&mut stdio);
            let transport = Transport::Stdio(stdio);
            let server = ServerConfig {
                transport,
                ..server()
            };
            CacheFile::new(Path::new("/c"), &server).path
        };
        let same = path(|_| {});
        assert_eq!(path(|server| server.name = "other".to_owned()), same);
        assert_eq!(
            path(|server| server.timeout = Some(std::time::Duration::ZERO)),
            same
        );
        assert_ne!(stdio(|server| server.args.push("x".to_owned())), same);
        assert_ne!(stdio(|server| server.cwd = Some("/".into())), same);
        assert_ne!(
            stdio(|server| drop(server.env.insert("A".to_owned(), "1".to_owned()))),
            same
        );
    }
}
