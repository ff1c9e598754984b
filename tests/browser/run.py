#!/usr/bin/env python3
"""A real browser looks at the compare page and the admin page, as a person would.

run.py PATH-OF-QUORATE [--pictures FOLDER] starts `quorate demo` on free ports and Chromium, and holds both pages to what is promised of them. What
changes is waited for, with a bound that no healthy run comes near; no time is asserted. With --pictures, the pictures of the documentation are taken.
"""

import argparse
import html
import importlib.util
import json
import pathlib
import re
import shutil
import sys
import tempfile
import time
from urllib.parse import urlsplit

import pictures
from devtools import Browser, Fault

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from demo import Service  # noqa: E402

PAIR = "BTC-USDT"
VENUES = 12
ROWS = "[...document.querySelectorAll('#rows tr')]"
ROW = "document.querySelector('#rows tr[data-venue=%s]')"
LIVE = f"{ROWS}.length > 1 && document.querySelector('#matrix td') && document.querySelector('#live').dataset.state === 'live'"
ACTORS = "[...document.querySelectorAll('#actors tbody tr')]"
ACTOR = "document.querySelector('#actors tr[data-key=\"exchange/%s\"]')"
WIDTHS = (1280, 360)
THEMES = ("light", "dark")


def need(holds, what):
    if not holds:
        raise Fault(what)


def wait(condition, what, within_s=30):
    """Looks again and again until a condition holds, and gives what it gave."""
    end = time.monotonic() + within_s
    while not (value := condition()):
        if time.monotonic() > end:
            raise Fault(f"never happened within {within_s} s: {what}")
        time.sleep(0.05)
    return value


class Run:
    """What the checks share: the browser, the service, and every page that was opened."""

    def __init__(self, browser, service, axe):
        self.browser, self.service, self.axe, self.opened = browser, service, axe, []

    def compare(self, query=f"?pair={PAIR}", **how):
        page = self.browser.page(**how)
        self.opened.append(page)
        page.go(f"{self.service.origin}/{query}")
        if how.get("scripts", True):
            page.until(LIVE, "the compare page is live")
        return page

    def admin(self, **how):
        page = self.browser.page(**how)
        self.opened.append(page)
        page.go(f"{self.service.admin}/admin")
        page.until(f"{ACTORS}.length > {VENUES}", "the admin page shows its actors")
        return page


def a_price_changes_on_screen(run):
    page = run.compare()
    before = page.run(f"{ROW % 'binance'}.children[1].textContent")
    page.until(f"{ROW % 'binance'}.children[1].textContent !== {json.dumps(before)}", "a bid changes on screen")
    need(page.run("parseFloat(getComputedStyle(document.querySelector('.simulated strong')).fontSize)") >= 20, "SIMULATED is not shown large")
    page.close()


def what_is_shown_is_what_is_served(run):
    page = run.compare()
    need(page.run(f"{ROWS}.length") == VENUES, f"there are not {VENUES} rows")

    def agree():
        told = run.service.json(f"/v1/quotes/{PAIR}")
        shown = page.run(f"Object.fromEntries({ROWS}.map(r => [r.dataset.venue, [1, 2].map(at => r.children[at].firstChild.textContent.replaceAll(',', ''))]))")
        best = page.run(f"['bid', 'ask'].map(side => document.querySelector('#rows .' + side + ' .best').closest('tr').dataset.venue)")
        rows = {row["venue"]: [row["bid"], row["ask"]] for row in told["quotes"]}
        return shown == rows and best == [told["bid_venue"], told["ask_venue"]]

    with run.service.frozen():
        wait(agree, "prices and best marks on screen are those of /v1/quotes")
    page.close()


def server_and_script_say_the_same(run):
    """What a rate is worth is said in the same words by the page as it is sent and by its scripts."""
    for pair in (PAIR, "BTC-EUR"):
        page = run.compare(f"?pair={pair}")

        def agree():
            sent = run.service.text(f"/?pair={pair}")
            shown = page.run("['figure', 'word', 'sentence'].map(id => document.getElementById(id).textContent)")
            return shown == [html.unescape(re.search(f'id="{name}">([^<]*)<', sent)[1]) for name in ("figure", "word", "sentence")]

        with run.service.frozen():
            wait(agree, f"{pair}: figure and sentence of the page as sent are those of the scripts")
        page.close()


