// The table of exchanges: a row for each that was asked, with its quote or why there is none.

import { age, bps, byId, calm, decimals, grouped, make, plain, say, signed, spoken } from "./format.js";
import * as strip from "./strip.js";

const rows = new Map();
/** Deeper than this, decimals are shown and no longer lined up. */
const ALIGNED_MAX = 10;

/** What each column sorts by; numbers sort the other way round first where that is what one looks for. */
const KEYS = {
  venue: (row) => row.name.toLowerCase(),
  bid: (row) => -row.bid,
  ask: (row) => row.ask,
  spread: (row) => row.spread,
  off: (row) => row.off,
  age: (row) => -row.received,
};

export const sortable = Object.keys(KEYS);

/** Turns the heads of the table into buttons that sort. */
export function prepare(onSort) {
  for (const head of document.querySelectorAll("#venues th[data-sort]")) {
    const button = make("button", { type: "button" }, ...head.childNodes, make("span", { class: "arrow", "aria-hidden": "true" }));
    button.addEventListener("click", () => onSort(head.dataset.sort));
    head.append(button);
  }
}

/** Shows which column sorts. */
export function showSort({ by, reverse }) {
  for (const head of document.querySelectorAll("#venues th[data-sort]")) {
    const is = head.dataset.sort === by;
    if (is) head.setAttribute("aria-sort", reverse ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
    say(head.querySelector(".arrow"), is ? (reverse ? " ↓" : " ↑") : "");
  }
}

/**
 * Makes what is shown of each exchange: of one that is missing, the last quote that was seen here.
 * `seen` holds, by venue, `{row, received}`: the row as it came, and when the quote was received, by `performance.now()`.
 */
export function listed(quotes, seen, names) {
  const bestBid = Number(quotes.bid);
  const bestAsk = Number(quotes.ask);
  const mid = Number(quotes.mid);
  const of = (venue, state, why, detail) => {
    const last = seen.get(venue);
    const [bid, ask] = [last?.row.bid ?? null, last?.row.ask ?? null];
    const own = bid && ask ? (Number(bid) + Number(ask)) / 2 : NaN;
    return {
      venue,
      name: names(venue),
      state,
      why,
      detail,
      symbol: plain(last?.row.symbol, 40),
      bid: bid ? Number(bid) : NaN,
      ask: ask ? Number(ask) : NaN,
      bidText: bid,
      askText: ask,
      isBid: state === "in" && venue === quotes.bid_venue,
      isAsk: state === "in" && venue === quotes.ask_venue,
      fromBid: bid && bestBid ? bps(Number(bid), bestBid) : NaN,
      fromAsk: ask && bestAsk ? bps(Number(ask), bestAsk) : NaN,
      spread: own ? ((Number(ask) - Number(bid)) / own) * 1e4 : NaN,
      off: own && mid ? bps(own, mid) : NaN,
      mid: own,
      received: last?.received ?? NaN,
    };
  };
  const quoted = quotes.quotes.map((row) =>
    row.decision === "in" ? of(row.venue, "in", "", "") : of(row.venue, "refused", `not counted: ${spoken(row.decision)}`, ""),
  );
  const missed = quotes.misses.map((miss) => of(miss.venue, "down", `down: ${spoken(miss.reason)}`, plain(miss.detail)));
  return [...quoted, ...missed];
}

function ordered(all, { by, reverse }) {
  const key = KEYS[by] ?? KEYS.venue;
  const missing = (row) => (by !== "venue" && (row.state === "down" || Number.isNaN(key(row))) ? 1 : 0);
  const compare = (a, b) => {
    const [x, y] = [key(a), key(b)];
    const way = x < y ? -1 : x > y ? 1 : 0;
    return missing(a) - missing(b) || (reverse ? -way : way) || (a.venue < b.venue ? -1 : 1);
  };
  return all.toSorted(compare);
}

/** Draws the table. */
export function draw(all, mid, sort, hue, picked, onPick) {
  const body = byId("rows");
  if (rows.size === 0) body.replaceChildren();
  const depth = Math.min(ALIGNED_MAX, Math.max(0, ...all.flatMap((row) => [decimals(row.bidText), decimals(row.askText)])));
  const scale = strip.scaleOf(all);
  const inOrder = ordered(all, sort).map((row) => {
    if (!rows.has(row.venue)) rows.set(row.venue, blank(row, hue, onPick));
    const drawn = rows.get(row.venue);
    fill(drawn, row, depth, picked === row.venue);
    strip.draw(drawn.drawing, scale, row, mid);
    return drawn.line;
  });
  const keep = new Set(inOrder);
  for (const [venue, drawn] of rows) {
    if (!keep.has(drawn.line)) {
      drawn.line.remove();
      rows.delete(venue);
    }
  }
  // Lines are moved only where their order has changed: whoever stands on one is not thrown off.
  if (inOrder.some((line, at) => body.children[at] !== line)) body.replaceChildren(...inOrder);
}

function blank(row, hue, onPick) {
  const pick = make("button", { type: "button", class: "pick", "aria-pressed": "false" });
  const under = make("small");
  const swatch = make("span", { class: `swatch ${hue(row.venue)}`, "aria-hidden": "true" });
  const [bid, ask] = [cell("bid"), cell("ask")];
  const [spread, off] = [make("td", { class: "wide number" }), make("td", { class: "wide number" })];
  const drawing = strip.blank();
  const aged = make("td", { class: "age" });
  const line = make("tr", { "data-venue": row.venue }, make("th", { scope: "row" }, swatch, pick, under), bid.td, ask.td, make("td", { class: "wide strip" }, drawing), spread, off, aged);
  pick.addEventListener("click", () => onPick(row.venue, true));
  line.addEventListener("pointerenter", () => onPick(row.venue, false));
  line.addEventListener("pointerleave", () => onPick(null, false));
  return { line, pick, under, bid, ask, drawing, spread, off, aged, row };
}

function cell(side) {
  const [price, pad, under] = [make("span"), make("span", { class: "pad", "aria-hidden": "true" }), make("small")];
  return { td: make("td", { class: `price ${side}` }, price, pad, under), price, pad, under, was: NaN };
}

function fill(drawn, row, depth, isPicked) {
  drawn.row = row;
  drawn.line.className = `${row.state}${isPicked ? " shown" : ""}`;
  say(drawn.pick, row.name);
  drawn.pick.setAttribute("aria-pressed", String(isPicked));
  say(drawn.under, row.why ? `${row.state === "down" ? "× " : ""}${row.why}` : row.symbol);
  drawn.under.className = row.why ? "why" : "";
  drawn.line.title = row.detail;
  side(drawn.bid, row.bidText, row.bid, depth, row.isBid ? "▲ best bid" : under(row, row.fromBid));
  side(drawn.ask, row.askText, row.ask, depth, row.isAsk ? "▼ best ask" : under(row, row.fromAsk));
  drawn.bid.under.classList.toggle("best", row.isBid);
  drawn.ask.under.classList.toggle("best", row.isAsk);
  say(drawn.spread, number(row, row.spread, (value) => value.toFixed(1).replace("-", "−")));
  say(drawn.off, number(row, row.off, signed));
  tickOne(drawn, performance.now());
}

const number = (row, value, write) => (row.state === "down" || Number.isNaN(value) ? "" : write(value));

function under(row, distance) {
  if (row.state === "down" || Number.isNaN(distance)) return "";
  return distance === 0 ? "= best" : `${signed(distance)} bps`;
}

function side(shown, text, value, depth, mark) {
  say(shown.price, text === null ? "none" : grouped(text));
  shown.price.className = text === null ? "none" : "";
  // What is lined up is not claimed: the zeros are there for the eye alone, and unseen.
  const lacking = text === null ? 0 : Math.max(0, depth - decimals(text));
  say(shown.pad, lacking === 0 ? "" : `${decimals(text) === 0 ? "." : ""}${"0".repeat(lacking)}`);
  say(shown.under, mark);
  if (value !== shown.was && !Number.isNaN(value) && !Number.isNaN(shown.was) && !calm()) flash(shown.price, value > shown.was);
  shown.was = value;
}

function flash(element, up) {
  const style = getComputedStyle(document.documentElement);
  const colour = style.getPropertyValue(up ? "--up" : "--down");
  element.animate([{ backgroundColor: colour }, { backgroundColor: "transparent" }], { duration: 1100, easing: "ease-out" });
}

let staleMs = 10_000;

/** Says from which age on a quote is called stale. */
export function staleAfter(ms) {
  staleMs = ms;
}

function tickOne({ aged, row }, now) {
  const old = now - row.received;
  const stale = old > staleMs || row.why.endsWith(": stale");
  say(aged, Number.isNaN(old) ? "never seen" : `${stale ? "stale " : ""}${age(old)}`);
  aged.classList.toggle("stale", stale);
}

/** Lets the ages go on between two answers. */
export function tick() {
  const now = performance.now();
  for (const drawn of rows.values()) tickOne(drawn, now);
}
