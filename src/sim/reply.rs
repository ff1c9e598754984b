//! A simulated answer as bytes on a connection, with the faults that only bytes can have.

use super::{
    connection::{Line, PATIENCE},
    head::{Head, Request},
    server::Shared,
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use quorate_actors::sim::{Manner, Reply};
use std::{
    io::{self, Write as _},
    sync::PoisonError,
    time::Duration,
};
use tokio::time::{sleep, timeout};

/// Bodies shorter than this are not worth packing.
const PACKED_MIN: usize = 1024;
/// A run of spaces, to pad with.
const SPACES: &[u8] = &[b' '; 32 << 10];
/// How often a drip sends, unless a single byte takes longer.
const DRIP: Duration = Duration::from_millis(100);

/// Sends an answer; tells whether the connection may be used again.
pub(super) async fn send(line: &mut Line, reply: &Reply, request: &Request, shared: &Shared) -> io::Result<bool> {
    match reply.manner {
        Manner::Silent => {
            // Nothing comes: the connection ends when the caller ends it.
            let _ = timeout(PATIENCE, line.gone()).await;
            return Ok(false);
        }
        Manner::Reset | Manner::Refused => {
            line.stream.set_zero_linger()?;
            return Ok(false);
        }
        Manner::Whole | Manner::Drip { .. } | Manner::Truncated | Manner::WrongLength => {}
    }
    let packed = packed(reply, request, shared)?;
    let (length, body, pad) = match &packed {
        Some(bytes) => (size(bytes), bytes.clone(), 0),
        None if reply.manner == Manner::Truncated => (reply.length(), reply.half(), 0),
        None if reply.manner == Manner::WrongLength => (size(&reply.half()), reply.body.clone(), reply.pad),
        None => (reply.length(), reply.body.clone(), reply.pad),
    };
    let cut = matches!(reply.manner, Manner::Truncated | Manner::WrongLength);
    let head = Head {
        status: reply.status,
        content_type: reply.content_type,
        length,
        packed: packed.is_some(),
        retry_after_s: reply.retry_after_s,
        location: reply.location.as_deref(),
        allow: reply.allow,
        // A connection that is about to break does not say so.
        close: !request.keep_alive && !cut,
    };
    line.output.clear();
    head.write(&mut line.output, line.dates.text(reply.clock));
    if request.method == "HEAD" {
        line.flush().await?;
        return Ok(request.keep_alive);
    }
    if let Manner::Drip { bytes_per_s } = reply.manner {
        line.flush().await?;
        drip(line, &body, pad, bytes_per_s).await?;
        return Ok(request.keep_alive);
    }
    line.output.extend_from_slice(&body);
    line.flush().await?;
    spaces(line, pad).await?;
    Ok(request.keep_alive && !cut)
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Packs what is always packed, and long bodies for callers that accept that.
fn packed(reply: &Reply, request: &Request, shared: &Shared) -> io::Result<Option<Bytes>> {
    if reply.packed {
        return bomb(reply, shared).map(Some);
    }
    if !request.accepts_gzip || reply.manner != Manner::Whole || reply.pad > 0 || reply.body.len() < PACKED_MIN {
        return Ok(None);
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(PACKED_MIN), Compression::fast());
    encoder.write_all(&reply.body)?;
    encoder.finish().map(|bytes| Some(bytes.into()))
}

/// Packs a body that is nearly all spaces. Only the spaces count for what it is there for, so the last one made serves all that are as long.
fn bomb(reply: &Reply, shared: &Shared) -> io::Result<Bytes> {
    let mut last = shared.bomb.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, bytes)) = last.as_ref().filter(|(length, _)| *length == reply.length()) {
        return Ok(bytes.clone());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let mut left = reply.length();
    while left > 0 {
        let part = SPACES.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(SPACES);
        encoder.write_all(part)?;
        left = left.saturating_sub(size(part));
    }
    let bytes = Bytes::from(encoder.finish()?);
    *last = Some((reply.length(), bytes.clone()));
    Ok(bytes)
}

async fn spaces(line: &mut Line, mut left: u64) -> io::Result<()> {
    while left > 0 {
        let part = SPACES.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(SPACES);
        line.write(part).await?;
        left = left.saturating_sub(size(part));
    }
    Ok(())
}

/// Sends a body at a speed, until it is sent or the caller has gone.
async fn drip(line: &mut Line, body: &[u8], pad: u64, bytes_per_s: u32) -> io::Result<()> {
    let per_tick = u64::from(bytes_per_s).saturating_mul(u64::try_from(DRIP.as_millis()).unwrap_or(1)).checked_div(1000).unwrap_or(0);
    let (step, pause) = match usize::try_from(per_tick) {
        Ok(0) | Err(_) => (1, Duration::from_secs(1).checked_div(bytes_per_s).unwrap_or(DRIP)),
        Ok(step) => (step, DRIP),
    };
    let steps = body.chunks(step).map(Some).chain((pad > 0).then_some(None));
    for part in steps {
        let here = tokio::select! {
            () = sleep(pause) => true,
            () = line.gone() => false,
        };
        match part {
            _ if !here => return Err(io::ErrorKind::BrokenPipe.into()),
            Some(part) => line.write(part).await?,
            None => spaces(line, pad).await?,
        }
    }
    Ok(())
}
