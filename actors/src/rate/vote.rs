//! One vote per operator: the median of its nearest quotes.

use super::Num;
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Ballot<'a> {
    /// The row that it comes from.
    pub(super) row: usize,
    pub(super) operator: &'a Operator,
    pub(super) hops: usize,
    pub(super) price: Num,
}

/// Holds what became of a ballot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cast {
    pub(super) row: usize,
    /// The place of its operator's vote.
    pub(super) vote: usize,
    /// Whether it is among the nearest, of which the vote is made.
    pub(super) is_part: bool,
    pub(super) price: Num,
}

/// Makes the votes, sorted by operator: of each the median of its prices with the fewest conversions.
pub(super) fn votes(mut ballots: Vec<Ballot<'_>>) -> (Vec<Vote>, Vec<Cast>) {
    // Where every venue is its own operator, they are in order as they come.
    if !ballots.is_sorted_by(|a, b| a.operator < b.operator) {
        ballots.sort_by(|a, b| (a.operator, a.hops, a.price).cmp(&(b.operator, b.hops, b.price)));
    }
    let (mut votes, mut cast) = (Vec::with_capacity(ballots.len()), Vec::with_capacity(ballots.len()));
    for own in ballots.chunk_by(|a, b| a.operator == b.operator) {
        let Some(first) = own.first() else { continue };
        let nearest = own.iter().take_while(|ballot| ballot.hops == first.hops).count();
        let vote = votes.len();
        cast.extend(own.iter().map(|ballot| Cast { row: ballot.row, vote, is_part: ballot.hops == first.hops, price: ballot.price }));
        let price_at = |at: usize| own.get(at).map_or(first.price, |ballot| ballot.price);
        let (lower, upper) = (price_at(nearest.saturating_sub(1) / 2), price_at(nearest / 2));
        let price = if nearest % 2 == 1 { upper } else { lower.mean(upper) };
        votes.push(Vote { operator: Arc::clone(first.operator), price, hops: first.hops });
    }
    (votes, cast)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_has_one_vote_made_of_its_nearest_quotes() {
        let [a, b]: [Operator; 2] = ["a".into(), "b".into()];
        let ballot = |row, operator, hops, price: u64| Ballot { row, operator, hops, price: Num::new(price, 0) };
        let (made, cast) =
            votes(vec![ballot(0, &b, 1, 9), ballot(1, &a, 1, 50), ballot(2, &a, 0, 12), ballot(3, &a, 0, 10), ballot(4, &b, 2, 1)]);
        let vote = |operator: &Operator, price, hops| Vote { operator: Arc::clone(operator), price: Num::new(price, 0), hops };
        assert_eq!(made, [vote(&a, 11, 0), vote(&b, 9, 1)]);
        let cast: Vec<(usize, usize, bool)> = cast.iter().map(|cast| (cast.row, cast.vote, cast.is_part)).collect();
        assert_eq!(cast, [(3, 0, true), (2, 0, true), (1, 0, false), (0, 1, true), (4, 1, false)]);
        assert_eq!(votes(Vec::new()), (Vec::new(), Vec::new()));
    }
}
