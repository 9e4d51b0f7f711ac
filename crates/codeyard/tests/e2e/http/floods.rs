//! Clients that send too much, too slowly or read nothing: each is bounded, and another client is still served.

use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use serde_json::{Value, json};
use test_support::{Codeyard, peak_memory};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

use super::served::{PATIENCE, Served, modern};

/// Most memory of an attack, in KiB.
const MOST_MEMORY: u64 = 400 * 1024;

/// A codeyard under attack, and another client.
struct Attacked {
    served: Served,
    session: String,
    /// Codeyard's memory before the attack, in KiB.
    before: u64,
}

impl Attacked {
    async fn start() -> Attacked {
        let served = Served::start(Codeyard::new().unwrap(), &[]).await;
        let session = served.open().await;
        served.run(&session, "x = 5").await;
        let before = peak_memory(served.pid()).unwrap();
        Attacked {
            served,
            session,
            before,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.served.address).await.unwrap()
    }

    /// The head of a POST with these fields.
    fn head(&self, fields: &str) -> Vec<u8> {
        let host = &self.served.address;
        format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n{fields}\r\n")
            .into_bytes()
    }

    /// Checks that another client is served, and that memory is bounded.
    async fn check(&self) {
        let answer = timeout(PATIENCE, self.served.run(&self.session, "return x")).await;
        assert_eq!(answer.unwrap()["result"]["structuredContent"]["result"], 5);
        let grown = peak_memory(self.served.pid()).unwrap() - self.before;
        assert!(grown < MOST_MEMORY, "{grown} KiB");
    }
}

