//! Values as JSON, field by field, for bodies that are made again and again: names of fields are pushed as they stand, where a general library looks through each
//! for what needs an escape. Every field of a struct is written or said to be left out, or the build fails.

use super::{push_str, push_u64};
use serde::Serialize;
use std::collections::BTreeMap;

/// Pushes itself as JSON.
pub(crate) trait Json {
    fn push(&self, out: &mut Vec<u8>);
}

/// Pushes the members of a JSON object, each with a comma behind it.
pub(crate) trait Members {
    fn push_members(&self, out: &mut Vec<u8>);
}

/// Pushes a JSON object of these members.
pub(crate) fn push_object(out: &mut Vec<u8>, members: &impl Members) {
    between(out, [b'{', b'}'], |out| members.push_members(out));
}

/// Pushes what has a comma behind each of its parts, between brackets.
fn between(out: &mut Vec<u8>, [open, close]: [u8; 2], parts: impl FnOnce(&mut Vec<u8>)) {
    out.push(open);
    parts(out);
    match out.last_mut().filter(|last| **last == b',') {
        Some(last) => *last = close,
        None => out.push(close),
    }
}

/// Writes structs: `Name { fields; fields that are left out }`.
macro_rules! objects {
    ($($name:ident $(<$life:lifetime>)? { $($field:ident),+ $(; $($left:ident),+)? })+) => { $(
        impl $(<$life>)? $crate::wire::object::Members for $name $(<$life>)? {
            #[inline]
            fn push_members(&self, out: &mut Vec<u8>) {
                let Self { $($field,)+ $($($left: _,)+)? } = self;
                $(
                    out.extend_from_slice(concat!("\"", stringify!($field), "\":").as_bytes());
                    $crate::wire::object::Json::push($field, out);
                    out.push(b',');
                )+
            }
        }

        impl $(<$life>)? $crate::wire::object::Json for $name $(<$life>)? {
            fn push(&self, out: &mut Vec<u8>) {
                $crate::wire::object::push_object(out, self);
            }
        }
    )+ };
}
pub(crate) use objects;

impl Json for u64 {
    fn push(&self, out: &mut Vec<u8>) {
        push_u64(out, *self);
    }
}

impl Json for u32 {
    fn push(&self, out: &mut Vec<u8>) {
        push_u64(out, u64::from(*self));
    }
}

impl Json for usize {
    fn push(&self, out: &mut Vec<u8>) {
        push_u64(out, *self as u64);
    }
}

impl Json for i64 {
    fn push(&self, out: &mut Vec<u8>) {
        if *self < 0 {
            out.push(b'-');
        }
        push_u64(out, self.unsigned_abs());
    }
}

impl Json for bool {
    fn push(&self, out: &mut Vec<u8>) {
        super::push_bool(out, *self);
    }
}

impl Json for str {
    fn push(&self, out: &mut Vec<u8>) {
        push_str(out, self);
    }
}

impl Json for String {
    fn push(&self, out: &mut Vec<u8>) {
        push_str(out, self);
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn push(&self, out: &mut Vec<u8>) {
        (**self).push(out);
    }
}

impl<T: Json> Json for Option<T> {
    fn push(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.push(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

impl<T: Json> Json for [T] {
    fn push(&self, out: &mut Vec<u8>) {
        between(out, [b'[', b']'], |out| {
            for value in self {
                value.push(out);
                out.push(b',');
            }
        });
    }
}

impl<T: Json> Json for Vec<T> {
    fn push(&self, out: &mut Vec<u8>) {
        self.as_slice().push(out);
    }
}

impl<T: Json> Json for BTreeMap<&'static str, T> {
    fn push(&self, out: &mut Vec<u8>) {
        between(out, [b'{', b'}'], |out| {
            for (name, value) in self {
                push_str(out, name);
                out.push(b':');
                value.push(out);
                out.push(b',');
            }
        });
    }
}

/// Pushes by serde what is seldom written.
pub(crate) struct Seldom<T>(pub(crate) T);

impl<T: Serialize> Json for Seldom<T> {
    fn push(&self, out: &mut Vec<u8>) {
        // Writing to a vector does not fail, and values of ours have text keys.
        let _ = serde_json::to_writer(out, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row<'a> {
        name: &'a str,
        count: u64,
        before: i64,
        is_so: bool,
        none: Option<u32>,
        list: Vec<usize>,
        by: BTreeMap<&'static str, u64>,
        inner: Seldom<Vec<&'static str>>,
        hidden: u8,
    }

    struct Empty;

    impl Json for Empty {
        fn push(&self, out: &mut Vec<u8>) {
            push_object(out, self);
        }
    }

    impl Members for Empty {
        fn push_members(&self, _: &mut Vec<u8>) {}
    }

    objects! {
        Row<'a> { name, count, before, is_so, none, list, by, inner; hidden }
    }

    #[test]
    fn every_kind_of_value_is_json() {
        let row = Row {
            name: "a\"b\n,",
            count: u64::MAX,
            before: -7,
            is_so: true,
            none: None,
            list: vec![1, 2],
            by: BTreeMap::from([("x", 1), ("y,", 2)]),
            inner: Seldom(vec!["z"]),
            hidden: 3,
        };
        let text = |value: &dyn Json| {
            let mut out = Vec::new();
            value.push(&mut out);
            String::from_utf8(out).unwrap()
        };
        let want = r#"{"name":"a\"b\n,","count":18446744073709551615,"before":-7,"is_so":true,"none":null,"list":[1,2],"by":{"x":1,"y,":2},"inner":["z"]}"#;
        assert_eq!((text(&row).as_str(), row.hidden), (want, 3));
        assert_eq!([text(&Vec::<u64>::new()), text(&BTreeMap::<&str, u64>::new()), text(&Empty)], ["[]", "{}", "{}"]);
    }
}
