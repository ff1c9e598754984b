#!/usr/bin/env python3
"""A stock third-party client reads the simulation, and must see what Quorate serves.

client.py PATH-OF-QUORATE starts `quorate sim` and `quorate serve` on free ports, freezes the market, lets an unchanged ccxt ask the simulated exchanges as it
asks the real ones, and compares, as decimals, with /v1/quotes. So the simulation is held to the exchanges' dialects by code that none of ours wrote, and the
decoders of Quorate to what another reader makes of the same answers. No other host can be reached: sockets refuse.
"""

import ipaddress
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from datetime import datetime, timezone
from decimal import Decimal

import ccxt

# How each exchange spells BTC/USDT, ETH/EUR ... as its market list has it.
COMPACT = "{0}{1}"
MARKETS = {
    "binance": {p: COMPACT.format(*p.split("/")) for p in ("BTC/USDT", "ETH/USDC", "XRP/USDT")},
    "bitfinex": {"BTC/USD": "tBTCUSD", "ETH/EUR": "tETHEUR", "SOL/USDT": "tSOLUST"},
    "bitget": {p: COMPACT.format(*p.split("/")) for p in ("BTC/USDT", "ETH/USDC", "XRP/USDT")},
    "bitstamp": {"BTC/USD": "btcusd", "ETH/EUR": "etheur", "SOL/USDT": "solusdt"},
    "bybit": {p: COMPACT.format(*p.split("/")) for p in ("BTC/USDT", "ETH/USDC", "XRP/USDT")},
    "coinbaseexchange": {p: p.replace("/", "-") for p in ("BTC/USD", "ETH/EUR", "SOL/USDT")},
    "gate": {p: p.replace("/", "_") for p in ("BTC/USDT", "ETH/USDT", "XRP/USDT")},
    "htx": {p: p.replace("/", "").lower() for p in ("BTC/USDT", "ETH/USDT", "XRP/USDT")},
    "kraken": {"BTC/USD": "XXBTZUSD", "ETH/EUR": "XETHZEUR", "SOL/USDT": "SOLUSDT"},
    "kucoin": {p: p.replace("/", "-") for p in ("BTC/USDT", "ETH/USDC", "XRP/USDT")},
    "mexc": {p: COMPACT.format(*p.split("/")) for p in ("BTC/USDT", "ETH/USDC", "XRP/USDT")},
    "okx": {p: p.replace("/", "-") for p in ("BTC/USDT", "ETH/USDC", "XRP/USDT")},
}
FIELDS = {
    "bid": "bid",
    "ask": "ask",
    "bidVolume": "bid_size",
    "askVolume": "ask_size",
    "last": "last",
    "high": "high",
    "low": "low",
    "open": "open",
    "baseVolume": "base_volume",
    "quoteVolume": "quote_volume",
}
# What ccxt computes from other fields, where the exchange's answer does not say it: no word of the exchange, so nothing to compare.
DERIVED = {
    "bitfinex": {"open"},
    "bitstamp": {"quoteVolume"},
    "gate": {"open"},
    "kraken": {"quoteVolume"},
}
# What each of the two calls must have given, lest a field vanish unseen on both sides.
NEEDED = {"fetch_ticker": {"bid", "ask", "last"}, "fetch_tickers": {"bid", "ask", "last"}}
# Its list of all products gives last prices alone.
NEEDED_ELSE = {("coinbaseexchange", "fetch_tickers"): {"last"}}
LIMIT_S = 120


class Refused(Exception):
    """Says that a socket was to leave this machine."""


