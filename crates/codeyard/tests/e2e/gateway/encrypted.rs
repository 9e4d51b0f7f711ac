//! An address with a certificate: TLS clients, renewals, invalid files, and unfinished handshakes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use test_support::{CertificateFiles, Codeyard, run};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::actors::{ADMIN, ALICE};
use super::running::{Gateway, installation, until};
use crate::http::served::{PATIENCE, Served, initialize};

/// Writes both files, the key for its owner only.
fn write(directory: &Path, certificate: &str, key: &str) -> (PathBuf, PathBuf) {
    let files = (directory.join("yard.crt"), directory.join("yard.key"));
    fs::write(&files.1, key).unwrap();
    fs::set_permissions(&files.1, Permissions::from_mode(0o600)).unwrap();
    fs::write(&files.0, certificate).unwrap();
    files
}

fn tls_options(certificate: &Path, key: &Path) -> [String; 6] {
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());
    [
        "--listen",
        "127.0.0.1:0",
        "--tls-cert",
        certificate,
        "--tls-key",
        key,
    ]
    .map(str::to_owned)
}

/// A gateway with a certificate, and its clients' trusted authority.
async fn gateway() -> (Gateway, CertificateFiles) {
    let codeyard = installation().env("CODEYARD_LOG", "info");
    let files = CertificateFiles::new().unwrap();
    let (certificate, key) = write(codeyard.directory(), &files.certificate, &files.key);
    let options = tls_options(&certificate, &key);
    let options = options.each_ref().map(String::as_str);
    (Gateway::start_with(codeyard, &options).await, files)
}

