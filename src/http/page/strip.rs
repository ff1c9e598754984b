//! Where each exchange's bid and ask lie among all of them, drawn on one scale. `assets/strip.js` draws the same.

use quorate_actors::{model::Price, rate::Num, view::View};

/// How far the scale goes from its lowest price to its highest.
const WIDTH: u128 = 1000;

/// Holds the prices between which the scale lies.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    low: Num,
    high: Num,
}

impl Scale {
    /// Makes the scale of the quotes that count.
    pub(super) fn of(view: &View) -> Option<Self> {
        let counted = || view.rows.iter().filter(|row| row.refused.is_none());
        let all = || counted().flat_map(|row| [row.quote.ticker.bid, row.quote.ticker.ask]).flatten();
        let (low, high) = (Num::from(all().min()?.get()), Num::from(all().max()?.get()));
        (low < high).then_some(Self { low, high })
    }

    /// Draws a quote, and the middle of all.
    pub(super) fn draw(self, bid: Option<Price>, ask: Option<Price>, mid: Option<Num>) -> String {
        let at = |price: Num| self.at(price);
        let line = |class: &str, at: u128, from: &str, to: &str| format!("<path class=\"{class}\" d=\"M{at} {from}V{to}\"/>");
        let middle = mid.map(|mid| line("middle", at(mid), "0", "40")).unwrap_or_default();
        let (bid, ask) = (bid.map(|price| at(Num::from(price.get()))), ask.map(|price| at(Num::from(price.get()))));
        let bar = bid.zip(ask).map(|(bid, ask)| format!("<path class=\"bar\" d=\"M{bid} 20H{ask}\"/>")).unwrap_or_default();
        let ends = [("bid", bid), ("ask", ask)].map(|(class, at)| at.map(|at| line(class, at, "13", "27")).unwrap_or_default());
        format!("<svg viewBox=\"0 0 {WIDTH} 40\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{middle}{bar}{}</svg>", ends.concat())
    }

    /// Gives a place on the scale: what lies beyond stands at its end.
    fn at(self, price: Num) -> u128 {
        let beyond = price.max(self.low).min(self.high);
        beyond.distance(self.low).ratio(self.high.distance(self.low), 3).unwrap_or_default().min(WIDTH)
    }
}
