//! `docs/incidents.md`: what a mean, a median and the rule make of every frame, written from the files.

use super::{
    file::{Incident, incidents},
    run,
};
use rust_decimal::Decimal;
use serde_json::Value;
use std::{fmt::Write, fs, path::Path};

const INTRODUCTION: &str = include_str!("introduction.md");
/// How many significant digits a mean is shown with; the rule's own rate is shown whole.
const SHOWN: u32 = 7;

/// Holds a frame and what is made of it.
struct Row<'a> {
    frame: &'a Value,
    mean: Option<Decimal>,
    median: Option<Decimal>,
    outcome: Value,
}

fn decimal(value: &Value) -> Option<Decimal> {
    value.as_str().map(|text| Decimal::from_str_exact(text).unwrap())
}

/// Gives a quote's price at face value: the middle of bid and ask where both are there, else the last trade.
fn face(quote: &Value) -> Option<Decimal> {
    match (decimal(&quote["bid"]), decimal(&quote["ask"])) {
        (Some(bid), Some(ask)) => Some((bid + ask) / Decimal::TWO),
        _ => decimal(&quote["last"]),
    }
}

fn base(incident: &Incident) -> &str {
    incident.head("pair").split('/').next().unwrap()
}

fn is_of(quote: &Value, base: &str) -> bool {
    quote["pair"].as_str().unwrap().split('/').next() == Some(base)
}

/// Gives mean and median of what the quotes of the base say at face value.
fn simple_answers(quotes: &[Value], base: &str) -> (Option<Decimal>, Option<Decimal>) {
    let mut prices: Vec<Decimal> = quotes.iter().filter(|quote| is_of(quote, base)).filter_map(face).collect();
    prices.sort();
    let (lower, upper) = (prices.get(prices.len().saturating_sub(1) / 2), prices.get(prices.len() / 2));
    let median = lower.zip(upper).map(|(lower, upper)| (lower + upper) / Decimal::TWO);
    (prices.iter().sum::<Decimal>().checked_div(Decimal::from(prices.len())), median)
}

fn rows(incident: &Incident) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (frame, outcome) in incident.frames().iter().zip(run(incident)) {
        let (mean, median) = simple_answers(frame["quotes"].as_array().unwrap(), base(incident));
        rows.push(Row { frame, mean, median, outcome });
    }
    rows
}

/// Finds the row in which the simple answers are furthest from the rule's; where it has none, from the nearest that it had.
fn decisive<'a, 'b>(rows: &'b [Row<'a>]) -> &'b Row<'a> {
    let rate = |row: &Row<'_>| decimal(&row.outcome["rate"]);
    let distance = |at: usize| {
        let nearest = rows[..=at].iter().rev().chain(&rows[at..]).find_map(rate);
        let off = |simple: Option<Decimal>| Some(((simple? - nearest?) / nearest?).abs());
        off(rows[at].mean).max(off(rows[at].median))
    };
    // Of equals the first.
    let at = (0..rows.len()).rev().max_by_key(|at| distance(*at)).unwrap();
    &rows[at]
}

/// Writes a number with commas between thousands.
fn plain(number: Decimal) -> String {
    let text = number.normalize().to_string();
    let (whole, fraction) = text.split_once('.').map_or((&*text, None), |(whole, fraction)| (whole, Some(fraction)));
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    let mut shown = sign.to_owned();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            shown.push(',');
        }
        shown.push(digit);
    }
    fraction.map_or(shown.clone(), |fraction| format!("{shown}.{fraction}"))
}

fn simple(number: Option<Decimal>) -> String {
    number.and_then(|number| number.round_sf(SHOWN)).map_or_else(|| "-".to_owned(), plain)
}

fn answer(outcome: &Value) -> String {
    let status = outcome["status"].as_str().unwrap();
    decimal(&outcome["rate"]).map_or_else(|| format!("no rate, {status}"), |rate| format!("**{}**, {status}", plain(rate)))
}

fn left_out(outcome: &Value) -> String {
    let named = |field: &str| outcome[field].as_object().unwrap().clone().into_iter();
    let all: Vec<String> = named("refused").chain(named("out")).map(|(who, why)| format!("{who} {}", why.as_str().unwrap())).collect();
    all.join(", ")
}

