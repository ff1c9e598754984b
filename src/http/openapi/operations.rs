//! What each public route does, takes and answers.

use super::{
    derived::{BEST, CONVERT, SPREADS},
    quotes::{ALIVE, BATCH_OF_QUOTES, PAIRS, QUOTES, READY, VENUE, VENUES},
    rates::{ANY_RATE, BATCH_OF_RATES, RATE},
    shape::Shape,
};
use crate::{
    error::Code,
    http::{
        batch, best, convert, page, rates, spreads,
        terms::{Own, Takes},
    },
};

/// Holds one method of one route.
pub(crate) struct Operation {
    pub(crate) path: &'static str,
    pub(crate) method: &'static str,
    pub(crate) id: &'static str,
    pub(crate) group: Group,
    pub(crate) about: &'static str,
    /// What stands for `{…}`, with an example.
    pub(crate) captured: Option<(&'static str, &'static str)>,
    /// Which terms the query takes, and what besides.
    pub(crate) takes: Option<Takes>,
    /// What the query takes where it takes no terms.
    pub(crate) own: &'static [Own],
    /// Whether a JSON body takes the same instead.
    pub(crate) body: bool,
    pub(crate) answer: Answer,
    /// Whether the answer has a tag, and 304 confirms it.
    pub(crate) tagged: bool,
    /// The problems that are its own; those of every route come on top.
    pub(crate) problems: &'static [Code],
    /// A query with which a person may try it.
    pub(crate) example: &'static str,
}

/// Tells what the body of an answer is.
pub(crate) enum Answer {
    Json(Shape),
    /// Something else, of this media type.
    Other(&'static str),
}

/// Names what routes have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Quotes,
    Rates,
    Trading,
    Service,
}

impl Group {
    /// Every group, in the order in which they are shown, with its name and what it is about.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Quotes, "Quotes", "What each exchange says now, or why it says nothing."),
        (Self::Rates, "Rates", "The rate that can be trusted, with its receipt, or a plain refusal."),
        (Self::Trading, "Best venue", "Where it is best to trade, what it comes to, and an amount of one asset in another."),
        (Self::Service, "Service", "What is there, in which state it is, and these pages."),
    ];
}

/// The problems of every route.
pub(super) const COMMON: &[Code] =
    &[Code::BadRequest, Code::UnknownParameter, Code::MethodNotAllowed, Code::RequestTimeout, Code::HeadTooLarge, Code::Internal];

const OF_TERMS: &[Code] = &[
    Code::InvalidPair,
    Code::InvalidParameter,
    Code::DuplicateParameter,
    Code::UnknownPair,
    Code::TooManyRounds,
    Code::NoQuotes,
    Code::Overloaded,
    Code::Restarting,
    Code::Deadline,
];
const OF_RATES: &[Code] = &[
    Code::InvalidPair,
    Code::InvalidParameter,
    Code::DuplicateParameter,
    Code::UnknownPair,
    Code::TooManyRounds,
    Code::Inconsistent,
    Code::Unavailable,
    Code::Held,
    Code::Stale,
    Code::InsufficientSources,
    Code::Overloaded,
    Code::Restarting,
];
const OF_CONVERT: &[Code] = &[
    Code::InvalidParameter,
    Code::DuplicateParameter,
    Code::MissingParameter,
    Code::UnknownPair,
    Code::TooManyRounds,
    Code::NoQuotes,
    Code::Inconsistent,
    Code::Unavailable,
    Code::Held,
    Code::Stale,
    Code::InsufficientSources,
    Code::Overloaded,
    Code::Restarting,
];
const OF_BATCH: &[Code] = &[Code::InvalidParameter, Code::DuplicateParameter, Code::MissingParameter, Code::TooManyPairs];
const OF_BODY: &[Code] = &[
    Code::InvalidParameter,
    Code::DuplicateParameter,
    Code::MissingParameter,
    Code::TooManyPairs,
    Code::InvalidBody,
    Code::BodyTooLarge,
    Code::UnsupportedMediaType,
];

/// The terms alone.
const TERMS: Takes = Takes { pairs: false, own: &[] };

const PAIR: Option<(&str, &str)> =
    Some(("a pair: BASE-QUOTE in any case, with - or _ or :, or as one word where a pair of that name is served", "BTC-USD"));

const BLANK: Operation = Operation {
    path: "",
    method: "get",
    id: "",
    group: Group::Service,
    about: "",
    captured: None,
    takes: None,
    own: &[],
    body: false,
    answer: Answer::Other("text/plain"),
    tagged: false,
    problems: &[],
    example: "",
};

