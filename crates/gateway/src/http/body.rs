//! Reads a request's body, with limits on its bytes, its time and the memory of all bodies together.

use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use futures_util::StreamExt as _;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use tokio::sync::Semaphore;

use super::era;
use crate::lines::MAX_LINE;

/// Bytes of a body that need no permit. Each further piece of this size needs one.
const PIECE: usize = 64 * 1024;

/// Permits for all bodies: 128 MiB.
const PIECES: usize = 2048;

/// Permits for the bodies of one principal: 32 MiB.
const PIECES_OF_ONE: usize = 512;

/// Time limit for sending a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct BodyReader {
    places: Semaphore,
}

/// Limits the memory of one principal's bodies.
#[derive(Debug)]
pub(super) struct BodyShare {
    places: Semaphore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    #[error("`Content-Type` must be application/json")]
    Type,
    #[error("`Content-Encoding` is not supported; send the body uncompressed")]
    Encoding,
    #[error("the body has more than {MAX_LINE} bytes")]
    TooLarge,
    #[error("the body is incomplete")]
    Broken,
    #[error("the body took too long to arrive")]
    TooSlow,
}

impl BodyReader {
    pub(super) fn new() -> BodyReader {
        BodyReader {
            places: Semaphore::new(PIECES),
        }
    }

    pub(super) async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, BodyError> {
        BodyReader::read_within(&[&self.places], headers, body).await
    }

    /// Reads the body of a principal's request. A principal at its limit waits without delaying others.
    pub(super) async fn read_shared(
        &self,
        share: &BodyShare,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Vec<u8>, BodyError> {
        BodyReader::read_within(&[&share.places, &self.places], headers, body).await
    }

    async fn read_within(
        limits: &[&Semaphore],
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Vec<u8>, BodyError> {
        check(headers, &body)?;
        let read = tokio::time::timeout(BODY_TIMEOUT, collect(limits, body)).await;
        read.unwrap_or(Err(BodyError::TooSlow))
    }
}

impl BodyShare {
    pub(super) fn new() -> BodyShare {
        BodyShare {
            places: Semaphore::new(PIECES_OF_ONE),
        }
    }
}

async fn collect(limits: &[&Semaphore], body: Body) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    let mut room = PIECE;
    let mut places = Vec::new();
    let mut body = body.into_data_stream();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|_| BodyError::Broken)?;
        if bytes.len() + piece.len() > MAX_LINE {
            return Err(BodyError::TooLarge);
        }
        while bytes.len() + piece.len() > room {
            for limit in limits {
                // The semaphores are never closed.
                places.extend(limit.acquire().await.ok());
            }
            room += PIECE;
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Checks the headers before the body is read.
fn check(headers: &HeaderMap, body: &Body) -> Result<(), BodyError> {
    let kind = era::header(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(BodyError::Type);
    }
    // The unpacked size is unknown before unpacking.
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(BodyError::Encoding);
    }
    match body.size_hint().lower() > MAX_LINE as u64 {
        true => Err(BodyError::TooLarge),
        false => Ok(()),
    }
}

impl BodyError {
    pub(super) fn status(self) -> StatusCode {
        match self {
            BodyError::Type | BodyError::Encoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::Broken => StatusCode::BAD_REQUEST,
            BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[tokio::test]
    async fn a_full_share_delays_only_its_own_bodies() {
        let reader = BodyReader::new();
        let (greedy, modest) = (BodyShare::new(), BodyShare::new());
        let all = u32::try_from(PIECES_OF_ONE).expect("a small number");
        let taken = greedy.places.acquire_many(all).await.expect("open");
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = || Body::from(vec![b' '; 2 * PIECE]);
        let mut waiting = Box::pin(reader.read_shared(&greedy, &headers, body()));
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("read without a permit"),
            read = reader.read_shared(&modest, &headers, body()) => {
                assert_eq!(read.map(|read| read.len()), Ok(2 * PIECE));
            }
        }
        drop(taken);
        assert_eq!(waiting.await.map(|read| read.len()), Ok(2 * PIECE));
        assert_eq!(greedy.places.available_permits(), PIECES_OF_ONE);
    }
}
