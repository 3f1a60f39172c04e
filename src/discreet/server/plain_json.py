"""Strict JSON bodies and finite JSON answers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from discreet.core.answers.answer import Answer
from discreet.errors import InvalidInput


class Body(BaseModel):
    """What a caller sends; a field that nobody knows is refused, not passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return the answer as the API sends it: `Answer.to_json()` without infinities."""
    return finite(answer.to_json())


def require_whole_letters(found: Any) -> None:
    """Refuse JSON with half a character (a lone surrogate) in a text or a name: none of our texts can hold it."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidInput(
            "A text of the body contains half a character (a lone surrogate)."
        ) from None


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; refuse a name that it has twice: readers differ in which one counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInput("An object of the body has a name twice.", hint="Send each name once.")
    return found


def finite(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with null for what JSON cannot say: an interval without an end."""
    return {name: _finite(value) for name, value in said.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return finite(value)
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