/// Every public operation.
pub(crate) static OPERATIONS: &[Operation] = &[
    Operation {
        path: "/v1/quotes/{pair}",
        id: "quotes",
        group: Group::Quotes,
        about: "Gives every exchange's quote of a pair, the best bid and ask, and for each exchange that gave none the reason.",
        captured: Some((
            "a pair: BASE-QUOTE in any case, with - or _ or :, or as one word where a pair of that name is served",
            "BTC-USDT",
        )),
        takes: Some(TERMS),
        answer: Answer::Json(Shape::Object(&QUOTES)),
        tagged: true,
        problems: OF_TERMS,
        ..BLANK
    },
    Operation {
        path: "/v1/quotes",
        id: "quotesOfMany",
        group: Group::Quotes,
        about: "Gives the quotes of many pairs, a problem per pair instead of one for all.",
        takes: Some(batch::QUOTES_TAKE),
        answer: Answer::Json(Shape::Object(&BATCH_OF_QUOTES)),
        problems: OF_BATCH,
        example: "pairs=BTC-USDT,ETH-USD",
        ..BLANK
    },
    Operation {
        path: "/v1/quotes",
        method: "post",
        id: "quotesOfManyByPost",
        group: Group::Quotes,
        about: "Gives the quotes of many pairs, asked for by a JSON object of the same terms.",
        takes: Some(batch::QUOTES_TAKE),
        body: true,
        answer: Answer::Json(Shape::Object(&BATCH_OF_QUOTES)),
        problems: OF_BODY,
        ..BLANK
    },
    Operation {
        path: "/v1/rates/{pair}",
        id: "rate",
        group: Group::Rates,
        about: "Gives the reference rate of a pair with its receipt; refused with 503, and the receipt all the same, where it cannot be trusted.",
        captured: PAIR,
        takes: Some(rates::TAKES),
        answer: Answer::Json(ANY_RATE),
        tagged: true,
        problems: OF_RATES,
        ..BLANK
    },
    Operation {
        path: "/v1/rates",
        id: "ratesOfMany",
        group: Group::Rates,
        about: "Gives the rates of many pairs, a problem per pair instead of one for all.",
        takes: Some(batch::RATES_TAKE),
        answer: Answer::Json(Shape::Object(&BATCH_OF_RATES)),
        problems: OF_BATCH,
        example: "pairs=BTC-USD,ETH-EUR&receipt=short",
        ..BLANK
    },
    Operation {
        path: "/v1/receipts/{id}",
        id: "receipt",
        group: Group::Rates,
        about: "Gives a past receipt again, as long as it is kept: a day.",
        captured: Some(("a receipt's id, as a rate was given with it", "r1_gya72eoypavoni7mhuwi2pfbvv")),
        answer: Answer::Json(Shape::Object(&RATE)),
        tagged: true,
        problems: &[Code::UnknownReceipt, Code::ReceiptExpired],
        ..BLANK
    },
    Operation {
        path: "/v1/best/{pair}",
        id: "best",
        group: Group::Trading,
        about: "Ranks the exchanges by their price, with fees or without, for one who buys and one who sells.",
        captured: PAIR,
        takes: Some(best::TAKES),
        answer: Answer::Json(Shape::Object(&BEST)),
        tagged: true,
        problems: OF_RATES,
        example: "side=buy&amount=0.5&fees=true",
        ..BLANK
    },
    Operation {
        path: "/v1/spreads/{pair}",
        id: "spreads",
        group: Group::Trading,
        about: "Gives what it comes to, to buy at each exchange and to sell at each other.",
        captured: PAIR,
        takes: Some(spreads::TAKES),
        answer: Answer::Json(Shape::Object(&SPREADS)),
        tagged: true,
        problems: OF_RATES,
        ..BLANK
    },
    Operation {
        path: "/v1/convert",
        id: "convert",
        group: Group::Trading,
        about: "Gives an amount of one asset in another, with the way.",
        takes: Some(convert::TAKES),
        answer: Answer::Json(Shape::Object(&CONVERT)),
        tagged: true,
        problems: OF_CONVERT,
        example: "from=BTC&to=EUR&amount=0.5",
        ..BLANK
    },
    Operation {
        path: "/v1/venues",
        id: "venues",
        about: "Lists the exchanges with their states.",
        answer: Answer::Json(Shape::Object(&VENUES)),
        ..BLANK
    },
    Operation {
        path: "/v1/venues/{id}",
        id: "venue",
        about: "Shows one exchange.",
        captured: Some(("an exchange's id", "kraken")),
        answer: Answer::Json(Shape::Object(&VENUE)),
        problems: &[Code::UnknownVenue],
        ..BLANK
    },
    Operation {
        path: "/v1/pairs",
        id: "pairs",
        about: "Lists the pairs that are served.",
        answer: Answer::Json(Shape::Object(&PAIRS)),
        ..BLANK
    },
    Operation {
        path: "/",
        id: "page",
        about: "Shows a person what the exchanges say of a pair, and its rate. A refusal is a page, too.",
        own: page::OWN,
        answer: Answer::Other("text/html"),
        problems: OF_TERMS,
        ..BLANK
    },
    Operation {
        path: "/assets/{name}",
        id: "asset",
        about: "Gives a file of that page.",
        captured: Some(("the file's name", "app.js")),
        answer: Answer::Other("*/*"),
        tagged: true,
        problems: &[Code::NotFound],
        ..BLANK
    },
    Operation {
        path: "/healthz",
        id: "alive",
        about: "Answers as long as there is a process.",
        answer: Answer::Json(Shape::Object(&ALIVE)),
        ..BLANK
    },
    Operation {
        path: "/readyz",
        id: "ready",
        about: "Answers 200 once every required pair has its quorum, else 503.",
        answer: Answer::Json(Shape::Object(&READY)),
        problems: &[Code::NotReady],
        ..BLANK
    },
    Operation {
        path: "/openapi.json",
        id: "openapi",
        about: "Gives this description.",
        answer: Answer::Other("application/json"),
        ..BLANK
    },
    Operation { path: "/docs", id: "docs", about: "Shows it to a person.", answer: Answer::Other("text/html"), ..BLANK },
    Operation { path: "/docs/style.css", id: "docsStyle", about: "Gives the look of that.", answer: Answer::Other("text/css"), ..BLANK },
];
