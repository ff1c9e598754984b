//! What answers that are made of a rate look like.

use super::{
    quotes::{HTTP_OK, REASON, SOURCE, TIME_OF},
    shape::{Object, Shape, member, object},
};
use quorate_actors::{
    model::Reason,
    rate::{Class, Label, Made, Status},
};

pub(super) const TEXT_OR_NULL: Shape = Shape::OrNull(&Shape::Text);
pub(super) const DECIMAL_OR_NULL: Shape = Shape::OrNull(&Shape::Decimal);
const TIME_OR_NULL: Shape = Shape::OrNull(&Shape::Time);
pub(super) const COUNT_OR_NULL: Shape = Shape::OrNull(&Shape::Count);

pub(super) const STATUS: Shape = Shape::Word(|| Status::ALL.iter().map(|status| status.slug()).collect());
const DECISION: Shape = Shape::Word(|| {
    let reasons = Reason::ALL.iter().map(|reason| reason.slug());
    std::iter::once("in").chain(reasons).chain(Label::ALL.iter().map(|label| label.slug())).collect()
});
const PATH: Shape = Shape::List(&Shape::Object(&STEP));

pub(super) static STEP: Object = object(
    "Step",
    "One conversion of a path.",
    &[
        member("from", Shape::Text, "from this currency"),
        member("to", Shape::Text, "to this one"),
        member("rate", Shape::Decimal, "at this rate"),
        member("par", Shape::Boolean, "whether the two are declared to be worth the same"),
    ],
);

static RATED_QUOTE: Object = object(
    "RatedQuote",
    "One market's quote, and what was decided on it.",
    &[
        member("venue", Shape::Text, "the venue's id"),
        member("operator", Shape::Text, "who runs it"),
        member("region", TEXT_OR_NULL, "the country whose capital controls wall it off"),
        member("pair", Shape::Pair, "the market"),
        member("bid", DECIMAL_OR_NULL, "the best bid"),
        member("ask", DECIMAL_OR_NULL, "the best ask"),
        member("last", DECIMAL_OR_NULL, "the last trade's price"),
        member("basis", Shape::Text, "what its price is: mid or last"),
        member("converted", DECIMAL_OR_NULL, "its price in the target currency"),
        member("path", PATH, "the conversions on the way there"),
        member("hops", COUNT_OR_NULL, "how many they are"),
        member("decision", DECISION, "in, or why it does not count"),
        member("distance_bps", DECIMAL_OR_NULL, "how far from the median, in ten-thousandths"),
        member("vote", Shape::Boolean, "whether it has part in its operator's vote"),
        member("halted", Shape::Boolean, "whether the venue says that trade is halted"),
        member("venue_time", TIME_OR_NULL, "the venue's own time"),
        member("time_of", TIME_OF, "what that is the time of"),
        member("received_time", Shape::Time, "when it came in here"),
        member("age_ms", Shape::Count, "how old it is at as_of"),
        member("latency_ms", Shape::Count, "how long the venue took to answer"),
        member("source", SOURCE, "on which way it came"),
    ],
);

static MARKET_MISS: Object = object(
    "MarketMiss",
    "Why one market gave nothing.",
    &[
        member("venue", Shape::Text, "the venue's id"),
        member("pair", Shape::Pair, "the market"),
        member("reason", REASON, "the reason"),
        member("detail", Shape::Text, "the reason in words"),
    ],
);

static VOTE: Object = object(
    "Vote",
    "One operator's vote.",
    &[
        member("operator", Shape::Text, "the operator"),
        member("price", Shape::Decimal, "the median of its quotes with the fewest hops"),
        member("hops", Shape::Count, "how many these are"),
        member("decision", DECISION, "in, or why it does not count"),
        member("distance_bps", DECIMAL_OR_NULL, "how far from the median, in ten-thousandths"),
    ],
);

