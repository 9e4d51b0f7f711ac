//! Confinement of programs.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};

use serde_json::json;
use test_support::{CodeClient, Codeyard, ServerDefinition, descendants, status_field};

#[tokio::test]
async fn c110_no_environment_of_the_host() {
    let stub = ServerDefinition::stub().env("STUB_SECRET", "s3cr3t-upstream");
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &stub)
        .env("CANARY_ENV", "canary-7f3a");
    let mut client = CodeClient::of(codeyard).await;
    // The server runs with its secret while programs search for it.
    client
        .check("print(await tools.stub.echo(message='up'))", "up\n")
        .await;
    let code = "import os, glob\nprint(dict(os.environ))\nfor path in ['/proc/self/environ', *glob.glob('/proc/[0-9]*/environ')]:\n    \
                try: print(path, open(path).read())\n    except OSError as e: print(path, e.strerror)\n\
                return sorted(os.environ)";
    let ran = client.run(code).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    for secret in [
        "canary-7f3a",
        "s3cr3t-upstream",
        "XDG_",
        "CODEYARD",
        "codeyard-test-",
    ] {
        assert!(!ran.stdout().contains(secret), "{secret}: {}", ran.stdout());
    }
    let names = ran.result().as_array().unwrap();
    assert!(names.len() < 20, "{names:?}");
    // Libraries' queries of the machine during their import fail, too.
    let code =
        "import os, platform, socket\nprint(platform.node(), socket.gethostname(), os.uname().nodename)";
    client.check(code, "sandbox sandbox sandbox\n").await;
}

/// Tries each of these; all must fail with an `OSError`.
async fn all_fail(attempts: &[(&str, String)]) {
    let mut code = "import socket\n".to_owned();
    for (name, attempt) in attempts {
        code.push_str(&format!(
            "try:\n    {attempt}\n    print('{name}: worked')\nexcept OSError as e:\n    print('{name}:', type(e).__name__, e.errno)\n"
        ));
    }
    let mut client = CodeClient::with_stub().await;
    let ran = client.run(&code).await;
    assert_eq!(
        (ran.status(), ran.stdout().lines().count()),
        ("completed", attempts.len()),
        "{ran:?}"
    );
    assert!(!ran.stdout().contains("worked"), "{}", ran.stdout());
}

#[tokio::test]
async fn c111_no_network_over_tcp() {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = |host: &str, port: u16| format!("socket.create_connection(('{host}', {port}), 2)");
    let mut attempts = vec![
        ("loopback", connect("127.0.0.1", port)),
        ("metadata", connect("169.254.169.254", 80)),
    ];
    attempts.extend(own_address().map(|address| ("own address", connect(&address, port))));
    all_fail(&attempts).await;
    assert_eq!(
        listener.accept().unwrap_err().kind(),
        ErrorKind::WouldBlock,
        "nobody connected"
    );
}

/// The address from which this machine would send packets; none is sent.
fn own_address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
}

#[tokio::test]
async fn c112_no_dns_and_no_udp() {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let port = socket.local_addr().unwrap().port();
    let send = |host: &str, port: u16| {
        format!("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('{host}', {port}))")
    };
    all_fail(&[
        ("dns", "socket.getaddrinfo('example.com', 80)".to_owned()),
        ("udp", send("8.8.8.8", 53)),
        ("udp to this machine", send("127.0.0.1", port)),
    ])
    .await;
    assert_eq!(
        socket.recv(&mut [0; 8]).unwrap_err().kind(),
        ErrorKind::WouldBlock,
        "nothing arrived"
    );
}

