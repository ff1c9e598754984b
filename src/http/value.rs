//! Values of headers, made on the stack: the way of an answer from memory allocates as little as can be.

use actix_web::http::header::HeaderValue;

/// The longest value made here: a request id or a tag.
const ROOM: usize = 64;

/// Holds a short text that grows at its front, as digits are found.
pub(super) struct Short {
    room: [u8; ROOM],
    from: usize,
}

impl Short {
    pub(super) fn new() -> Self {
        Self { room: [0; ROOM], from: ROOM }
    }

    /// Puts a text before what is there; what has no room is left out.
    #[inline]
    pub(super) fn before(mut self, text: &[u8]) -> Self {
        let from = self.from.saturating_sub(text.len());
        if let Some(to) = self.room.get_mut(from..self.from).filter(|to| to.len() == text.len()) {
            to.copy_from_slice(text);
            self.from = from;
        }
        self
    }

    /// Puts the digits of a number before what is there.
    #[inline]
    pub(super) fn number_before(mut self, mut number: u64) -> Self {
        while let Some(place) = self.from.checked_sub(1).and_then(|from| self.room.get_mut(from)) {
            *place = b'0' | (number % 10) as u8;
            self.from = self.from.saturating_sub(1);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self
    }

    #[inline]
    pub(super) fn value(&self) -> HeaderValue {
        let text = self.room.get(self.from..).unwrap_or_default();
        HeaderValue::from_bytes(text).unwrap_or_else(|_| HeaderValue::from_static("invalid"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_grows_at_its_front() {
        assert_eq!(Short::new().before(b"\"").number_before(48211).before(b"-").before(b"7f3a").value(), "7f3a-48211\"");
        assert_eq!(Short::new().number_before(u64::MAX).value(), u64::MAX.to_string().as_str());
        assert_eq!(Short::new().number_before(0).value(), "0");
        assert_eq!(Short::new().before(&[b'a'; 60]).before(&[b'b'; 5]).value(), "a".repeat(60).as_str());
    }
}
