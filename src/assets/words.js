// What a rate is worth, in plain words. `src/http/page/words.rs` says the same of the same receipt: the browser's tests compare the two.

import { figure, grouped, plain, spoken } from "./format.js";

const NAMED_MAX = 3;

const SIGNS = { ok: "✓", degraded: "◐", single_source: "1", held: "‖", stale: "◌", inconsistent: "≠", unavailable: "×" };

/** Gives the sign for a status. */
export const sign = (status) => SIGNS[status] ?? "×";

/** Says what a rate is worth and why. */
export function sentence(receipt) {
  const survivors = receipt.votes.filter((vote) => vote.counts);
  const through = survivors.filter((vote) => vote.hops > 0).length;
  const converted = through > 0 && receipt.steps.length > 0 ? `; ${through} of them converted through ${listed(receipt.steps)}` : "";
  const agreed = `${within(survivors)}${converted}${leftOut(receipt.votes)}.`;
  const old = receipt.lastGood ? `, ${seconds(receipt.lastGood.ageMs)} old` : "";
  const last = receipt.lastGood ? `; the last good one was ${figure(receipt.lastGood.rate)}, ${seconds(receipt.lastGood.ageMs)} ago` : "";
  switch (receipt.status) {
    case "ok":
      return `${survivors.length} exchanges agree${agreed}`;
    case "degraded":
      return `only ${survivors.length} exchanges agree${agreed}`;
    case "single_source":
      return `only ${plain(survivors[0]?.operator, 40)} prices it, and nobody confirms that${converted}${leftOut(receipt.votes)}.`;
    case "held":
      return `the price moved too far at once and is not confirmed yet: this is the last good rate${old}.`;
    case "stale":
      return `no quote counts any more: this is the last good rate${old}.`;
    case "inconsistent":
      return `${receipt.votes.length} exchanges contradict each other, so no rate is given${last}.`;
    default:
      return `no quote counts, so no rate is given${last}.`;
  }
}

const seconds = (ms) => `${Math.floor(ms / 1000)} s`;

/** Gives how far the survivors are apart, of the lowest. */
function within(survivors) {
  const prices = survivors.map((vote) => Number(vote.price)).filter((price) => price > 0);
  if (prices.length === 0) return "";
  const low = Math.min(...prices);
  return ` within ${(((Math.max(...prices) - low) / low) * 1e4).toFixed(1)} bps`;
}

function leftOut(votes) {
  const out = votes.filter((vote) => vote.label);
  if (out.length === 0) return "";
  const named = out.slice(0, NAMED_MAX).map((vote) => `${plain(vote.operator, 40)} (${spoken(vote.label)})`);
  const more = out.length > NAMED_MAX ? ` and ${out.length - NAMED_MAX} more` : "";
  return `; left out: ${named.join(", ")}${more}`;
}

function listed(words) {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : (words[0] ?? "");
}

/** Names a step of a conversion: USDT/USD 0.9996. */
export const step = ({ from, to, rate, par }) => `${plain(from, 20)}/${plain(to, 20)} ${figure(rate)}${par ? " by declaration" : ""}`;

/** Says how everything stands, for somebody who listens. */
export function summary(pair, receipt, quotes, names) {
  const rate = receipt?.rate ? `${grouped(figure(receipt.rate).replaceAll(",", ""))}, ${spoken(receipt.status)}` : `none, ${spoken(receipt?.status ?? "unavailable")}`;
  const best = (side) => (quotes[side] ? `${side} ${grouped(quotes[side])} at ${names(quotes[`${side}_venue`])}` : `no ${side}`);
  const down = quotes.misses.map((miss) => `${names(miss.venue)} ${spoken(miss.reason)}`);
  const missing = down.length > 0 ? ` Down: ${down.slice(0, 5).join(", ")}${down.length > 5 ? ` and ${down.length - 5} more` : ""}.` : "";
  return `${pair}: rate ${rate}. Best ${best("bid")}, best ${best("ask")}. ${quotes.venues.answered} of ${quotes.venues.asked} exchanges.${missing}`;
}
