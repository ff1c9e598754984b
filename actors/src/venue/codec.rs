//! From bytes to borrowed structs: one seam for the JSON libraries, chosen by size and by how the venue writes numbers.
//!
//! Small answers: one UTF-8 check, then `serde_json::from_str` (a quarter faster there than simd-json). Lists: simd-json in place, on a copy that the
//! caller reuses. Neither ever sees a number through a binary float: numbers are kept as their text until [`Num`] reads them.

use crate::model::{Fault, Reason};
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use std::{borrow::Cow, fmt, marker::PhantomData};

/// Holds the buffers of bulk decodes, for reuse.
#[derive(Default)]
pub struct Scratch {
    copy: Vec<u8>,
    simd: simd_json::Buffers,
}

/// Holds an answer's bytes and the scratch to read them with.
pub struct Body<'a> {
    bytes: &'a [u8],
    scratch: &'a mut Scratch,
    plain: bool,
}

impl<'a> Body<'a> {
    /// Binds an answer to the scratch that reads it.
    pub fn new(bytes: &'a [u8], scratch: &'a mut Scratch) -> Self {
        Self { bytes, scratch, plain: false }
    }

    /// Binds an answer to be read as everybody would, by `serde_json::from_slice` whatever its size: what the codec is measured against.
    #[doc(hidden)]
    pub fn plain(bytes: &'a [u8], scratch: &'a mut Scratch) -> Self {
        Self { bytes, scratch, plain: true }
    }

    /// Reads a small answer, or one whose numbers are bare. Nothing is allocated that `T` does not allocate.
    ///
    /// # Errors
    /// `truncated` where the text ends early, else `decode`.
    pub fn small<T: Deserialize<'a>>(&self) -> Result<T, Fault> {
        if self.plain {
            return serde_json::from_slice(self.bytes).map_err(|error| json_fault(&error));
        }
        let text = simdutf8::basic::from_utf8(self.bytes).map_err(|_| Fault::new(Reason::Decode, "not UTF-8"))?;
        serde_json::from_str(text).map_err(|error| json_fault(&error))
    }

    /// Reads a long list whose numbers are text. A list that has other things where text is due fails as a whole: read it with [`Body::small`] then.
    ///
    /// # Errors
    /// `decode`; [`Body::small`] tells more exactly what is wrong.
    pub fn bulk<'b, T: Deserialize<'b>>(&'b mut self) -> Result<T, Fault> {
        if self.plain {
            return serde_json::from_slice(self.bytes).map_err(|error| json_fault(&error));
        }
        let Scratch { copy, simd } = &mut *self.scratch;
        copy.clear();
        copy.extend_from_slice(self.bytes);
        simd_json::serde::from_slice_with_buffers(copy, simd)
            .map_err(|_| Fault::new(Reason::Decode, "not the JSON that the venue documents"))
    }
}

fn json_fault(error: &serde_json::Error) -> Fault {
    if error.is_eof() {
        return Fault::new(Reason::Truncated, "the JSON ends early");
    }
    Fault::said(Reason::Decode, &error.to_string())
}

/// Holds the first `K` elements of a JSON array in place: missing ones are `None`, further ones are passed over, so that a row which grows still reads.
#[derive(Clone, Copy, Debug)]
pub struct Cells<T, const K: usize>(pub [Option<T>; K]);

impl<T, const K: usize> Default for Cells<T, K> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| None))
    }
}

impl<T, const K: usize> Cells<T, K> {
    /// Gives the element at `at`, where there is one.
    pub fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at)?.as_ref()
    }
}

impl<'de, T: Deserialize<'de>, const K: usize> Deserialize<'de> for Cells<T, K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read<T, const K: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const K: usize> Visitor<'de> for Read<T, K> {
            type Value = Cells<T, K>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Cells::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut cells = Cells::default();
                for cell in &mut cells.0 {
                    *cell = list.next_element()?;
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(cells)
            }
        }
        deserializer.deserialize_any(Read(PhantomData))
    }
}

/// Holds the first entry of a JSON object, if any, and passes over the rest.
#[derive(Clone, Debug)]
pub struct FirstEntry<'a, T>(pub Option<(Cow<'a, str>, T)>);

