//! JSON as a receipt has it: no number but whole ones, and no member twice, so that nobody reads another receipt in it than we do.

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use std::{borrow::Cow, collections::BTreeMap, fmt};

/// Holds a JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tree<'a> {
    Null,
    Flag(bool),
    Whole(u64),
    Text(Cow<'a, str>),
    List(Vec<Self>),
    Object(BTreeMap<Cow<'a, str>, Self>),
}

impl Tree<'_> {
    /// Gives a member of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }
}

/// The longest text that is shown whole, in characters.
const SHOWN_MAX: usize = 60;

impl fmt::Display for Tree<'_> {
    /// Writes a value for a person: what is long is cut.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Flag(value) => write!(f, "{value}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Text(text) if text.chars().count() > SHOWN_MAX => write!(f, "{:?}…", text.chars().take(SHOWN_MAX).collect::<String>()),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(items) => write!(f, "a list of {}", items.len()),
            Self::Object(members) => write!(f, "an object of {}", members.len()),
        }
    }
}

impl<'de> Deserialize<'de> for Tree<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Tree<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("null, a boolean, a whole number, a text, a list or an object")
            }

            fn visit_unit<E: Error>(self) -> Result<Tree<'de>, E> {
                Ok(Tree::Null)
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Tree<'de>, E> {
                Ok(Tree::Flag(value))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Tree<'de>, E> {
                Ok(Tree::Whole(number))
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Tree<'de>, E> {
                Ok(Tree::Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Tree<'de>, E> {
                Ok(Tree::Text(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree<'de>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Tree::List(items))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Tree<'de>, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = object.next_entry::<Tree<'de>, Tree<'de>>()? {
                    let Tree::Text(name) = name else { return Err(A::Error::custom("a name that is no text")) };
                    if members.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("member {} twice", Tree::Text(name))));
                    }
                    members.insert(name, value);
                }
                Ok(Tree::Object(members))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Tree<'_>, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_not_read() {
        for (text, says) in [
            (r#"{"a":1,"a":1}"#, "member \"a\" twice"),
            (r#"{"a":{"b":1,"\u0062":2}}"#, "member \"b\" twice"),
            ("[1.0]", "floating point"),
            ("[1e3]", "floating point"),
            ("[-1]", "integer `-1`"),
            ("[18446744073709551616]", "floating point"),
            ("[01]", "invalid number"),
            ("{\"a\":1} 2", "trailing characters"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(read(&"[".repeat(100_000)).unwrap_err().contains("recursion limit"));
    }

    #[test]
    fn values_are_shown_short() {
        let tree = read(r#"[null,true,7,"a\"b",[1,2],{"a":1}]"#).unwrap();
        let Tree::List(items) = &tree else { panic!("{tree}") };
        let shown: Vec<String> = items.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["null", "true", "7", r#""a\"b""#, "a list of 2", "an object of 1"]);
        let long = Tree::Text("é".repeat(90).into());
        assert_eq!(long.to_string().chars().count(), SHOWN_MAX + 3);
    }
}