def sort_and_deep_links_work(run):
    page = run.compare()
    bids = f"{ROWS}.filter(r => r.className.startsWith('in')).map(r => parseFloat(r.children[1].firstChild.textContent.replaceAll(',', '')))"
    page.click("th[data-sort=bid] button")
    page.until(f"(b => b.length > 5 && b.every((v, at) => at === 0 || b[at - 1] >= v))({bids})", "the highest bid comes first")
    page.click("th[data-sort=bid] button")
    page.until(f"(b => b.length > 5 && b.every((v, at) => at === 0 || b[at - 1] <= v))({bids})", "the lowest bid comes first")
    page.click('#spans button:first-child')
    page.click("tr[data-venue=kraken] .pick")
    query = page.run("location.search")
    need(all(part in query for part in ("sort=bid", "way=down", "span=1m", "venue=kraken")), f"the address does not keep how the page is looked at: {query}")
    again = run.compare(query)
    looks = "[document.querySelector('[data-sort=bid]').ariaSort, document.querySelector('tr[data-venue=kraken] .pick').ariaPressed]"
    need(again.run(looks) == ["descending", "true"], "a deep link does not bring back how the page was looked at")
    again.close()
    page.close()


def the_keyboard_finds_a_pair(run):
    page = run.compare()
    page.press("/", "/")
    page.until("document.activeElement.id === 'asked' && !document.getElementById('choices').hidden", "the key / leads to the search")
    page.write("etheur")
    page.until("[...document.querySelectorAll('#choices li')].map(li => li.textContent).join() === 'ETH-EUR'", "the list is filtered by what is typed")
    page.press("ArrowDown")
    page.press("Enter")
    page.until("document.getElementById('pair')?.textContent === 'ETH-EUR'", "the chosen pair is shown")
    page.close()


def pause_and_theme_and_copy_work(run):
    page = run.compare()
    page.click("#pause")
    page.until("document.getElementById('live').dataset.state === 'paused'", "the page pauses")
    age = f"{ROW % 'okx'}.lastChild.textContent"
    now = page.run(age)
    page.until(f"{age} !== {json.dumps(now)}", "ages go on while the page is paused")
    asked, now = len(page.requests), page.run(age)
    page.until(f"{age} !== {json.dumps(now)}", "ages go on while the page is paused")
    need(len(page.requests) == asked, "a paused page asks on")
    page.click("#pause")
    page.until("document.getElementById('live').dataset.state === 'live'", "the page goes on")
    for theme, background in (("light", "rgb(250, 249, 247)"), ("dark", "rgb(13, 16, 21)")):
        page.click("#theme")
        page.until(f"document.documentElement.dataset.theme === '{theme}' && getComputedStyle(document.body).backgroundColor === '{background}'", theme)
    page.click("#copy")
    page.until("document.getElementById('copy').textContent !== 'Copy as curl'", "the command is copied, or marked to be copied")
    need(f"/v1/rates/{PAIR}" in page.run("document.getElementById('command').textContent"), "the command is another one")
    page.close()


def a_paused_exchange_shows_on_both_pages(run):
    page, admin = run.compare(), run.admin()
    admin.until("!!document.querySelector('[aria-label=\"Pause kraken\"]')", "an exchange can be paused")
    admin.click('[aria-label="Pause kraken"]')
    began = time.monotonic()
    admin.until(f"/paused/.test({ACTOR % 'kraken'}.textContent)", "a paused exchange shows as paused")
    print(f"     paused on the admin page {time.monotonic() - began:.2f} s after the order")
    page.until(f"/^stale \\d+ s$/.test({ROW % 'kraken'}.lastChild.textContent)", "quotes of a paused exchange age on the compare page", 60)
    page.until(f"/paused|stale/.test({ROW % 'kraken'}.querySelector('.why').textContent)", "the compare page says why", 60)
    admin.click('[aria-label="Resume kraken"]')
    admin.until(f"/up/.test({ACTOR % 'kraken'}.children[1].textContent)", "a resumed exchange is up")
    page.until(f"{ROW % 'kraken'}.className === 'in'", "a resumed exchange counts again", 60)
    page.close()
    admin.close()


