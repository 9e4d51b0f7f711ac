//! A read-only mount gives only bytes, to root and to an ordinary user, and each run sees its present state.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, mkfifoat, open};
use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Mode as Guarantees, run};

use super::{is_root, user_directory};

/// An ordinary user id without other processes.
const USER: u32 = 58_473;

/// Codeyards of this user and, as root, of an ordinary one.
pub(super) fn codeyards() -> Vec<(&'static str, Codeyard)> {
    let mut all = vec![("this user", Codeyard::new().unwrap())];
    if is_root() {
        let user = USER.to_string();
        let wrapper = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups"];
        all.push(("ordinary user", Codeyard::new().unwrap().below(wrapper)));
    }
    all
}

/// A client of a codeyard with this folder at `/data`; the ordinary user owns all of it.
pub(super) async fn client(who: &str, codeyard: Codeyard, folder: &Path, mode: &str) -> CodeClient {
    let mounts = format!(
        "[[mounts]]\npath = \"{}\"\ntarget = \"/data\"\nmode = \"{mode}\"\n",
        folder.display()
    );
    let codeyard = codeyard.settings(&mounts);
    if who == "ordinary user" {
        // Writes the configuration, which the user must be able to read.
        codeyard.command(["mcp"]).unwrap();
        give(codeyard.directory());
    }
    CodeClient::of(codeyard).await
}

