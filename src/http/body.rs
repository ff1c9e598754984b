//! Bodies of requests, with an end to their size and to their time.

use super::{BODY_TIMEOUT, Call};
use crate::error::{ApiError, Code, shown};
use actix_web::{dev::Payload, error::PayloadError, http::header};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

/// Reads a body of JSON.
pub(super) async fn json(call: &mut Call<'_>) -> Result<Bytes, ApiError> {
    let media = call.request.headers().get(&header::CONTENT_TYPE).map(|v| v.to_str().unwrap_or_default());
    let is_json = |media: &str| media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json");
    if let Some(media) = media.filter(|m| !is_json(m)) {
        return Err(ApiError::new(Code::UnsupportedMediaType, format!("content-type is {}, expected application/json", shown(media))));
    }
    let limit = call.state.body_bytes;
    let announced = call.request.headers().get(&header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| usize::try_from(length).map_or(true, |l| l > limit)) {
        return Err(too_large(limit));
    }
    let late = |_| ApiError::new(Code::RequestTimeout, format!("no whole body in {} ms", BODY_TIMEOUT.as_millis()));
    tokio::time::timeout(BODY_TIMEOUT, whole(&mut call.payload, limit)).await.map_err(late)?
}

async fn whole(payload: &mut Payload, limit: usize) -> Result<Bytes, ApiError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| match error {
            PayloadError::Overflow => too_large(limit),
            _ => ApiError::new(Code::InvalidBody, "the body ended early or is not what its head announced"),
        })?;
        if body.len().saturating_add(chunk.len()) > limit {
            return Err(too_large(limit));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn too_large(limit: usize) -> ApiError {
    ApiError::new(Code::BodyTooLarge, format!("the body is too large, expected at most {limit} bytes"))
}
