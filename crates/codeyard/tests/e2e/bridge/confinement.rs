//! A program's view of the sandbox: its user, its writable places, and its view of the host.

use std::net::TcpListener;

use test_support::{BridgeClient, ServerDefinition, descendants, status_field};

use crate::bridge::{check, installation, with_variables};

#[tokio::test]
async fn the_documented_user() {
    let code = "import os\nopen('mine', 'w').close()\nstatus = os.stat('mine')\n\
                print(os.getresuid(), os.getresgid(), os.getgroups(), status.st_uid, status.st_gid)";
    let text = "(65534, 65534, 65534) (65534, 65534, 65534) [] 65534 65534";
    let mut client = BridgeClient::with_stub().await;
    let answer = client.run(code).await;
    // Without the right to set groups, the groups of codeyard's user stay, as unknown groups.
    assert_eq!(answer.text().replace("[65534]", "[]"), text, "{answer:?}");
    // For the host, the user is not root, even if root started codeyard.
    let interpreters = descendants(client.mcp.pid().unwrap());
    let interpreters = interpreters
        .iter()
        .filter(|process| process.command.contains("python"));
    let uids: Vec<String> = interpreters
        .filter_map(|process| status_field(process.pid, "Uid"))
        .collect();
    assert!(
        !uids.is_empty() && uids.iter().all(|uid| !uid.starts_with("0\t")),
        "{uids:?}"
    );
}

#[tokio::test]
async fn another_user() {
    let mut client = with_variables(&[("MCP_BRIDGE_CONTAINER_USER", "1000:1001")]).await;
    client
        .check("import os\nprint(os.getuid(), os.getgid())", "1000 1001")
        .await;
}

#[tokio::test]
async fn the_documented_places() {
    let code = "import os, tempfile\n\
                print(os.path.realpath(os.getcwd()) == os.path.realpath('/workspace'), os.environ['HOME'], tempfile.gettempdir())\n\
                def tried(path):\n    \
                try:\n        open(path + '/x', 'w').close()\n        return True\n    \
                except OSError: return False\n\
                print([path for path in ('/', '/etc', '/usr', '/opt', '/root', '/var', '/home', '/results', '/scratch', '/rw', '/at', \
                '/opt/codeyard', '/proc', '/dev') if tried(path)])\n\
                print([path for path in ('/workspace', '/tmp') if tried(path)])";
    check(code, "True /workspace /tmp\n[]\n['/workspace', '/tmp']").await;
}

#[tokio::test]
async fn nothing_else_can_be_written() {
    // In every directory, only these two places and shared memory are writable, as in a container.
    let code = include_str!("confinement/find_writable_places.py");
    check(code, "[]").await;
}

#[tokio::test]
async fn c340_the_environment() {
    let stub = ServerDefinition::stub().env("STUB_SECRET", "s3cr3t-upstream");
    let codeyard = installation()
        .definition("stub.json", &[("stub", stub)])
        .unwrap()
        .env("CANARY_ENV", "canary-7f3a");
    let mut client = BridgeClient::of(codeyard).await;
    let code = "import os, glob\nawait mcp_stub.echo(message='up')\nseen = str(dict(os.environ))\n\
                for path in ['/proc/self/environ', *glob.glob('/proc/[0-9]*/environ')]:\n    \
                try: seen += open(path).read()\n    except OSError: pass\n\
                print([word for word in ('canary-7f3a', 's3cr3t-upstream', 'CODEYARD', 'MCP_BRIDGE') if word in seen])";
    client.check(code, "[]").await;
    let documented = "HOME LANG LOGNAME MCP_AVAILABLE_SERVERS MCP_DISCOVERED_SERVERS MPLBACKEND MPLCONFIGDIR OMP_NUM_THREADS \
                      OPENBLAS_NUM_THREADS PATH PWD PYTHONDONTWRITEBYTECODE TMPDIR TZ USER";
    // The paths of the interpreter's libraries and of managed packages depend on the machine.
    let code = "import subprocess\nlines = subprocess.run(['env'], capture_output=True, text=True).stdout.splitlines()\n\
                print(*sorted({line.partition('=')[0] for line in lines} - {'LD_LIBRARY_PATH', 'PYTHONPATH', '_', 'SHLVL'}))\n\
                print([line for line in lines if line.startswith('MCP_')])";
    let servers = "['MCP_AVAILABLE_SERVERS=[{\"name\": \"stub\", \"alias\": \"stub\"}]', \
                   'MCP_DISCOVERED_SERVERS=[{\"name\": \"other\", \"alias\": \"other\"}, {\"name\": \"stub\", \"alias\": \"stub\"}]']";
    client.check(code, &format!("{documented}\n{servers}")).await;
}

#[tokio::test]
async fn c340_the_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let code = format!(
        "import socket\nfor host, port in (('127.0.0.1', {port}), ('169.254.169.254', 80)):\n    \
         try: socket.create_connection((host, port), 2)\n    except OSError as e: print('no')\n\
         try: socket.getaddrinfo('example.com', 80)\nexcept OSError: print('no')"
    );
    check(&code, "no\nno\nno").await;
    assert!(listener.accept().is_err(), "nobody connected");
}

#[tokio::test]
async fn c340_no_way_to_more() {
    let code = include_str!("confinement/try_for_more.py");
    let text =
        "0 0 0 0 0 1 2\nuser namespace False\nmount namespace False\nmount False\nsetuid False\nptrace False";
    check(code, text).await;
}

#[tokio::test]
async fn c340_the_host() {
    let secret = tempfile::Builder::new()
        .prefix("codeyard-canary-")
        .tempfile()
        .unwrap();
    std::fs::write(secret.path(), "canary-file-91c2").unwrap();
    let code = format!(
        "import os\nprint(os.path.exists({:?}), os.path.exists('/root/.ssh'), os.path.exists('/var/run/docker.sock'))\n\
         print(all(int(name) < 100 for name in os.listdir('/proc') if name.isdigit()))",
        secret.path().to_str().unwrap()
    );
    check(&code, "False False False\nTrue").await;
}
