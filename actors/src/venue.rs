//! What a venue is: data, and pure functions of bytes.
//!
//! Nothing here reads a clock, logs, or does I/O. A decode returns for any input and never panics.
#![warn(clippy::disallowed_types)]

mod change;
mod codec;
mod endpoint;
mod member;
mod number;
mod profile;
mod read;

pub use change::Change;
pub use codec::{Body, Cells, Entries, FirstEntry, Scratch, Word};
pub use endpoint::{ANY, Endpoint, Kind, Reach, SymbolList, percent_decoded, route};
pub use member::Member;
pub use number::{Bare, Int, Num, Raw, Text, is_lack};
pub use profile::{Basis, Budget, Fee, Profile, Region, TimeOf};
pub use read::{read, reason_of_code, refusal_of_status, split_by_quote};

use crate::model::{Fault, Pair, Reason, Ticker};

/// Speaks one exchange's dialect: a [`Profile`] as data, and pure functions that spell, read and write it.
///
/// A host application adds its own venue by implementing this; see `actors/examples/embed.rs`.
pub trait Venue: Send + Sync + 'static {
    /// Gives what is known of the venue.
    fn profile(&self) -> &Profile;

    /// Gives scheme and host, and possibly a path, that every request starts with.
    fn origin(&self) -> &str {
        self.profile().origin
    }

    /// Spells a pair as requests name it.
    fn spell(&self, pair: &Pair) -> String;

    /// Gives the other spellings in which answers may name the pair.
    fn aliases(&self, _pair: &Pair) -> Vec<String> {
        Vec::new()
    }

    /// Reads a symbol without a market list, as well as that can be done; `None` for what is no spot market.
    /// The engine never needs it: it matches pairs by spelling them.
    fn read_symbol(&self, symbol: &str) -> Option<Pair>;

    /// Reads the rows of an answer with HTTP status 2xx into the sink.
    ///
    /// # Errors
    /// A [`Fault`] for the whole answer: the venue's own refusal, typed, or `truncated`, `empty`, `decode`. What is wrong with a single row of many is that row's fault.
    fn decode(&self, endpoint: &Endpoint, body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
        (endpoint.decode)(body, sink)
    }

    /// Reads what the venue says in an answer that is no success; `None` where the body says nothing that is known.
    fn said(&self, status: u16, body: &[u8]) -> Option<Fault>;

    /// Writes a refusal in the venue's own dialect, for the simulation: HTTP status and body. `None` where the venue has no words of its own for that.
    fn refuse(&self, _reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        None
    }
}

/// A row of the table is a venue like any other.
impl<V: Venue + ?Sized> Venue for &'static V {
    fn profile(&self) -> &Profile {
        (**self).profile()
    }
    fn origin(&self) -> &str {
        (**self).origin()
    }
    fn spell(&self, pair: &Pair) -> String {
        (**self).spell(pair)
    }
    fn aliases(&self, pair: &Pair) -> Vec<String> {
        (**self).aliases(pair)
    }
    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        (**self).read_symbol(symbol)
    }
    fn decode(&self, endpoint: &Endpoint, body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
        (**self).decode(endpoint, body, sink)
    }
    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        (**self).said(status, body)
    }
    fn refuse(&self, reason: Reason, symbol: &str) -> Option<(u16, String)> {
        (**self).refuse(reason, symbol)
    }
}

/// Takes the rows of an answer: the symbol as the answer names it (`None` where it does not), and a function that reads the row, called only for rows that are wanted.
pub type Sink<'s> = &'s mut dyn FnMut(Option<&str>, &dyn Fn() -> Result<Ticker, Fault>);

/// Holds one row to be written in a venue's dialect, for the simulation.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The venue's spelling.
    pub symbol: &'a str,
    /// The pair.
    pub pair: &'a Pair,
    /// What to write; the simulation fills every field.
    pub ticker: &'a Ticker,
}

/// Writes a number as the simulation's dialects do: plain, and `0` where there is none.
pub fn text<T: std::fmt::Display>(number: Option<T>) -> String {
    number.map_or_else(|| "0".to_owned(), |n| n.to_string())
}

/// Writes rows as a JSON array.
pub fn json_list(rows: &[Row<'_>], write: fn(&Row<'_>) -> String) -> String {
    format!("[{}]", rows.iter().map(write).collect::<Vec<_>>().join(","))
}
