//! Takes the pieces of a body, unpacks them, and never holds more than the limit.
//!
//! awc's own unpacking is left off: it unpacks a whole piece at once whatever that comes to, and hops to another thread for each piece over 2 KB.

use super::fault::truncated;
use crate::model::{Fault, Phase, Reason};
use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

/// Collects one body.
pub(super) struct Intake {
    max: usize,
    declared: Option<u64>,
    received: u64,
    held: Held,
}

enum Held {
    Nothing,
    /// One piece is passed on as it came.
    One(Bytes),
    Many(Capped),
    Packed(Box<MultiGzDecoder<Capped>>),
}

impl Intake {
    /// Begins a body of at most `max` bytes, packed and unpacked; `declared` is its Content-Length, `encoding` its Content-Encoding.
    ///
    /// # Errors
    /// `oversize` where more is announced; `protocol` for an encoding that was not offered.
    pub(super) fn begin(max: usize, declared: Option<u64>, encoding: Option<&[u8]>) -> Result<Self, Fault> {
        if declared.is_some_and(|length| length > width(max)) {
            return Err(oversize());
        }
        let held = match encoding.map(<[u8]>::trim_ascii) {
            None | Some(b"") => Held::Nothing,
            Some(e) if e.eq_ignore_ascii_case(b"identity") => Held::Nothing,
            Some(e) if e.eq_ignore_ascii_case(b"gzip") || e.eq_ignore_ascii_case(b"x-gzip") => {
                Held::Packed(Box::new(MultiGzDecoder::new(Capped::new(max))))
            }
            Some(other) => {
                let text = format!("only gzip was offered, the body is {}", String::from_utf8_lossy(other));
                return Err(Fault::said(Reason::Protocol, &text).in_phase(Phase::Body));
            }
        };
        Ok(Self { max, declared, received: 0, held })
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// `oversize` beyond the limit; `decode` where it does not unpack.
    pub(super) fn push(&mut self, piece: Bytes) -> Result<(), Fault> {
        self.received = self.received.saturating_add(width(piece.len()));
        if self.received > width(self.max) {
            return Err(oversize());
        }
        match &mut self.held {
            Held::Nothing => self.held = Held::One(piece),
            Held::One(first) => {
                let mut all = Capped::new(self.max);
                let whole = self.declared.and_then(|length| usize::try_from(length).ok());
                all.bytes.reserve_exact(whole.unwrap_or(first.len().saturating_add(piece.len())).min(self.max));
                all.write_all(first).and_then(|()| all.write_all(&piece)).map_err(|_| oversize())?;
                self.held = Held::Many(all);
            }
            Held::Many(all) => all.write_all(&piece).map_err(|_| oversize())?,
            Held::Packed(decoder) => {
                if let Err(error) = decoder.write_all(&piece) {
                    return Err(if decoder.get_ref().full { oversize() } else { unpackable(&error) });
                }
            }
        }
        Ok(())
    }

    /// Gives the whole body.
    ///
    /// # Errors
    /// `truncated` where it ends before its Content-Length or inside its packing; as [`Intake::push`] for what comes out of the packing last.
    pub(super) fn finish(self) -> Result<Bytes, Fault> {
        if self.declared.is_some_and(|length| length != self.received) {
            return Err(truncated("the body is shorter than its content-length"));
        }
        match self.held {
            Held::Nothing => Ok(Bytes::new()),
            Held::One(bytes) => Ok(bytes),
            Held::Many(all) => Ok(all.bytes.into()),
            Held::Packed(_) if self.received == 0 => Ok(Bytes::new()),
            Held::Packed(mut decoder) => match decoder.try_finish() {
                Ok(()) => decoder.finish().map(|all| all.bytes.into()).map_err(|error| unpackable(&error)),
                Err(_) if decoder.get_ref().full => Err(oversize()),
                // All bytes are here, so it is the packing that is wrong.
                Err(error) if self.declared.is_some() => Err(unpackable(&error)),
                Err(_) => Err(truncated("the packed body ends early")),
            },
        }
    }
}

/// A buffer that refuses to grow beyond its limit.
struct Capped {
    bytes: Vec<u8>,
    max: usize,
    full: bool,
}

impl Capped {
    fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max, full: false }
    }
}

