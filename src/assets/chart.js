// The chart: the mid at each exchange over the last minutes, of what was pulled here.

import { byId, grouped, make, say, signed } from "./format.js";

export const SPANS = { "1m": 60_000, "5m": 300_000, "15m": 900_000 };
/** How many changes are kept of one exchange, and of how many exchanges. */
const KEPT_MAX = 1000;
const LINES_MAX = 64;
/** The shortest time that is drawn, so that the first seconds are not stretched. */
const LEAST_MS = 30_000;
const [LEFT, RIGHT, TOP, BOTTOM] = [0, 76, 10, 22];

const histories = new Map();
const lines = new Map();
const MIDDLE = "";

/** Notes what each exchange's mid is from now on; nothing where it has none. */
export function note(all, mid, now) {
  add(MIDDLE, mid, now);
  for (const row of all) add(row.venue, row.state === "in" ? row.mid : NaN, now);
}

function add(key, value, now) {
  if (!histories.has(key)) {
    if (histories.size > LINES_MAX) return;
    histories.set(key, []);
  }
  const history = histories.get(key);
  const last = history.at(-1);
  if (last && (last[1] === value || (Number.isNaN(last[1]) && Number.isNaN(value)))) return;
  history.push([now, value]);
  if (history.length > KEPT_MAX) history.shift();
}

/** Gives the part of a history since a moment, and the value that stood then. */
function since(history, from) {
  const first = history.findLastIndex(([at]) => at <= from);
  const rest = history.slice(Math.max(0, first));
  return first < 0 ? rest : [[from, rest[0][1]], ...rest.slice(1)];
}

/** Draws the lines. `picked` stands out where it is one of them. */
export function draw({ pair, span, picked, names, hue, now }) {
  const plot = byId("plot");
  const [width, height] = [plot.clientWidth, plot.clientHeight];
  if (width === 0 || !histories.has(MIDDLE)) return;
  const began = Math.min(...[...histories.values()].map((history) => history[0]?.[0] ?? now));
  const from = now - Math.min(SPANS[span], Math.max(LEAST_MS, now - began));
  const parts = new Map([...histories].map(([key, history]) => [key, since(history, from)]));
  const values = [...parts.values()].flat().map(([, value]) => value).filter((value) => !Number.isNaN(value));
  if (values.length === 0) return;
  const [low, high] = padded(Math.min(...values), Math.max(...values));
  const x = (at) => LEFT + ((at - from) / (now - from)) * (width - LEFT - RIGHT);
  const y = (value) => TOP + ((high - value) / (high - low)) * (height - TOP - BOTTOM);
  plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawGrid(plot, { low, high, from, now, x, y, width, height });
  for (const [key, part] of parts) {
    const line = lineOf(plot, key, hue);
    line.setAttribute("d", steps(part, now, x, y));
    line.classList.toggle("is", key === picked);
  }
  byId("chart").classList.toggle("picked", histories.has(picked));
  say(byId("reading"), reading(picked, names));
  plot.setAttribute("aria-label", `Mid at each exchange: ${pair} between ${tidy(Math.min(...values))} and ${tidy(Math.max(...values))}`);
}

function padded(low, high) {
  const room = (high - low) * 0.08 || Math.abs(high) * 1e-4;
  return [low - room, high + room];
}

function lineOf(plot, key, hue) {
  if (!lines.has(key)) {
    const line = make("path", { class: key === MIDDLE ? "middle" : hue(key) });
    lines.set(key, line);
    // The middle lies above all others.
    if (key === MIDDLE || !lines.has(MIDDLE)) plot.append(line);
    else lines.get(MIDDLE).before(line);
  }
  return lines.get(key);
}

/** Writes a history as steps: a price stands until the next. */
function steps(part, now, x, y) {
  let path = "";
  let down = false;
  part.forEach(([at, value], index) => {
    const until = x(part[index + 1]?.[0] ?? now).toFixed(1);
    if (Number.isNaN(value)) {
      down = false;
      return;
    }
    path += down ? `V${y(value).toFixed(1)}` : `M${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    path += `H${until}`;
    down = true;
  });
  return path;
}

function drawGrid(plot, { low, high, from, now, x, y, width, height }) {
  plot.querySelectorAll(".grid, text").forEach((old) => old.remove());
  const back = [];
  for (const value of ticks(low, high)) {
    back.push(make("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: Math.round(y(value)), y2: Math.round(y(value)) }));
    back.push(make("text", { x: width - RIGHT + 8, y: Math.round(y(value)) + 4 }, tidy(value)));
  }
  const ago = Math.round((now - from) / 1000);
  back.push(make("text", { x: LEFT, y: height - 4 }, ago < 120 ? `${ago} s ago` : `${Math.round(ago / 60)} min ago`));
  back.push(make("text", { x: x(now), y: height - 4, "text-anchor": "end" }, "now"));
  plot.prepend(...back);
}

/** Gives some round numbers between two. */
function ticks(low, high) {
  const rough = (high - low) / 3;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((size) => size >= rough);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high && found.length < 6; value += step) found.push(value);
  return found;
}

function tidy(value) {
  const digits = Math.max(0, Math.min(10, 5 - Math.floor(Math.log10(Math.abs(value) || 1))));
  return grouped(value.toFixed(Math.min(digits, 8)).replace(/\.?0+$/, ""));
}

function reading(picked, names) {
  const last = histories.get(picked)?.at(-1)?.[1];
  if (last === undefined || picked === MIDDLE) return "The thick line is the middle of best bid and best ask.";
  const middle = histories.get(MIDDLE).at(-1)[1];
  if (Number.isNaN(last)) return `${names(picked)} has no quote that counts.`;
  return `${names(picked)}: ${grouped(String(Number(last.toPrecision(10))))}, ${signed(((last - middle) / middle) * 1e4)} bps off the middle.`;
}
