"""The id under which something may be asked again: from the header, or from the body."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header

from discreet.errors import InvalidInput

IdempotencyKey = Annotated[str | None, Header(max_length=200)]


def request_id_of(asked: Any, key: str | None) -> str | None:
    """Return the id under which something may be asked again; header and body must agree."""
    if key is not None and asked.request_id not in (None, key):
        raise InvalidInput("The Idempotency-Key and request_id differ.", hint="Send one of them.")
    return key or asked.request_id
