"""Counters for operators, as Prometheus text: requests and outcomes, nothing about the data."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)


class Metrics:
    """How many requests each route had, how they ended and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[float] = Counter()
        self._seconds = 0.0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Enter one finished request; `route` is the pattern, never the path."""
        with self._lock:
            self._requests[method, route, status] += 1
            self._seconds += seconds
            for bound in BOUNDS:
                if seconds <= bound:
                    self._buckets[bound] += 1

    def text(self, *, waiting: int, running: int, budgets: Mapping[str, float]) -> str:
        """Return everything in Prometheus' text form."""
        with self._lock:
            requests = sorted(self._requests.items())
            total, seconds = sum(self._requests.values()), self._seconds
            buckets = [(bound, self._buckets[bound]) for bound in BOUNDS]
        name = "discreet_request_seconds"
        lines = ["# TYPE discreet_requests_total counter"]
        lines += [
            f'discreet_requests_total{{method="{method}",route="{route}",status="{status}"}} {n}'
            for (method, route, status), n in requests
        ]
        lines.append(f"# TYPE {name} histogram")
        lines += [f'{name}_bucket{{le="{bound:g}"}} {n}' for bound, n in buckets]
        lines += [f'{name}_bucket{{le="+Inf"}} {total}', f"{name}_sum {seconds:.6f}"]
        lines += [f"{name}_count {total}", "# TYPE discreet_questions gauge"]
        lines.append(f'discreet_questions{{state="queued"}} {waiting}')
        lines.append(f'discreet_questions{{state="running"}} {running}')
        lines.append("# TYPE discreet_budget_used_ratio gauge")
        lines += [
            f'discreet_budget_used_ratio{{budget="{_label(budget)}"}} {used:.6g}'
            for budget, used in sorted(budgets.items())
        ]
        return "\n".join(lines) + "\n"


def _label(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')