def only_loopback():
    """Makes sockets refuse every address that is not on this machine, names included."""

    def checked(host):
        try:
            if host is not None and ipaddress.ip_address(host).is_loopback:
                return
        except ValueError:
            pass
        raise Refused(f"{host} is not on this machine")

    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded(inner):
        def call(sock, address):
            if sock.family in (socket.AF_INET, socket.AF_INET6):
                checked(address[0])
            return inner(sock, address)

        return call

    def guarded_look_up(host, *rest, **named):
        checked(host.decode() if isinstance(host, bytes) else host)
        return look_up(host, *rest, **named)

    socket.socket.connect, socket.socket.connect_ex = guarded(connect), guarded(connect_ex)
    socket.getaddrinfo = guarded_look_up
    for attempt in (
        lambda: socket.create_connection(("192.0.2.1", 443), timeout=1),
        lambda: socket.create_connection(("api.binance.com", 443), timeout=1),
        lambda: socket.socket().connect(("192.0.2.1", 443)),
    ):
        try:
            attempt()
        except Refused:
            continue
        raise AssertionError("a socket left this machine")


class Process:
    """A child that is ended by its number when the block ends."""

    def __init__(self, *command, env=None, stream="stdout"):
        pipes = {stream: subprocess.PIPE}
        self.child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, text=True, **pipes)
        self.stream = getattr(self.child, stream)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.send_signal(signal.SIGINT)
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def line_with(self, pattern):
        """Reads on until a line fits, and gives the match."""
        for line in self.stream:
            if match := re.search(pattern, line):
                return match
        raise RuntimeError(f"{self.child.args}: ended with code {self.child.wait()} before it said {pattern!r}")


def call(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"} if data else {})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
        return json.load(answer)


def milliseconds(text):
    return round(datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc).timestamp() * 1000)


def moved(urls, origin):
    """Gives the addresses with scheme and host replaced, the path kept."""
    if isinstance(urls, dict):
        return {key: moved(value, origin) for key, value in urls.items()}
    return origin + urllib.parse.urlsplit(urls).path


def client_of(venue, origin):
    client = getattr(ccxt, venue)({"number": str})
    client.urls["api"] = moved(client.urls["api"], origin)
    markets = []
    for symbol, market_id in MARKETS[venue].items():
        base, quote = symbol.split("/")
        markets.append(
            client.safe_market_structure(
                {
                    "id": market_id,
                    "symbol": symbol,
                    "base": base,
                    "quote": quote,
                    "baseId": base,
                    "quoteId": quote,
                    "type": "spot",
                    "spot": True,
                    "margin": False,
                    "swap": False,
                    "future": False,
                    "option": False,
                    "contract": False,
                    "active": True,
                }
            )
        )
    client.set_markets(markets)
    return client


def served(public, pairs, frozen_at):
    """Gives the quotes of all pairs by venue and pair, once each was received after the market stood still."""
    wanted = {(venue, pair) for venue, markets in MARKETS.items() for pair in markets}
    until = time.monotonic() + LIMIT_S
    rows = {}
    while time.monotonic() < until:
        query = ",".join(pair.replace("/", "-") for pair in sorted(pairs))
        for item in call(f"{public}/v1/quotes?pairs={query}")["items"]:
            pair = item.get("pair", "").replace("-", "/")
            for row in item.get("quotes", []):
                # An answer may have been under way when the market was stopped.
                if milliseconds(row["received_time"]) > frozen_at + 1000:
                    rows[row["venue"], pair] = row
        if wanted <= rows.keys():
            return rows
        time.sleep(0.2)
    raise RuntimeError(f"not served within {LIMIT_S} s: {sorted(wanted - rows.keys())}")


def differences(venue, how, ticker, row, began):
    """Compares a ticker of ccxt with a quote: the fields that are equal, and a sentence for each that is not."""
    equal, wrong = [], []
    for theirs, ours in FIELDS.items():
        if theirs in DERIVED.get(venue, ()) or ticker[theirs] is None or row[ours] is None:
            continue
        if Decimal(ticker[theirs]) == Decimal(row[ours]):
            equal.append(theirs)
        else:
            wrong.append(f"{theirs}: ccxt {ticker[theirs]}, quorate {row[ours]}")
    # The venue's clock goes on while its market stands still: both times are held to be read rightly, not to be one.
    if ticker["timestamp"] is not None and row["venue_time"] is not None:
        now = time.time() * 1000
        times = {"ccxt": ticker["timestamp"], "quorate": milliseconds(row["venue_time"])}
        late = [f"{who} {at}" for who, at in times.items() if not began - 1000 <= at <= now + 1000]
        if late:
            wrong.append(f"timestamp: {', '.join(late)}, expected {began:.0f} to {now:.0f}")
        else:
            equal.append("timestamp")
    needed = NEEDED_ELSE.get((venue, how), NEEDED[how])
    seen = {*equal, *(text.split(":")[0] for text in wrong)}
    wrong += [f"{field}: ccxt {ticker[field]}, quorate {row[FIELDS[field]]}, expected both" for field in sorted(needed - seen)]
    return equal, wrong


