//! What answers about quotes, venues and pairs look like.

use super::shape::{Member, Object, Shape, member, object};
use quorate_actors::{
    VenueState,
    model::{Phase, Reason, Source},
    venue::TimeOf,
};

const TEXT_OR_NULL: Shape = Shape::OrNull(&Shape::Text);
const DECIMAL_OR_NULL: Shape = Shape::OrNull(&Shape::Decimal);
const TIME_OR_NULL: Shape = Shape::OrNull(&Shape::Time);

pub(super) const REASON: Shape = Shape::Word(|| Reason::ALL.iter().map(|reason| reason.slug()).collect());
pub(super) const SOURCE: Shape = Shape::Word(|| Source::ALL.iter().map(|source| source.slug()).collect());
pub(super) const TIME_OF: Shape = Shape::Word(|| TimeOf::ALL.iter().map(|of| of.slug()).collect());
const DECISION: Shape = Shape::Word(|| std::iter::once("in").chain(Reason::ALL.iter().map(|reason| reason.slug())).collect());

static QUOTE: Object = object(
    "Quote",
    "What one venue says of a pair.",
    &[
        member("venue", Shape::Text, "the venue's id"),
        member("symbol", Shape::Text, "the pair as the venue spells it"),
        member("bid", DECIMAL_OR_NULL, "the best bid"),
        member("bid_size", DECIMAL_OR_NULL, "how much of the base is bid"),
        member("ask", DECIMAL_OR_NULL, "the best ask"),
        member("ask_size", DECIMAL_OR_NULL, "how much of the base is asked"),
        member("last", DECIMAL_OR_NULL, "the last trade's price"),
        member("high", DECIMAL_OR_NULL, "the highest price of the venue's day"),
        member("low", DECIMAL_OR_NULL, "the lowest price of the venue's day"),
        member("open", DECIMAL_OR_NULL, "the first price of the venue's day"),
        member("base_volume", DECIMAL_OR_NULL, "what was traded in the venue's day, in the base"),
        member("quote_volume", DECIMAL_OR_NULL, "what was traded in the venue's day, in the quote currency"),
        member("venue_time", TIME_OR_NULL, "the venue's own time"),
        member("time_of", TIME_OF, "what that is the time of"),
        member("received_time", Shape::Time, "when it came in here"),
        member("age_ms", Shape::Count, "how old it is at the answer's as_of"),
        member("latency_ms", Shape::Count, "how long the venue took to answer"),
        member("source", SOURCE, "on which way it came"),
        member("decision", DECISION, "in, or why it does not count"),
    ],
);

pub(super) static MISS: Object = object(
    "Miss",
    "Why one venue gave nothing.",
    &[
        member("venue", Shape::Text, "the venue's id"),
        member("reason", REASON, "the reason"),
        member("detail", Shape::Text, "the reason in words"),
    ],
);

static VENUE_COUNTS: Object = object(
    "VenueCounts",
    "How many venues there are to an answer: asked is answered and missed together.",
    &[
        member("asked", Shape::Count, "venues that the terms allow and that are not known to lack the pair"),
        member("answered", Shape::Count, "those under quotes"),
        member("missed", Shape::Count, "those under misses"),
    ],
);

pub(super) static QUOTES: Object = object(
    "Quotes",
    "Every venue's quote of a pair, or the reason that it gave none.",
    &[
        member("pair", Shape::Pair, "the pair"),
        member("base", Shape::Text, "its base"),
        member("quote", Shape::Text, "its quote currency"),
        member("status", Shape::Word(|| vec!["complete", "partial"]), "partial where a venue is missing"),
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("as_of", Shape::Time, "the instant at which ages are taken"),
        member("boot", Shape::Text, "names the run of the service that sequence counts in"),
        member("sequence", Shape::Count, "counts what was published of the pair"),
        member("bid", DECIMAL_OR_NULL, "the highest bid of the quotes that count"),
        member("bid_size", DECIMAL_OR_NULL, "its size"),
        member("bid_venue", TEXT_OR_NULL, "its venue"),
        member("ask", DECIMAL_OR_NULL, "the lowest ask of the quotes that count"),
        member("ask_size", DECIMAL_OR_NULL, "its size"),
        member("ask_venue", TEXT_OR_NULL, "its venue"),
        member("mid", DECIMAL_OR_NULL, "the middle of both"),
        member("spread", DECIMAL_OR_NULL, "ask less bid; negative where crossed"),
        member("spread_bps", DECIMAL_OR_NULL, "that in ten-thousandths of mid"),
        member("crossed", Shape::Boolean, "whether the best bid is above the best ask"),
        member("venues", Shape::Object(&VENUE_COUNTS), "how many there are"),
        member("quotes", Shape::List(&Shape::Object(&QUOTE)), "every quote, by venue id"),
        member("misses", Shape::List(&Shape::Object(&MISS)), "every venue that was asked and gave none"),
    ],
);

static QUOTES_ITEM: Object =
    Object { name: "QuotesItem", about: "One pair of a batch that has an answer.", and: Some(&QUOTES), members: &[HTTP_OK], closed: false };

pub(super) const HTTP_OK: Member = member("http_status", Shape::Within(200, 200), "200");

pub(super) static BATCH_OF_QUOTES: Object = object(
    "QuotesBatch",
    "Many pairs' quotes, in the order in which they were asked for.",
    &[
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member(
            "items",
            Shape::List(&Shape::Either(&[Shape::Object(&QUOTES_ITEM), Shape::Object(&super::problem::ITEM)])),
            "for each pair its answer or its problem",
        ),
    ],
);