static COUNTS: Object = object(
    "Counts",
    "How many markets and votes there are: asked is received and missed together.",
    &[
        member("asked", Shape::Count, "markets"),
        member("received", Shape::Count, "those with a quote"),
        member("admitted", Shape::Count, "those whose quote counts"),
        member("votes", Shape::Count, "operators"),
        member("survivors", Shape::Count, "those that are no outliers"),
    ],
);

static DISPERSION: Object = object(
    "Dispersion",
    "How far the votes lie apart.",
    &[
        member("mad_ratio", DECIMAL_OR_NULL, "the median distance from the median, as a fraction of that"),
        member("span_bps", DECIMAL_OR_NULL, "from the lowest survivor to the highest, in ten-thousandths"),
    ],
);

static SECTION: Object = object(
    "Section",
    "A rate with what it is made of.",
    &[
        member("pair", Shape::Pair, "the pair"),
        member("status", STATUS, "what the rate is worth"),
        member("rate", DECIMAL_OR_NULL, "the rate"),
        member("median", DECIMAL_OR_NULL, "the median of all votes"),
        member("counts", Shape::Object(&COUNTS), "how many there are"),
        member("dispersion", Shape::Object(&DISPERSION), "how far apart"),
        member("quotes", Shape::List(&Shape::Object(&RATED_QUOTE)), "every quote, with what was decided on it"),
        member("misses", Shape::List(&Shape::Object(&MARKET_MISS)), "every market that gave none"),
        member("votes", Shape::List(&Shape::Object(&VOTE)), "every operator's vote"),
    ],
);

static CONVERSION_RATE: Object = Object {
    name: "ConversionRate",
    about: "A rate between two currencies, made as every rate is.",
    and: Some(&SECTION),
    members: &[member("used", Shape::Boolean, "whether a quote came to the target currency by it")],
    closed: false,
};

static GOOD: Object =
    object("Good", "A rate that was good.", &[member("rate", Shape::Decimal, "the rate"), member("as_of", Shape::Time, "when")]);

static LAST_GOOD: Object = Object {
    name: "LastGood",
    about: "The last good rate.",
    and: Some(&GOOD),
    members: &[member("age_ms", Shape::Count, "how old it is")],
    closed: false,
};

static HOLD: Object = object(
    "Hold",
    "A jump that waits to be confirmed.",
    &[
        member("value", Shape::Decimal, "to where"),
        member("since", Shape::Time, "since when"),
        member("value_since", Shape::Time, "since when to there"),
    ],
);

static MARKET_BEFORE: Object = object(
    "MarketBefore",
    "What was remembered of a market.",
    &[
        member("venue", Shape::Text, "the venue's id"),
        member("pair", Shape::Pair, "the market"),
        member("newest_venue_time", TIME_OR_NULL, "the newest of its own times"),
        member("unchanged_since", TIME_OR_NULL, "since when its numbers are what they are"),
        member("good_then", DECIMAL_OR_NULL, "the last good rate at that time"),
    ],
);

static MARK: Object = object(
    "Mark",
    "What was remembered of an operator that was an outlier.",
    &[
        member("operator", Shape::Text, "the operator"),
        member("put_out", Shape::Boolean, "whether it is out"),
        member("far_since", TIME_OR_NULL, "since when it is far off"),
        member("inside_since", TIME_OR_NULL, "since when it is back"),
        member("last_out", TIME_OR_NULL, "when it was out last"),
    ],
);

static STATE_BEFORE: Object = object(
    "StateBefore",
    "What the rule remembered when this was made.",
    &[
        member("last_good", Shape::OrNull(&Shape::Object(&GOOD)), "the last good rate"),
        member("hold", Shape::OrNull(&Shape::Object(&HOLD)), "a jump that waited"),
        member("markets", Shape::List(&Shape::Object(&MARKET_BEFORE)), "the markets of which something was remembered"),
        member("marks", Shape::List(&Shape::Object(&MARK)), "the operators of which something was remembered"),
    ],
);

static BAND: Object = object(
    "Band",
    "How far from the median a vote may be.",
    &[member("floor", Shape::Decimal, "never less than this fraction"), member("cap", Shape::Decimal, "never more")],
);

