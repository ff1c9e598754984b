'use strict';
// Pulls the figures each second while somebody looks, and shows them. Texts from elsewhere are put into the page as text alone.

const EVERY_MS = 1000;
const HISTORY = 60;
const TEXT_MAX = 200;
const byId = (id) => document.getElementById(id);

const view = { data: null, before: null, past: new Map(), sort: { key: 'name', up: true }, open: null, token: '', held: false, timer: 0, pulling: false };

// Words for states, how grave each is, and a sign beside the colour.
const STATES = {
  up: ['good', '●'], running: ['good', '●'], ok: ['good', '●'],
  starting: ['idle', '○'], new: ['idle', '○'], paused: ['idle', '‖'], stopped: ['idle', '■'],
  failing: ['warn', '▲'], rate_limited: ['warn', '▲'], restarting: ['warn', '↻'], degraded: ['warn', '▲'], held: ['warn', '‖'], single_source: ['warn', '▲'],
  breaker_open: ['bad', '✕'], parked: ['bad', '✕'], panicked: ['bad', '✕'], not_ready: ['bad', '✕'], inconsistent: ['bad', '✕'], unavailable: ['bad', '✕'],
  stale: ['warn', '▲'],
};

const clean = (text) => String(text).slice(0, TEXT_MAX).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
const count = (n) => (n === null || n === undefined ? '–' : n.toLocaleString('en-US'));
const span = (ms) => {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = Math.floor(ms / 1000);
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  return s < 172800 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
};
const short = (us) => (us === null || us === undefined ? '–' : us < 1000 ? `${us} µs` : us < 1e6 ? `${(us / 1000).toPrecision(3)} ms` : `${(us / 1e6).toPrecision(3)} s`);
const percent = (share) => (share === null ? '–' : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`);
const clock = (ms) => (ms === null ? '–' : `${Math.abs(ms)} ms ${ms > 0 ? 'behind' : 'ahead of'} the venues'`);
const bytes = (n) => (n === null ? '–' : `${(n / 1048576).toFixed(1)} MiB`);

function make(tag, text, className) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
}

function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function badge(word) {
  const [grave, sign] = STATES[word] || ['idle', '○'];
  return make('span', `${sign} ${clean(word).replaceAll('_', ' ')}`, `badge ${grave}`);
}

// What a counter gained in a second, between the last two pulls.
function rate(actor, key) {
  const before = view.before && view.before.actors.find((other) => other.name === actor.name);
  const ns = before ? actor.metered_ns - before.metered_ns : 0;
  return ns > 0 ? Math.max(0, (actor[key] - before[key]) / (ns / 1e9)) : null;
}

function busy(actor) {
  const gained = rate(actor, 'busy_ns');
  return gained === null ? null : Math.min(1, gained / 1e9);
}

const venueOf = (actor) => view.data.venues.find((venue) => `exchange/${venue.id}` === actor.name) || null;
const times = (actor) => actor[byId('window').value];
const trio = (t, kind) => (t === null ? '–' : `${short(t[`${kind}_p50_us`])} / ${short(t[`${kind}_p99_us`])} / ${short(t[`${kind}_max_us`])}`);
const perSecond = (n) => (n === null ? '–' : n < 10 ? n.toFixed(1) : count(Math.round(n)));