def compare(venue, origin, rows, began):
    """Asks one venue by every call, and gives (call, pair, equal fields, faults) for each comparison."""
    client = client_of(venue, origin)
    pairs = list(MARKETS[venue])
    asked = [("fetch_ticker", pair, lambda pair=pair: client.fetch_ticker(pair)) for pair in pairs]
    if client.has["fetchTickers"]:
        try:
            tickers = client.fetch_tickers(pairs)
        except ccxt.BaseError as error:
            tickers = error
        asked += [("fetch_tickers", pair, lambda pair=pair: tickers[pair] if isinstance(tickers, dict) else tickers) for pair in pairs]
    for how, pair, get in asked:
        try:
            ticker = get()
        except (ccxt.BaseError, KeyError) as error:
            ticker = error
        if isinstance(ticker, Exception):
            yield how, pair, [], [f"{type(ticker).__name__}: {ticker}"]
            continue
        yield how, pair, *differences(venue, how, ticker, rows[venue, pair], began)


def run(quorate):
    pairs = {pair for markets in MARKETS.values() for pair in markets}
    began = time.time() * 1000
    with Process(quorate, "sim", "--listen", "127.0.0.1:0", "--latency", "1-5", "--json") as sim:
        simulated = json.loads(sim.line_with(r"^\{.*\}$")[0])
        if set(simulated["venues"]) != set(MARKETS):
            raise RuntimeError(f"the simulation has {sorted(simulated['venues'])}, expected {sorted(MARKETS)}")
        env = {key: value for key, value in os.environ.items() if not key.startswith("QUORATE_")}
        env |= {"QUORATE_LISTEN": "127.0.0.1:0", "QUORATE_ADMIN_LISTEN": "127.0.0.1:0", "QUORATE_LOG": "error"}
        env |= {f"QUORATE_VENUES__{venue.upper()}__ORIGIN": at["own_origin"] for venue, at in simulated["venues"].items()}
        with Process(quorate, "serve", env=env, stream="stderr") as service:
            public = service.line_with(r"serves (http://\S+),")[1]
            truth = call(f"{simulated['origin']}/_sim/market", {"frozen": True})
            if not truth["frozen"]:
                raise RuntimeError("the market does not stand still")
            rows = served(public, pairs, milliseconds(truth["as_of"]))
            return report(simulated["venues"], rows, began)


def report(venues, rows, began):
    faults, fields, compared = 0, 0, set()
    for venue in sorted(MARKETS):
        for how, pair, equal, wrong in compare(venue, venues[venue]["origin"], rows, began):
            print(f"{venue:<17}{how:<14}{pair:<9} {'FAIL' if wrong else 'ok':<5}{' '.join(equal)}", flush=True)
            for text in wrong:
                print(f"{'':<17}{text}", flush=True)
            faults, fields = faults + len(wrong), fields + len(equal)
            if equal and not wrong and how == "fetch_ticker":
                compared.add((venue, pair))
    expected = sum(map(len, MARKETS.values()))
    print(f"ccxt {ccxt.__version__}: {len(compared)} of {expected} venues x pairs agree, {fields} fields equal, {faults} faults")
    return 0 if faults == 0 and len(MARKETS) == 12 and len(compared) == expected == 36 else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("client.py: expected the path of the quorate program")
    only_loopback()
    sys.exit(run(sys.argv[1]))
