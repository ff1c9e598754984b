// The matrix of spreads: what is left, after both takers' fees, of buying at one exchange and selling at another.

import { byId, make, plain, say } from "./format.js";

const cells = new Map();
let drawnFor = "";

/** Says that there is nothing, and why. */
export function missing(why) {
  byId("spreads").hidden = false;
  byId("spreads-scroll").hidden = true;
  say(byId("spreads-hint"), why);
}

/** Draws the matrix of an answer of `/v1/spreads/{pair}`. */
export function draw(body, names) {
  const venues = body.venues.map((top) => top.venue);
  if (venues.length < 2) return missing("Fewer than two exchanges have a bid and an ask that count.");
  byId("spreads").hidden = false;
  byId("spreads-scroll").hidden = false;
  const heads = venues.map(names).join("\n");
  if (drawnFor !== heads) {
    drawnFor = heads;
    build(venues, names);
  }
  let best = null;
  for (const spread of body.spreads) {
    const net = spread.net_bps === null ? NaN : Number(spread.net_bps);
    show(cells.get(`${spread.buy} ${spread.sell}`), net, spread.opportunity);
    if (!Number.isNaN(net) && (best === null || net > best.net)) best = { ...spread, net };
  }
  say(byId("spreads-hint"), hint(best, names));
}

function hint(best, names) {
  const rule = "Buy at the row, sell at the column.";
  if (best === null) return rule;
  const way = `buy at ${names(best.buy)}, sell at ${names(best.sell)}: ${written(best.net)} bps`;
  const worth = best.opportunity ? "both quotes are under 2 s old" : best.net > 0 ? "but a quote is over 2 s old" : "nothing is left";
  return `${rule} The most: ${way}, ${worth}.`;
}

function build(venues, names) {
  cells.clear();
  const heads = venues.map((venue) => make("th", { scope: "col" }, plain(names(venue), 20)));
  const head = make("thead", {}, make("tr", {}, make("td"), ...heads));
  const body = make("tbody");
  for (const buy of venues) {
    const line = make("tr", {}, make("th", { scope: "row" }, plain(names(buy), 20)));
    for (const sell of venues) {
      const cell = make("td", buy === sell ? { class: "self" } : {});
      cells.set(`${buy} ${sell}`, cell);
      line.append(cell);
    }
    body.append(line);
  }
  byId("matrix").replaceChildren(head, body);
}

function show(cell, net, opportunity) {
  if (!cell) return;
  say(cell, Number.isNaN(net) ? "" : `${opportunity ? "◆" : ""}${written(net)}`);
  cell.className = net > 0 ? (opportunity ? "gain chance" : "gain") : net > -25 ? "near" : "";
}

function written(net) {
  const size = Math.abs(net);
  return `${net < 0 ? "−" : "+"}${size < 9.95 ? size.toFixed(1) : size.toFixed(0)}`;
}