// Columns: heading, what it is sorted by, what it shows (a text or a node), class.
const COLUMNS = [
  ['Actor', (a) => a.name, (a) => nameButton(a)],
  ['State', (a) => a.state, (a) => badge(a.state), 'text'],
  ['For', (a) => a.state_for_ms, (a) => span(a.state_for_ms)],
  ['Queued', (a) => a.queued, (a) => `${count(a.queued)} / ${count(a.queued_high)} / ${count(a.capacity)}`],
  ['In flight', (a) => a.in_flight, (a) => `${count(a.in_flight)} / ${count(a.in_flight_high)}`],
  ['Last minute', null, (a) => spark(a)],
  ['In', (a) => a.sent, (a) => count(a.sent)],
  ['Handled', (a) => a.handled, (a) => count(a.handled)],
  ['Handled/s', (a) => rate(a, 'handled'), (a) => perSecond(rate(a, 'handled'))],
  ['Wait p50 / p99 / max', (a) => (times(a) ? times(a).wait_p99_us : -1), (a) => trio(times(a), 'wait')],
  ['Handler p50 / p99 / max', (a) => (times(a) ? times(a).handler_p99_us : -1), (a) => trio(times(a), 'handler')],
  ['Busy', (a) => busy(a), (a) => percent(busy(a))],
  ['Running now', (a) => (a.running_now ? a.running_now.for_ms : -1), (a) => (a.running_now ? `${a.running_now.message} ${span(a.running_now.for_ms)}` : '–'), 'text'],
  ['Lost', (a) => a.lost, (a) => count(a.lost)],
  ['Refused', (a) => a.refused, (a) => count(a.refused)],
  ['Restarts', (a) => a.restarts, (a) => restarts(a)],
  ['Last quote', (a) => (venueOf(a) ? venueOf(a).last_quote_age_ms : -1), (a) => (venueOf(a) ? span(venueOf(a).last_quote_age_ms) : '')],
  ['Budget left', (a) => (venueOf(a) ? venueOf(a).budget_left_permille : -1), (a) => (venueOf(a) ? percent(venueOf(a).budget_left_permille / 1000) : '')],
  ['Last error', (a) => (a.last_error ? -a.last_error.age_ms : -Infinity), (a) => (a.last_error ? `${span(a.last_error.age_ms)} ago: ${clean(a.last_error.detail)}` : '–'), 'text long'],
  ['Orders', null, (a) => orders(a), 'text'],
];

function restarts(actor) {
  const causes = Object.entries(actor.restarts_by).map(([cause, times]) => `${cause} ${times}`);
  return causes.length ? `${count(actor.restarts)} (${causes.join(', ')})` : '0';
}

function nameButton(actor) {
  const button = make('button', clean(actor.name), 'name');
  button.type = 'button';
  button.setAttribute('aria-expanded', String(view.open === actor.name));
  button.addEventListener('click', () => open(view.open === actor.name ? null : actor.name));
  return button;
}

function orderButton(text, path, label) {
  const button = make('button', text);
  button.type = 'button';
  button.setAttribute('aria-label', label);
  button.addEventListener('click', () => order(path));
  return button;
}

function orders(actor) {
  const box = make('span');
  const venue = venueOf(actor);
  if (venue) {
    const verb = venue.state === 'paused' ? 'resume' : 'pause';
    for (const word of [verb, 'restart', 'reconnect']) {
      const text = word[0].toUpperCase() + word.slice(1);
      box.append(orderButton(text, `venues/${encodeURIComponent(venue.id)}/${word}`, `${text} ${venue.id}`));
    }
  }
  box.append(orderButton('Reset high', `actors/reset?actor=${encodeURIComponent(actor.name)}`, `Reset the high-water marks of ${clean(actor.name)}`));
  return box;
}

const SVG = 'http://www.w3.org/2000/svg';
function spark(actor) {
  const past = view.past.get(actor.name) || [];
  const most = Math.max(1, ...past);
  const points = past.map((value, at) => `${((at * 100) / (HISTORY - 1)).toFixed(1)},${(22 - (value / most) * 20).toFixed(1)}`);
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 100 24');
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('class', 'spark');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `handled a second over the last minute, ${perSecond(past.length ? most : null)} at most`);
  const line = document.createElementNS(SVG, 'polyline');
  line.setAttribute('points', points.join(' '));
  svg.append(line);
  return svg;
}

