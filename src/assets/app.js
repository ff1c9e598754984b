// Puts the page together: what is heard goes into one state, and the state is drawn.

import * as chart from "./chart.js";
import { follow, once } from "./feed.js";
import { age, byId, figure, grouped, make, plain, say } from "./format.js";
import * as matrix from "./matrix.js";
import * as rate from "./rate.js";
import * as search from "./search.js";
import * as table from "./table.js";
import { summary } from "./words.js";

/** How often somebody who listens is told, at most. */
const SUMMARY_MS = 10_000;
const HUES = 12;

const asked = new URLSearchParams(location.search);
const pair = byId("pair").textContent;
const oneOf = (value, known, otherwise) => (known.includes(value) ? value : otherwise);
const state = {
  quotes: null,
  receipt: null,
  seen: new Map(),
  names: new Map(),
  order: [],
  sort: { by: oneOf(asked.get("sort"), table.sortable, "venue"), reverse: asked.get("way") === "down" },
  span: oneOf(asked.get("span"), Object.keys(chart.SPANS), "5m"),
  picked: asked.get("venue"),
  hovered: null,
  paused: false,
  heard: null,
  lost: null,
};

const names = (venue) => plain(state.names.get(venue) ?? venue, 40);

/** Gives an exchange its colour: by the order in which they were first seen. */
function hue(venue) {
  if (!state.order.includes(venue)) state.order.push(venue);
  return `c${(state.order.indexOf(venue) % HUES) + 1}`;
}

/** Keeps how the page is looked at in its address. */
function remember() {
  const query = new URLSearchParams(location.search);
  const set = (name, value, otherwise) => (value === otherwise || value === null ? query.delete(name) : query.set(name, value));
  query.set("pair", pair);
  set("sort", state.sort.by, "venue");
  set("way", state.sort.reverse ? "down" : "up", "up");
  set("span", state.span, "5m");
  set("venue", state.picked, null);
  history.replaceState(null, "", `?${query}`);
}

function goTo(chosen) {
  const query = new URLSearchParams(location.search);
  query.set("pair", chosen);
  query.delete("venue");
  location.assign(`?${query}`);
}

/** Takes in what was said of the quotes; a refusal may hold the misses. */
function hearQuotes({ status, body, oldest, at }) {
  if (body === null) return;
  if (status !== 200 && !body.misses) {
    const text = `Nothing to show: ${plain(body.detail)}.`;
    byId("note").replaceChildren(make("p", { class: "note", role: "alert" }, text));
    return;
  }
  byId("note").replaceChildren();
  const none = { quotes: [], venues: { asked: body.misses?.length ?? 0, answered: 0 }, bid: null, ask: null, mid: null };
  const quotes = status === 200 ? body : { ...none, misses: body.misses };
  const ages = quotes.quotes.filter((row) => row.decision === "in").map((row) => row.age_ms);
  // Ages in the body are those at its `as_of`; the header says how old the oldest that counts is by now.
  const since = oldest === null || ages.length === 0 ? 0 : Math.max(0, oldest - Math.max(...ages));
  for (const row of quotes.quotes) state.seen.set(row.venue, { row, received: at - row.age_ms - since });
  [...quotes.quotes, ...quotes.misses].map((row) => row.venue).sort().forEach(hue);
  state.quotes = quotes;
  chart.note(table.listed(quotes, state.seen, names), quotes.mid === null ? NaN : Number(quotes.mid), at);
  drawTable();
  drawFacts(quotes);
}

function hear(heard) {
  if (heard.about === "lost") {
    state.lost ??= performance.now();
    return drawLive();
  }
  state.lost = null;
  state.heard = heard.at;
  if (heard.about === "quotes") hearQuotes(heard);
  if (heard.about === "rate" && heard.body !== null) {
    state.receipt = rate.read(heard.body);
    rate.draw(state.receipt, heard.body.detail);
    const said = state.receipt?.rate;
    document.title = `${said ? `${figure(said)} ` : ""}${pair} · Quorate`;
  }
  if (heard.about === "spreads" && heard.body !== null) {
    if (heard.status === 200) matrix.draw(heard.body, names);
    else matrix.missing(`Not available: ${plain(heard.body.detail)}.`);
  }
  drawChart();
  drawLive();
  tell();
}

function drawTable() {
  if (state.quotes === null) return;
  table.draw(table.listed(state.quotes, state.seen, names), Number(state.quotes.mid ?? NaN), state.sort, hue, state.picked, pick);
}

function drawChart() {
  chart.draw({ pair, span: state.span, picked: state.hovered ?? state.picked, names, hue, now: performance.now() });
}

