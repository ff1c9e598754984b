//! Numbers as venues write them: bare or as text, and never through a binary float.

use crate::model::{Amount, Fault, NumberError, Price, Reason};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};
use serde_json::value::RawValue;
use std::fmt;

/// A number kept as the text in which it came, so that it is never read through a binary float.
pub trait Num<'a>: Copy {
    /// Gives the text without quotes; `None` for `null` and for what was absent.
    fn text(self) -> Option<&'a str>;

    /// Reads a price; `null`, empty and zero are none.
    ///
    /// # Errors
    /// `decode`, naming the field.
    fn price(self, field: &'static str) -> Result<Option<Price>, Fault> {
        let Some(text) = self.text() else { return Ok(None) };
        Price::parse(text).map_err(|e| number_fault(field, text, e))
    }

    /// Reads a size or a volume; `null` and empty are none.
    ///
    /// # Errors
    /// `decode`, naming the field.
    fn amount(self, field: &'static str) -> Result<Option<Amount>, Fault> {
        let Some(text) = self.text() else { return Ok(None) };
        Amount::parse(text).map_err(|e| number_fault(field, text, e))
    }

    /// Reads a whole number, such as a time or a code; anything else is none.
    fn int(self) -> Option<i64> {
        self.text()?.parse().ok()
    }
}

/// Stands in a row of a list for a number that the row should have and has not. No number is written like that, so that whoever reads it gets a fault:
/// what a row lacks is the fault of that row, and not of the list.
const MISSING: &str = "missing";

/// Tells whether a row's fault is that it lacks a number which rows of its list have: most likely it is a row of another list.
pub fn is_lack(fault: &Fault) -> bool {
    fault.reason == Reason::Decode && fault.detail.ends_with(MISSING)
}

fn number_fault(field: &'static str, text: &str, error: NumberError) -> Fault {
    let fault = |what: &dyn fmt::Display| Fault::new(Reason::Decode, format!("{field}: {what}"));
    if text == MISSING { fault(&MISSING) } else { fault(&error) }
}

/// Holds the text of a number in a list that a venue writes as JSON text; a bare number is refused. Read through [`Body::bulk`] only. Where a field without
/// `#[serde(default)]` is not there, its number is a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text<'a>(Option<&'a str>);

impl<'a> Num<'a> for Text<'a> {
    fn text(self) -> Option<&'a str> {
        self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number written as text")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Some(text)))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Text(None))
            }
            // `null` is a unit to simd-json: none is what serde puts for a field that is not there.
            fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Text(Some(MISSING)))
            }
            fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Self::Value, D::Error> {
                inner.deserialize_str(self)
            }
        }
        deserializer.deserialize_option(Read)
    }
}

/// Holds the text of a number that a venue writes bare or as text, read through [`Body::small`] only. A field without `#[serde(default)]` has to be there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw<'a>(Option<&'a str>);

impl<'a> Num<'a> for Raw<'a> {
    fn text(self) -> Option<&'a str> {
        self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        let text = raw.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(raw);
        Ok(Self(if raw == "null" { None } else { Some(text) }))
    }
}

/// Holds the text of a number in a list that a venue writes bare or as text, read through [`Body::small`] only. Where a field without `#[serde(default)]`
/// is not there, its number is a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bare<'a>(Raw<'a>);

impl<'a> Num<'a> for Bare<'a> {
    fn text(self) -> Option<&'a str> {
        self.0.text()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bare<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Raw::deserialize(deserializer) {
            Ok(raw) => Ok(Self(raw)),
            // serde asks for a field that is not there in the same way, and tells it by the error alone.
            Err(error) if error.to_string().starts_with("missing field") => Ok(Self(Raw(Some(MISSING)))),
            Err(error) => Err(error),
        }
    }
}

/// Holds a whole number, such as a time, that a venue writes bare or as text; `None` for `null` and for a text that is none. Any JSON library reads it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Int(pub Option<i64>);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Int;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Int(Some(number)))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Int(number.try_into().ok()))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Int(text.parse().ok()))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Int(None))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::venue::{Body, Scratch};

    #[test]
    fn in_a_list_a_missing_number_is_a_fault_and_null_is_none() {
        #[derive(Deserialize)]
        struct Row<N> {
            bid: N,
            #[serde(default)]
            size: N,
        }
        fn read<'a, N: Num<'a>>(rows: &[Row<N>]) -> Vec<Result<Option<String>, String>> {
            assert!(rows.iter().all(|row| row.size.amount("size") == Ok(None)));
            let text = |row: &Row<N>| row.bid.price("bid").map(|bid| bid.map(|b| b.to_string())).map_err(|fault| fault.detail.into());
            rows.iter().map(text).collect()
        }
        let (json, mut scratch) = (br#"[{"bid":"1.10"},{"bid":null},{"bid":""},{}]"#, Scratch::default());
        let mut body = Body::new(json, &mut scratch);
        let want = [Ok(Some("1.1".to_owned())), Ok(None), Ok(None), Err("bid: missing".to_owned())];
        assert!(is_lack(&Fault::new(Reason::Decode, "bid: missing")) && !is_lack(&Fault::new(Reason::Decode, "bid: not a number")));
        assert_eq!(read(&body.small::<Vec<Row<Bare<'_>>>>().unwrap()), want);
        assert_eq!(read(&body.bulk::<Vec<Row<Text<'_>>>>().unwrap()), want);
        assert_eq!(body.small::<Vec<Row<Raw<'_>>>>().err().map(|fault| fault.reason), Some(Reason::Decode));
        let odd = Body::new(br#"[{"bid":[1}]"#, &mut scratch);
        assert_eq!(odd.small::<Vec<Row<Bare<'_>>>>().err().map(|fault| fault.reason), Some(Reason::Decode));
    }

    #[test]
    fn whole_numbers_are_read_bare_and_as_text() {
        let mut scratch = Scratch::default();
        let mut body = Body::new(br#"[7,-7,"1700000000000",null,"","x",18446744073709551615]"#, &mut scratch);
        let want = [Some(7), Some(-7), Some(1_700_000_000_000), None, None, None, None];
        assert_eq!(body.small::<Vec<Int>>().unwrap().iter().map(|n| n.0).collect::<Vec<_>>(), want);
        assert_eq!(body.bulk::<Vec<Int>>().unwrap().iter().map(|n| n.0).collect::<Vec<_>>(), want);
    }
}
