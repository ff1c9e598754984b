//! What is known of a venue, as data.

use super::Endpoint;
use std::time::Duration;

/// Describes a venue.
#[derive(Debug)]
pub struct Profile {
    /// The id, as ccxt spells it; also the file's name.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// Who runs it: all venues of one operator have one vote.
    pub operator: &'static str,
    /// The region whose capital controls wall the market off.
    pub region: Option<Region>,
    /// Scheme and host of the API.
    pub origin: &'static str,
    /// Other documented addresses of the same API, in the order in which they are tried.
    pub mirrors: &'static [&'static str],
    /// The taker fee without any discount.
    pub taker: Fee,
    /// What the venue allows for each caller.
    pub budget: Budget,
    /// The largest answer that is read, in bytes, unpacked.
    pub body_max: usize,
    /// What the time in the answer is the time of.
    pub time_of: TimeOf,
    /// What a price is made of: the middle of the book wherever the answer has one.
    pub basis: Basis,
    /// The cheapest documented path (and query), to open a connection ahead; weighed as one request of weight 1.
    pub warm_up: &'static str,
    /// The public documentation.
    pub docs: &'static str,
    /// How it is asked: of each kind, the first is asked, the others are only read.
    pub endpoints: &'static [Endpoint],
}

/// Holds a fee with the day on which it was read.
#[derive(Clone, Copy, Debug)]
pub struct Fee {
    /// The fee as a fraction: `"0.001"` is 10 bps.
    pub rate: &'static str,
    /// The day, `YYYY-MM-DD`.
    pub read: &'static str,
}

/// Holds how much may be asked: `weight` in every `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The sum of the weights of the requests.
    pub weight: u32,
    /// The window.
    pub per: Duration,
}

/// Names a region whose markets are walled off by capital controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Region {
    /// South Korea.
    Kr,
    /// India.
    In,
    /// Turkey.
    Tr,
    /// Argentina.
    Ar,
    /// Nigeria.
    Ng,
}

impl Region {
    /// Every region, with its country's code and the currency behind the wall.
    pub const ALL: [(Self, &'static str, &'static str); 5] =
        [(Self::Kr, "KR", "KRW"), (Self::In, "IN", "INR"), (Self::Tr, "TR", "TRY"), (Self::Ar, "AR", "ARS"), (Self::Ng, "NG", "NGN")];

    /// Gives the region of a country's code; `None` where it has no wall that we know of.
    pub fn by_code(code: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == code).map(|(region, ..)| *region)
    }

    /// Gives the code of its country.
    pub fn code(self) -> &'static str {
        Self::ALL.iter().find(|(region, ..)| *region == self).map_or("", |(_, code, _)| code)
    }

    /// Gives the currency in which its markets are at home.
    pub fn currency(self) -> &'static str {
        Self::ALL.iter().find(|(region, ..)| *region == self).map_or("", |(.., currency)| currency)
    }
}

/// Tells what a venue's price of a market is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The middle between best bid and best ask.
    Mid,
    /// The last trade: the venue's answer has no book.
    Last,
}

impl Basis {
    /// Every basis.
    pub const ALL: [Self; 2] = [Self::Mid, Self::Last];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Mid => "mid",
            Self::Last => "last",
        }
    }
}

/// Tells what the time in an answer is the time of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOf {
    /// The book's last change.
    Book,
    /// The making of the answer.
    Answer,
    /// The last trade: it says nothing about the age of bid and ask.
    Trade,
    /// The answer has no time.
    None,
}

impl TimeOf {
    /// Every meaning.
    pub const ALL: [Self; 4] = [Self::Book, Self::Answer, Self::Trade, Self::None];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Book => "book",
            Self::Answer => "answer",
            Self::Trade => "trade",
            Self::None => "none",
        }
    }
}
