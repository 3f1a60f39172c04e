"""Who did what, for the owner."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query, Request

from discreet.server.access.audit_log import MOST_READ
from discreet.server.access.auth import allow, api_router
from discreet.server.access.tokens import Role
from discreet.server.context import context_of

router = api_router("audit")
Last = Annotated[int, Query(ge=0, le=MOST_READ)]


@router.get("/audit")
@allow(Role.OWNER)
def audit(request: Request, last: Last = 50) -> dict[str, Any]:
    """List the latest lines of the audit log, latest first: tokens, sign-ins, uploads, limits."""
    return {"lines": [asdict(line) for line in context_of(request).access.audit.last(last)]}
