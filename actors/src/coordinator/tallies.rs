//! What the coordinator has done, counted over all its lives: counters only go up.

use super::AskError;
use crate::{gather::End, rate::Status};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts on the coordinator's thread, for whoever looks.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    quote_rounds: AtomicU64,
    rate_rounds: AtomicU64,
    refused: AtomicU64,
    memory: AtomicU64,
    all: AtomicU64,
    enough: AtomicU64,
    deadline: AtomicU64,
    /// In the order of [`Status::ALL`].
    receipts: [AtomicU64; Status::ALL.len()],
}

/// Holds what the coordinator has done up to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tallied {
    /// Rounds begun for quotes.
    pub quote_rounds: u64,
    /// Rounds begun for rates, each over all the markets of one.
    pub rate_rounds: u64,
    /// Callers refused because so many rounds had begun in that second.
    pub rounds_refused: u64,
    /// Callers whom what was at hand satisfied once the coordinator read their message.
    pub answered_memory: u64,
    /// Callers who were answered when all were in.
    pub answered_all: u64,
    /// Callers who were answered when enough were in.
    pub answered_enough: u64,
    /// Callers who were answered at their deadline.
    pub answered_deadline: u64,
    /// Receipts made, by status.
    pub receipts: [(Status, u64); Status::ALL.len()],
}

fn one(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

impl Tallies {
    pub(super) fn quote_round(&self) {
        one(&self.quote_rounds);
    }

    pub(super) fn rate_round(&self) {
        one(&self.rate_rounds);
    }

    /// Counts a caller who was refused, if it was for want of rounds.
    pub(super) fn refused(&self, error: &AskError) {
        if matches!(error, AskError::TooManyRounds { .. }) {
            one(&self.refused);
        }
    }

    /// Counts a caller who was answered: by how his wait ended, if he waited.
    pub(super) fn answered(&self, end: Option<End>) {
        one(match end {
            None => &self.memory,
            Some(End::All) => &self.all,
            Some(End::Enough) => &self.enough,
            Some(End::Deadline) => &self.deadline,
        });
    }

    /// Counts a receipt.
    pub(super) fn made(&self, status: Status) {
        let of_status = Status::ALL.iter().zip(&self.receipts).find(|(known, _)| **known == status);
        of_status.into_iter().for_each(|(_, count)| one(count));
    }

    /// Gives the counts of this moment.
    pub(crate) fn now(&self) -> Tallied {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        let mut receipts = Status::ALL.map(|status| (status, 0));
        receipts.iter_mut().zip(&self.receipts).for_each(|((_, count), counter)| *count = get(counter));
        Tallied {
            quote_rounds: get(&self.quote_rounds),
            rate_rounds: get(&self.rate_rounds),
            rounds_refused: get(&self.refused),
            answered_memory: get(&self.memory),
            answered_all: get(&self.all),
            answered_enough: get(&self.enough),
            answered_deadline: get(&self.deadline),
            receipts,
        }
    }
}
