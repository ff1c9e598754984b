//! What the coordinator is told and asked.

use super::Coordinator;
use crate::{
    board::{Published, PublishedRate},
    meter::Port,
    model::{Outcome, Pair},
    terms::Terms,
};
use actix::{Message, Recipient};
use arc_swap::ArcSwapOption;
use std::{sync::Arc, time::Duration};

/// Where the coordinator is reached; empty while it is being rebuilt.
pub(crate) type CoordinatorPort = Arc<ArcSwapOption<Port<Coordinator>>>;

/// Asks for a pair under a caller's terms.
pub(crate) struct Ask {
    pub(crate) pair: Pair,
    pub(crate) terms: Terms,
}

impl Message for Ask {
    type Result = Result<Arc<Published>, AskError>;
}

/// Asks for a pair's rate under a caller's terms.
pub(crate) struct AskRate {
    pub(crate) pair: Pair,
    pub(crate) terms: Terms,
}

impl Message for AskRate {
    type Result = Result<Arc<PublishedRate>, AskError>;
}

/// Says why there is no answer at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// So many rounds began within this second that no further one may.
    #[error("too many rounds in this second, try again in {} ms", retry_after.as_millis())]
    TooManyRounds {
        /// When the next second begins.
        retry_after: Duration,
    },
    /// The coordinator has too much under way.
    #[error("too many requests under way")]
    Overloaded,
    /// The coordinator is being rebuilt.
    #[error("the engine is being rebuilt, try again in a second")]
    Restarting,
    /// Every venue says that it does not list the pair.
    #[error("no venue lists the pair")]
    UnknownPair,
    /// The pair is not configured, and pairs are not served on demand.
    #[error("the pair is not configured")]
    NotConfigured,
    /// The terms name a venue that is not there.
    #[error("no venue {0:?}")]
    NoSuchVenue(String),
}

/// Brings what exchanges learnt without being waited for.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Landed {
    pub(crate) venue: usize,
    pub(crate) outcomes: Vec<(Pair, Outcome)>,
}

/// Subscribes an actor to a pair.
#[derive(Message)]
#[rtype(result = "Result<(), AskError>")]
pub(crate) struct Subscribe {
    pub(crate) pair: Pair,
    pub(crate) to: Recipient<QuoteUpdate>,
}

/// Subscribes an actor to a pair's rate.
#[derive(Message)]
#[rtype(result = "Result<(), AskError>")]
pub(crate) struct SubscribeRate {
    pub(crate) pair: Pair,
    pub(crate) to: Recipient<RateUpdate>,
}

/// Ends the actor, at the engine's shutdown.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Stop;

/// Tells a subscriber that the view of a pair has changed. A subscriber whose mailbox is full misses it and gets a later one: [`crate::Engine::updates_missed`] counts them.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct QuoteUpdate(pub Arc<Published>);

/// Tells a subscriber that a pair has a new receipt: another rate or status, another decision, or a newer quote. One whose mailbox is full misses it, as with
/// [`QuoteUpdate`].
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct RateUpdate(pub Arc<PublishedRate>);
