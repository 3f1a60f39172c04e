"""Structured logs: one line for each request and failure, free of private values; and metrics for Prometheus."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import threading
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = logging.getLogger("discreet.server")
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class JsonLines(logging.Formatter):
    """Formats a record as one line; the text of an exception is left out on purpose."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time_said = dt.datetime.fromtimestamp(record.created, dt.UTC)
        facts: dict[str, object] = {
            "time": time_said.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage()[:300],
        }
        facts |= getattr(record, "facts", {})
        if record.exc_info and record.exc_info[0] is not None:
            facts["error"] = record.exc_info[0].__name__
        return json.dumps(facts)


def start_logs(level: str = "INFO") -> None:
    """Send our records and uvicorn's warnings to standard error as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, least in (("discreet.server", level), ("uvicorn", "WARNING")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least)
        logger.propagate = False


class RequestLog:
    """ASGI layer that logs and counts each request by its route's pattern."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and write down how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, began = 500, time.monotonic()

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._write(scope, status, time.monotonic() - began)

    def _write(self, scope: Scope, status: int, seconds: float) -> None:
        found = scope.get("route")
        route = getattr(found, "path", None) or "unknown"
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self._metrics.count(method, route, status, seconds)
        who = scope.get("state", {}).get("caller")
        facts = {
            "id": uuid.uuid4().hex[:12],
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000),
            "token": None if who is None else who.token_id,
        }
        _log.info("request", extra={"facts": facts})


def log_failure(error: BaseException) -> None:
    """Log where an unexpected error arose. Its message stays unsaid: it may hold a value."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    where = [f"{frame.name}:{frame.lineno}" for frame in frames]
    _log.error("failure", extra={"facts": {"error": type(error).__name__, "where": where}})


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
