//! Takers' fees: which one counts for a venue, and whose word it is.

use super::{Num, NumError};
use crate::{model::VenueId, venue::Profile};
use std::collections::BTreeMap;

/// Holds a taker's fee as a fraction of what is traded, and whose word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taker {
    /// The fee: 0.001 is 10 bps.
    pub rate: Num,
    /// Whose word it is.
    pub source: FeeSource,
}

/// Tells whose word a fee is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeeSource {
    /// The venue's own, without any discount, as it was read on a day (`YYYY-MM-DD`).
    Published(&'static str),
    /// The configuration's.
    Configured,
    /// The caller's.
    Caller,
}

impl FeeSource {
    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Published(_) => "published",
            Self::Configured => "configured",
            Self::Caller => "caller",
        }
    }

    /// Gives the day on which it was read, of a published one.
    pub fn read(self) -> Option<&'static str> {
        match self {
            Self::Published(read) => Some(read),
            Self::Configured | Self::Caller => None,
        }
    }
}

/// Holds the fees that count, by venue.
pub type Takers = BTreeMap<VenueId, Taker>;

/// The largest fee that is taken for one.
const MOST: Num = Num::new(1, -1);

/// Reads a fee.
///
/// # Errors
/// [`NumError`] where the text is no plain decimal from 0 to 0.1.
pub fn read_fee(text: &str) -> Result<Num, NumError> {
    text.parse().and_then(|fee| if fee > MOST { Err(NumError) } else { Ok(fee) })
}

/// Gives the fee of a venue: the configured one where there is one, else what the venue publishes; `None` where its profile has none that can be read.
pub fn taker(profile: &Profile, configured: Option<Num>) -> Option<Taker> {
    match configured {
        Some(rate) => Some(Taker { rate, source: FeeSource::Configured }),
        None => Some(Taker { rate: read_fee(profile.taker.rate).ok()?, source: FeeSource::Published(profile.taker.read) }),
    }
}

/// Puts what a caller says of his own fees in place of what is known.
#[must_use]
pub fn with_callers(known: &Takers, own: Vec<(VenueId, Num)>) -> Takers {
    let mut all = known.clone();
    all.extend(own.into_iter().map(|(venue, rate)| (venue, Taker { rate, source: FeeSource::Caller })));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::venues;

    #[test]
    fn the_callers_word_goes_before_the_configurations_and_that_before_the_venues() {
        let profile = venues::by_id("kraken").unwrap().profile();
        let [published, configured] = [None, Some(Num::new(16, -4))].map(|set| taker(profile, set).unwrap());
        assert_eq!(published, Taker { rate: read_fee(profile.taker.rate).unwrap(), source: FeeSource::Published(profile.taker.read) });
        assert_eq!((configured.source.slug(), configured.source.read()), ("configured", None));
        let (kraken, okx) = (VenueId::new("kraken"), VenueId::new("okx"));
        let known = Takers::from([(kraken.clone(), published), (okx.clone(), configured)]);
        let own = with_callers(&known, vec![(kraken.clone(), Num::new(1, -4))]);
        assert_eq!(own[&kraken], Taker { rate: Num::new(1, -4), source: FeeSource::Caller });
        assert_eq!((own[&okx], with_callers(&known, vec![])), (configured, known));
    }

    #[test]
    fn a_fee_is_a_plain_fraction_up_to_a_tenth() {
        for (text, want) in
            [("0", Num::ZERO), ("0.1", MOST), ("0.00075", Num::new(75, -5)), ("0.0000000000000000000000000001", Num::new(1, -28))]
        {
            assert_eq!(read_fee(text), Ok(want), "{text}");
        }
        for bad in ["", "0.1000000000000000000000001", "-0.001", "1e-3", "0,001", "1_0", ".1", "0.1 %"] {
            assert_eq!(read_fee(bad), Err(NumError), "{bad}");
        }
    }
}
