// Where each exchange's bid and ask lie among all of them, drawn on one scale. `src/http/page/strip.rs` draws the same.

import { make } from "./format.js";

const WIDTH = 1000;

/** Makes the scale of the quotes that count; null where there is nothing to set apart. */
export function scaleOf(rows) {
  const all = rows.filter((row) => row.state === "in").flatMap((row) => [row.bid, row.ask]).filter((price) => !Number.isNaN(price));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (!(low < high)) return null;
  return (price) => Math.round(Math.min(1, Math.max(0, (price - low) / (high - low))) * WIDTH);
}

/** Makes an empty drawing. */
export function blank() {
  const lines = ["middle", "bar", "bid", "ask"].map((name) => make("path", { class: name }));
  return make("svg", { viewBox: `0 0 ${WIDTH} 40`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...lines);
}

/** Draws a quote, and the middle of all; nothing of a quote that is no longer there. */
export function draw(drawing, scale, row, mid) {
  const there = (price) => scale !== null && row.state !== "down" && !Number.isNaN(price);
  const upright = (price, from, to) => (there(price) ? `M${scale(price)} ${from}V${to}` : "");
  const bar = there(row.bid) && there(row.ask) ? `M${scale(row.bid)} 20H${scale(row.ask)}` : "";
  const middle = scale !== null && !Number.isNaN(mid) ? `M${scale(mid)} 0V40` : "";
  [middle, bar, upright(row.bid, 13, 27), upright(row.ask, 13, 27)].forEach((d, at) => drawing.children[at].setAttribute("d", d));
}
