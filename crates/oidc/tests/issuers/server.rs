//! An issuer whose documents are right or hostile, and keys that sign.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What is served at `/keys`, or in its place.
#[derive(Debug, Clone)]
pub enum Behaviour {
    Text(String),
    /// Status 503.
    Down,
    /// A megabyte, with its length.
    Huge,
    /// Bytes without end, without a length.
    Endless,
    Redirect(String),
    /// The discovery document names another issuer.
    OtherIssuer,
    /// The discovery document names this address of the keys.
    KeysAt(String),
}

/// Serves until it is dropped.
pub struct IssuerServer {
    pub url: String,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    behaviour: Mutex<Behaviour>,
    requests: Mutex<HashMap<String, usize>>,
}

/// A key of the curve P-256.
pub struct Signer {
    name: String,
    pair: EcdsaKeyPair,
}

impl Signer {
    pub fn new(name: &str) -> Signer {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random);
        Signer {
            name: name.to_owned(),
            pair: pair.unwrap(),
        }
    }

    fn jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({
            "kty": "EC", "crv": "P-256", "kid": self.name, "use": "sig", "alg": "ES256",
            "x": part(&point[1..33]), "y": part(&point[33..]),
        })
    }

    /// A token with further members of the header.
    pub fn sign(&self, more: Value, claims: &Value) -> String {
        let mut header = json!({"alg": "ES256", "kid": self.name});
        for (name, value) in more.as_object().unwrap() {
            header[name] = value.clone();
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message = format!("{}.{}", part(&header), part(claims));
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

impl Behaviour {
    pub fn keys(signers: &[&Signer]) -> Behaviour {
        let keys: Vec<Value> = signers.iter().map(|signer| signer.jwk()).collect();
        Behaviour::Text(json!({"keys": keys}).to_string())
    }
}

impl IssuerServer {
    pub async fn start(behaviour: Behaviour) -> IssuerServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(behaviour),
            requests: Mutex::default(),
        });
        let (own, base) = (Arc::clone(&shared), url.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&own), base.clone()));
            }
        });
        IssuerServer { url, shared, task }
    }

    pub fn set(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().unwrap() = behaviour;
    }

    /// How often a path was asked for.
    pub fn requests(&self, path: &str) -> usize {
        self.shared
            .requests
            .lock()
            .unwrap()
            .get(path)
            .copied()
            .unwrap_or_default()
    }
}

impl Drop for IssuerServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(mut stream: TcpStream, shared: Arc<Shared>, base: String) {
    let mut head = vec![0; 4096];
    let length = stream.read(&mut head).await.unwrap_or_default();
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    *shared.requests.lock().unwrap().entry(path.clone()).or_default() += 1;
    let behaviour = shared.behaviour.lock().unwrap().clone();
    let ok = |body: &str| {
        format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let response = match (path.as_str(), &behaviour) {
        (_, Behaviour::Down) => {
            "HTTP/1.1 503 Down\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
        }
        ("/keys", Behaviour::Text(text)) => ok(text),
        ("/keys", Behaviour::Huge) => ok(&" ".repeat(1 << 20)),
        ("/keys", Behaviour::Endless) => return endless(stream).await,
        ("/keys", Behaviour::Redirect(to)) => {
            format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        }
        (_, Behaviour::OtherIssuer) => ok(&discovery("https://evil.example", &format!("{base}/keys"))),
        (_, Behaviour::KeysAt(keys)) => ok(&discovery(&base, keys)),
        _ => ok(&discovery(&base, &format!("{base}/keys"))),
    };
    // The client may have gone.
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn discovery(issuer: &str, keys: &str) -> String {
    json!({"issuer": issuer, "jwks_uri": keys}).to_string()
}

async fn endless(mut stream: TcpStream) {
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let mut sent = stream.write_all(head).await;
    while sent.is_ok() {
        sent = stream.write_all(&[b' '; 8192]).await;
    }
}
