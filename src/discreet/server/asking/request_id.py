"""The id under which something may be asked again, from header or body, and who pays for it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header

from discreet.core.owner import OWNER
from discreet.errors import InvalidInput, NotAllowed
from discreet.server.access.auth import Principal
from discreet.server.access.tokens import Role

IdempotencyKey = Annotated[str | None, Header(max_length=200)]


def payer_of(who: Principal, analyst: str | None) -> str | None:
    """Return whose share pays: an analyst's own, the one that an owner names, None for her own."""
    if who.role is Role.ANALYST:
        if analyst not in (None, who.analyst):
            raise NotAllowed("You may ask in your own name only.")
        return who.analyst
    return None if analyst == OWNER else analyst


def request_id_of(asked: Any, key: str | None) -> str | None:
    """Return the id under which something may be asked again; header and body must agree."""
    if key is not None and asked.request_id not in (None, key):
        raise InvalidInput("The Idempotency-Key and request_id differ.", hint="Send one of them.")
    return key or asked.request_id