function heads(table, columns) {
  const row = table.tHead.rows[0];
  if (row.cells.length) return;
  columns.forEach(([heading, key, , className]) => {
    const cell = make('th', undefined, className && className.split(' ')[0]);
    cell.scope = 'col';
    if (table.id === 'actors' && key) {
      const button = make('button', heading);
      button.type = 'button';
      button.addEventListener('click', () => {
        view.sort = { key: heading, up: view.sort.key === heading ? !view.sort.up : true };
        render();
      });
      cell.append(button);
    } else {
      cell.textContent = heading;
    }
    row.append(cell);
  });
}

// Rows are kept by their key, and cells changed only where they differ: what has the focus keeps it.
function rows(table, columns, items, keyOf) {
  heads(table, columns);
  const body = table.tBodies[0];
  const known = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  items.forEach((item, at) => {
    const key = keyOf(item);
    let row = known.get(key);
    known.delete(key);
    if (!row) {
      row = make('tr');
      row.dataset.key = key;
      columns.forEach(([, , , className]) => row.append(make('td', undefined, className)));
    }
    if (body.rows[at] !== row) body.insertBefore(row, body.rows[at] || null);
    columns.forEach(([, , show], column) => {
      const cell = row.cells[column];
      const shown = show(item);
      if (typeof shown === 'string') {
        put(cell, shown);
        if (cell.classList.contains('long')) cell.title = shown;
      } else if (!cell.firstChild || cell.firstChild.outerHTML !== shown.outerHTML) {
        const had = cell.contains(document.activeElement) ? [...cell.querySelectorAll('button')].indexOf(document.activeElement) : -1;
        cell.replaceChildren(shown);
        const again = had < 0 ? null : shown.matches('button') ? shown : shown.querySelectorAll('button')[had];
        if (again) again.focus();
      }
    });
  });
  known.forEach((row) => row.remove());
}

function strip(id, entries) {
  const list = byId(id);
  const texts = entries.map(([name, value]) => `${name}\n${value}`).join('\n');
  if (list.dataset.shown === texts) return;
  list.dataset.shown = texts;
  list.replaceChildren(...entries.map(([name, value]) => {
    const box = make('div');
    box.append(make('dt', name), make('dd', value));
    return box;
  }));
}

function log(id, lines, none) {
  const list = byId(id);
  const texts = lines.length ? lines : [none];
  list.replaceChildren(...texts.map((line) => make('li', line)));
}

function sorted(actors) {
  const words = byId('filter').value.trim().toLowerCase();
  const text = (a) => `${a.name} ${a.state} ${a.last_error ? a.last_error.detail : ''}`.toLowerCase();
  const column = COLUMNS.find(([heading]) => heading === view.sort.key) || COLUMNS[0];
  const by = column[1];
  const sign = view.sort.up ? 1 : -1;
  const order = (a, b) => (by(a) < by(b) ? -sign : by(a) > by(b) ? sign : a.name < b.name ? -1 : 1);
  return actors.filter((a) => text(a).includes(words)).sort(order);
}

const MESSAGE_COLUMNS = [
  ['Message', null, (m) => clean(m.message)],
  ['Queued', null, (m) => `${count(m.queued)} / ${count(m.queued_high)}`],
  ['In flight', null, (m) => `${count(m.in_flight)} / ${count(m.in_flight_high)}`],
  ['In', null, (m) => count(m.sent)],
  ['Handled', null, (m) => count(m.handled)],
  ['Replied', null, (m) => count(m.replied)],
  ['Lost', null, (m) => count(m.lost)],
  ['Refused: full / overloaded / dead', null, (m) => `${count(m.refused_full)} / ${count(m.refused_overloaded)} / ${count(m.refused_dead)}`],
  ['Wait p50 / p99 / max', null, (m) => trio(m[byId('window').value], 'wait')],
  ['Handler p50 / p99 / max', null, (m) => trio(m[byId('window').value], 'handler')],
  ['Response p50 / p99 / max', null, (m) => trio(m[byId('window').value], 'response')],
];

