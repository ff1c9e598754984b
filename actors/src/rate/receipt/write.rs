//! One buffer for the content that the id is made of, and beside it what stands in the body alone: nothing is formatted twice.

use super::super::Num;
use crate::{
    model::{Asset, Pair, Price, UnixMs},
    text::{Times, digits_of, push_decimal, push_str, push_u64},
};
use ring::digest::{SHA256, digest};
use std::ops::Range;

/// Collects a body.
pub(super) struct Writer {
    /// The content without what is left out of it.
    content: Vec<u8>,
    left_out: Vec<LeftOut>,
    times: Times,
}

/// Holds a member that the id is not made of, and where it belongs: before another, so that a comma follows it.
struct LeftOut {
    at: usize,
    member: Member,
}

enum Member {
    Id,
    Age(u64),
    Latency(u64),
}

impl Member {
    fn push(&self, id: &str, out: &mut Vec<u8>) {
        match self {
            Self::Id => {
                out.extend_from_slice(b"\"id\":\"");
                out.extend_from_slice(id.as_bytes());
                out.push(b'"');
            }
            Self::Age(ms) => {
                out.extend_from_slice(b"\"age_ms\":");
                push_u64(out, *ms);
            }
            Self::Latency(ms) => {
                out.extend_from_slice(b"\"latency_ms\":");
                push_u64(out, *ms);
            }
        }
        out.push(b',');
    }

    /// Gives how many bytes it takes.
    fn len(&self, id: &str) -> usize {
        match self {
            Self::Id => id.len().saturating_add(8),
            Self::Age(ms) => (digits_of(*ms) as usize).saturating_add(10),
            Self::Latency(ms) => (digits_of(*ms) as usize).saturating_add(14),
        }
    }
}

/// How many characters of the hash stand in an id: 130 bits.
const HASH_LEN: usize = 26;

impl Writer {
    /// Makes a writer with room for so many bytes.
    pub(super) fn new(room: usize, left_out: usize) -> Self {
        Self { content: Vec::with_capacity(room), left_out: Vec::with_capacity(left_out), times: Times::default() }
    }

    /// Gives the id, and the body with all that was left out of the content.
    pub(super) fn sealed(self) -> (String, Vec<u8>) {
        let id = hash("r1_", &self.content);
        let left_out = self.left_out.iter().map(|left_out| left_out.member.len(&id));
        let mut body = Vec::with_capacity(left_out.fold(self.content.len(), usize::saturating_add));
        let mut from = 0;
        for LeftOut { at, member } in &self.left_out {
            body.extend_from_slice(self.content.get(from..*at).unwrap_or_default());
            member.push(&id, &mut body);
            from = *at;
        }
        body.extend_from_slice(self.content.get(from..).unwrap_or_default());
        (id, body)
    }

    /// Gives how long the content is.
    pub(super) fn len(&self) -> usize {
        self.content.len()
    }

    /// Gives the content alone.
    pub(super) fn into_content(self) -> Vec<u8> {
        self.content
    }

    /// Leaves room for the id.
    pub(super) fn id(&mut self) {
        self.leave_out(Member::Id);
    }

    /// Leaves room for an age.
    #[inline]
    pub(super) fn age(&mut self, ms: u64) {
        self.leave_out(Member::Age(ms));
    }

    /// Leaves room for a latency.
    #[inline]
    pub(super) fn latency(&mut self, ms: u64) {
        self.leave_out(Member::Latency(ms));
    }

    #[inline]
    fn leave_out(&mut self, member: Member) {
        self.left_out.push(LeftOut { at: self.content.len(), member });
    }

    /// Writes JSON as it is.
    #[inline]
    pub(super) fn raw(&mut self, json: &[u8]) {
        self.content.extend_from_slice(json);
    }

    /// Writes again what was written before.
    #[inline]
    pub(super) fn again(&mut self, written: Range<usize>) {
        if written.end <= self.content.len() {
            self.content.extend_from_within(written);
        }
    }

    /// Writes something and gives where it stands.
    #[inline]
    pub(super) fn noted(&mut self, write: impl FnOnce(&mut Self)) -> Range<usize> {
        let from = self.content.len();
        write(self);
        from..self.content.len()
    }