def an_exchange_restarts(run):
    admin = run.admin()
    restarts = f"[...document.querySelectorAll('#actors thead th')].findIndex(th => th.textContent === 'Restarts')"
    shown = f"parseInt({ACTOR % 'okx'}.children[{restarts}].textContent)"
    before = admin.run(shown)
    admin.click('[aria-label="Restart okx"]')
    admin.until(f"{shown} === {before + 1}", "a restart is counted")
    admin.until(f"/up/.test({ACTOR % 'okx'}.children[1].textContent)", "a restarted exchange is up again", 60)
    admin.until("/restart okx/.test(document.getElementById('audit').textContent)", "the order is in the audit")
    admin.close()


def the_admin_table_filters_and_sorts(run):
    admin = run.admin()
    admin.press("/", "/")
    admin.until("document.activeElement.id === 'filter'", "the key / leads to the filter")
    admin.write("kraken")
    admin.until(f"{ACTORS}.length === 1 && {ACTOR % 'kraken'} !== null", "the table is filtered")
    admin.run("(f => { f.value = ''; f.dispatchEvent(new Event('input')); })(document.getElementById('filter'))")
    names = f"{ACTORS}.map(r => r.dataset.key)"
    admin.click("#actors thead th:first-child button")
    up = admin.run(f"({names}).join() === ({names}).sort().join()")
    admin.click("#actors thead th:first-child button")
    down = admin.run(f"({names}).join() === ({names}).sort().reverse().join()")
    need(up and down, f"the table does not sort by its first column: up {up}, down {down}")
    admin.click("#actors tbody tr:first-child .name")
    admin.until("!document.getElementById('detail').hidden && document.querySelectorAll('#messages tbody tr').length > 0", "an actor opens")
    admin.close()


def nothing_moves_where_that_is_wanted(run):
    page = run.compare(calm=True)
    before = page.run(f"{ROW % 'binance'}.children[1].textContent")
    page.until(f"{ROW % 'binance'}.children[1].textContent !== {json.dumps(before)}", "a bid changes on screen")
    need(page.run("document.getAnimations().length") == 0, "something moves though reduced motion is wanted")
    page.close()


def the_page_works_without_scripts(run):
    for width in WIDTHS:
        page = run.compare(scripts=False, width=width, height=900)
        need(page.run(f"{ROWS}.length") == VENUES, "rows are missing from the page as it is sent")
        need(page.run("document.querySelectorAll('.best').length") == 2, "best bid and best ask are not marked in the page as it is sent")
        need(page.run("document.documentElement.scrollWidth <= innerWidth"), f"{width} px are too few for the page as it is sent")
        need(page.run("document.getElementById('tools').hidden && document.getElementById('chart').hidden"), "what needs scripts is shown without them")
        page.run("document.getElementById('asked').value = ''")
        page.click("#asked")
        page.write("ETH-USD")
        page.press("Enter")
        page.until("document.getElementById('pair')?.textContent === 'ETH-USD'", "the search works without scripts")
        # Axe is a script itself; those of the page have had their time.
        page.allow_scripts(True)
        violations(run, page, f"compare page without scripts, {width} px")
        page.close()


def an_unknown_pair_is_a_page_that_says_so(run):
    page = run.browser.page()
    page.go(f"{run.service.origin}/?pair=BTC-USDD")
    page.until("[...document.querySelectorAll('.note a')].some(a => a.textContent === 'BTC-USDT')", "the pair that was meant is offered")
    page.close()


def violations(run, page, what):
    page.run(run.axe + "; true")
    found = page.run("axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.map(v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160))]))")
    need(found == [], f"{what}: {json.dumps(found, indent=1)}")


