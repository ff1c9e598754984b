// The rate: its figure, its status, its receipt in plain words.

import { byId, figure, make, plain, say, signed, spoken } from "./format.js";
import { sentence, sign, step } from "./words.js";

/** Reads what the page needs of the answer about a rate: of a receipt, or of a refusal that holds one. Null where there is no receipt. */
export function read(body) {
  const receipt = body?.receipt ?? body;
  if (!receipt || !receipt.status || !Array.isArray(receipt.votes)) return null;
  const votes = receipt.votes.map((vote) => ({
    operator: vote.operator,
    price: vote.price,
    hops: vote.hops ?? 0,
    label: vote.decision === "in" ? null : vote.decision,
    counts: vote.decision === "in" && receipt.status !== "inconsistent",
  }));
  const steps = new Set();
  for (const quote of receipt.quotes ?? []) {
    if (quote.decision !== "in" || !Array.isArray(quote.path)) continue;
    for (const part of quote.path) steps.add(step(part));
  }
  const good = receipt.last_good;
  return {
    id: receipt.id,
    status: receipt.status,
    rate: receipt.rate,
    quote: receipt.quote,
    votes,
    steps: [...steps].sort(),
    quotes: receipt.quotes ?? [],
    misses: receipt.misses ?? [],
    lastGood: good ? { rate: good.rate, ageMs: good.age_ms ?? 0 } : null,
    median: receipt.median ?? null,
  };
}

/** Draws figure, status and sentence; what is refused says so. */
export function draw(receipt, problem) {
  const status = receipt?.status ?? "unavailable";
  byId("verdict").dataset.status = status;
  say(byId("figure"), receipt?.rate ? figure(receipt.rate) : "no rate");
  say(byId("sign"), sign(status));
  say(byId("word"), spoken(status));
  say(byId("sentence"), receipt ? sentence(receipt) : problem ? `${plain(problem)}.` : "nothing is known of this rate.");
  drawDetails(receipt);
}

function drawDetails(receipt) {
  const details = byId("receipt");
  details.hidden = !receipt?.id;
  if (!receipt?.id || !details.open) return;
  byId("receipt-body").replaceChildren(...lines(receipt));
}

/** Has the receipt drawn when it is opened. */
export function prepare(current) {
  byId("receipt").addEventListener("toggle", () => drawDetails(current()));
}

function lines(receipt) {
  const middle = Number(receipt.median ?? receipt.rate);
  const list = make("ul");
  for (const vote of receipt.votes) {
    const off = middle ? `, ${signed(((Number(vote.price) - middle) / middle) * 1e4)} bps off the median` : "";
    const way = vote.hops > 0 ? `, converted in ${vote.hops === 1 ? "one step" : `${vote.hops} steps`}` : "";
    const out = vote.label ? `, left out: ${spoken(vote.label)}` : "";
    list.append(make("li", {}, `${plain(vote.operator, 40)} says ${figure(vote.price)}${off}${way}${out}`));
  }
  for (const quote of receipt.quotes.filter((quote) => quote.decision !== "in" && !receipt.votes.some((vote) => vote.operator === quote.operator))) {
    list.append(make("li", {}, `${plain(quote.venue, 40)}’s ${plain(quote.pair, 40)} was not counted: ${spoken(quote.decision)}`));
  }
  for (const miss of receipt.misses) {
    list.append(make("li", {}, `${plain(miss.venue, 40)} gave no quote for ${plain(miss.pair, 40)}: ${spoken(miss.reason)}`));
  }
  const id = plain(receipt.id, 60);
  const link = make("a", { href: `v1/receipts/${encodeURIComponent(id)}` }, id);
  return [make("p", {}, "Kept as ", link, ", with every quote that went in."), list];
}
