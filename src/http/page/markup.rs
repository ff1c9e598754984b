//! The page as HTML. Whatever a venue, or a caller, said is escaped, cut, and freed of characters that have no shape.

use super::{strip::Scale, words};
use crate::error::ApiError;
use quorate_actors::{
    PublishedRate,
    model::{Pair, Price},
    rate::Num,
    view::{Miss, View, ViewRow},
};
use std::{collections::HashMap, fmt::Write as _, time::Duration};
use tokio::time::Instant;

const PAGE: &str = include_str!("../../assets/page.html");
/// How many pairs the search offers without scripts.
const OFFERED_MAX: usize = 500;
/// The longest text of a venue that is shown.
const SAID_MAX: usize = 160;
const NAME_MAX: usize = 40;
/// Deeper than this, decimals are shown and no longer lined up.
const ALIGNED_MAX: usize = 10;

/// Holds what the page says whatever is asked.
pub(super) struct Markup<'a> {
    pub(super) simulated: bool,
    /// The venues' names by their ids.
    pub(super) names: &'a HashMap<String, &'static str>,
    pub(super) known: &'a [Pair],
    /// How old a quote may be for memory to do; twice that is called stale.
    pub(super) max_age: Duration,
}

/// Holds what is shown of a pair.
pub(super) struct Shown<'a> {
    pub(super) pair: Pair,
    pub(super) view: &'a View,
    pub(super) rate: Option<&'a PublishedRate>,
    pub(super) now: Instant,
}

/// Holds what all rows are drawn by.
struct Drawn {
    scale: Option<Scale>,
    /// How many decimals the prices are lined up by.
    depth: usize,
}