const PAIR_COLUMNS = [
  ['Pair', null, (p) => clean(p.pair)],
  ['Ready', null, (p) => (p.ready ? '● yes' : '✕ no'), 'text'],
  ['Required', null, (p) => (p.required ? 'yes' : 'no'), 'text'],
  ['Quotes that count', null, (p) => `${p.quotes_admitted} of ${p.venues_asked} asked, ${p.quorum} needed`],
  ['Rate', null, (p) => (p.rate_status ? badge(p.rate_status) : make('span', '–')), 'text'],
  ['Oldest quote in it', null, (p) => span(p.rate_age_ms)],
];

const ROUTE_COLUMNS = [
  ['Route', null, (r) => r.route],
  ['Status', null, (r) => r.status],
  ['Requests', null, (r) => count(r.time.count)],
  ['p50 within', null, (r) => short(r.time.p50_us)],
  ['p99 within', null, (r) => short(r.time.p99_us)],
  ['Mean', null, (r) => short(Math.round(r.time.sum_us / Math.max(1, r.time.count)))],
];

function detail() {
  const actor = view.data.actors.find((other) => other.name === view.open);
  byId('detail').hidden = !actor;
  if (!actor || !actor.messages) return;
  put(byId('detail-title'), clean(actor.name));
  rows(byId('messages'), MESSAGE_COLUMNS, actor.messages, (m) => m.message);
  const times = (e) => (e.count > 1 ? ` (${e.count} times)` : '');
  log('events', actor.events.map((e) => `${span(e.age_ms)} ago · ${e.kind}: ${clean(e.detail)}${times(e)}`), 'Nothing has happened yet');
  const venue = venueOf(actor);
  const faults = venue ? Object.entries(venue.faults).map(([reason, n]) => `${reason} ${count(n)}`) : [];
  const profile = venue && venue.detail && venue.detail.profile;
  strip('venue', profile ? [
    ['Venue', clean(profile.name)], ['Origin', clean(profile.origin)], ['State', `${venue.state.replaceAll('_', ' ')} since ${profile.since}`],
    ['Breaker', `${venue.breaker.state}${venue.breaker.left_ms === null ? '' : `, ${span(venue.breaker.left_ms)} left`}`],
    ['Requests', count(venue.requests)], ['Answers', count(venue.answers)], ['Answer p50 / p99 within', `${short(venue.response_p50_us)} / ${short(venue.response_p99_us)}`],
    ['Faults', faults.join(', ') || 'none'], ['Polled every', span(venue.poll_interval_ms)], ['Pairs quoted', count(venue.pairs_quoted)], ['Reconnects', count(venue.reconnects)],
  ] : []);
}

function render() {
  const data = view.data;
  if (!data) return;
  byId('simulated').hidden = !data.simulated;
  const [grave, sign] = STATES[data.verdict.word] || ['idle', '○'];
  const verdict = byId('verdict');
  put(verdict, `${sign} ${data.verdict.word.replaceAll('_', ' ')}: ${clean(data.verdict.sentence)}`);
  verdict.className = `verdict ${grave}`;
  const c = data.connections;
  strip('strip', [
    ['Up', span(data.process.uptime_ms)], ['Version', `${data.process.version} (${data.process.commit})`], ['Memory', bytes(data.process.memory_bytes)],
    ['Threads', count(data.process.threads)], ['Connections', c ? `${count(c.open)} of ${count(c.limit)}, ${count(c.waiting)} waiting` : '–'],
    ['Clock', clock(data.clock_skew_ms)], ['Boot', data.boot],
  ]);
  const shown = sorted(data.actors);
  rows(byId('actors'), COLUMNS, shown, (a) => a.name);
  [...byId('actors').tBodies[0].rows].forEach((row) => row.classList.toggle('open', row.dataset.key === view.open));
  [...byId('actors').tHead.rows[0].cells].forEach((cell) => {
    const is = cell.textContent === view.sort.key || (view.sort.key === 'name' && cell.textContent === 'Actor');
    if (is) cell.setAttribute('aria-sort', view.sort.up ? 'ascending' : 'descending'); else cell.removeAttribute('aria-sort');
  });
  put(byId('shown'), `${shown.length} of ${data.actors.length} shown`);
  detail();
  rows(byId('pairs'), PAIR_COLUMNS, data.pairs, (p) => p.pair);
  const r = data.rounds;
  strip('rounds', [
    ['Rounds for quotes', count(r.quotes)], ['for rates', count(r.rates)], ['refused', count(r.refused)],
    ['Answered from memory', count(r.answered_memory)], ['all in', count(r.answered_all)], ['enough', count(r.answered_enough)], ['at the deadline', count(r.answered_deadline)],
    ['Receipts', Object.entries(data.receipts.made).filter(([, n]) => n).map(([status, n]) => `${status} ${count(n)}`).join(', ') || 'none'],
    ['Receipts kept', `${count(data.receipts.kept)} (${bytes(data.receipts.kept_bytes)})`],
  ]);
  rows(byId('routes'), ROUTE_COLUMNS, data.routes, (route) => `${route.route} ${route.status}`);
  log('audit', data.audit.map((e) => `${e.time} · ${e.action} ${clean(e.target)} by ${clean(e.peer)}: ${e.outcome}`), 'No orders yet');
  put(byId('number'), count(data.number));
  put(byId('time'), data.time);
}

