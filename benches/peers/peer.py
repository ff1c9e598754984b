"""ccxt for Python, asynchronous: one reused exchange object and aiohttp session for each exchange, all twelve asked at once.

Reads the exchanges' origins as one line of JSON, then commands as benches/peers/run gives them. Markets are given, so that no list is loaded; ccxt's own rate
limit is off, and everything else is as ccxt has it.
"""

import asyncio
import json
import sys
import time
import urllib.parse

import ccxt.async_support as ccxt

PAIR = "BTC/USDT"
# How each exchange spells the pair, as its market list has it.
SPELT = {
    "binance": "BTCUSDT",
    "bitfinex": "tBTCUST",
    "bitget": "BTCUSDT",
    "bitstamp": "btcusdt",
    "bybit": "BTCUSDT",
    "coinbaseexchange": "BTC-USDT",
    "gate": "BTC_USDT",
    "htx": "btcusdt",
    "kraken": "XBTUSDT",
    "kucoin": "BTC-USDT",
    "mexc": "BTCUSDT",
    "okx": "BTC-USDT",
}
FIELDS = {
    "bid": "bid",
    "ask": "ask",
    "last": "last",
    "bidVolume": "bid_size",
    "askVolume": "ask_size",
    "high": "high",
    "low": "low",
    "baseVolume": "base_volume",
}


def moved(urls, origin):
    """Gives the addresses with scheme and host replaced, the path kept."""
    if isinstance(urls, dict):
        return {key: moved(value, origin) for key, value in urls.items()}
    return origin + urllib.parse.urlsplit(urls).path


def client_of(venue, origin):
    client = getattr(ccxt, venue)({"enableRateLimit": False})
    client.urls["api"] = moved(client.urls["api"], origin)
    base, quote = PAIR.split("/")
    kinds = {"type": "spot", "spot": True} | dict.fromkeys(("margin", "swap", "future", "option", "contract"), False)
    names = {"id": SPELT[venue], "symbol": PAIR, "base": base, "quote": quote, "baseId": base, "quoteId": quote}
    client.set_markets([client.safe_market_structure({**names, **kinds, "active": True})])
    return client


async def quotes_of(clients):
    return await asyncio.gather(*(client.fetch_ticker(PAIR) for client in clients))


async def rounds(clients, count, pause_s):
    times = []
    for at in range(count):
        if at and pause_s:
            await asyncio.sleep(pause_s)
        began = time.perf_counter_ns()
        tickers = await quotes_of(clients)
        times.append(time.perf_counter_ns() - began)
        if any(ticker["bid"] is None for ticker in tickers):
            sys.exit("a ticker without a bid")
    return times


async def main():
    origins = json.loads(sys.stdin.readline())
    clients = [client_of(venue, origins[venue]) for venue in SPELT]
    # Commands come one at a time, each once the last one's answer is there: nothing else runs while one is awaited.
    while line := sys.stdin.readline():
        match line.split():
            case ["quotes"]:
                tickers = zip(SPELT, await quotes_of(clients))
                said = {venue: {ours: ticker[theirs] for theirs, ours in FIELDS.items() if ticker[theirs] is not None} for venue, ticker in tickers}
            case ["rounds", count, pause_ms]:
                said = await rounds(clients, int(count), int(pause_ms) / 1000)
            case _:
                sys.exit(f"{line!r} is no command")
        print(json.dumps(said), flush=True)
    await asyncio.gather(*(client.close() for client in clients))


if __name__ == "__main__":
    asyncio.run(main())