def everybody_can_use_it(run):
    """Axe finds nothing, and nothing is wider than the screen."""
    for theme in THEMES:
        for width in WIDTHS:
            for name, open_page in (("compare", run.compare), ("admin", run.admin)):
                page = open_page(theme=theme, width=width, height=900)
                if name == "admin":
                    page.click("#actors tbody tr:nth-child(2) .name")
                    page.until("!document.getElementById('detail').hidden", "an actor opens")
                else:
                    page.click("#receipt summary")
                    page.until("document.querySelector('#receipt-body li') !== null", "the receipt opens")
                violations(run, page, f"{name} page, {theme}, {width} px")
                wide = page.run("document.documentElement.scrollWidth")
                need(wide <= width, f"{name} page, {theme}: {wide} px wide on {width} px")
                page.close()


def what_is_known_is_not_sent_again(run):
    """The page names what it knows; of two questions at once, one after the other, the second is answered with 304 unless something was learnt between."""
    page = run.compare()
    wait(lambda: any("/v1/quotes/" in url and "If-None-Match" in headers for url, headers in page.requests), "the page names the answer that it knows")
    again = f"""(async () => {{
        const [url, how] = ['v1/quotes/{PAIR}', {{ cache: 'no-store' }}];
        const tag = (await fetch(url, how)).headers.get('ETag');
        return (await fetch(url, {{ ...how, headers: {{ 'If-None-Match': tag }} }})).status;
    }})()"""
    wait(lambda: page.run(again) == 304, "an answer that is known is confirmed with 304")
    page.close()


def nobody_complained_and_nobody_else_was_asked(run):
    """Looks back over every page that was opened before."""
    errors = [error for page in run.opened for error in page.errors]
    need(not errors, f"in the console: {errors[:5]}")
    own = {urlsplit(run.service.origin).netloc, urlsplit(run.service.admin).netloc}
    asked = {url for page in run.opened for url, _ in page.requests}
    foreign = sorted(url for url in asked if urlsplit(url).netloc not in own)
    need(asked and not foreign, f"another host was asked: {foreign[:5]}")


CHECKS = [
    a_price_changes_on_screen,
    what_is_shown_is_what_is_served,
    what_is_known_is_not_sent_again,
    server_and_script_say_the_same,
    sort_and_deep_links_work,
    the_keyboard_finds_a_pair,
    pause_and_theme_and_copy_work,
    a_paused_exchange_shows_on_both_pages,
    an_exchange_restarts,
    the_admin_table_filters_and_sorts,
    nothing_moves_where_that_is_wanted,
    the_page_works_without_scripts,
    an_unknown_pair_is_a_page_that_says_so,
    everybody_can_use_it,
    nobody_complained_and_nobody_else_was_asked,
]


def axe():
    """Gives the script axe, as it lies in the package that is installed for it."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None:
        raise SystemExit("axe is not installed, expected what tests/browser/requirements.txt names: `bash tests/all browser` installs it")
    return (pathlib.Path(package.submodule_search_locations[0]) / "axe.min.js").read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("quorate")
    parser.add_argument("--chromium", default="chromium")
    parser.add_argument("--pictures", type=pathlib.Path, help="takes the pictures of the documentation into this folder")
    parser.add_argument("--only", help="runs the checks alone whose names hold this")
    given = parser.parse_args()
    profile = tempfile.mkdtemp(prefix="quorate-browser-")
    failed = []
    try:
        with Service(given.quorate) as service, Browser(given.chromium, profile) as browser:
            run = Run(browser, service, axe())
            wait(service.ready, "the service is ready", 60)
            for check in CHECKS:
                if given.only and given.only not in check.__name__:
                    continue
                began = time.monotonic()
                try:
                    check(run)
                    print(f"ok   {check.__name__} ({time.monotonic() - began:.1f} s)", flush=True)
                except Fault as fault:
                    failed.append(check.__name__)
                    print(f"FAIL {check.__name__}: {fault}", flush=True)
            if given.pictures:
                pictures.take(run, given.pictures)
    finally:
        shutil.rmtree(profile, ignore_errors=True)
    raise SystemExit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