static RULES: Object = Object {
    name: "Rules",
    about: "By which settings a rate was made.",
    and: Some(&BAND),
    members: &[
        member("class", Shape::Word(|| Class::ALL.iter().map(|class| class.slug()).collect()), "the pair's class"),
        member("future_max_ms", Shape::Count, "how far ahead a venue's time may be"),
        member("max_age_ms", Shape::Count, "how old a quote may be"),
        member("stale_ms", Shape::Count, "how long the last good rate is given"),
        member("trust_venue_time", Shape::Boolean, "whether venues' times count"),
        member("par", Shape::List(&Shape::Text), "assets that are declared to be worth the same"),
        member("stablecoins", Shape::List(&Shape::Text), "assets whose rates are pegs"),
        member("peg", Shape::Object(&BAND), "the band of pegs"),
        member("other", Shape::Object(&BAND), "the band of other conversions"),
    ],
    closed: false,
};

pub(super) static RATE: Object = Object {
    name: "Rate",
    about: "The rate, and its receipt in one: from it alone the rate can be made again.",
    and: Some(&SECTION),
    members: &[
        member("id", Shape::Text, "the receipt's id: a hash of all the rest"),
        member("base", Shape::Text, "the base"),
        member("quote", Shape::Text, "the quote currency"),
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("as_of", Shape::Time, "when it was made"),
        member("made", Shape::Word(|| Made::ALL.iter().map(|made| made.slug()).collect()), "of what"),
        member("members", Shape::Text, "names the venues, operators and regions that it was made with"),
        member("par", Shape::Boolean, "whether it rests on assets declared to be worth the same"),
        member("held_rate", DECIMAL_OR_NULL, "what the rate would be, while a jump waits to be confirmed"),
        member("last_good", Shape::OrNull(&Shape::Object(&LAST_GOOD)), "the last good rate"),
        member("conversions", Shape::List(&Shape::Object(&CONVERSION_RATE)), "the rates between currencies"),
        member("rules", Shape::Object(&RULES), "the settings"),
        member("state_before", Shape::Object(&STATE_BEFORE), "what the rule remembered"),
    ],
    closed: false,
};

static SHORT_COUNTS: Object = object(
    "ShortCounts",
    "How many votes there are.",
    &[member("votes", Shape::Count, "operators"), member("survivors", Shape::Count, "those that are no outliers")],
);

static SHORT_RATE: Object = object(
    "ShortRate",
    "The rate without the evidence: receipt=short.",
    &[
        member("pair", Shape::Pair, "the pair"),
        member("base", Shape::Text, "its base"),
        member("quote", Shape::Text, "its quote currency"),
        member("status", STATUS, "what the rate is worth"),
        member("rate", DECIMAL_OR_NULL, "the rate"),
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("as_of", Shape::Time, "when it was made"),
        member("age_ms", COUNT_OR_NULL, "how old the oldest quote was that it is made of"),
        member("counts", Shape::Object(&SHORT_COUNTS), "how many votes"),
        member("id", Shape::Text, "the receipt's id"),
    ],
);

/// A rate, whole or short.
pub(super) const ANY_RATE: Shape = Shape::Either(&[Shape::Object(&RATE), Shape::Object(&SHORT_RATE)]);

static RATE_ITEM: Object = Object { name: "RateItem", about: "One rate of a batch.", and: Some(&RATE), members: &[HTTP_OK], closed: false };
static SHORT_RATE_ITEM: Object =
    Object { name: "ShortRateItem", about: "One short rate of a batch.", and: Some(&SHORT_RATE), members: &[HTTP_OK], closed: false };

pub(super) static BATCH_OF_RATES: Object = object(
    "RatesBatch",
    "Many rates, in the order in which they were asked for.",
    &[
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member(
            "items",
            Shape::List(&Shape::Either(&[
                Shape::Object(&RATE_ITEM),
                Shape::Object(&SHORT_RATE_ITEM),
                Shape::Object(&super::problem::ITEM),
            ])),
            "for each pair its rate or its problem",
        ),
    ],
);