/// Gives a directory and everything below to the ordinary user, except other file systems.
fn give(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    let found = path.symlink_metadata().unwrap();
    if !found.is_dir() {
        return;
    }
    for entry in fs::read_dir(path).unwrap() {
        let below = entry.unwrap().path();
        if below.symlink_metadata().unwrap().dev() == found.dev() {
            give(&below);
        }
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Objects of a host's folder besides files, with the host's ends.
struct Traps {
    listeners: Vec<UnixListener>,
    mailbox: UnixDatagram,
    fifo: File,
    locked: File,
    free: File,
}

impl Traps {
    fn set(folder: &Path) -> Traps {
        let listen = |name: &str, mode| {
            let listener = UnixListener::bind(folder.join(name)).unwrap();
            listener.set_nonblocking(true).unwrap();
            set_mode(&folder.join(name), mode);
            listener
        };
        let listeners = vec![listen("open.sock", 0o666), listen("private.sock", 0o600)];
        let mailbox = UnixDatagram::bind(folder.join("mail.sock")).unwrap();
        mailbox.set_nonblocking(true).unwrap();
        set_mode(&folder.join("mail.sock"), 0o666);
        mkfifoat(CWD, folder.join("fifo"), Mode::from_raw_mode(0o666)).unwrap();
        set_mode(&folder.join("fifo"), 0o666);
        let fifo = open(
            folder.join("fifo"),
            OFlags::RDWR | OFlags::NONBLOCK,
            Mode::empty(),
        )
        .unwrap();
        let file = |name: &str| {
            fs::write(folder.join(name), "bytes").unwrap();
            File::open(folder.join(name)).unwrap()
        };
        let (locked, free) = (file("locked"), file("free"));
        flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
        Traps {
            listeners,
            mailbox,
            fifo: fifo.into(),
            locked,
            free,
        }
    }

    /// Checks that nothing has arrived, and that the host gets a lock that a program holds too.
    fn check_untouched(&self, who: &str) {
        for listener in &self.listeners {
            assert!(listener.accept().is_err(), "{who}: a connection");
        }
        assert!(self.mailbox.recv(&mut [0; 8]).is_err(), "{who}: a message");
        assert!(
            rustix::io::read(&self.fifo, &mut [0; 8]).is_err(),
            "{who}: bytes in the FIFO"
        );
        flock(&self.free, FlockOperation::NonBlockingLockExclusive).unwrap();
        flock(&self.free, FlockOperation::Unlock).unwrap();
        flock(&self.locked, FlockOperation::Unlock).unwrap();
    }
}

/// Tries all of them; returns the result of each attempt.
const ATTEMPTS: &str = include_str!("read_only/attempts.py");

#[tokio::test]
async fn no_socket_fifo_or_lock_of_the_host_is_reachable_through_a_read_only_mount() {
    for (who, codeyard) in codeyards() {
        let folder = user_directory(&codeyard, "folder");
        let traps = Traps::set(&folder);
        if is_root() {
            give(&folder);
        }
        let mut client = client(who, codeyard, &folder, "ro").await;
        let ran = client.run(ATTEMPTS).await;
        let refused = "ECONNREFUSED";
        let expected = json!([
            "bytes", refused, refused, refused, refused, "ENXIO", "allowed", "allowed", true
        ]);
        assert_eq!(ran.result(), &expected, "{who}: {ran:?}");
        traps.check_untouched(who);
    }
}

#[tokio::test]
async fn no_socket_and_no_fifo_is_made_in_a_writable_mount() {
    for (who, codeyard) in codeyards() {
        let folder = user_directory(&codeyard, "folder");
        let mut client = client(who, codeyard, &folder, "rw").await;
        for place in ["/data", "/workspace", "/results"] {
            let code = format!(
                "import os, socket\nopen('{place}/file', 'w').close()\nfound = []\n\
                 for make in (lambda: os.mkfifo('{place}/f'), lambda: socket.socket(socket.AF_UNIX).bind('{place}/s')):\n\
                 \x20   try: make()\n    except OSError as error: found.append(error.strerror)\nfound"
            );
            let ran = client.run(&code).await;
            let denied = json!(["Permission denied", "Permission denied"]);
            assert_eq!(ran.result(), &denied, "{who}, {place}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn each_run_sees_changes_of_a_read_only_mount() {
    for (who, codeyard) in codeyards() {
        let folder = user_directory(&codeyard, "folder");
        fs::write(folder.join("gone"), "old").unwrap();
        fs::create_dir(folder.join("below")).unwrap();
        let mut client = client(who, codeyard, &folder, "ro").await;
        let before = "import os\nkept = open('/data/table.csv')\nos.chdir('/data')\nbelow = os.open('/data/below', os.O_RDONLY)\n\
                      [kept.read(), os.path.exists('/data/new'), os.path.exists('/data/below/new'), open('/data/gone').read()]";
        let ran = client.run(before).await;
        assert_eq!(
            ran.result(),
            &json!(["a,b\n1,2\n", false, false, "old"]),
            "{who}: {ran:?}"
        );
        for name in ["new", "below/new"] {
            fs::write(folder.join(name), name).unwrap();
        }
        fs::write(folder.join("next"), "replaced").unwrap();
        fs::rename(folder.join("next"), folder.join("table.csv")).unwrap();
        fs::remove_file(folder.join("gone")).unwrap();
        let after = "import os\n[open('/data/table.csv').read(), open('/data/new').read(), open('/data/below/new').read(),\n\
                     \x20os.path.exists('/data/gone'), sorted(os.listdir('/data')),\n\
                     \x20open('/proc/self/mountinfo').read().count(' /at/m0 ')]";
        let ran = client.run(after).await;
        let names = ["below", "new", "table.csv"];
        let expected = json!(["replaced", "new", "below/new", false, names, 1]);
        assert_eq!(ran.result(), &expected, "{who}: {ran:?}");
    }
}

#[tokio::test]
async fn a_mount_that_vanishes_or_becomes_a_link_fails_runs_by_name_until_it_is_back() {
    for (who, codeyard) in codeyards() {
        let folder = user_directory(&codeyard, "folder");
        let aside: PathBuf = folder.with_file_name("aside");
        let mut client = client(who, codeyard, &folder, "ro").await;
        client.check("kept = 5", "").await;
        fs::rename(&folder, &aside).unwrap();
        check_refused(&mut client, &folder, "No such file or directory").await;
        symlink(&aside, &folder).unwrap();
        check_refused(&mut client, &folder, "Too many levels of symbolic links").await;
        fs::remove_file(&folder).unwrap();
        fs::rename(&aside, &folder).unwrap();
        let code = "import os\nprint(kept, os.listdir('/data'))";
        client.check(code, "5 ['table.csv']\n").await;
    }
}

/// Neither the open session nor a new one runs a program; the error names the folder and the reason.
async fn check_refused(client: &mut CodeClient, folder: &Path, cause: &str) {
    for session in ["default", "new"] {
        let ran = client.run_in(session, "print('ran')").await;
        assert!(ran.is_error(), "{session}: {ran:?}");
        let text = format!("{}{}", ran.error(), ran.shown());
        for word in [folder.to_str().unwrap(), "/data", cause] {
            assert!(text.contains(word), "{session}: {word}: {ran:?}");
        }
    }
}

/// Runs a program that sees the folder without an overlay, and checks the warning.
async fn check_plain(codeyard: &Codeyard, folder: &Path) {
    let mount = format!("{}:/data", folder.display());
    let command = ["run", "-", "--mount", &mount];
    let ended = run(codeyard, &command, "print(open('/data/table.csv').read())").await;
    assert_eq!(ended.out, "a,b\n1,2\n\n", "{ended:?}");
    for word in [folder.to_str().unwrap(), "no overlay"] {
        assert!(ended.err.contains(word), "{word}: {ended:?}");
    }
}

#[tokio::test]
async fn without_overlays_the_doctor_promises_nothing_of_read_only_mounts() {
    let codeyard = Codeyard::new().unwrap();
    let mode = Guarantees::of(&codeyard).await.unwrap();
    let refuse = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/kernels/refuse.py");
    let codeyard = codeyard.below(["python3", refuse, "overlay"]);
    let folder = user_directory(&codeyard, "folder");
    check_plain(&codeyard, &folder).await;
    let output = codeyard.run(["doctor", "--json"]).await.unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let guards = report["guards"].as_array().unwrap();
    let guard = guards.iter().find(|guard| guard["name"] == "mounts ro").unwrap();
    assert_eq!(guard["strength"], "not_promised", "{report}");
    assert_eq!(report["serves"], true, "{report}");
    if !(mode.own_users && mode.groups) {
        return eprintln!("skipped: tenants cannot be kept apart here in any case");
    }
    // Without stored files, no kernel quota is required.
    let codeyard =
        codeyard.settings("[sandbox]\nrequire = \"tenant-isolation\"\n[workspace]\nenabled = false\n");
    let mount = format!("{}:/data", folder.display());
    let ended = run(&codeyard, &["run", "-", "--mount", &mount], "print('ran')").await;
    assert_ne!(ended.code, 0, "{ended:?}");
    assert!(ended.out.is_empty(), "{ended:?}");
    for word in [folder.to_str().unwrap(), "overlay"] {
        assert!(ended.err.contains(word), "{word}: {ended:?}");
    }
}

#[tokio::test]
async fn a_file_system_that_refuses_an_overlay_is_mounted_plain_and_named() {
    if !is_root() {
        return eprintln!("skipped: only root mounts what an overlay refuses as its lower layer");
    }
    let codeyard = Codeyard::new().unwrap();
    let folder = user_directory(&codeyard, "folder");
    let empty = codeyard.directory().join("empty");
    fs::create_dir(&empty).unwrap();
    codeyard.command(["mcp"]).unwrap();
    give(codeyard.directory());
    // The kernel stacks two overlays, but not a third. Root needs idmapped mounts of its folders, which overlays
    // lack.
    let (folder_shown, empty) = (folder.display(), empty.display());
    let script = format!(
        "set -e; for layer in 1 2; do mount -t overlay overlay -o lowerdir={folder_shown}:{empty} {folder_shown}; done; \
         exec setpriv --reuid {USER} --regid {USER} --clear-groups \"$@\""
    );
    let unshare = ["unshare", "--mount", "--propagation", "private"];
    let codeyard = codeyard.below(unshare.iter().copied().chain(["sh", "-c", &script, "sh"]));
    check_plain(&codeyard, &folder).await;
}

#[tokio::test]
async fn a_mount_below_a_read_only_mount_is_named_and_hidden() {
    if !is_root() {
        return eprintln!("skipped: only root mounts something below a folder");
    }
    let codeyard = Codeyard::new().unwrap();
    let folder = user_directory(&codeyard, "folder");
    let below = folder.join("below");
    fs::create_dir(&below).unwrap();
    let place = below.display();
    let codeyard = codeyard.below_mounts(&format!("mount -t tmpfs below {place}; touch {place}/hidden"));
    let mount = format!("{}:/data", folder.display());
    let code = "import os\nprint(os.listdir('/data/below'))";
    let ended = run(&codeyard, &["run", "-", "--mount", &mount], code).await;
    assert_eq!(ended.out, "[]\n", "{ended:?}");
    let warning = format!("warning: {place} is mounted below and is not shown at /data; ");
    assert!(ended.err.contains(&warning), "{ended:?}");
}
