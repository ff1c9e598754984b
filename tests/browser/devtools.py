"""Chromium, driven over the DevTools protocol through two pipes: nothing but the standard library, and no port that anybody else could reach."""

import base64
import json
import os
import subprocess
import threading
import time

# Longer than anything here takes on a slow machine.
PATIENCE_S = 30
SWITCHES = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    # No name but loopback's leads anywhere.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


class Browser:
    """A running Chromium; it ends with the block."""

    def __init__(self, program, profile):
        to_child, self.out = os.pipe()
        self.into, from_child = os.pipe()
        switches = SWITCHES + [f"--user-data-dir={profile}"] + (["--no-sandbox"] if os.geteuid() == 0 else [])
        # The protocol's pipes are 3 and 4.
        script = f'exec "$@" 3<&{to_child} 4>&{from_child}'
        self.child = subprocess.Popen(
            ["bash", "-c", script, "bash", program, *switches],
            pass_fds=(to_child, from_child),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self.changed = threading.Condition()
        self.next, self.answers, self.pages, self.gone = 0, {}, {}, False
        threading.Thread(target=self.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.command("Browser.close")
            self.child.wait(10)
        except (Fault, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()

    def read(self):
        """Takes in what the browser says until it is gone."""
        with os.fdopen(self.into, "rb", buffering=1 << 16) as pipe:
            rest = b""
            while chunk := pipe.read1(1 << 16):
                *whole, rest = (rest + chunk).split(b"\0")
                for message in whole:
                    self.hear(json.loads(message))
        with self.changed:
            self.gone = True
            self.changed.notify_all()

    def hear(self, message):
        with self.changed:
            if "id" in message:
                self.answers[message["id"]] = message
            elif page := self.pages.get(message.get("sessionId")):
                page.hear(message["method"], message["params"])
            self.changed.notify_all()

    def command(self, method, session=None, **params):
        with self.changed:
            self.next += 1
            number = self.next
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.out, json.dumps(message).encode() + b"\0")
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.answers or self.gone, PATIENCE_S):
                raise Fault(f"{method}: no answer within {PATIENCE_S} s")
            if number not in self.answers:
                raise Fault(f"{method}: the browser is gone")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise Fault(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def page(self, width=1280, height=900, theme="light", scripts=True, calm=False):
        """Opens a page of its own: nothing is shared with the others."""
        context = self.command("Target.createBrowserContext")["browserContextId"]
        target = self.command("Target.createTarget", url="about:blank", browserContextId=context, newWindow=True)["targetId"]
        session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, context)
        with self.changed:
            self.pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.command(f"{domain}.enable")
        page.command("Emulation.setFocusEmulationEnabled", enabled=True)
        page.allow_scripts(scripts)
        page.size(width, height)
        page.media(theme, calm)
        return page


class Fault(Exception):
    """Says that something was not as it must be."""


class Page:
    """A page, and all that it asked for and complained of."""

    def __init__(self, browser, session, context):
        self.browser, self.session, self.context, self.scripts = browser, session, context, True
        self.requests, self.errors, self.loaded, self.answered = [], [], 0, []

    def command(self, method, **params):
        return self.browser.command(method, self.session, **params)

    def hear(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append((params["request"]["url"], params["request"]["headers"]))
        elif method == "Network.responseReceived":
            self.answered.append((params["response"]["status"], params["response"]["url"]))
        elif method == "Page.loadEventFired":
            self.loaded += 1
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(f"exception: {details.get('exception', {}).get('description', details['text'])}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(f"console: {[argument.get('value', argument.get('description')) for argument in params['args']]}")
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['source']}: {params['entry']['text']} {params['entry'].get('url', '')}")

    def allow_scripts(self, allowed):
        self.scripts = allowed
        self.command("Emulation.setScriptExecutionDisabled", value=not allowed)

    def size(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, theme, calm=False):
        motion = "reduce" if calm else "no-preference"
        features = [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": motion}]
        self.command("Emulation.setEmulatedMedia", features=features)

    def go(self, url):
        before = self.loaded
        said = self.command("Page.navigate", url=url)
        if "errorText" in said:
            raise Fault(f"{url}: {said['errorText']}")
        with self.browser.changed:
            if not self.browser.changed.wait_for(lambda: self.loaded > before, PATIENCE_S):
                raise Fault(f"{url}: not loaded within {PATIENCE_S} s")

    def run(self, expression):
        """Evaluates an expression, waits for it where it is a promise, and gives its value."""
        # Where scripts are off no promise is ever kept.
        said = self.command("Runtime.evaluate", expression=expression, awaitPromise=self.scripts, returnByValue=True, userGesture=True)
        if "exceptionDetails" in said:
            details = said["exceptionDetails"]
            raise Fault(f"{expression[:120]}: {details.get('exception', {}).get('description', details['text'])}")
        return said["result"].get("value")

    def until(self, expression, what, within_s=PATIENCE_S):
        """Looks again and again until an expression is true, and gives its value."""
        end = time.monotonic() + within_s
        while not (value := self.run(expression)):
            if time.monotonic() > end:
                raise Fault(f"never happened within {within_s} s: {what}")
            time.sleep(0.05)
        return value

    def press(self, key, text=None):
        said = {"key": key, "code": {"/": "Slash"}.get(key, key)} | ({"text": text} if text else {})
        if key == "Enter":
            said |= {"windowsVirtualKeyCode": 13, "text": "\r"}
        elif key in KEYS:
            said |= {"windowsVirtualKeyCode": KEYS[key]}
        self.command("Input.dispatchKeyEvent", type="keyDown", **said)
        self.command("Input.dispatchKeyEvent", type="keyUp", **said)

    def write(self, text):
        self.command("Input.insertText", text=text)

    def click(self, selector):
        """Clicks in the middle of what a selector finds, as a hand would."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{found}.scrollIntoView({{block: 'center'}})")
        x, y = self.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({found}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, height=None):
        """Gives a PNG of the page from its top."""
        clip = {}
        if height:
            width = self.run("innerWidth")
            clip = {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}, "captureBeyondViewport": True}
        return base64.b64decode(self.command("Page.captureScreenshot", format="png", optimizeForSpeed=False, **clip)["data"])

    def close(self):
        self.browser.command("Target.disposeBrowserContext", browserContextId=self.context)


KEYS = {"ArrowDown": 40, "ArrowUp": 38, "Escape": 27, "Tab": 9}
