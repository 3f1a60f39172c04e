"""Unexpected errors in the log: their class and their place, never their words."""

from __future__ import annotations

import logging
import traceback

_log = logging.getLogger("discreet.server")


def log_failure(error: BaseException) -> None:
    """Log where an unexpected error arose. Its message stays unsaid: it may hold a value."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    where = [f"{frame.name}:{frame.lineno}" for frame in frames]
    _log.error("failure", extra={"facts": {"error": type(error).__name__, "where": where}})
