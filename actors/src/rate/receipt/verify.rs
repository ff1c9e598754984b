//! A receipt held against what its own quotes, settings and memory come to.

use super::{
    super::{Num, Status},
    Receipt,
    read::{ReadError, reading, tree, unwrapped},
    tree::Tree,
};
use crate::model::Pair;
use std::{collections::BTreeSet, fmt};

/// Holds what a receipt says that is as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Its id.
    pub id: String,
    /// The pair.
    pub pair: Pair,
    /// What the rate is worth.
    pub status: Status,
    /// The rate.
    pub rate: Option<Num>,
    /// Whether the quotes come from a simulation.
    pub simulated: bool,
}

/// Says why a receipt is not verified.
#[derive(Debug, thiserror::Error)]
pub enum Difference {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// A member is not what the rest comes to.
    #[error("{path} is {said}, recomputed {recomputed}")]
    Member {
        /// Where the first such member stands: `quotes[3].decision`.
        path: String,
        /// What the receipt says.
        said: String,
        /// What it should.
        recomputed: String,
    },
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, pair, status, rate, .. } = self;
        write!(f, "{id} {pair} {}", status.slug())?;
        rate.map_or(Ok(()), |rate| write!(f, " {rate}"))
    }
}

/// Recomputes a receipt from itself alone, and compares all that it says but ages and latencies; a body that has one under `receipt` will do.
///
/// # Errors
/// [`Difference`] naming what cannot be read, or the first member that differs; the id comes last, because everything else is in it.
pub fn verify(body: &[u8]) -> Result<Verified, Difference> {
    let given = tree(body)?;
    let receipt = reading(&given)?.recomputed();
    let bytes = receipt.bytes();
    match first(unwrapped(&given), &tree(&bytes)?, true) {
        Some(Found { steps, said, recomputed }) => {
            let path: String = steps.into_iter().rev().collect();
            Err(Difference::Member { path: path.trim_start_matches('.').to_owned(), said, recomputed })
        }
        None => Ok(verified(receipt)),
    }
}

fn verified(receipt: Receipt) -> Verified {
    let (id, simulated) = (receipt.id().to_owned(), receipt.simulated);
    Verified { id, pair: receipt.outcome.pair, status: receipt.outcome.status, rate: receipt.outcome.rate, simulated }
}

/// The longest name that is shown whole, in characters.
const NAME_MAX: usize = 40;

/// The members that say when and how fast: whole numbers, and nothing follows from them.
const NOT_COMPARED: [&str; 2] = ["age_ms", "latency_ms"];

/// Holds a difference, and the way to it from its end.
struct Found {
    steps: Vec<String>,
    said: String,
    recomputed: String,
}

/// Finds the first difference in the order of the body; that of the id comes last.
fn first(given: &Tree<'_>, again: &Tree<'_>, is_root: bool) -> Option<Found> {
    match (given, again) {
        (Tree::Object(ours), Tree::Object(theirs)) => {
            let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).map(AsRef::as_ref).collect();
            let (last, others): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| is_root && *name == "id");
            others.into_iter().chain(last).find_map(|name| {
                let found = beneath(given.get(name), again.get(name), NOT_COMPARED.contains(&name));
                // Our own names are short and plain; another may be anything.
                let step = || format!(".{}", name.chars().take(NAME_MAX).flat_map(char::escape_debug).collect::<String>());
                found.map(|found| found.at(step()))
            })
        }
        (Tree::List(ours), Tree::List(theirs)) => (0..ours.len().max(theirs.len()))
            .find_map(|at| beneath(ours.get(at), theirs.get(at), false).map(|found| found.at(format!("[{at}]")))),
        _ if given == again => None,
        _ => Some(Found::of(Some(given), Some(again))),
    }
}

fn beneath(given: Option<&Tree<'_>>, again: Option<&Tree<'_>>, is_free: bool) -> Option<Found> {
    match (given, again) {
        (Some(Tree::Whole(_)), Some(Tree::Whole(_))) if is_free => None,
        (Some(given), Some(again)) => first(given, again, false),
        _ => Some(Found::of(given, again)),
    }
}

impl Found {
    fn of(given: Option<&Tree<'_>>, again: Option<&Tree<'_>>) -> Self {
        let shown = |tree: Option<&Tree<'_>>| tree.map_or_else(|| "missing".to_owned(), ToString::to_string);
        Self { steps: Vec::new(), said: shown(given), recomputed: shown(again) }
    }

    fn at(mut self, step: String) -> Self {
        self.steps.push(step);
        self
    }
}
