//! What a JSON value looks like, as a value: what OpenAPI says of it is written from that.

use serde_json::{Map, Value, json};

/// Tells what a value may be.
pub(crate) enum Shape {
    Text,
    /// A text with a plain decimal.
    Decimal,
    /// A text with an instant, RFC 3339 in UTC.
    Time,
    Boolean,
    /// A whole number of zero or more.
    Count,
    /// A whole number in a range.
    Within(u64, u64),
    /// A text with a pair in its canonical spelling.
    Pair,
    /// One word of a closed list.
    Word(fn() -> Vec<&'static str>),
    Object(&'static Object),
    List(&'static Shape),
    /// An object with names that are not known beforehand.
    Map(&'static Shape),
    Either(&'static [Shape]),
    OrNull(&'static Shape),
}

/// Holds an object that has a name in the document.
pub(crate) struct Object {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The object whose members it has besides its own.
    pub(crate) and: Option<&'static Object>,
    pub(crate) members: &'static [Member],
    /// Whether a member that is not listed is refused: so of what a caller sends.
    pub(crate) closed: bool,
}

/// Holds one member of an object.
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) about: &'static str,
    /// Whether it may be absent.
    pub(crate) optional: bool,
}

/// Names a member that is always there.
pub(crate) const fn member(name: &'static str, shape: Shape, about: &'static str) -> Member {
    Member { name, shape, about, optional: false }
}

/// Names a member that may be absent.
pub(crate) const fn may_have(name: &'static str, shape: Shape, about: &'static str) -> Member {
    Member { name, shape, about, optional: true }
}

/// Names an object as callers are answered with: it may come to have more members.
pub(crate) const fn object(name: &'static str, about: &'static str, members: &'static [Member]) -> Object {
    Object { name, about, and: None, members, closed: false }
}

/// The pattern of a canonical pair.
const PAIR: &str = "^[A-Z0-9]{1,16}-[A-Z0-9]{1,16}$";

impl Shape {
    /// Writes the JSON Schema of it.
    pub(crate) fn schema(&self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Decimal => json!({"type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?$", "examples": ["67234.12"]}),
            Self::Time => json!({"type": "string", "format": "date-time", "examples": ["2026-11-30T11:00:00.123Z"]}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Count => json!({"type": "integer", "minimum": 0}),
            Self::Within(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Self::Pair => json!({"type": "string", "pattern": PAIR, "examples": ["BTC-USDT"]}),
            Self::Word(words) => json!({"type": "string", "enum": words()}),
            Self::Object(object) => json!({"$ref": format!("#/components/schemas/{}", object.name)}),
            Self::List(of) => json!({"type": "array", "items": of.schema()}),
            Self::Map(of) => json!({"type": "object", "additionalProperties": of.schema()}),
            Self::Either(shapes) => json!({"anyOf": shapes.iter().map(Self::schema).collect::<Vec<_>>()}),
            Self::OrNull(of) => json!({"anyOf": [of.schema(), {"type": "null"}]}),
        }
    }

    /// Says it in a few words, for a person.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Decimal => "decimal text".to_owned(),
            Self::Time => "time".to_owned(),
            Self::Boolean => "true or false".to_owned(),
            Self::Count => "whole number".to_owned(),
            Self::Within(least, most) => format!("whole number, {least} to {most}"),
            Self::Pair => "pair".to_owned(),
            Self::Word(words) => words().join(" · "),
            Self::Object(object) => object.name.to_owned(),
            Self::List(of) => format!("list of {}", of.words()),
            Self::Map(of) => format!("object of {}", of.words()),
            Self::Either(shapes) => shapes.iter().map(Self::words).collect::<Vec<_>>().join(" or "),
            Self::OrNull(of) => format!("{} or null", of.words()),
        }
    }

    /// Calls back with every object that it is made of, and with those of these.
    pub(crate) fn objects(&self, found: &mut Vec<&'static Object>) {
        match self {
            Self::Object(object) => object.objects(found),
            Self::List(of) | Self::Map(of) | Self::OrNull(of) => of.objects(found),
            Self::Either(shapes) => shapes.iter().for_each(|shape| shape.objects(found)),
            _ => {}
        }
    }
}

impl Object {
    /// Gives every member, those of the other object first.
    pub(crate) fn all(&'static self) -> Vec<&'static Member> {
        let mut all = self.and.map(Self::all).unwrap_or_default();
        all.extend(self.members);
        all
    }

    fn objects(&'static self, found: &mut Vec<&'static Self>) {
        if found.iter().any(|known| known.name == self.name) {
            return;
        }
        found.push(self);
        self.all().into_iter().for_each(|member| member.shape.objects(found));
    }

    /// Writes the JSON Schema of it.
    pub(crate) fn schema(&'static self) -> Value {
        let described = |member: &Member| {
            let mut schema = member.shape.schema();
            if let Value::Object(schema) = &mut schema {
                schema.insert("description".to_owned(), member.about.into());
            }
            (member.name.to_owned(), schema)
        };
        let properties: Map<String, Value> = self.all().into_iter().map(described).collect();
        let required: Vec<&str> = self.all().into_iter().filter(|member| !member.optional).map(|member| member.name).collect();
        let mut schema = json!({"type": "object", "description": self.about, "properties": properties, "required": required});
        if self.closed
            && let Value::Object(schema) = &mut schema
        {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        schema
    }
}
