//! A body that is handed over piece by piece, so that the buffer of its connection never holds all of it.

use actix_web::body::{BodySize, MessageBody};
use bytes::Bytes;
use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

/// How much is copied at once: little enough to stay in a processor's nearest cache.
const PIECE: usize = 2048;

/// Holds what is left of a body.
pub(super) struct Pieces(Bytes);

impl Pieces {
    pub(super) fn new(body: impl Into<Bytes>) -> Self {
        Self(body.into())
    }
}

impl MessageBody for Pieces {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.0.len() as u64)
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let left = &mut self.get_mut().0;
        let next = left.split_to(left.len().min(PIECE));
        Poll::Ready((!next.is_empty()).then_some(Ok(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;

    #[actix_web::test]
    async fn the_pieces_are_the_whole() {
        for length in [0, 1, PIECE, PIECE + 1, 5 * PIECE] {
            let body: Bytes = (0..length).map(|at| (at % 251) as u8).collect::<Vec<_>>().into();
            let pieces = Pieces::new(body.clone());
            assert_eq!(pieces.size(), BodySize::Sized(length as u64));
            assert_eq!(to_bytes(pieces).await.unwrap(), body);
        }
    }
}
