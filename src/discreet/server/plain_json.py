"""Values as the API sends them: nothing that JSON cannot say."""

from __future__ import annotations

import math
from typing import Any

from discreet.core.answer import Answer


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return the answer as the API sends it: `Answer.to_json()`, the number of keys, no infinities."""
    said: dict[str, Any] = finite(answer.to_json() | {"keys": answer.keys})
    return said


def finite(value: Any) -> Any:
    """Return `value` with null for what JSON cannot say: an interval without an end."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value