static PLAN: Object = object(
    "Plan",
    "How a venue is polled.",
    &[
        member("requests", Shape::List(&Shape::Text), "the first requests of a cycle"),
        member("request_count", Shape::Count, "how many there are in a cycle"),
        member("weight", Shape::Count, "what a cycle weighs in the budget"),
        member("interval_ms", Shape::Count, "how often a cycle begins"),
        member("budget_share_permille", Shape::Count, "the share of the budget that this takes, in thousandths"),
    ],
);

static BUDGET: Object = object(
    "Budget",
    "What a venue lets be asked of it.",
    &[member("weight", Shape::Count, "weight in a window"), member("per_ms", Shape::Count, "the window")],
);

static FAULT: Object = object(
    "Fault",
    "What went wrong with a venue last.",
    &[
        member("time", Shape::Time, "when"),
        member("reason", REASON, "the reason"),
        member(
            "phase",
            Shape::OrNull(&Shape::Word(|| {
                [Phase::Resolve, Phase::Connect, Phase::Tls, Phase::Request, Phase::Body].iter().map(|phase| phase.slug()).collect()
            })),
            "how far the request had come",
        ),
        member("detail", Shape::Text, "the reason in words"),
        member("retry_time", TIME_OR_NULL, "when the venue may be asked again, where it said so"),
        member("retryable", Shape::Boolean, "whether asking again may help"),
    ],
);

pub(super) static VENUE: Object = object(
    "Venue",
    "An exchange, and the state that it is in.",
    &[
        member("id", Shape::Text, "the id"),
        member("name", Shape::Text, "the name"),
        member("operator", Shape::Text, "who runs it: one operator has one vote"),
        member("region", TEXT_OR_NULL, "the country whose capital controls wall it off"),
        member("origin", Shape::Text, "where it is asked"),
        member("mirrors", Shape::List(&Shape::Text), "where else"),
        member("simulated", Shape::Boolean, "whether that is a simulation"),
        member("state", Shape::Word(|| VenueState::ALL.iter().map(|state| state.slug()).collect()), "the state"),
        member("since", Shape::Time, "since when"),
        member("restarts", Shape::Count, "how often its actor was rebuilt"),
        member("requests", Shape::Count, "requests sent"),
        member("answers", Shape::Count, "answers read"),
        member("faults", Shape::Map(&Shape::Count), "faults by reason"),
        member("last_answer", TIME_OR_NULL, "when it last answered"),
        member("last_fault", Shape::OrNull(&Shape::Object(&FAULT)), "what went wrong last"),
        member("pairs_quoted", Shape::Count, "pairs of which it has given a quote"),
        member("powers", Shape::List(&Shape::Text), "what it can be asked for"),
        member("time_of", TIME_OF, "what its time is the time of"),
        member("taker", DECIMAL_OR_NULL, "what a taker pays, as a fraction"),
        member("taker_source", TEXT_OR_NULL, "whose word that is"),
        member("taker_read", TEXT_OR_NULL, "when it was read"),
        member("budget", Shape::Object(&BUDGET), "what it lets be asked"),
        member("plan", Shape::Object(&PLAN), "how it is polled"),
        member("docs", Shape::Text, "its documentation"),
    ],
);

pub(super) static VENUES: Object = object(
    "Venues",
    "Every venue, by id.",
    &[
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("venues", Shape::List(&Shape::Object(&VENUE)), "the venues"),
    ],
);

static PAIR: Object = object(
    "PairStatus",
    "A pair that is served.",
    &[
        member("pair", Shape::Pair, "the pair"),
        member("base", Shape::Text, "its base"),
        member("quote", Shape::Text, "its quote currency"),
        member("configured", Shape::Boolean, "whether it is polled; else it is kept on demand"),
        member("required", Shape::Boolean, "whether /readyz waits for it"),
        member("quorum", Shape::Count, "for how many quotes"),
        member("venues_asked", Shape::Count, "venues that are asked for it"),
        member("quotes_admitted", Shape::Count, "quotes that count now"),
        member("ready", Shape::Boolean, "whether those are enough"),
    ],
);

pub(super) static PAIRS: Object = object(
    "Pairs",
    "Every pair that is configured or kept on demand.",
    &[
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("on_demand", Shape::Boolean, "whether other pairs are served, too"),
        member("pairs", Shape::List(&Shape::Object(&PAIR)), "the pairs"),
    ],
);

pub(super) static ALIVE: Object = object(
    "Alive",
    "The process is alive.",
    &[member("status", Shape::Word(|| vec!["ok"]), "ok"), member("simulated", Shape::Boolean, "whether prices come from a simulation")],
);

pub(super) static READY_PAIR: Object = object(
    "ReadyPair",
    "What a required pair has, and needs.",
    &[
        member("pair", Shape::Pair, "the pair"),
        member("have", Shape::Count, "quotes that count"),
        member("need", Shape::Count, "quotes that must"),
        member("ready", Shape::Boolean, "whether it has them"),
    ],
);

pub(super) static READY: Object = object(
    "Ready",
    "Every required pair has its quorum.",
    &[
        member("status", Shape::Word(|| vec!["ready"]), "ready"),
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("pairs", Shape::List(&Shape::Object(&READY_PAIR)), "the required pairs"),
        member("warnings", Shape::List(&Shape::Text), "what an operator should look at"),
    ],
);
