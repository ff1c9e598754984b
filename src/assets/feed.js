// Where everything on the page comes from: one function, `follow`. It pulls each second while somebody looks; a stream may take its place behind it.

const EVERY_MS = 1000;
/** How long one answer may take. */
const PATIENCE_MS = 4000;

/** Asks for a resource under `v1`, if it is another than the one known by its tag. */
async function pull(path, tags) {
  const headers = tags.has(path) ? { "If-None-Match": tags.get(path) } : {};
  // The browser's own cache would answer for as long as max-age allows.
  const answer = await fetch(`v1/${path}`, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
  const oldest = answer.headers.get("Quorate-Age-Ms");
  const heard = { status: answer.status, body: null, oldest: oldest === null ? null : Number(oldest), at: performance.now() };
  if (answer.status === 304) return heard;
  const tag = answer.headers.get("ETag");
  if (tag && answer.ok) tags.set(path, tag);
  else tags.delete(path);
  heard.retry = Number(answer.headers.get("Retry-After")) || 0;
  heard.body = await answer.json();
  return heard;
}

/**
 * Follows a pair. Tells `hear` of every answer as `{about, status, body, oldest, at}`: about `quotes`, `rate` or `spreads`, `body` null where nothing
 * changed, `oldest` the age in ms of the oldest quote that decided, `at` the moment by `performance.now()`; and of a failure as `{about: "lost"}`.
 * Gives `{pause, resume, stop}`.
 */
export function follow(pair, hear) {
  const name = encodeURIComponent(pair);
  const tags = new Map();
  let timer = null;
  let paused = false;
  let stopped = false;
  let busy = false;
  let waitUntil = 0;

  async function one(about, path) {
    let heard;
    try {
      heard = await pull(path, tags);
    } catch {
      if (!stopped) hear({ about: "lost", of: about });
      return;
    }
    if (heard.status === 429) waitUntil = performance.now() + 1000 * Math.max(1, heard.retry);
    if (!stopped) hear({ about, ...heard });
  }

  async function round() {
    if (busy || paused || stopped || document.visibilityState !== "visible" || performance.now() < waitUntil) return;
    busy = true;
    try {
      await Promise.all([one("quotes", `quotes/${name}`), one("rate", `rates/${name}`), one("spreads", `spreads/${name}`)]);
    } finally {
      busy = false;
    }
  }

  const seen = () => void round();
  document.addEventListener("visibilitychange", seen);
  timer = setInterval(seen, EVERY_MS);
  seen();

  return {
    pause() {
      paused = true;
    },
    resume() {
      paused = false;
      seen();
    },
    stop() {
      stopped = true;
      clearInterval(timer);
      document.removeEventListener("visibilitychange", seen);
    },
  };
}

/** Asks once for something that changes seldom. */
export async function once(path) {
  return (await pull(path, new Map())).body;
}
