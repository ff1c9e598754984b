// Numbers, ages and foreign texts as a person reads them, and small tools for the document. No state.

const SHAPELESS = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Makes a foreign text fit to be shown: cut, and without characters that have no shape of their own. */
export function plain(text, most = 160) {
  const kept = [...String(text ?? "").replace(SHAPELESS, "")];
  return kept.length > most ? `${kept.slice(0, most).join("")}…` : kept.join("");
}

/** Makes words of a slug. */
export const spoken = (slug) => plain(slug, 40).replaceAll("_", " ");

/** Sets thousands apart in a number that is a text: 67,000.34. */
export function grouped(number) {
  const [whole, fraction] = String(number).split(".");
  const set = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? set : `${set}.${fraction}`;
}

/** Rounds a number that is a text to so many significant digits, half up, without passing through a float. */
export function rounded(number, digits) {
  const [whole, fraction = ""] = String(number).split(".");
  const all = whole + fraction;
  const lead = all.search(/[1-9]/);
  if (lead < 0) return "0";
  const cut = lead + digits;
  if (cut >= all.length) return trimmed(whole, fraction);
  const decimals = cut - whole.length;
  const kept = BigInt(all.slice(0, cut)) + (all[cut] >= "5" ? 1n : 0n);
  if (decimals <= 0) return (kept * 10n ** BigInt(-decimals)).toString();
  const text = kept.toString().padStart(decimals + 1, "0");
  return trimmed(text.slice(0, -decimals), text.slice(-decimals));
}

function trimmed(whole, fraction) {
  const rest = fraction.replace(/0+$/, "");
  return rest ? `${whole}.${rest}` : whole;
}

/** Gives a rate as the page shows it. */
export const figure = (rate) => grouped(rounded(rate, 8));

/** Gives how far a price is from another, in basis points of that. */
export const bps = (price, from) => ((price - from) / from) * 1e4;

/** Writes basis points with a sign and one decimal. */
export function signed(number) {
  const text = Math.abs(number).toFixed(1);
  return `${number < 0 ? "−" : "+"}${text}`;
}

/** Writes an age: seconds, then minutes. */
export function age(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

export const decimals = (number) => (String(number ?? "").split(".")[1] ?? "").length;

export const byId = (id) => document.getElementById(id);

/** Makes an element: attributes that are null or false are left out, children may be texts. */
export function make(name, attributes = {}, ...children) {
  const svg = ["svg", "path", "text", "line", "g"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Sets a text where it differs, so that nothing is drawn, or read out, for nothing. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
