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
    let mut path = String::new();
    match first(unwrapped(&given), &tree(&bytes)?, &mut path) {
        Some((said, recomputed)) => Err(Difference::Member { path, said, recomputed }),
        None => Ok(verified(receipt)),
    }
}

fn verified(receipt: Receipt) -> Verified {
    let (id, simulated) = (receipt.id().to_owned(), receipt.simulated);
    Verified { id, pair: receipt.outcome.pair, status: receipt.outcome.status, rate: receipt.outcome.rate, simulated }
}

/// The members that say when and how fast: whole numbers, and nothing follows from them.
const NOT_COMPARED: [&str; 2] = ["age_ms", "latency_ms"];

/// Finds the first difference in the order of the body, leaves the way to it in `path`, and gives both values.
fn first(given: &Tree<'_>, again: &Tree<'_>, path: &mut String) -> Option<(String, String)> {
    match (given, again) {
        (Tree::Object(ours), Tree::Object(theirs)) => {
            let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).map(AsRef::as_ref).collect();
            let is_id = |name: &&&str| path.is_empty() && **name == "id";
            let (last, others): (Vec<&str>, Vec<&str>) = names.iter().partition(is_id);
            others.into_iter().chain(last).find_map(|name| {
                let dot = if path.is_empty() { "" } else { "." };
                beneath(path, &format!("{dot}{name}"), given.get(name), again.get(name), NOT_COMPARED.contains(&name))
            })
        }
        (Tree::List(ours), Tree::List(theirs)) => {
            (0..ours.len().max(theirs.len())).find_map(|at| beneath(path, &format!("[{at}]"), ours.get(at), theirs.get(at), false))
        }
        _ if given == again => None,
        _ => Some((given.to_string(), again.to_string())),
    }
}

fn beneath(path: &mut String, step: &str, given: Option<&Tree<'_>>, again: Option<&Tree<'_>>, any: bool) -> Option<(String, String)> {
    let before = path.len();
    path.push_str(step);
    let shown = |tree: Option<&Tree<'_>>| tree.map_or_else(|| "missing".to_owned(), ToString::to_string);
    let found = match (given, again) {
        (Some(Tree::Whole(_)), Some(Tree::Whole(_))) if any => None,
        (Some(given), Some(again)) => first(given, again, path),
        _ => Some((shown(given), shown(again))),
    };
    if found.is_none() {
        path.truncate(before);
    }
    found
}
