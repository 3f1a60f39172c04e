"""A cell of an outcome as JSON, Arrow and people understand it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from discreet.release.finish import plain_value


def shown_value(value: Any, *, moment: bool) -> Any:
    """Return a value of a step's outcome in the form that answers have; `moment`: with its time."""
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dt.datetime) and value.time() == dt.time() and not moment:
        value = value.date()
    return plain_value(value)