/// Lists what came in: the prices of the base first, then what serves for conversion.
fn prices(incident: &Incident, frame: &Value) -> String {
    let base = base(incident);
    let shown = |quote: &Value| {
        let pair = quote["pair"].as_str().unwrap();
        let named = if pair == incident.head("pair") { String::new() } else { format!(" {pair}") };
        format!("{}{named} {}", quote["venue"].as_str().unwrap(), face(quote).map_or_else(|| "none".to_owned(), plain))
    };
    let quotes = || frame["quotes"].as_array().unwrap().iter();
    let (own, others) = (quotes().filter(|quote| is_of(quote, base)), quotes().filter(|quote| !is_of(quote, base)));
    own.chain(others).map(shown).collect::<Vec<_>>().join(", ")
}

fn cells(incident: &Incident, row: &Row<'_>) -> String {
    let cells = [
        format!("{} s", row.frame["at"]),
        prices(incident, row.frame),
        simple(row.mean),
        simple(row.median),
        answer(&row.outcome),
        left_out(&row.outcome),
    ];
    cells.join(" | ")
}

fn summary(page: &mut String, happened: &[Incident]) {
    page.push_str("## In one table\n\nOf each, the moment at which the simple answers were furthest off.\n\n");
    page.push_str("| date | what happened | pair | a mean | a median | Quorate |\n|---|---|---|---|---|---|\n");
    for incident in happened {
        let (rows, head) = (rows(incident), |key| incident.head(key));
        let row = decisive(&rows);
        let (mean, median) = (simple(row.mean), simple(row.median));
        writeln!(page, "| {} | {} | {} | {mean} | {median} | {} |", head("date"), head("title"), head("pair"), answer(&row.outcome))
            .unwrap();
    }
}

fn written() -> String {
    let (mut happened, constructed): (Vec<_>, Vec<_>) = incidents().into_iter().partition(Incident::happened);
    happened.sort_by(|a, b| (a.head("date"), &a.name).cmp(&(b.head("date"), &b.name)));
    let mut page = INTRODUCTION.to_owned();
    summary(&mut page, &happened);
    page.push_str("\n## One by one\n");
    for incident in &happened {
        let head = |key| incident.head(key);
        write!(page, "\n### {}: {}\n\n{}, class {}. Source: {}.", head("date"), head("title"), head("pair"), head("class"), head("source"))
            .unwrap();
        for (key, before) in [("filled_in", "Filled in"), ("naive", "What a simple rule answers, in the file's words")] {
            if !head(key).is_empty() {
                write!(page, " {before}: {}.", head(key)).unwrap();
            }
        }
        writeln!(page, " File: [`{0}`](../tests/incidents/{0}).\n", incident.name).unwrap();
        page.push_str("| at | prices | a mean | a median | Quorate | left out |\n|---|---|---|---|---|---|\n");
        for row in rows(incident) {
            writeln!(page, "| {} |", cells(incident, &row)).unwrap();
        }
    }
    page.push_str("\n## Constructed cases\n\nThese never happened like this. Each pins down one sentence of the rule, most of them at its very edge.\n\n");
    page.push_str("| case | at | prices | a mean | a median | Quorate | left out |\n|---|---|---|---|---|---|---|\n");
    for incident in &constructed {
        let mut case = format!("[{}](../tests/incidents/{}), {}", incident.head("title"), incident.name, incident.head("pair"));
        if incident.head("source") != "made up" {
            write!(case, " ({}; {})", incident.head("date"), incident.head("source")).unwrap();
        }
        for row in rows(incident) {
            writeln!(page, "| {} | {} |", std::mem::take(&mut case), cells(incident, &row)).unwrap();
        }
    }
    page
}

#[test]
fn the_page_is_what_the_files_and_the_program_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/incidents.md");
    let page = written();
    if std::env::var_os("QUORATE_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let shown = fs::read_to_string(&path).unwrap_or_default();
    let line = shown.lines().zip(page.lines()).position(|(shown, written)| shown != written);
    let end = shown.lines().count().min(page.lines().count());
    let at = line.unwrap_or(end);
    assert!(
        shown == page,
        "docs/incidents.md, line {}: {:?}, expected {:?}; QUORATE_BLESS=1 cargo test --test incidents writes it anew",
        at + 1,
        shown.lines().nth(at),
        page.lines().nth(at)
    );
}
