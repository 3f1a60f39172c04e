"""Structured logs: one JSON object a line, free of private values, SQL and tokens."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import time
import uuid

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.monitoring.metrics import Metrics

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