#[tokio::test]
async fn c114_no_capabilities_and_no_way_to_more() {
    let mut client = CodeClient::with_stub().await;
    let code = "status = dict(line.split(':\\t', 1) for line in open('/proc/self/status') if ':\\t' in line)\n\
                return {name: status[name].strip() for name in ('CapEff', 'CapPrm', 'CapInh', 'CapAmb', 'CapBnd', 'NoNewPrivs', 'Seccomp')}";
    let ran = client.run(code).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let fields = ran.result();
    for set in ["CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd"] {
        assert_eq!(fields[set], "0000000000000000", "{set}: {fields}");
    }
    assert_eq!(
        (&fields["NoNewPrivs"], &fields["Seccomp"]),
        (&"1".into(), &"2".into()),
        "{fields}"
    );
    let code = include_str!("confinement/gain_privileges.py");
    client.check(code, "1\nTrue\nTrue\n").await;
}

#[tokio::test]
async fn c115_not_a_privileged_user_of_the_host() {
    let mut client = CodeClient::with_stub().await;
    let code = "import os\nopen('mine', 'w').close()\nstatus = os.stat('mine')\nreturn [os.getuid(), os.getgid(), status.st_uid, status.st_gid, os.getgroups()]";
    let ran = client.run(code).await;
    let seen = ran.result();
    assert!(seen[0] != 0 && seen[1] != 0, "{seen}");
    assert_eq!(
        (&seen[0], &seen[1]),
        (&seen[2], &seen[3]),
        "its files are its own: {seen}"
    );
    // For the host, the session's user is not root, even if root started codeyard.
    let codeyard = client.mcp.pid().unwrap();
    let uids: Vec<String> = descendants(codeyard)
        .into_iter()
        .filter(|process| process.command.contains("python"))
        .map(|process| status_field(process.pid, "Uid").unwrap_or_default())
        .collect();
    assert!(!uids.is_empty());
    for uid in uids {
        assert!(!uid.starts_with("0\t"), "{uid}");
    }
}

#[tokio::test]
async fn c116_nothing_to_write_but_the_work_area() {
    let mut client = CodeClient::with_stub().await;
    let code = "for path in ('/etc/x', '/usr/x', '/x', '/root/x', '/opt/x', '/var/x', '/opt/codeyard/x'):\n    \
                try:\n        open(path, 'w')\n        print('written', path)\n    except OSError: pass\n\
                for path in ('/tmp/x', '/workspace/x', '/scratch/x', '/results/x', 'x'):\n    \
                open(path, 'w').write('x')\n    print(open(path).read(), path)";
    client
        .check(
            code,
            "x /tmp/x\nx /workspace/x\nx /scratch/x\nx /results/x\nx x\n",
        )
        .await;
}

#[tokio::test]
async fn c262_c263_system_places_are_read_only_and_own_places_are_not_in_every_language() {
    let mut client = CodeClient::with_stub().await;
    let places = [
        "/servers",
        "/skills",
        "/tools",
        "/usr",
        "/workspace",
        "/results",
        "/scratch",
        "/tmp",
    ];
    let is_written = json!([false, false, false, false, true, true, true, true]);
    let python = format!(
        "def tried(place):\n    try:\n        open(place + '/x', 'w').close()\n        return True\n    except OSError:\n        return False\n\
         [tried(place) for place in {places:?}]"
    );
    assert_eq!(client.run(&python).await.result(), &is_written);
    let typescript = format!(
        "const fs = require('node:fs'); {places:?}.map((place) => {{ try {{ fs.writeFileSync(place + '/x', ''); return true }} catch {{ return false }} }})"
    );
    let ran = client
        .execute(json!({"code": typescript, "language": "typescript"}))
        .await;
    assert_eq!(ran.result(), &is_written, "{ran:?}");
    let shell = format!(
        "for place in {}; do (: > $place/x) 2>/dev/null && echo true || echo false; done",
        places.join(" ")
    );
    let ran = client.execute(json!({"code": shell, "language": "shell"})).await;
    let lines: Vec<bool> = ran.stdout().lines().map(|line| line == "true").collect();
    assert_eq!(json!(lines), is_written, "{ran:?}");
}
