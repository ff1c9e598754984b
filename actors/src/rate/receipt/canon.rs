//! JSON in canonical order, written once: what a hash does not cover is noted beside, and put in when the hash is known.

use crate::{
    model::{Price, UnixMs},
    rate::Num,
    text::{push_scaled, push_str, push_time, push_u64},
};
use ring::digest;

/// How many characters of a hash an id has.
const ID_CHARACTERS: usize = 26;

/// Holds canonical JSON under way, and what is to be put in where: members that the id does not cover, each with the comma after it.
pub(super) struct Canon {
    pub(super) out: Vec<u8>,
    holes: Vec<(usize, Hole)>,
}

pub(super) enum Hole {
    Id,
    Millis(&'static str, u64),
}

/// Gives an id: the first 130 bits of SHA-256 in base32 of RFC 4648, in lower case.
pub(super) fn named(prefix: &str, content: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let hash = digest::digest(&digest::SHA256, content);
    let mut id = String::with_capacity(prefix.len().saturating_add(ID_CHARACTERS));
    id.push_str(prefix);
    let (mut held, mut bits, mut bytes) = (0u32, 0u32, hash.as_ref().iter());
    for _ in 0..ID_CHARACTERS {
        if bits < 5 {
            held = (held << 8) | u32::from(bytes.next().copied().unwrap_or_default());
            bits = bits.saturating_add(8);
        }
        bits = bits.saturating_sub(5);
        let five = (held >> bits) & 31;
        id.push(ALPHABET.get(five as usize).copied().map_or('a', char::from));
    }
    id
}

impl Canon {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { out: Vec::with_capacity(bytes), holes: Vec::with_capacity(64) }
    }

    /// Gives the hash's text of what was written, and that with everything put in.
    pub(super) fn sealed(self, prefix: &str) -> (String, Vec<u8>) {
        let id = named(prefix, &self.out);
        let mut whole = Vec::with_capacity(self.out.len().saturating_add(self.holes.len().saturating_mul(24)).saturating_add(64));
        let mut from = 0;
        for (at, hole) in &self.holes {
            whole.extend_from_slice(self.out.get(from..*at).unwrap_or_default());
            from = *at;
            match hole {
                Hole::Id => {
                    whole.extend_from_slice(b"\"id\":");
                    push_str(&mut whole, &id);
                }
                Hole::Millis(name, ms) => {
                    whole.push(b'"');
                    whole.extend_from_slice(name.as_bytes());
                    whole.extend_from_slice(b"\":");
                    push_u64(&mut whole, *ms);
                }
            }
            whole.push(b',');
        }
        whole.extend_from_slice(self.out.get(from..).unwrap_or_default());
        (id, whole)
    }

    /// Writes a member's name, with a comma before it unless it is the first.
    pub(super) fn name(&mut self, name: &str) {
        if self.out.last() != Some(&b'{') {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    pub(super) fn raw(&mut self, name: &str, json: &[u8]) {
        self.name(name);
        self.out.extend_from_slice(json);
    }

    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        push_str(&mut self.out, text);
    }

    pub(super) fn flag(&mut self, name: &str, value: bool) {
        self.raw(name, if value { b"true" } else { b"false" });
    }

    pub(super) fn count(&mut self, name: &str, count: usize) {
        self.name(name);
        push_u64(&mut self.out, u64::try_from(count).unwrap_or(u64::MAX));
    }

    pub(super) fn time(&mut self, name: &str, time: Option<UnixMs>) {
        match time {
            Some(time) => {
                self.name(name);
                push_time(&mut self.out, time);
            }
            None => self.raw(name, b"null"),
        }
    }

    pub(super) fn num(&mut self, name: &str, number: Option<Num>) {
        match number {
            Some(number) => {
                self.name(name);
                self.out.push(b'"');
                number.push(&mut self.out);
                self.out.push(b'"');
            }
            None => self.raw(name, b"null"),
        }
    }

    pub(super) fn price(&mut self, name: &str, price: Option<Price>) {
        self.num(name, price.map(|price| Num::from(price.get())));
    }

    /// Writes a number of so many decimals, or null.
    pub(super) fn scaled(&mut self, name: &str, negative: bool, number: Option<u128>, decimals: u32) {
        match number {
            Some(number) => {
                self.name(name);
                self.out.push(b'"');
                push_scaled(&mut self.out, negative && number != 0, number, decimals);
                self.out.push(b'"');
            }
            None => self.raw(name, b"null"),
        }
    }

    /// Notes a member that the id does not cover; another follows it in every object that has one.
    pub(super) fn hole(&mut self, hole: Hole) {
        // It is put in behind the comma that the member after it will write.
        let comma = usize::from(self.out.last() != Some(&b'{'));
        self.holes.push((self.out.len().saturating_add(comma), hole));
    }

    pub(super) fn object(&mut self, name: &str, members: impl FnOnce(&mut Self)) {
        self.name(name);
        self.braces(members);
    }

    pub(super) fn braces(&mut self, members: impl FnOnce(&mut Self)) {
        self.out.push(b'{');
        members(self);
        self.out.push(b'}');
    }

    pub(super) fn each<T>(&mut self, name: &str, items: impl Iterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.name(name);
        self.out.push(b'[');
        for (at, one) in items.enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            item(self, one);
        }
        self.out.push(b']');
    }
}
