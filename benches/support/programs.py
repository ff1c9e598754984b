"""What the scripts of the benches share: programs that are built, told lines, and measured from outside."""

import contextlib
import ctypes
import datetime
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
VENUES = 12


def command(*words, **named):
    return subprocess.run(words, check=True, cwd=ROOT, **named)


def built(profile, *examples):
    """Builds the program and examples beside it, and gives their paths: the program's first."""
    wanted = [word for name in examples for word in ("--example", name)]
    command("cargo", "build", "--locked", "--quiet", "--profile", profile, "--bin", "quorate", *wanted)
    folder = TARGET / profile
    return [str(folder / "quorate"), *(str(folder / "examples" / name) for name in examples)]


class Program:
    """A child that is told lines and answers with lines. It ends with its input, at the latest by its number."""

    def __init__(self, *words, ended_by=None):
        self.ended_by = ended_by
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # It may have ended already.
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        if self.ended_by:
            self.child.send_signal(self.ended_by)
        try:
            self.child.wait(10)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def said(self):
        line = self.child.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(self.child.args)}: ended with code {self.child.wait()} instead of an answer")
        return json.loads(line)

    def tell(self, text):
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()

    def cpu_ns(self):
        """Gives what all its threads have used, the ended ones too: user and system."""
        clock = ctypes.c_int()
        if code := ctypes.CDLL(None).clock_getcpuclockid(self.child.pid, ctypes.byref(clock)):
            raise OSError(code, os.strerror(code))
        return time.clock_gettime_ns(clock.value)

    def rounds(self, count, *words):
        """Gives the times of so many rounds, and the CPU of one: microseconds."""
        before = self.cpu_ns()
        self.tell(" ".join(["rounds", str(count), *map(str, words)]))
        times = self.said()
        return [t / 1000 for t in times], (self.cpu_ns() - before) / 1000 / count


def asking(words, first):
    """Starts a program that asks, and tells it where and what."""
    program = Program(*words)
    program.tell(json.dumps(first))
    return program


@contextlib.contextmanager
def simulation(quorate, latency, *words):
    """Runs the simulation with a market that stands still, and gives the exchanges' origins."""
    with Program(quorate, "sim", "--listen", "127.0.0.1:0", "--latency", latency, "--json", *words, ended_by=signal.SIGINT) as sim:
        at = sim.said()
        request = urllib.request.Request(f"{at['origin']}/_sim/market", b'{"frozen":true}', {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
            frozen = json.load(answer)["frozen"]
        if len(at["venues"]) != VENUES or not frozen:
            raise SystemExit(f"expected {VENUES} exchanges and a market that stands still")
        yield {venue: where["own_origin"] for venue, where in at["venues"].items()}


def quantile(times, share):
    return sorted(times)[min(len(times) * share // 100, len(times) - 1)]


def number(value):
    """Writes a figure with as many digits as it is good for."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def first_line(*words):
    return command(*words, stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]


def conditions():
    """Gives what a page says of where and with what it was measured."""
    return {
        "date": datetime.date.today().isoformat(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": f"Quorate at {first_line('git', 'rev-parse', '--short', 'HEAD')}, {' '.join(first_line('rustc', '--version').split()[:2])}",
    }


def filled(template, known):
    """Puts what is known into a page; what is not known is an error."""
    return re.sub(r"\{(\w+)\}", lambda found: str(known[found[1]]), template.read_text())