/// Reads to the end of the connection, including an error.
async fn rest(mut stream: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut answer = Vec::new();
    let mut piece = vec![0; 65536];
    while let Ok(length @ 1..) = timeout(PATIENCE, stream.read(&mut piece)).await.unwrap() {
        answer.extend_from_slice(&piece[..length]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_flood_of_connections_does_not_block_other_clients() {
    let attacked = Attacked::start().await;
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = 2048.min(files / 2);
    let mut flood = Vec::new();
    for number in 0..most + 100 {
        let mut stream = attacked.connect().await;
        // Silent connections, incomplete heads, and incomplete bodies.
        let begun: &[u8] = match number % 3 {
            0 => b"",
            1 => b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n",
            _ => b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
        };
        stream.write_all(begun).await.unwrap();
        flood.push(stream);
    }
    attacked.check().await;
    // The oldest connections were closed.
    assert_eq!(rest(flood.swap_remove(0)).await, "");
}

#[tokio::test]
async fn a_slow_head_or_body_is_cut_off() {
    let attacked = Attacked::start().await;
    let body = attacked.head("content-length: 1000\r\n");
    let trickle = async |begun: &[u8], drop: &[u8]| {
        let (reading, mut writing) = attacked.connect().await.into_split();
        writing.write_all(begun).await.unwrap();
        let dripping = async {
            let mut pace = interval(Duration::from_millis(500));
            loop {
                pace.tick().await;
                if writing.write_all(drop).await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::select! {
            answer = rest(reading) => answer,
            () = dripping => unreachable!("it drips until the connection ends"),
        }
    };
    let (head, body, ()) = tokio::join!(
        trickle(b"POST /mcp HTTP/1.1\r\nx-slow: ", b"a"),
        trickle(&body, b" "),
        attacked.check(),
    );
    assert!(head.is_empty() || head.starts_with("HTTP/1.1 408"), "{head}");
    assert!(body.starts_with("HTTP/1.1 408"), "{body}");
    assert!(body.contains("the body took too long to arrive"), "{body}");
}

/// Sends 1 GiB in this form; returns the number of accepted bytes, and the answer.
async fn pour(attacked: &Attacked, head: &[u8], piece: &[u8]) -> (usize, String) {
    let (reading, mut writing) = attacked.connect().await.into_split();
    writing.write_all(head).await.unwrap();
    let mut taken = 0;
    let pouring = async {
        while taken < 1 << 30 {
            if writing.write_all(piece).await.is_err() {
                break;
            }
            taken += piece.len();
        }
    };
    let (answer, ()) = tokio::join!(rest(reading), pouring);
    (taken, answer)
}

#[tokio::test]
async fn a_body_of_a_gibibyte_is_refused_after_its_first_part() {
    let attacked = Attacked::start().await;
    let mut chunk = b"100000\r\n".to_vec();
    chunk.resize(chunk.len() + 0x10_0000, b' ');
    chunk.extend_from_slice(b"\r\n");
    let plain = vec![b' '; 0x10_0000];
    let length = attacked.head("content-length: 1073741824\r\n");
    let chunked = attacked.head("transfer-encoding: chunked\r\n");
    let (length, chunked, ()) = tokio::join!(
        pour(&attacked, &length, &plain),
        pour(&attacked, &chunked, &chunk),
        attacked.check(),
    );
    for (taken, answer) in [length, chunked] {
        assert!(taken < 64 << 20, "{taken} bytes were taken");
        // The unread rest of the body may cut off the answer.
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 413"),
            "{answer}"
        );
    }
    attacked.check().await;
}

#[tokio::test]
async fn compressed_bodies_are_not_unpacked() {
    let attacked = Attacked::start().await;
    // Ten zero bytes of gzip, which the server never decodes.
    let bomb = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
    for (fields, status) in [
        ("content-encoding: gzip\r\ncontent-length: 10\r\n", 415),
        ("content-encoding: br\r\ncontent-length: 10\r\n", 415),
        ("transfer-encoding: gzip\r\n", 400),
        ("transfer-encoding: gzip, chunked\r\n", 400),
    ] {
        let fields = format!("connection: close\r\n{fields}");
        let mut stream = attacked.connect().await;
        stream.write_all(&attacked.head(&fields)).await.unwrap();
        let _ = stream.write_all(bomb).await;
        let answer = rest(stream).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{fields}: {answer}"
        );
    }
    attacked.check().await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let attacked = Attacked::start().await;
    let long = format!("x-long: {}\r\n", "a".repeat(1 << 20));
    let many = "x-many: a\r\n".repeat(1000);
    for fields in [long, many] {
        let mut stream = attacked.connect().await;
        let _ = stream.write_all(&attacked.head(&fields)).await;
        let answer = rest(stream).await;
        // The unread rest of the head may cut off the answer.
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
            "{answer}"
        );
    }
    attacked.check().await;
}

#[tokio::test]
async fn clients_that_read_nothing_delay_no_other_client() {
    let attacked = Attacked::start().await;
    let listed = modern("tools/list", json!({}), None);
    let mut idle = Vec::new();
    for _ in 0..200 {
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/list"),
        ];
        idle.push(attacked.served.begin(&headers, &listed).await);
    }
    let code = "print('x' * 16000)\nimport time\ntime.sleep(1.2)\nreturn 'x' * 16000";
    let other = attacked.served.open().await;
    for id in 0..20 {
        let own = [("mcp-session-id", other.as_str())];
        let message: Value = super::call(id + 10, code, Some("t"));
        idle.push(attacked.served.begin(&own, &message).await);
    }
    attacked.check().await;
}

#[tokio::test]
async fn a_client_that_sends_requests_and_reads_nothing_is_cut_off() {
    let attacked = Attacked::start().await;
    let list = modern("tools/list", json!({}), None).to_string();
    let length = list.len();
    let fields =
        format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\ncontent-length: {length}\r\n");
    let request = [attacked.head(&fields), list.into_bytes()].concat();
    let mut stream = attacked.connect().await;
    let asking = async { while stream.write_all(&request).await.is_ok() {} };
    let (cut, ()) = tokio::join!(timeout(2 * PATIENCE, asking), attacked.check());
    assert!(cut.is_ok(), "the connection is still open");
    attacked.check().await;
}
