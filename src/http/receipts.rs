//! `GET /v1/receipts/{id}`: a receipt that was given once, for a day, within a bound of memory.

use super::{Call, caching, quotes};
use crate::error::{ApiError, Code, shown};
use actix_web::HttpResponse;
use bytes::Bytes;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// For how long a receipt is kept.
const KEPT_FOR: Duration = Duration::from_secs(24 * 3600);
/// How many ids are remembered whose receipts are gone.
const GONE_MAX: usize = 65_536;
/// What a receipt takes besides its bytes, about.
const OVERHEAD: usize = 256;

/// Keeps receipts: the oldest go first.
#[derive(Debug)]
pub(crate) struct Receipts {
    kept: Mutex<Kept>,
    bytes_max: usize,
}

#[derive(Debug, Default)]
struct Kept {
    by_id: HashMap<Arc<str>, Bytes>,
    order: VecDeque<(Arc<str>, Instant)>,
    bytes: usize,
    gone: HashSet<Arc<str>>,
    gone_order: VecDeque<Arc<str>>,
}

/// Tells what is known of an id.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Receipt(Bytes),
    Gone,
    Never,
}

impl Receipts {
    pub(crate) fn new(mib: usize) -> Self {
        Self { kept: Mutex::default(), bytes_max: mib.saturating_mul(1 << 20) }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a receipt from now on.
    pub(super) fn keep(&self, id: &str, receipt: Bytes, now: Instant) {
        let mut kept = self.lock();
        if kept.by_id.contains_key(id) {
            return;
        }
        let id: Arc<str> = id.into();
        kept.bytes = kept.bytes.saturating_add(receipt.len()).saturating_add(OVERHEAD);
        kept.gone.remove(&id);
        kept.by_id.insert(Arc::clone(&id), receipt);
        kept.order.push_back((id, now));
        kept.drop_old(now, self.bytes_max);
    }

    /// Gives the figures of this moment.
    pub(crate) fn figures(&self) -> Figures {
        let kept = self.lock();
        Figures { kept: kept.by_id.len(), kept_bytes: kept.bytes, limit_bytes: self.bytes_max }
    }

    fn find(&self, id: &str, now: Instant) -> Found {
        let mut kept = self.lock();
        kept.drop_old(now, self.bytes_max);
        match kept.by_id.get(id) {
            Some(receipt) => Found::Receipt(receipt.clone()),
            None if kept.gone.contains(id) => Found::Gone,
            None => Found::Never,
        }
    }
}

/// Holds how many receipts are kept, and the bytes that they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) kept: usize,
    pub(crate) kept_bytes: usize,
    pub(crate) limit_bytes: usize,
}

impl Kept {
    fn drop_old(&mut self, now: Instant, bytes_max: usize) {
        while let Some((_, at)) = self.order.front() {
            if self.bytes <= bytes_max && now.saturating_duration_since(*at) <= KEPT_FOR {
                return;
            }
            let Some((id, _)) = self.order.pop_front() else { return };
            let freed = self.by_id.remove(&id).map_or(0, |receipt| receipt.len().saturating_add(OVERHEAD));
            self.bytes = self.bytes.saturating_sub(freed);
            if self.gone.insert(Arc::clone(&id)) {
                self.gone_order.push_back(id);
            }
            if self.gone_order.len() > GONE_MAX
                && let Some(oldest) = self.gone_order.pop_front()
            {
                self.gone.remove(&oldest);
            }
        }
    }
}

/// Answers with a past receipt.
pub(super) fn one(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let (state, id) = (call.state, call.captured);
    match state.receipts.find(id, Instant::now()) {
        Found::Receipt(receipt) => Ok(caching::immutable(call.request.headers(), || receipt, caching::tag_of(&[id]))),
        Found::Gone => {
            Err(ApiError::new(Code::ReceiptExpired, format!("receipt {} is no longer kept, expected one of the last day", shown(id))))
        }
        Found::Never => {
            // The newest of a pair is kept on the board, whoever was told its id.
            let newest = quotes::known_pairs(state).into_iter().filter_map(|pair| state.engine.latest_rate(&pair));
            match newest.into_iter().find(|latest| latest.receipt.known_id() == Some(id)) {
                Some(latest) => Ok(caching::immutable(call.request.headers(), || latest.receipt.bytes(), caching::tag_of(&[id]))),
                None => Err(ApiError::new(Code::UnknownReceipt, format!("receipt {}, expected an id that was given here", shown(id)))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_are_known_to_be_gone() {
        let (receipts, now) = (Receipts::new(1), Instant::now());
        let body = Bytes::from(vec![b'x'; 300_000]);
        for id in ["a", "b", "c"] {
            receipts.keep(id, body.clone(), now);
            receipts.keep(id, body.clone(), now);
        }
        assert_eq!(receipts.find("a", now), Found::Receipt(body.clone()));
        receipts.keep("d", body.clone(), now);
        assert_eq!((receipts.find("a", now), receipts.find("b", now)), (Found::Gone, Found::Receipt(body.clone())));
        assert_eq!(receipts.find("never", now), Found::Never);
        let later = now + KEPT_FOR + Duration::from_millis(1);
        receipts.keep("e", body.clone(), later);
        assert_eq!((receipts.find("d", later), receipts.find("e", later)), (Found::Gone, Found::Receipt(body.clone())));
        receipts.keep("a", body.clone(), later);
        assert_eq!(receipts.find("a", later), Found::Receipt(body));
    }

    #[test]
    fn what_is_gone_is_not_remembered_for_ever() {
        let (receipts, now) = (Receipts::new(0), Instant::now());
        (0..=GONE_MAX).for_each(|number| receipts.keep(&number.to_string(), Bytes::from_static(b"x"), now));
        assert_eq!((receipts.find("0", now), receipts.find("1", now)), (Found::Never, Found::Gone));
        let kept = receipts.lock();
        assert_eq!((kept.by_id.len(), kept.order.len(), kept.gone.len(), kept.gone_order.len(), kept.bytes), (0, 0, GONE_MAX, GONE_MAX, 0));
    }
}