/// Holds every entry of a JSON object, in its order.
#[derive(Clone, Debug)]
pub struct Entries<'a, T>(pub Vec<(Cow<'a, str>, T)>);

macro_rules! read_from_object {
    ($name:ident, $empty:expr, $map:ident => $read:block) => {
        impl<T> Default for $name<'_, T> {
            fn default() -> Self {
                Self($empty)
            }
        }

        impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for $name<'a, T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Read<T>(PhantomData<T>);
                impl<'de, T: Deserialize<'de>> Visitor<'de> for Read<T> {
                    type Value = $name<'de, T>;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }
                    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                        Ok($name::default())
                    }
                    fn visit_map<A: MapAccess<'de>>(self, mut $map: A) -> Result<Self::Value, A::Error> {
                        Ok($name($read))
                    }
                }
                deserializer.deserialize_any(Read(PhantomData))
            }
        }
    };
}

read_from_object!(FirstEntry, None, map => {
    let first = match map.next_key::<Word<'de>>()? {
        Some(Word(key)) => Some((key, map.next_value()?)),
        None => None,
    };
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    first
});
read_from_object!(Entries, Vec::new(), map => {
    let mut entries = Vec::new();
    while let Some((Word(key), value)) = map.next_entry::<Word<'de>, T>()? {
        entries.push((key, value));
    }
    entries
});

/// Holds a text that is borrowed wherever it has no escapes (serde's own `Cow` always copies outside a derived field).
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Word<'a>(#[serde(borrow)] pub Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::venue::{Num, Raw, Text};

    #[derive(Deserialize)]
    struct Row<'a> {
        #[serde(borrow, default)]
        text: Text<'a>,
        #[serde(borrow, default)]
        raw: Raw<'a>,
    }

    fn small(json: &str) -> Result<(Option<String>, Option<String>), Fault> {
        let mut scratch = Scratch::default();
        let row: Row<'_> = Body::new(json.as_bytes(), &mut scratch).small()?;
        Ok((row.text.text().map(str::to_owned), row.raw.text().map(str::to_owned)))
    }

    #[test]
    fn numbers_keep_their_text() {
        let some = |t: &str| Some(t.to_owned());
        assert_eq!(small(r#"{"text":"1.10","raw":2.38E8}"#), Ok((some("1.10"), some("2.38E8"))));
        assert_eq!(small(r#"{"raw":"0.30"}"#), Ok((None, some("0.30"))));
        assert_eq!(small(r#"{"raw":null}"#), Ok((None, None)));
        assert_eq!(small(r#"{"text":1.1}"#).unwrap_err().reason, Reason::Decode);
        assert_eq!(small(r#"{"text":"1.1"#).unwrap_err().reason, Reason::Truncated);
        assert_eq!(small("{\"text\":\"\u{663}\"}").unwrap().0, some("\u{663}"));
    }

    #[test]
    fn bulk_reads_the_same_text() {
        let mut scratch = Scratch::default();
        let mut body = Body::new(br#"[{"text":"1.10"},{"text":null},{"text":""}]"#, &mut scratch);
        #[derive(Deserialize)]
        struct Bulk<'a> {
            #[serde(borrow)]
            text: Text<'a>,
        }
        let rows: Vec<Bulk<'_>> = body.bulk().unwrap();
        assert_eq!(rows.iter().map(|r| r.text.text()).collect::<Vec<_>>(), [Some("1.10"), None, Some("")]);
    }

    #[test]
    fn first_of_many() {
        let mut scratch = Scratch::default();
        let body = Body::new(br#"[7,{"a":1},[]]"#, &mut scratch);
        assert_eq!(body.small::<Cells<Raw<'_>, 2>>().unwrap().0.map(|c| c.and_then(|n| n.int())), [Some(7), None]);
        let body = Body::new(br#"{"a\/b":1,"c":{}}"#, &mut scratch);
        assert_eq!(body.small::<FirstEntry<'_, u8>>().unwrap().0, Some(("a/b".into(), 1)));
    }
}
