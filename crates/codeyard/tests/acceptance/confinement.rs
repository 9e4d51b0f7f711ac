//! What programs cannot reach.

use std::io::ErrorKind;
use std::net::TcpListener;

use test_support::{CodeClient, Codeyard, ServerDefinition};

#[tokio::test]
async fn c110_no_environment_of_the_host() {
    let mut stub = ServerDefinition::stub();
    stub.env
        .insert("STUB_SECRET".to_owned(), "s3cr3t-upstream".to_owned());
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &stub)
        .env("CANARY_ENV", "canary-7f3a");
    let mut client = CodeClient::of(codeyard).await;
    // The server runs with its secret while programs look around.
    client
        .check("print(await tools.stub.echo(message='up'))", "up\n")
        .await;
    let code = "import os, glob\nprint(dict(os.environ))\nfor path in glob.glob('/proc/[0-9]*/environ'):\n    \
                try: print(open(path).read())\n    except OSError as e: print(path, e.errno)";
    let ran = client.run(code).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    for secret in ["canary-7f3a", "s3cr3t-upstream", "XDG_", "CODEYARD"] {
        assert!(!ran.stdout().contains(secret), "{secret}: {ran:?}");
    }
}

#[tokio::test]
async fn c111_c112_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut client = CodeClient::with_stub().await;
    let code = format!(
        "import socket\n\
         def attempt(what, f):\n    \
             try: f(); print(what, 'worked')\n    \
             except OSError as e: print(what, 'failed')\n\
         attempt('loopback', lambda: socket.create_connection(('127.0.0.1', {port}), 2))\n\
         attempt('metadata', lambda: socket.create_connection(('169.254.169.254', 80), 2))\n\
         attempt('dns', lambda: socket.getaddrinfo('example.com', 80))\n\
         attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53)))"
    );
    client
        .check(
            &code,
            "loopback failed\nmetadata failed\ndns failed\nudp failed\n",
        )
        .await;
    assert_eq!(
        listener.accept().unwrap_err().kind(),
        ErrorKind::WouldBlock,
        "nobody connected"
    );
}

#[tokio::test]
async fn c114_c115_c116_no_privilege_and_nothing_to_write_but_the_work_area() {
    let mut client = CodeClient::with_stub().await;
    let code = "for line in open('/proc/self/status'):\n    \
                if line.split(':')[0] in ('CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp'): print(line.split()[1])";
    client
        .check(code, "0000000000000000\n0000000000000000\n1\n2\n")
        .await;
    let ran = client.run("import os\nos.setuid(0)").await;
    let zero_inside = ran.status() == "completed";
    if zero_inside {
        // Inside, the number may be 0; the namespace maps it to a user of the host that owns nothing.
        client
            .check(
                "import os\nprint(open('/proc/self/uid_map').read().split()[1] != '0')",
                "True\n",
            )
            .await;
    }
    let code = "import os\n\
                for directory in ('/etc', '/usr', '', '/root', '/opt', '/var'):\n    \
                    try: open(directory + '/x', 'w'); print(directory, 'written')\n    \
                    except OSError: pass\n\
                for directory in ('/tmp', '/workspace', '/results', '/scratch'):\n    \
                    open(directory + '/x', 'w').write('x'); print(directory)";
    client.check(code, "/tmp\n/workspace\n/results\n/scratch\n").await;
}
