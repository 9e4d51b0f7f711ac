//! Connections to a receiver of syslog: datagrams, and streams of messages with length prefixes.

use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::FutureExt as _;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket, UnixDatagram};
use tokio_rustls::TlsConnector;

use crate::config::{NetworkAddress, SyslogTarget};
use crate::error::SendError;

pub(super) enum SyslogConnection {
    Udp(UdpSocket),
    Unix(UnixDatagram),
    Stream(Box<dyn Stream>),
}

pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl fmt::Debug for SyslogConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SyslogConnection::Udp(_) => "Udp",
            SyslogConnection::Unix(_) => "Unix",
            SyslogConnection::Stream(_) => "Stream",
        })
    }
}

// === impl SyslogConnection ===

impl SyslogConnection {
    pub(super) async fn open(target: &SyslogTarget) -> Result<SyslogConnection, SendError> {
        match target {
            SyslogTarget::Udp(address) => udp(address).await.map(SyslogConnection::Udp),
            SyslogTarget::Tcp(address) => Ok(SyslogConnection::Stream(Box::new(tcp(address).await?))),
            SyslogTarget::Tls(address) => {
                let name = ServerName::try_from(address.host.clone()).map_err(SendError::unavailable)?;
                let config = upstream_wire::client_tls()
                    .await
                    .map_err(SendError::unavailable)?;
                let plain = tcp(address).await?;
                let encrypted = TlsConnector::from(Arc::new(config)).connect(name, plain).await;
                Ok(SyslogConnection::Stream(Box::new(encrypted.map_err(tls_error)?)))
            }
            SyslogTarget::Unix(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.connect(path)?;
                Ok(SyslogConnection::Unix(socket))
            }
        }
    }

    /// Whether the receiver has closed the stream. Otherwise the kernel would accept messages that are never read.
    pub(super) fn is_closed(&mut self) -> bool {
        let SyslogConnection::Stream(stream) = self else {
            return false;
        };
        let mut bytes = [0; 256];
        // Receivers send no data; ignore any data.
        !matches!(stream.read(&mut bytes).now_or_never(), None | Some(Ok(1..)))
    }

    pub(super) async fn send(&mut self, messages: &[Vec<u8>]) -> Result<(), SendError> {
        match self {
            SyslogConnection::Udp(socket) => {
                for message in messages {
                    socket.send(message).await?;
                }
            }
            SyslogConnection::Unix(socket) => {
                for message in messages {
                    socket.send(message).await?;
                }
            }
            SyslogConnection::Stream(stream) => {
                let mut framed = Vec::new();
                for message in messages {
                    framed.extend_from_slice(format!("{} ", message.len()).as_bytes());
                    framed.extend_from_slice(message);
                }
                stream.write_all(&framed).await?;
                stream.flush().await?;
            }
        }
        Ok(())
    }
}

async fn udp(address: &NetworkAddress) -> Result<UdpSocket, SendError> {
    let mut last = None;
    for found in tokio::net::lookup_host((address.host.as_str(), address.port)).await? {
        let any = if found.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(any).await?;
        match socket.connect(found).await {
            Ok(()) => return Ok(socket),
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or_else(
        || SendError::unavailable(format!("{} has no address", address.host)),
        SendError::from,
    ))
}

async fn tcp(address: &NetworkAddress) -> Result<TcpStream, SendError> {
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// rustls reports an untrusted certificate as invalid data.
fn tls_error(error: io::Error) -> SendError {
    match error.kind() {
        io::ErrorKind::InvalidData => SendError::unavailable(format!(
            "{error}; to trust an authority of your own, write its certificate to the file that the variable \
             SSL_CERT_FILE names"
        )),
        _ => error.into(),
    }
}
