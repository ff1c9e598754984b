#!/usr/bin/env python3
"""A running service is held to its own description by a program that none of ours wrote.

contract.py PATH-OF-QUORATE starts a demo on free ports of loopback and lets schemathesis read /openapi.json and ask what that allows, and what it does not: no
500, no status, media type, header or field that is not described. Bounded in cases and in time.
"""

import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from demo import PATIENCE_S, Service  # noqa: E402

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
]
CASES = 40
SECONDS = 900


def main():
    if len(sys.argv) != 2:
        raise SystemExit(f"contract.py takes the path of quorate, was given {len(sys.argv) - 1} arguments")
    with Service(sys.argv[1]) as service:
        until = time.monotonic() + PATIENCE_S
        while not service.ready():
            if time.monotonic() > until:
                raise SystemExit(f"the demo is not ready after {PATIENCE_S} s")
            time.sleep(0.1)
        command = [pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file", HERE / "schemathesis.toml", "run"]
        command += [f"{service.origin}/openapi.json", "--url", service.origin, "--checks", ",".join(CHECKS)]
        command += ["--phases", "examples,coverage,fuzzing", "--max-examples", CASES, "--seed", 1, "--no-color"]
        ended = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
        if not service.ready():
            raise SystemExit("the service is not ready any more")
    sys.exit(ended.returncode)


if __name__ == "__main__":
    main()