function drawFacts(quotes) {
  const fact = (name, value, under) => make("div", {}, make("dt", {}, name), make("dd", {}, value, under ? make("small", {}, ` ${under}`) : null));
  const side = (name) => (quotes[name] === null ? ["none", ""] : [grouped(quotes[name]), names(quotes[`${name}_venue`])]);
  const spread = quotes.spread_bps ? [`${Number(quotes.spread_bps).toFixed(2).replace("-", "−")} bps`, quotes.crossed ? "crossed" : ""] : ["none", ""];
  byId("facts").replaceChildren(
    fact("Best bid", ...side("bid")),
    fact("Best ask", ...side("ask")),
    fact("Spread", ...spread),
    fact("Mid", quotes.mid === null ? "none" : grouped(quotes.mid), ""),
    fact("Exchanges", String(quotes.venues.answered), `of ${quotes.venues.asked} answer`),
  );
}

function drawLive() {
  const now = performance.now();
  const word = state.paused ? "paused" : state.lost !== null ? "lost" : state.heard === null ? "waiting" : "live";
  byId("live").dataset.state = word;
  const texts = { paused: "paused", lost: `no answer for ${age(now - (state.heard ?? state.lost))}`, waiting: "starting", live: "live" };
  say(byId("live-text"), texts[word]);
}

let told = -Infinity;
function tell() {
  if (state.quotes === null || performance.now() - told < SUMMARY_MS) return;
  const text = summary(pair, state.receipt, state.quotes, names);
  if (byId("summary").textContent === text) return;
  say(byId("summary"), text);
  told = performance.now();
}

/** Lets an exchange stand out: for as long as it is pointed at, or until it is picked again. */
function pick(venue, keep) {
  if (keep) {
    state.picked = state.picked === venue ? null : venue;
    remember();
    drawTable();
  } else {
    state.hovered = venue;
  }
  drawChart();
}

function sortBy(by) {
  state.sort = { by, reverse: state.sort.by === by && !state.sort.reverse };
  table.showSort(state.sort);
  remember();
  drawTable();
}

function prepareSpans() {
  const buttons = Object.keys(chart.SPANS).map((span) => {
    const button = make("button", { type: "button", "aria-pressed": String(span === state.span) }, span.replace("m", " min"));
    button.addEventListener("click", () => {
      state.span = span;
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      remember();
      drawChart();
    });
    return button;
  });
  byId("spans").replaceChildren(...buttons);
}

function prepareTheme() {
  const root = document.documentElement;
  const themes = { auto: ["◐", "Auto", "as the system"], light: ["○", "Light", "light"], dark: ["●", "Dark", "dark"] };
  const button = byId("theme");
  const show = () => {
    const [sign, label, spoken] = themes[root.dataset.theme ?? "auto"];
    button.children[0].textContent = sign;
    button.children[1].textContent = label;
    button.setAttribute("aria-label", `Theme: ${spoken}`);
  };
  button.addEventListener("click", () => {
    const order = Object.keys(themes);
    const next = order[(order.indexOf(root.dataset.theme ?? "auto") + 1) % order.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      localStorage.setItem("theme", next);
    } catch {
      // It holds for this visit then.
    }
    const query = new URLSearchParams(location.search);
    query.delete("theme");
    history.replaceState(null, "", `?${query}`);
    show();
  });
  show();
}

function prepareCopy() {
  const path = new URL(`v1/rates/${encodeURIComponent(pair)}`, location.href).href;
  const command = `curl -s '${path.replaceAll("'", "%27")}'`;
  say(byId("command"), command);
  byId("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      say(byId("copy"), "Copied");
    } catch {
      // Off loopback and without TLS a browser lets no page write there: the text is marked, ready to be copied by hand.
      getSelection().selectAllChildren(byId("command"));
      say(byId("copy"), "Press Ctrl+C");
    }
    setTimeout(() => say(byId("copy"), "Copy as curl"), 2000);
  });
}

function preparePause(feed) {
  const button = byId("pause");
  button.addEventListener("click", () => {
    state.paused = !state.paused;
    button.setAttribute("aria-pressed", String(state.paused));
    if (state.paused) feed.pause();
    else feed.resume();
    drawLive();
  });
}

function start() {
  byId("tools").hidden = false;
  prepareTheme();
  search.prepare(async () => (await once("pairs")).pairs.map((known) => known.pair), goTo);
  // A page that was refused has no pair to follow.
  if (byId("note").childElementCount > 0) return say(byId("live-text"), "nothing to follow");
  for (const id of ["chart", "curl"]) byId(id).hidden = false;
  table.staleAfter(Number(byId("main").dataset.staleMs));
  table.prepare(sortBy);
  table.showSort(state.sort);
  rate.prepare(() => state.receipt);
  prepareSpans();
  prepareCopy();
  preparePause(follow(pair, hear));
  setInterval(() => {
    table.tick();
    drawLive();
  }, 500);
  addEventListener("resize", drawChart);
  once("venues").then((body) => {
    for (const venue of body.venues) state.names.set(venue.id, venue.name);
    if (state.quotes !== null) drawFacts(state.quotes);
    drawTable();
  }, drawLive);
}

start();
