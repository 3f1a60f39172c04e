"""Many clients at once: errors, throughput, p99, and whether the ledger agrees.

python -m benchmarks.load [--clients N] [--seconds S]   serves a town of its own
python -m benchmarks.load URL TOKEN [TOKEN...]          presses a server that runs already
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from benchmarks.figures import figure

SQL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


@dataclass(frozen=True)
class Load:
    """What to do: `clients` at once for `seconds`, each asking anew as soon as it is answered."""

    url: str
    tokens: list[str]
    clients: int = 200
    seconds: float = 60.0
    epsilon: str = "0.0001"
    sql: str = SQL


@dataclass
class Pressed:
    """What came of it."""

    times: list[float] = field(default_factory=list)
    errors: int = 0
    charged: float = 0.0
    seconds: float = 0.0

    @property
    def answers(self) -> int:
        return len(self.times)

    def percentile(self, share: float) -> float:
        return statistics.quantiles(self.times, n=1000, method="inclusive")[int(share * 10) - 1]


def press(load: Load) -> Pressed:
    """Return what `load.clients` threads saw."""
    found, lock, end = Pressed(), threading.Lock(), time.monotonic() + load.seconds
    began = time.monotonic()
    threads = [
        threading.Thread(
            target=_client, args=(load, load.tokens[i % len(load.tokens)], end, found, lock)
        )
        for i in range(load.clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.seconds = time.monotonic() - began
    return found


def _client(load: Load, token: str, end: float, found: Pressed, lock: threading.Lock) -> None:
    place = urlsplit(load.url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
    body = json.dumps({"sql": load.sql, "epsilon": load.epsilon, "fresh": True})
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    while True:  # once at least, however late this thread begins
        began = time.monotonic()
        try:
            connection.request("POST", "/api/v1/query", body, headers)
            reply = connection.getresponse()
            text, good = reply.read(), reply.status == 200
        except (OSError, http.client.HTTPException):
            connection.close()
            good = False
        with lock:
            if good:
                found.times.append(time.monotonic() - began)
                found.charged += json.loads(text)["cost"]["epsilon"]
            else:
                found.errors += 1
        if time.monotonic() >= end:
            break
    connection.close()


def main(arguments: list[str]) -> None:
    """Print the figures; with no server named, serve a town and compare with its ledger."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?")
    parser.add_argument("token", nargs="*")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    asked = parser.parse_args(arguments)
    sizes = {"clients": asked.clients, "seconds": asked.seconds}
    if asked.url:
        _say(press(Load(asked.url, asked.token, **sizes)))
        return
    from benchmarks.serving import serving_town

    with tempfile.TemporaryDirectory() as folder, serving_town(folder) as (url, tokens, ledger):
        found = press(Load(url, tokens, **sizes))
        _say(found)
        crowd = f"{asked.clients} clients at once"
        figure(f"answers, {crowd}", found.answers / found.seconds, "a second")
        figure(f"median, {crowd}", 1e3 * found.percentile(50), "ms")
        figure(f"p99, {crowd}", 1e3 * found.percentile(99), "ms")
        figure("errors", found.errors, "errors", wanted="0", met=found.errors == 0)
        charges, spent = ledger()
        print(f"ledger: {charges:,} charges, epsilon {spent:.6f} for the worst-hit person")
        assert found.errors == 0
        assert charges == found.answers
        assert abs(spent - found.charged) < 1e-6 * max(1, spent)


def _say(found: Pressed) -> None:
    rate = found.answers / found.seconds
    print(f"{found.answers:,} answers in {found.seconds:.1f} s: {rate:.0f} a second")
    print(f"{found.errors} errors, epsilon {found.charged:.6f} charged")
    median, high = found.percentile(50), found.percentile(99)
    print(f"median {median * 1000:.0f} ms, p99 {high * 1000:.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1:])
