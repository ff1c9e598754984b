//! What a refusal looks like.

use super::{
    quotes::{MISS, READY_PAIR},
    rates::{ANY_RATE, COUNT_OR_NULL, DECIMAL_OR_NULL},
    shape::{Object, Shape, may_have, member, object},
};
use crate::error::Code;

const CODE: Shape = Shape::Word(|| Code::ALL.iter().map(|code| code.slug()).collect());

pub(super) static PROBLEM: Object = object(
    "Problem",
    "Why there is no answer: RFC 9457.",
    &[
        member("type", Shape::Text, "names the problem"),
        member("title", Shape::Text, "the sentence that is the same for every occurrence"),
        member("status", Shape::Within(400, 599), "the HTTP status"),
        member("detail", Shape::Text, "names the value and what was expected"),
        member("code", CODE, "the word for it"),
        member("request_id", Shape::Text, "the request's id"),
        member("simulated", Shape::Boolean, "whether prices come from a simulation"),
        member("suggestions", Shape::List(&Shape::Text), "what may have been meant"),
        may_have("misses", Shape::List(&Shape::Object(&MISS)), "where no venue gave a quote, why each did not"),
        may_have("receipt", ANY_RATE, "of a refused rate, the receipt"),
        may_have("last_good", DECIMAL_OR_NULL, "of a refused rate, the last good one"),
        may_have("last_good_age_ms", COUNT_OR_NULL, "its age"),
        may_have("pairs", Shape::List(&Shape::Object(&READY_PAIR)), "where the service is not ready, the required pairs"),
        may_have("warnings", Shape::List(&Shape::Text), "where the service is not ready, what an operator should look at"),
    ],
);

/// One pair of a batch that has no answer.
pub(super) static ITEM: Object = object(
    "ProblemItem",
    "One pair of a batch that has no answer.",
    &[
        member("http_status", Shape::Within(400, 599), "the status that it would have alone"),
        member("pair", Shape::OrNull(&Shape::Text), "what was asked for; null where it may not be repeated"),
        member("status", CODE, "the problem's code"),
        member("error", Shape::Object(&PROBLEM), "the problem"),
    ],
);
