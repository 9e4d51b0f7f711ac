//! A Postgres server of one test, from Debian's package, and a connection pooler in front of it.

mod cluster;

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;

use crate::remote::Certificate;
use crate::remote::tls::{Identity, identity};

const USER: &str = "yard";
const PASSWORD: &str = "a-password-of-tests";
const LIMIT: Duration = Duration::from_secs(60);

/// Dropping the value stops the server.
#[derive(Debug)]
pub struct PostgresServer {
    directory: TempDir,
    programs: PathBuf,
    port: u16,
    process: Option<Child>,
}

/// A 16 MiB disk for one database.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

/// A pgbouncer in transaction mode in front of a server.
#[derive(Debug)]
pub struct Pooler {
    _directory: TempDir,
    port: u16,
    process: Child,
}

// === impl PostgresServer ===

impl PostgresServer {
    /// Initializes and starts a server.
    ///
    /// # Errors
    /// If Postgres is not installed or does not start.
    pub fn start() -> anyhow::Result<PostgresServer> {
        let programs = programs()?;
        let directory = tempfile::tempdir()?;
        own(directory.path())?;
        cluster::make(&programs, directory.path())?;
        let mut server = PostgresServer {
            directory,
            programs,
            port: free_port()?,
            process: None,
        };
        server.run()?;
        Ok(server)
    }