function trouble(text) {
  byId('trouble').hidden = !text;
  put(byId('trouble'), text || '');
}

async function ask(path, options = {}) {
  const headers = { ...(options.headers || {}), ...(view.token ? { Authorization: `Bearer ${view.token}` } : {}) };
  const answer = await fetch(`/admin/api/${path}`, { ...options, headers, cache: 'no-store', credentials: 'omit' });
  byId('login').hidden = answer.status !== 401;
  const body = await answer.json();
  if (!answer.ok) throw new Error(clean(body.detail || answer.status));
  return body;
}

function take(data) {
  view.before = view.data && view.data.boot === data.boot && view.data.number < data.number ? view.data : view.before;
  view.data = data;
  for (const actor of data.actors) {
    const past = view.past.get(actor.name) || [];
    const gained = rate(actor, 'handled');
    if (gained !== null) past.push(gained);
    view.past.set(actor.name, past.slice(-HISTORY));
  }
  for (const name of view.past.keys()) if (!data.actors.some((actor) => actor.name === name)) view.past.delete(name);
}

async function pull() {
  clearTimeout(view.timer);
  if (document.visibilityState !== 'visible' || view.pulling) return;
  view.pulling = true;
  try {
    const data = await ask(view.open === null ? 'actors.json' : `actors.json?open=${encodeURIComponent(view.open)}`);
    if (!view.held) {
      take(data);
      render();
    }
    trouble('');
  } catch (error) {
    trouble(`The figures could not be had: ${clean(error.message)}. What is shown is old.`);
  }
  view.pulling = false;
  view.timer = setTimeout(pull, EVERY_MS);
}

async function order(path) {
  try {
    await ask(path, { method: 'POST', headers: { 'Quorate-Admin': '1' } });
    trouble('');
  } catch (error) {
    trouble(`The order was not carried out: ${clean(error.message)}.`);
  }
  pull();
}

function open(name) {
  view.open = name;
  render();
  pull();
}

byId('filter').addEventListener('input', render);
byId('window').addEventListener('change', render);
byId('close').addEventListener('click', () => open(null));
byId('reset-all').addEventListener('click', () => order('actors/reset'));
byId('hold').addEventListener('click', () => {
  view.held = !view.held;
  byId('hold').setAttribute('aria-pressed', String(view.held));
  put(byId('hold'), view.held ? 'Go on' : 'Hold');
});
byId('login').addEventListener('submit', (event) => {
  event.preventDefault();
  view.token = byId('token').value;
  byId('token').value = '';
  pull();
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !event.target.matches('input, select')) {
    event.preventDefault();
    byId('filter').focus();
  }
});
document.addEventListener('visibilitychange', pull);
pull();