impl Markup<'_> {
    /// Writes the page of a pair.
    pub(super) fn page(&self, shown: &Shown<'_>) -> String {
        let pair = shown.pair.to_string();
        let outcome = shown.rate.map(|rate| &rate.receipt.outcome);
        let figure = outcome.and_then(|outcome| outcome.rate).map(words::figure);
        let (sign, word) = outcome.map_or(("×", "unavailable"), |outcome| words::status(outcome.status));
        let sentence = outcome.map_or_else(|| "the rate could not be asked for.".to_owned(), words::sentence);
        let title = figure.as_ref().map_or_else(|| pair.clone(), |figure| format!("{figure} {pair}"));
        let parts = [
            ("title", escaped(&title)),
            ("asked", escaped(&pair)),
            ("pair", escaped(&pair)),
            ("status", outcome.map_or("unavailable", |outcome| outcome.status.slug()).to_owned()),
            ("sign", sign.to_owned()),
            ("word", word.to_owned()),
            ("figure", escaped(&figure.unwrap_or_else(|| "no rate".to_owned()))),
            ("quote", escaped(shown.pair.quote.as_str())),
            ("sentence", escaped(&sentence)),
            ("facts", self.facts(shown)),
            ("rows", self.rows(shown)),
            ("note", String::new()),
        ];
        self.filled(&parts)
    }

    /// Writes the page where there is nothing to compare, and why.
    pub(super) fn refusal(&self, asked: Option<&str>, pair: Option<Pair>, error: &ApiError) -> String {
        let mut note = format!("<p class=\"note\" role=\"alert\"><strong>Nothing to show:</strong> {}.", said(error.detail(), SAID_MAX));
        let links: Vec<String> = error.suggestions().iter().map(|pair| link(pair)).collect();
        if !links.is_empty() {
            let _ = write!(note, " Did you mean {}?", links.join(" or "));
        }
        note.push_str("</p>");
        let name = pair.map(|pair| pair.to_string()).unwrap_or_default();
        let shown = if name.is_empty() { "No such pair".to_owned() } else { name.clone() };
        let parts = [
            ("title", escaped(&shown)),
            ("asked", said(asked.unwrap_or_default(), NAME_MAX)),
            ("pair", escaped(&shown)),
            ("status", "unavailable".to_owned()),
            ("sign", "×".to_owned()),
            ("word", "unavailable".to_owned()),
            ("figure", "no rate".to_owned()),
            ("quote", String::new()),
            ("sentence", String::new()),
            ("facts", String::new()),
            ("rows", String::new()),
            ("note", note),
        ];
        self.filled(&parts)
    }

    fn filled(&self, parts: &[(&str, String)]) -> String {
        let offered = self.known.iter().take(OFFERED_MAX).fold(String::new(), |mut out, pair| {
            let _ = write!(out, "<option value=\"{}\">", escaped(&pair.to_string()));
            out
        });
        let simulated = match self.simulated {
            true => {
                "<aside class=\"simulated\" aria-label=\"Simulated\"><strong>SIMULATED</strong><span>No exchange said any of this: the prices are made up.</span></aside>"
            }
            false => "",
        };
        let own = [
            ("offered", offered),
            ("simulated", simulated.to_owned()),
            ("stale_ms", self.max_age.saturating_mul(2).as_millis().to_string()),
        ];
        fill(PAGE, |name| parts.iter().chain(&own).find(|(known, _)| *known == name).map(|(_, text)| text.as_str()))
    }

    fn name(&self, id: &str) -> String {
        said(self.names.get(id).copied().unwrap_or(id), NAME_MAX)
    }

    fn facts(&self, shown: &Shown<'_>) -> String {
        let view = shown.view;
        let side = |row: Option<&ViewRow>, price: fn(&ViewRow) -> Option<Price>| {
            let Some((row, price)) = row.and_then(|row| Some((row, price(row)?))) else { return "none".to_owned() };
            format!("{} <small>{}</small>", grouped(&price.get().normalize().to_string()), self.name(row.quote.venue.as_str()))
        };
        let (bid, ask) = (side(view.bid(), |row| row.quote.ticker.bid), side(view.ask(), |row| row.quote.ticker.ask));
        let answered = format!("{} <small>of {}</small>", view.rows.len(), view.asked());
        [("Best bid", bid), ("Best ask", ask), ("Exchanges", answered), ("As of", view.as_of.to_string())]
            .iter()
            .fold(String::new(), |out, (name, value)| format!("{out}<div><dt>{name}</dt><dd>{value}</dd></div>"))
    }

    /// Writes a row for each venue that was asked, sorted by id.
    fn rows(&self, shown: &Shown<'_>) -> String {
        let view = shown.view;
        let prices = || view.rows.iter().flat_map(|row| [row.quote.ticker.bid, row.quote.ticker.ask]).flatten();
        let depth = prices().map(decimals).max().unwrap_or_default().min(ALIGNED_MAX);
        let drawn = Drawn { scale: Scale::of(view), depth };
        let quoted = view.rows.iter().enumerate().map(|(at, row)| (row.quote.venue.as_str(), self.row(shown, &drawn, at, row)));
        let missed = view.misses.iter().map(|miss| (miss.venue.as_str(), self.miss(miss)));
        let mut all: Vec<(&str, String)> = quoted.chain(missed).collect();
        all.sort_by(|a, b| a.0.cmp(b.0));
        all.into_iter().map(|(_, row)| row).collect()
    }

    fn row(&self, shown: &Shown<'_>, drawn: &Drawn, at: usize, row: &ViewRow) -> String {
        let (view, ticker) = (shown.view, &row.quote.ticker);
        let best = (view.bid().and_then(|r| r.quote.ticker.bid), view.ask().and_then(|r| r.quote.ticker.ask));
        let bid = side(ticker.bid, best.0, drawn.depth, (view.best_bid == Some(at)).then_some("▲ best bid"));
        let ask = side(ticker.ask, best.1, drawn.depth, (view.best_ask == Some(at)).then_some("▼ best ask"));
        let apart = ticker.bid.zip(ticker.ask).map(|(bid, ask)| (num(bid), num(ask), num(bid).mean(num(ask))));
        let spread = apart.and_then(|(bid, ask, mid)| Some(format!("{}{}", if bid > ask { "−" } else { "" }, words::bps(bid, ask, mid)?)));
        let off = apart.zip(view.mid()).and_then(|((.., mid), middle)| {
            let sign = if mid < Num::from(middle) { "−" } else { "+" };
            Some(format!("{sign}{}", words::bps(mid, Num::from(middle), Num::from(middle))?))
        });
        let under = match row.refused {
            None => said(&row.quote.symbol, NAME_MAX),
            Some(reason) => format!("<span class=\"why\">not counted: {}</span>", reason.slug().replace('_', " ")),
        };
        let strip = drawn.scale.map(|scale| scale.draw(ticker.bid, ticker.ask, view.mid().map(Num::from))).unwrap_or_default();
        let class = if row.refused.is_some() { "refused" } else { "in" };
        let age = shown.now.saturating_duration_since(row.quote.received);
        let stale = if age > self.max_age.saturating_mul(2) { "stale " } else { "" };
        format!(
            "<tr class=\"{class}\"><th scope=\"row\"><span class=\"name\">{}</span><small>{under}</small></th>{bid}{ask}\
             <td class=\"wide strip\">{strip}</td><td class=\"wide\">{}</td><td class=\"wide\">{}</td><td class=\"age\">{stale}{} s</td></tr>",
            self.name(row.quote.venue.as_str()),
            spread.unwrap_or_default(),
            off.unwrap_or_default(),
            age.as_secs()
        )
    }

    fn miss(&self, miss: &Miss) -> String {
        let (reason, detail) = (miss.fault.reason.slug().replace('_', " "), said(&miss.fault.detail, SAID_MAX));
        format!(
            "<tr class=\"down\"><th scope=\"row\"><span class=\"name\">{}</span>\
             <small class=\"why\"><span class=\"sign\" aria-hidden=\"true\">× </span>down: {reason}</small></th>\
             <td colspan=\"6\" class=\"detail\">{detail}</td></tr>",
            self.name(miss.venue.as_str())
        )
    }
}

