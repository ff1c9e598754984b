"""The demo on free ports of loopback, and what is asked of it and told to its simulation."""

import contextlib
import json
import re
import signal
import subprocess
import threading
import urllib.error
import urllib.request

PATIENCE_S = 60
SERVES = re.compile(r"serves (http://[0-9.:]+), admin (http://[0-9.:]+)")
SIMULATES = re.compile(r"(http://[0-9.:]+)/_sim/")
# No proxy that the environment names stands between.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Service:
    """A running demo; it ends with the block."""

    def __init__(self, program):
        ports = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--sim-listen", "127.0.0.1:0"]
        self.child = subprocess.Popen([program, "demo", *ports], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
        self.said, self.there = [], threading.Event()
        self.origin = self.admin = self.sim = None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """Takes in what the program prints, so that it never waits for us."""
        for line in self.child.stdout:
            self.said.append(line)
            if found := SIMULATES.search(line):
                self.sim = found[1]
            if found := SERVES.search(line):
                self.origin, self.admin = found.groups()
                self.there.set()

    def __enter__(self):
        if not self.there.wait(PATIENCE_S):
            self.end()
            raise SystemExit(f"the demo did not start within {PATIENCE_S} s: {''.join(self.said)}")
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def text(self, path):
        with OPENER.open(self.origin + path, timeout=PATIENCE_S) as answer:
            return answer.read().decode()

    def json(self, path):
        return json.loads(self.text(path))

    def ready(self):
        try:
            self.text("/readyz")
        except urllib.error.HTTPError:
            return False
        return True

    @contextlib.contextmanager
    def frozen(self):
        """Has the market stand still for a while."""
        self.market(frozen=True)
        try:
            yield
        finally:
            self.market(frozen=False)

    def market(self, **told):
        """Tells the simulation's market something."""
        request = urllib.request.Request(f"{self.sim}/_sim/market", json.dumps(told).encode(), {"content-type": "application/json"})
        OPENER.open(request, timeout=PATIENCE_S).close()
