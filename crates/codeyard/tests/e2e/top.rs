//! `codeyard top`: one page of text without a terminal; on a terminal a live page, which restores the terminal at its
//! end.

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::json;
use test_support::{CodeClient, Codeyard};
use tokio::process::{Child, Command};

/// Longest wait for an expected text.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal with a command, and everything that the command has written.
struct Tty {
    master: OwnedFd,
    /// Open after the command's end, to check the terminal's state.
    slave: OwnedFd,
    child: Child,
    news: Receiver<Vec<u8>>,
    seen: String,
}

impl Tty {
    /// Starts `codeyard top` with this installation on its own terminal, as a shell would.
    fn open(codeyard: &Codeyard) -> Tty {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap();
        let slave = OwnedFd::from(
            std::fs::File::options()
                .read(true)
                .write(true)
                .open(path.to_str().unwrap())
                .unwrap(),
        );
        resize(&master, 100, 30);
        let mut command = codeyard
            .command_below(&["setsid", "--ctty", "--wait"], ["top"])
            .unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        let child = command
            .env("TERM", "xterm")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (told, news) = sync_channel(64);
        let mut reader = std::fs::File::from(master.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if told.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Tty {
            master,
            slave,
            child,
            news,
            seen: String::new(),
        }
    }

    /// Waits for these words after the present position.
    fn wait(&mut self, words: &str) {
        let begun = Instant::now();
        let from = self.seen.len();
        while !self.seen[from..].contains(words) {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let news = self.news.recv_timeout(left);
            let news = news.unwrap_or_else(|_| panic!("{words:?} was not written: {:?}", &self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&news));
        }
    }

    fn write(&self, text: &str) {
        rustix::io::write(&self.master, text.as_bytes()).unwrap();
    }

    /// Waits for the command's end; checks that the terminal is restored.
    async fn ends(mut self) -> i32 {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .unwrap()
            .unwrap();
        while let Ok(news) = self.news.try_recv() {
            self.seen.push_str(&String::from_utf8_lossy(&news));
        }
        let modes = tcgetattr(&self.slave).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
        ended.code().unwrap_or(-1)
    }
}

fn resize(terminal: &OwnedFd, columns: u16, rows: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size).unwrap();
}

#[tokio::test]
async fn without_a_terminal_it_is_one_page_of_text() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut nothing = codeyard.command(["top"]).unwrap();
    let output = nothing.stdin(Stdio::null()).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        text,
        "0 codeyards, 0 servers, 0 open sessions\nnothing has been recorded yet\n"
    );

    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("return (await tools.stub.add(a=2, b=3)).sum").await;
    assert_eq!(*ran.result(), json!(5), "{ran:?}");
    let text = page_with(&client.codeyard, "completed").await;
    for words in [
        "1 codeyard, 1 server, 1 open session\n",
        "last 24 hours: 1 run, 1 call",
        "\ncodeyards\npid ",
        "\nservers\nname  state    tools  calls  last error\nstub  running",
        "\nruns\nasked ",
        "completed",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let output = client.codeyard.command(["top", "--json"]).unwrap();
    let json: serde_json::Value = serde_json::from_str(&output_of(output).await).unwrap();
    assert_eq!(json["processes"][0]["sessions"], 1, "{json}");
    assert_eq!(json["servers"][0]["name"], "stub", "{json}");
    assert_eq!(json["last_day"]["calls"], 1, "{json}");
    assert_eq!(
        json["last_day"]["saved_tokens"],
        json!(null),
        "no run has a receipt: {json}"
    );
    client.mcp.finish().await.unwrap();
}

/// Waits until the page has these words: records are written after the answer.
async fn page_with(codeyard: &Codeyard, words: &str) -> String {
    let begun = Instant::now();
    loop {
        let page = output_of(codeyard.command(["top", "--once"]).unwrap()).await;
        if page.contains(words) {
            return page;
        }
        assert!(begun.elapsed() < PATIENCE, "{words}: {page}");
    }
}

async fn output_of(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn the_page_shows_the_savings_of_runs_with_receipts() {
    let mut client = CodeClient::with_stub().await;
    let long = "return len(str(await tools.stub.echo(message='word ' * 2000)))";
    let mut saved = 0;
    for arguments in [
        json!({"code": long, "receipt": true}),
        json!({"code": "1", "receipt": true}),
        json!({"code": long}),
    ] {
        let ran = client.execute(arguments).await;
        let tokens = &ran.fields()["receipt"]["tokens"]["saved_without_definitions"];
        saved += tokens.as_i64().unwrap_or_default();
    }
    assert!(saved > 1000, "{saved}");
    let words = format!("\n{saved} tokens saved, in 2 runs with a receipt\n");
    page_with(&client.codeyard, &words).await;
    let output = client.codeyard.command(["top", "--json"]).unwrap();
    let json: serde_json::Value = serde_json::from_str(&output_of(output).await).unwrap();
    let day = &json["last_day"];
    assert_eq!(
        (&day["counted_runs"], &day["saved_tokens"]),
        (&json!(2), &json!(saved)),
        "{json}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_terminal_it_follows_until_q() {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut tty = Tty::open(&codeyard);
    tty.wait("quits");
    // After a change of size, the page is drawn again.
    resize(&tty.master, 30, 8);
    tty.wait("codeyard");
    resize(&tty.master, 1, 1);
    resize(&tty.master, 90, 20);
    tty.wait("quits");
    tty.write("q");
    assert_eq!(tty.ends().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_restores_the_terminal() {
    let codeyard = Codeyard::new().unwrap();
    let mut tty = Tty::open(&codeyard);
    tty.wait("quits");
    let pid = Pid::from_raw(i32::try_from(tty.child.id().unwrap()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(tty.ends().await, 143);
}