/// Writes the cell of a bid or an ask: the price, and under it how far it is from the best, or that it is that.
fn side(price: Option<Price>, best: Option<Price>, depth: usize, mark: Option<&str>) -> String {
    let Some(price) = price else { return "<td class=\"price\"><span class=\"none\">none</span></td>".to_owned() };
    let under = match (mark, best) {
        (Some(mark), _) => format!("<small class=\"best\">{mark}</small>"),
        (None, Some(best)) if price == best => "<small>= best</small>".to_owned(),
        (None, Some(best)) => {
            let sign = if price < best { "−" } else { "+" };
            words::bps(num(price), num(best), num(best)).map_or_else(String::new, |bps| format!("<small>{sign}{bps} bps</small>"))
        }
        _ => String::new(),
    };
    let (shown, own) = (grouped(&price.get().normalize().to_string()), decimals(price));
    // What is lined up is not claimed: the zeros are there for the eye alone, and unseen.
    let lacking = "0".repeat(depth.saturating_sub(own));
    let pad = if own == 0 && depth > 0 { format!(".{lacking}") } else { lacking };
    format!("<td class=\"price\"><span>{shown}</span><span class=\"pad\" aria-hidden=\"true\">{pad}</span>{under}</td>")
}

fn decimals(price: Price) -> usize {
    usize::try_from(price.get().normalize().scale()).unwrap_or_default()
}

fn num(price: Price) -> Num {
    Num::from(price.get())
}

fn link(pair: &str) -> String {
    let name = escaped(pair);
    format!("<a href=\"./?pair={name}\">{name}</a>")
}

/// Puts a thin mark between thousands: `67,000.34`.
pub(super) fn grouped(number: &str) -> String {
    let (whole, fraction) = number.split_once('.').map_or((number, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut out = String::with_capacity(number.len().saturating_add(8));
    for (at, digit) in whole.chars().enumerate() {
        let left = whole.len().saturating_sub(at);
        if at > 0 && left.is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Cuts a foreign text, and leaves out what has no shape of its own or turns the direction of what follows.
pub(super) fn plain(text: &str, most: usize) -> String {
    let shapeless = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let mut kept = text.chars().filter(|c| !shapeless(*c));
    let mut out: String = kept.by_ref().take(most).collect();
    if kept.next().is_some() {
        out.push('…');
    }
    out
}

/// Makes a foreign text safe to stand in HTML.
fn said(text: &str, most: usize) -> String {
    escaped(&plain(text, most))
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
        out
    })
}

/// Replaces each `{{name}}` once: what is put in is not looked at again.
fn fill<'a>(template: &str, part: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(template.len().saturating_mul(2));
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, tail)) = after.split_once("}}") else { break };
        out.push_str(before);
        out.push_str(part(name).unwrap_or_default());
        rest = tail;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_text_is_harmless() {
        let hostile = "<img src=x onerror=\"alert('1')\">&\u{0}\u{7}\n\u{202e}gnp\u{200b}";
        assert_eq!(said(hostile, 100), "&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;gnp");
        assert_eq!(said(&"é<".repeat(100), 3), "é&lt;é…");
        assert_eq!(plain("牛来", 2), "牛来");
    }

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let part = |name: &str| Some(if name == "a" { "{{b}}" } else { "secret" });
        assert_eq!(fill("<{{a}}|{{b}}>", part), "<{{b}}|secret>");
        assert_eq!(fill("a {{ b", |_| None), "a {{ b");
    }

    #[test]
    fn every_place_in_the_page_is_filled() {
        let error = ApiError::new(crate::error::Code::InvalidPair, "pair is \"<b>\"").suggest(["BTC-USDT".to_owned()]);
        let markup = Markup { simulated: true, names: &HashMap::new(), known: &[], max_age: Duration::from_secs(5) };
        let html = markup.refusal(Some("\"><script>"), None, &error);
        assert!(!html.contains("{{") && !html.contains("<b>") && !html.contains("\"><script>"), "{html}");
        for needed in
            ["SIMULATED", "pair is &quot;&lt;b&gt;&quot;", "./?pair=BTC-USDT", "&quot;&gt;&lt;script&gt;", "data-stale-ms=\"10000\""]
        {
            assert!(html.contains(needed), "{needed} in {html}");
        }
    }

    #[test]
    fn thousands_are_set_apart() {
        let all = ["1", "999", "1000", "67000.341", "1234567", "0.00001234"].map(grouped);
        assert_eq!(all, ["1", "999", "1,000", "67,000.341", "1,234,567", "0.00001234"]);
    }
}
