//! One vote per operator: the median of its nearest quotes.

use super::{Num, median};
use std::sync::Arc;

/// Names who runs a venue, or several.
pub type Operator = Arc<str>;

/// Holds what one operator says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    /// The operator.
    pub operator: Operator,
    /// The price that it votes for.
    pub price: Num,
    /// How many conversion rates stand between its quotes and the vote.
    pub hops: usize,
}

/// Holds one admitted price on the way to a vote.
#[derive(Clone, Debug)]
pub(super) struct Ballot<'a> {
    pub(super) operator: &'a Operator,
    pub(super) hops: usize,
    pub(super) price: Num,
}

/// Makes the votes, sorted by operator: of each the median of its prices with the fewest conversions.
pub(super) fn votes(mut ballots: Vec<Ballot<'_>>) -> Vec<Vote> {
    ballots.sort_by(|a, b| (a.operator, a.hops, a.price).cmp(&(b.operator, b.hops, b.price)));
    let of_each = ballots.chunk_by(|a, b| a.operator == b.operator);
    let vote = |own: &[Ballot<'_>]| {
        let first = own.first()?;
        let nearest: Vec<Num> = own.iter().take_while(|b| b.hops == first.hops).map(|b| b.price).collect();
        Some(Vote { operator: Arc::clone(first.operator), price: median(&nearest)?, hops: first.hops })
    };
    of_each.filter_map(vote).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_has_one_vote_made_of_its_nearest_quotes() {
        let [a, b]: [Operator; 2] = ["a".into(), "b".into()];
        let ballot = |operator, hops, price: u64| Ballot { operator, hops, price: Num::new(price, 0) };
        let made = votes(vec![ballot(&b, 1, 9), ballot(&a, 1, 50), ballot(&a, 0, 12), ballot(&a, 0, 10), ballot(&b, 2, 1)]);
        let vote = |operator: &Operator, price, hops| Vote { operator: Arc::clone(operator), price: Num::new(price, 0), hops };
        assert_eq!(made, [vote(&a, 11, 0), vote(&b, 9, 1)]);
        assert_eq!(votes(Vec::new()), []);
    }
}