impl Write for Capped {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let needed = self.bytes.len().saturating_add(piece.len());
        if needed > self.max {
            self.full = true;
            return Err(io::Error::other("over the limit"));
        }
        if needed > self.bytes.capacity() {
            // Doubles as a vector does, but not past the limit.
            let wanted = self.bytes.capacity().saturating_mul(2).clamp(needed, self.max);
            self.bytes.reserve_exact(wanted.saturating_sub(self.bytes.len()));
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn width(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn oversize() -> Fault {
    Fault::new(Reason::Oversize, "the body is larger than the venue's limit").in_phase(Phase::Body)
}

fn unpackable(error: &io::Error) -> Fault {
    Fault::said(Reason::Decode, &format!("the body does not unpack: {error}")).in_phase(Phase::Body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn take(max: usize, declared: Option<u64>, gzip: bool, pieces: &[&[u8]]) -> Result<Bytes, Reason> {
        let reason = |fault: Fault| {
            assert_eq!(fault.phase, Some(Phase::Body));
            fault.reason
        };
        let mut intake = Intake::begin(max, declared, gzip.then_some(b"gzip".as_slice())).map_err(reason)?;
        for piece in pieces {
            intake.push(Bytes::copy_from_slice(piece)).map_err(reason)?;
        }
        intake.finish().map_err(reason)
    }

    #[test]
    fn one_piece_is_passed_on_without_a_copy() {
        let piece = Bytes::from_static(b"{}");
        let mut intake = Intake::begin(2, Some(2), None).unwrap();
        intake.push(piece.clone()).unwrap();
        assert_eq!(intake.finish().unwrap().as_ptr(), piece.as_ptr());
    }

    #[test]
    fn plain_bodies_obey_limit_and_length() {
        assert_eq!(take(6, Some(6), false, &[b"ab", b"cd", b"ef"]).unwrap(), "abcdef");
        assert_eq!(take(6, None, false, &[b"ab", b"cd", b"ef"]).unwrap(), "abcdef");
        assert_eq!(take(6, None, false, &[]).unwrap(), "");
        assert_eq!(take(5, Some(6), false, &[]), Err(Reason::Oversize));
        assert_eq!(take(5, None, false, &[b"abcdef"]), Err(Reason::Oversize));
        assert_eq!(take(5, None, false, &[b"abc", b"def"]), Err(Reason::Oversize));
        assert_eq!(take(9, Some(7), false, &[b"abc", b"def"]), Err(Reason::Truncated));
        assert_eq!(take(9, Some(1), false, &[]), Err(Reason::Truncated));
    }

    #[test]
    fn a_buffer_never_has_room_for_more_than_the_limit() {
        let mut buffer = Capped::new(1000);
        while buffer.write_all(&[7; 90]).is_ok() {
            assert!(buffer.bytes.capacity() <= 1000);
        }
        assert_eq!((buffer.bytes.len(), buffer.full), (990, true));
    }

    #[test]
    fn packed_bodies_obey_limit_and_length_too() {
        let text = br#"{"a":1}"#.repeat(300);
        let gzip = packed(&text);
        let length = Some(width(gzip.len()));
        let (head, tail) = gzip.split_at(9);
        assert_eq!(take(text.len(), length, true, &[head, tail]).unwrap(), text);
        assert_eq!(take(text.len(), None, true, &[&gzip, &gzip[..0]]).unwrap(), text);
        assert_eq!(take(text.len() - 1, length, true, &[&gzip]), Err(Reason::Oversize));
        assert_eq!(take(gzip.len() - 1, None, true, &[&gzip]), Err(Reason::Oversize));
        assert_eq!(take(text.len(), length, true, &[head]), Err(Reason::Truncated));
        for end in 1..gzip.len() {
            assert_eq!(take(text.len(), None, true, &[&gzip[..end]]), Err(Reason::Truncated), "{end}");
        }
        let mut changed = gzip.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert_eq!(take(text.len(), length, true, &[&changed]), Err(Reason::Decode));
        assert_eq!(take(100, None, true, &[b"{\"not\": \"gzip\"}"]), Err(Reason::Decode));
        assert_eq!(take(100, Some(0), true, &[]).unwrap(), "");
    }

    #[test]
    fn two_members_are_one_body_and_a_bomb_stops_at_the_limit() {
        let twice = [packed(b"[1,"), packed(b"2]")].concat();
        assert_eq!(take(99, None, true, &[&twice]).unwrap(), "[1,2]");
        let bomb = packed(&vec![b' '; 50 << 20]);
        let mut intake = Intake::begin(1 << 20, None, Some(b"GZIP")).unwrap();
        let fault = bomb.chunks(4096).find_map(|piece| intake.push(Bytes::copy_from_slice(piece)).err()).unwrap();
        assert_eq!(fault.reason, Reason::Oversize);
        let Held::Packed(decoder) = &intake.held else { panic!("not packed") };
        assert!(decoder.get_ref().bytes.capacity() <= 1 << 20);
    }

    #[test]
    fn other_encodings_were_not_offered() {
        assert_eq!(Intake::begin(9, None, Some(b"br")).err().unwrap().reason, Reason::Protocol);
        assert!(Intake::begin(9, None, Some(b" Identity ")).is_ok());
    }
}