    /// Writes a list: each item by itself, with commas between.
    pub(super) fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.content.push(b'[');
        let mut is_first = true;
        for item in items {
            if !is_first {
                self.content.push(b',');
            }
            is_first = false;
            write(self, item);
        }
        self.content.push(b']');
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        push_str(&mut self.content, text);
    }

    /// Writes a word of ours, in which nothing needs an escape.
    #[inline]
    pub(super) fn word(&mut self, word: &str) {
        self.content.push(b'"');
        self.content.extend_from_slice(word.as_bytes());
        self.content.push(b'"');
    }

    #[inline]
    pub(super) fn flag(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    #[inline]
    pub(super) fn count(&mut self, count: usize) {
        self.whole(u64::try_from(count).unwrap_or(u64::MAX));
    }

    #[inline]
    pub(super) fn whole(&mut self, number: u64) {
        push_u64(&mut self.content, number);
    }

    #[inline]
    pub(super) fn time(&mut self, time: UnixMs) {
        self.times.push(&mut self.content, time);
    }

    #[inline]
    pub(super) fn num(&mut self, number: Num) {
        self.content.push(b'"');
        number.push(&mut self.content);
        self.content.push(b'"');
    }

    #[inline]
    pub(super) fn price(&mut self, price: Price) {
        self.content.push(b'"');
        push_decimal(&mut self.content, price.get());
        self.content.push(b'"');
    }

    #[inline]
    pub(super) fn asset(&mut self, asset: Asset) {
        self.content.push(b'"');
        self.code(asset);
        self.content.push(b'"');
    }

    /// Writes an asset's code without quotes: all sixteen bytes are copied, and what is behind the code cut off.
    #[inline]
    fn code(&mut self, asset: Asset) {
        let (code, len) = asset.padded();
        let end = self.content.len().saturating_add(len);
        self.content.extend_from_slice(code);
        self.content.truncate(end);
    }

    #[inline]
    pub(super) fn pair(&mut self, pair: Pair) {
        self.content.push(b'"');
        self.code(pair.base);
        self.content.push(b'-');
        self.code(pair.quote);
        self.content.push(b'"');
    }

    /// Writes a fraction with all its decimals, rounded before.
    #[inline]
    pub(super) fn fraction(&mut self, negative: bool, number: u128, decimals: u32) {
        self.content.push(b'"');
        crate::text::push_scaled(&mut self.content, negative, number, decimals);
        self.content.push(b'"');
    }

    /// Writes what may not be there.
    #[inline]
    pub(super) fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.raw(b"null"),
        }
    }
}

/// Gives the first characters of a SHA-256, in lower-case base32 (RFC 4648), behind a prefix.
pub(super) fn hash(prefix: &str, content: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let digest = digest(&SHA256, content);
    // Twenty-five digits of five bits are in the first sixteen bytes, which end in the first three bits of the last digit.
    let (first, rest) = digest.as_ref().split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
    let bits = u128::from_be_bytes(*first);
    let last = ((bits as u8) << 2) | (rest.first().copied().unwrap_or_default() >> 6);
    let mut text = [0; HASH_LEN];
    for (at, to) in (0u32..).zip(&mut text) {
        let digit = if at < 25 { (bits >> 123u32.saturating_sub(at.wrapping_mul(5))) as u8 } else { last };
        *to = ALPHABET.get(usize::from(digit & 0x1F)).copied().unwrap_or_default();
    }
    let mut hash = String::with_capacity(prefix.len().saturating_add(HASH_LEN));
    hash.push_str(prefix);
    hash.push_str(str::from_utf8(&text).unwrap_or_default());
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_hash_in_base32() {
        // Of the empty text: e3b0c442 98fc1c14 9afbf4c8 996fb924 27ae…, and of `abc`, ba7816bf 8f01cfea 414140de 5dae2223 b0….
        assert_eq!(hash("r1_", b""), "r1_4oymiquy7qobjgx36tejs35zeq");
        assert_eq!(hash("m1_", b"abc"), "m1_xj4bnp4pahh6uqkbidpf3lrceo");
    }

    #[test]
    fn what_is_left_out_stands_in_the_body_alone() {
        let mut writer = Writer::new(0, 0);
        writer.raw(b"{");
        writer.age(7);
        writer.raw(b"\"ask\":1,");
        writer.id();
        writer.latency(u64::MAX);
        writer.raw(b"\"venue\":2}");
        let content = writer.content.clone();
        assert_eq!(content, b"{\"ask\":1,\"venue\":2}");
        let (id, body) = writer.sealed();
        assert_eq!(id, hash("r1_", &content));
        let want = format!("{{\"age_ms\":7,\"ask\":1,\"id\":\"{id}\",\"latency_ms\":18446744073709551615,\"venue\":2}}");
        assert_eq!((body.len(), body.capacity()), (want.len(), want.len()));
        assert_eq!(String::from_utf8(body).unwrap(), want);
    }
}
