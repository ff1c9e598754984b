//! What answers look like that follow a rate: best venue, spreads, conversions.

use super::{
    rates::{COUNT_OR_NULL, DECIMAL_OR_NULL, STATUS, STEP, TEXT_OR_NULL},
    shape::{Object, Shape, member, object},
};
use quorate_actors::rate::{How, Side};

const SIDE: Shape = Shape::Word(|| Side::ALL.iter().map(|side| side.slug()).collect());
const LEGS: Shape = Shape::List(&Shape::Object(&LEG));

/// What every answer begins with that is made of a rate.
static DERIVED: Object = object(
    "Derived",
    "What an answer says of the rate that it is made of.",
    &[
        member("pair", Shape::Pair, "the pair"),
        member("base", Shape::Text, "its base"),
        member("quote", Shape::Text, "its quote currency"),
        member("status", STATUS, "what the rate is worth"),
        member("rate", DECIMAL_OR_NULL, "the rate"),
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("as_of", Shape::Time, "the instant at which ages are taken"),
        member("receipt", Shape::Text, "the id of the rate's receipt"),
    ],
);

static EXCLUDED: Object = object(
    "Excluded",
    "A market that has no part.",
    &[
        member("venue", Shape::Text, "the venue's id"),
        member("pair", Shape::Pair, "the market"),
        member("reason", Shape::Text, "the reason"),
    ],
);

static RANKED: Object = object(
    "Ranked",
    "One venue among the others.",
    &[
        member("rank", Shape::Count, "1 is the best"),
        member("venue", Shape::Text, "the venue's id"),
        member("pair", Shape::Pair, "the market"),
        member("price", Shape::Decimal, "its price in the quote currency"),
        member("size", DECIMAL_OR_NULL, "how much there is at it"),
        member("fee", DECIMAL_OR_NULL, "what a taker pays, as a fraction"),
        member("fee_source", TEXT_OR_NULL, "whose word that is"),
        member("fee_read", TEXT_OR_NULL, "when it was read"),
        member("price_after_fee", Shape::Decimal, "the price with the fee"),
        member("covers", Shape::OrNull(&Shape::Boolean), "whether size covers the amount"),
        member("age_ms", Shape::Count, "how old the quote is at as_of"),
        member("quoted_price", DECIMAL_OR_NULL, "the price in the market's own currency"),
        member("path", LEGS, "the conversions on the way from there"),
    ],
);

static LEG: Object = Object {
    name: "Leg",
    about: "One step of the way from one asset to another.",
    and: Some(&STEP),
    members: &[
        member("pair", Shape::Pair, "by this market or rate"),
        member("venue", TEXT_OR_NULL, "at this venue; null where it is our own rate"),
    ],
    closed: false,
};

const RANKS: Shape = Shape::OrNull(&Shape::List(&Shape::Object(&RANKED)));

pub(super) static BEST: Object = Object {
    name: "Best",
    about: "At which venue it is best to buy or to sell.",
    and: Some(&DERIVED),
    members: &[
        member("side", Shape::OrNull(&SIDE), "the side that was asked for"),
        member("amount", DECIMAL_OR_NULL, "the amount that was asked for"),
        member("fees", Shape::Boolean, "whether fees count"),
        member("convert", Shape::Boolean, "whether markets in other currencies count"),
        member("buy", RANKS, "where to buy, the best first"),
        member("sell", RANKS, "where to sell, the best first"),
        member("excluded", Shape::List(&Shape::Object(&EXCLUDED)), "the markets that have no part"),
        member("sweep", Shape::OrNull(&Shape::Text), "null: there are no order books yet"),
    ],
    closed: false,
};

static TOP: Object = object(
    "Top",
    "The top of one venue's book.",
    &[
        member("venue", Shape::Text, "the venue's id"),
        member("bid", Shape::Decimal, "the best bid"),
        member("bid_size", DECIMAL_OR_NULL, "its size"),
        member("ask", Shape::Decimal, "the best ask"),
        member("ask_size", DECIMAL_OR_NULL, "its size"),
        member("fee", DECIMAL_OR_NULL, "what a taker pays, as a fraction"),
        member("fee_source", TEXT_OR_NULL, "whose word that is"),
        member("fee_read", TEXT_OR_NULL, "when it was read"),
        member("age_ms", Shape::Count, "how old the quote is at as_of"),
    ],
);

static CELL: Object = object(
    "Spread",
    "What it comes to, to buy at one venue and to sell at another.",
    &[
        member("buy", Shape::Text, "where to buy"),
        member("sell", Shape::Text, "where to sell"),
        member("gross_bps", DECIMAL_OR_NULL, "without fees, in ten-thousandths"),
        member("net_bps", DECIMAL_OR_NULL, "with fees"),
        member("opportunity", Shape::Boolean, "whether it pays, on quotes that are young enough"),
    ],
);

pub(super) static SPREADS: Object = Object {
    name: "Spreads",
    about: "Every venue's ask against every other's bid.",
    and: Some(&DERIVED),
    members: &[
        member("fees", Shape::Boolean, "whether fees count"),
        member("venues", Shape::List(&Shape::Object(&TOP)), "the venues"),
        member("spreads", Shape::List(&Shape::Object(&CELL)), "the matrix, cell by cell"),
        member("excluded", Shape::List(&Shape::Object(&EXCLUDED)), "the markets that have no part"),
    ],
    closed: false,
};

static THROUGH: Object = object(
    "Through",
    "A way on which quotes came.",
    &[
        member("from", Shape::Text, "from this currency"),
        member("to", TEXT_OR_NULL, "to this one"),
        member("rate", Shape::Decimal, "at this rate"),
        member("path", LEGS, "step by step"),
    ],
);

pub(super) static CONVERT: Object = object(
    "Conversion",
    "An amount of one asset in another.",
    &[
        member("from", Shape::Text, "the asset"),
        member("to", Shape::Text, "the other"),
        member("amount", Shape::Decimal, "how much"),
        member("side", Shape::Word(|| How::ALL.iter().map(|how| how.slug()).collect()), "at the middle, or as one who buys or sells"),
        member("rate", Shape::Decimal, "at this rate"),
        member("result", Shape::Decimal, "how much that is"),
        member("status", STATUS, "what the rate is worth"),
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("as_of", Shape::Time, "the instant at which ages are taken"),
        member("age_ms", COUNT_OR_NULL, "how old the rate is, or the quote that is traded at"),
        member("venue", TEXT_OR_NULL, "the venue that is traded at"),
        member("pair", Shape::OrNull(&Shape::Pair), "the pair whose rate it is"),
        member("receipt", TEXT_OR_NULL, "the id of the rate's receipt"),
        member("path", LEGS, "the way"),
        member("through", Shape::List(&Shape::Object(&THROUGH)), "the ways on which the quotes came that the rate is the middle of"),
    ],
);