/// Sends a request, and reads the answer to its body; the body's length is known.
async fn exchange(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let mut piece = [0; 4096];
    while !answer.ends_with("ready\n") && !answer.ends_with('}') && !answer.ends_with(']') {
        let length = timeout(PATIENCE, stream.read(&mut piece)).await.unwrap().unwrap();
        assert_ne!(length, 0, "{answer}");
        answer.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    answer
}

const READY: &str = "GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Whether the server offers this certificate to new connections.
async fn serves(gateway: &Gateway, files: &CertificateFiles) -> bool {
    match files.connect(&gateway.address, &[]).await {
        Ok(mut stream) => exchange(&mut stream, READY).await.starts_with("HTTP/1.1 200"),
        Err(_) => false,
    }
}

#[tokio::test]
async fn clients_are_served_over_tls() {
    let (gateway, files) = gateway().await;
    assert!(gateway.logged("serving at https://").is_some());
    assert!(gateway.logged("without encryption").is_none());
    let mut stream = files
        .connect(&gateway.address, &["h2", "http/1.1"])
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let token = gateway.token(&ALICE).await;
    let request =
        format!("GET /servers HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
    for _ in 0..2 {
        let answer = exchange(&mut stream, &request).await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("[]"),
            "{answer}"
        );
    }
    assert!(files.connect(&gateway.address, &["h2"]).await.is_err());
    let stranger = CertificateFiles::new().unwrap();
    assert!(!serves(&gateway, &stranger).await);
}

#[tokio::test]
async fn a_client_without_tls_is_disconnected() {
    let (gateway, files) = gateway().await;
    for sent in [READY.as_bytes(), b"\x16\x03", b"", &[0xff; 512]] {
        let mut stream = TcpStream::connect(&gateway.address).await.unwrap();
        stream.write_all(sent).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
        assert!(!String::from_utf8_lossy(&answer).contains("HTTP/"), "{answer:?}");
    }
    assert!(serves(&gateway, &files).await);
    assert_eq!(gateway.logged("ERROR").or(gateway.logged("WARN")), None);
}

async fn used(gateway: &Gateway, files: &CertificateFiles) {
    until("the certificate is used", async || {
        serves(gateway, files).await.then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_renewed_certificate_is_used_and_an_invalid_one_is_ignored() {
    let (gateway, files) = gateway().await;
    let mut open = files.connect(&gateway.address, &[]).await.unwrap();
    exchange(&mut open, READY).await;
    let directory = gateway.codeyard.directory();
    let renewed = CertificateFiles::new().unwrap();
    write(directory, &renewed.certificate, &renewed.key);
    used(&gateway, &renewed).await;
    assert!(!serves(&gateway, &files).await);
    let answer = exchange(&mut open, READY).await;
    assert!(
        answer.starts_with("HTTP/1.1 200"),
        "open connections go on: {answer}"
    );

    write(directory, "not a certificate", &renewed.key);
    let told = until("the mistake is logged", async || {
        assert!(serves(&gateway, &renewed).await);
        gateway.logged("the certificate in use stays")
    })
    .await;
    assert!(
        told.contains("--tls-cert") && told.contains("yard.crt: contains no certificate"),
        "{told}"
    );
    assert!(serves(&gateway, &renewed).await);

    let last = CertificateFiles::new().unwrap();
    write(directory, &last.certificate, &last.key);
    used(&gateway, &last).await;
}

#[tokio::test]
async fn invalid_files_are_refused_with_the_remedy() {
    let codeyard = installation();
    let (files, other) = (CertificateFiles::new().unwrap(), CertificateFiles::new().unwrap());
    let (certificate, key) = (files.certificate.as_str(), files.key.as_str());
    let broken = certificate.replace("MII", "AAA");
    for (certificate, key, mode, told) in [
        ("", key, 0o600, "yard.crt: contains no certificate"),
        (key, key, 0o600, "yard.crt: contains no certificate"),
        (&broken, key, 0o600, "yard.crt: its certificate cannot be used"),
        (certificate, "", 0o600, "yard.key: contains no private key"),
        (
            certificate,
            certificate,
            0o600,
            "yard.key: contains no private key",
        ),
        (
            certificate,
            &other.key,
            0o600,
            "yard.key: the key does not belong to the first certificate",
        ),
        (
            certificate,
            key,
            0o640,
            "yard.key: other users may read it; run `chmod 600 /",
        ),
    ] {
        let paths = write(codeyard.directory(), certificate, key);
        fs::set_permissions(&paths.1, Permissions::from_mode(mode)).unwrap();
        let options = tls_options(&paths.0, &paths.1);
        let words = ["serve"].into_iter().chain(options.iter().map(String::as_str));
        let refused = run(&codeyard, &words.collect::<Vec<_>>(), "").await;
        assert!(
            refused.code == 2 && refused.err.contains(told),
            "{told}: {refused:?}"
        );
        assert!(!refused.err.contains("PRIVATE KEY"), "{refused:?}");
    }
    for (options, told) in [
        (
            &["--tls-cert", "/none.crt", "--tls-key", "/none.key"][..],
            "--tls-cert /none.crt: there is no such file",
        ),
        (&["--tls-cert", "/none.crt"], "--tls-key <FILE>"),
    ] {
        let words = [&["serve", "--listen", "127.0.0.1:0"], options].concat();
        let refused = run(&codeyard, &words, "").await;
        assert!(
            refused.code == 2 && refused.err.contains(told),
            "{told}: {refused:?}"
        );
    }
    let codeyard = codeyard.settings("[http]\ntls_cert = \"/none.crt\"\ntls_key = \"/none.key\"\n");
    let refused = run(&codeyard, &["serve", "--listen", "127.0.0.1:0"], "").await;
    assert!(
        refused
            .err
            .contains("[http] tls_cert /none.crt: there is no such file"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn unfinished_handshakes_do_not_block_other_clients() {
    let (gateway, files) = gateway().await;
    let mut unfinished = Vec::new();
    for number in 0..2200 {
        let mut stream = TcpStream::connect(&gateway.address).await.unwrap();
        if number % 2 == 0 {
            // The head of a TLS record without its content.
            let _ = stream.write_all(b"\x16\x03\x01\x02\x00\x01").await;
        }
        unfinished.push(stream);
    }
    assert!(serves(&gateway, &files).await);
    let begun = std::time::Instant::now();
    for mut stream in unfinished {
        let mut answer = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    }
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    assert!(serves(&gateway, &files).await);
    assert_eq!(gateway.logged("ERROR").or(gateway.logged("WARN")), None);
}

#[tokio::test]
async fn one_surface_is_served_over_tls_too() {
    let codeyard = Codeyard::new().unwrap();
    let files = CertificateFiles::new().unwrap();
    let (certificate, key) = write(codeyard.directory(), &files.certificate, &files.key);
    let settings = format!("[http]\ntls_cert = {certificate:?}\ntls_key = {key:?}\n");
    let served = Served::start(codeyard.settings(&settings), &[]).await;
    let body = initialize().to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = files.connect(&served.address, &[]).await.unwrap();
    let answer = exchange(&mut stream, &request).await;
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("mcp-session-id"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_public_address_without_encryption_causes_a_warning() {
    for (settings, is_warned) in [
        ("", true),
        ("[http]\ntrusted_proxies = [\"10.0.0.0/8\"]\n", false),
    ] {
        let codeyard = installation().settings(settings);
        let gateway = Gateway::start_with(codeyard, &["--listen", "0.0.0.0:0"]).await;
        gateway.ask(&ADMIN, "GET /servers", json!(null), 200).await;
        assert_eq!(
            gateway.logged("travel without encryption").is_some(),
            is_warned,
            "{settings}"
        );
    }
}