    /// Restarts the server after [`PostgresServer::kill`].
    pub fn run(&mut self) -> anyhow::Result<()> {
        let log = fs::File::create(self.directory.path().join("log"))?;
        let port = self.port.to_string();
        self.process = Some(
            command(&self.programs.join("postgres"))
                .arg("-D")
                .arg(self.directory.path().join("data"))
                .args([
                    "-p",
                    &port,
                    "-c",
                    "listen_addresses=127.0.0.1",
                    "-c",
                    "unix_socket_directories=",
                ])
                .args([
                    "-c",
                    "fsync=off",
                    "-c",
                    "full_page_writes=off",
                    "-c",
                    "max_connections=60",
                ])
                .stderr(log)
                .spawn()?,
        );
        let start = Instant::now();
        while self.psql("postgres", "SELECT 1").is_err() {
            if start.elapsed() > LIMIT {
                let log = fs::read_to_string(self.directory.path().join("log"))?;
                bail!("Postgres did not start within {LIMIT:?}:\n{log}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Kills the server and all its processes with SIGKILL.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let Some(mut process) = self.process.take() else {
            return Ok(());
        };
        // The children detect the end of the first process and exit at once.
        process.kill()?;
        process.wait()?;
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_ok() || self.is_held() {
            ensure!(start.elapsed() < LIMIT, "Postgres did not end within {LIMIT:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Whether a process still runs in the data directory.
    fn is_held(&self) -> bool {
        let data = self.directory.path().join("data");
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes
            .filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok())
            .any(|directory| directory == data)
    }

    /// The URL of a new, empty database of this name.
    pub fn make(&self, name: &str) -> anyhow::Result<String> {
        self.psql("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(self.url(name))
    }

    /// The URL of a database, which need not exist.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{name}", self.port)
    }

    /// Runs SQL in a database; returns the output, one row per line.
    pub fn psql(&self, database: &str, sql: &str) -> anyhow::Result<String> {
        let output = command(&self.programs.join("psql"))
            .args([
                "--no-psqlrc",
                "--quiet",
                "--tuples-only",
                "--no-align",
                "--set=ON_ERROR_STOP=1",
            ])
            .args(["--command", sql, &self.url(database)])
            .output()?;
        ensure!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
    }

    /// Enables TLS; returns the file of the authority that signed the server's certificate.
    pub fn encrypt(&self) -> anyhow::Result<PathBuf> {
        let Identity {
            certificate,
            key,
            authority,
        } = identity(Certificate::Good)?;
        for (name, text) in [
            ("server.crt", certificate.pem()),
            ("server.key", key.serialize_pem()),
        ] {
            let file = self.directory.path().join("data").join(name);
            fs::write(&file, text)?;
            fs::set_permissions(&file, Permissions::from_mode(0o600))?;
            own(&file)?;
        }
        self.psql("postgres", "ALTER SYSTEM SET ssl = on")?;
        self.psql("postgres", "SELECT pg_reload_conf()")?;
        let file = self.directory.path().join("authority.pem");
        fs::write(&file, authority)?;
        Ok(file)
    }

    /// Creates an empty database on a small disk; `None` without root, which the mount needs.
    pub fn make_on_small_disk(&self, name: &str) -> anyhow::Result<Option<(String, SmallDisk)>> {
        if jail::machine::Machine::look().user != 0 {
            return Ok(None);
        }
        let place = self.directory.path().join("small");
        fs::create_dir(&place)?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16m", "small"])
            .arg(&place)
            .status()?;
        ensure!(mounted.success(), "mount: {mounted}");
        let disk = SmallDisk(place);
        own(&disk.0)?;
        let make = format!("CREATE TABLESPACE small LOCATION '{}'", disk.0.display());
        self.psql("postgres", &make)?;
        self.psql("postgres", &format!("CREATE DATABASE {name} TABLESPACE small"))?;
        Ok(Some((self.url(name), disk)))
    }

    /// Fills the disk of a database until inserts fail; `DROP TABLE filler` frees the disk.
    pub fn fill(&self, database: &str) -> anyhow::Result<()> {
        self.psql(database, "CREATE TABLE filler (text TEXT)")?;
        let rows = |count: u32| {
            format!("INSERT INTO filler SELECT repeat('x', 1900) FROM generate_series(1, {count})")
        };
        for count in [20_000, 100, 1] {
            while self.psql(database, &rows(count)).is_ok() {}
        }
        Ok(())
    }

    /// Starts a pgbouncer in transaction mode: consecutive transactions may use different connections.
    pub fn pooler(&self) -> anyhow::Result<Pooler> {
        let program = [
            PathBuf::from("/usr/sbin/pgbouncer"),
            PathBuf::from("/usr/bin/pgbouncer"),
        ];
        let program = program.iter().find(|path| path.exists());
        let program = program.context("pgbouncer is not installed; install Debian's package `pgbouncer`")?;
        let directory = tempfile::tempdir()?;
        let port = free_port()?;
        let users = directory.path().join("users");
        fs::write(&users, format!("\"{USER}\" \"{PASSWORD}\"\n"))?;
        let config = directory.path().join("pgbouncer.ini");
        let mut file = fs::File::create(&config)?;
        write!(
            file,
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = plain\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 4\n\
             server_round_robin = 1\n",
            self.port,
            users.display()
        )?;
        for path in [directory.path(), &users, &config] {
            own(path)?;
        }
        let process = command(program).arg(&config).stderr(Stdio::null()).spawn()?;
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            ensure!(
                start.elapsed() < LIMIT,
                "pgbouncer did not start within {LIMIT:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Pooler {
            _directory: directory,
            port,
            process,
        })
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // The data is discarded, so errors do not matter.
        let _ = self.kill();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A running server still has open files on the disk.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

// === impl Pooler ===

impl Pooler {
    /// The URL of a database behind the pooler.
    pub fn url(&self, name: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program directory of the newest installed Postgres.
fn programs() -> anyhow::Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let newest = versions
        .map(|entry| entry.path().join("bin"))
        .filter(|programs| programs.join("initdb").exists())
        .max();
    newest.context("Postgres is not installed; install Debian's package `postgresql`")
}

/// A command as the user of Debian's package, because Postgres refuses to run as root.
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .current_dir("/");
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command
}

/// Makes that user the owner of a file.
fn own(path: &Path) -> anyhow::Result<()> {
    if let Some((user, group)) = other_user() {
        chown(path, Some(user), Some(group))?;
    }
    Ok(())
}

/// The server's uid and gid if we are root, else `None`.
fn other_user() -> Option<(u32, u32)> {
    if jail::machine::Machine::look().user != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let line = users.lines().find(|line| line.starts_with("postgres:"))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
