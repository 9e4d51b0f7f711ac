//! A proxy that cuts the first connection whose call was answered with an event that has an id.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Stands before a codeyard.
pub struct CuttingProxy {
    pub address: String,
    has_cut: Arc<AtomicBool>,
}

impl CuttingProxy {
    pub async fn before(address: &str) -> CuttingProxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().to_string();
        let has_cut = Arc::new(AtomicBool::new(false));
        let (address, cut) = (address.to_owned(), Arc::clone(&has_cut));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&address).await.unwrap();
                tokio::spawn(pass(client, server, Arc::clone(&cut)));
            }
        });
        CuttingProxy {
            address: own,
            has_cut,
        }
    }

    pub fn has_cut(&self) -> bool {
        self.has_cut.load(Ordering::SeqCst)
    }
}

async fn pass(mut client: TcpStream, mut server: TcpStream, has_cut: Arc<AtomicBool>) {
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    let (mut up, mut down) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => match read {
                Ok(length) if length > 0 => {
                    asked.extend_from_slice(&up[..length]);
                    answered.clear();
                    if server.write_all(&up[..length]).await.is_err() { return; }
                }
                _ => return,
            },
            read = server.read(&mut down) => match read {
                Ok(length) if length > 0 => {
                    answered.extend_from_slice(&down[..length]);
                    if client.write_all(&down[..length]).await.is_err() { return; }
                    let is_call = has(&asked, b"tools/call") && has(&answered, b"\nid: ");
                    if is_call && !has_cut.swap(true, Ordering::SeqCst) { return; }
                }
                _ => return,
            },
        }
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
