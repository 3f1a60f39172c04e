"""What may be asked about."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from discreet.server.access.auth import allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of

router = api_router("catalog")


@router.get("/catalog")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def catalog(request: Request) -> dict[str, Any]:
    """List the datasets that you may see: tables, columns, domains, units, and what is left."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        if who.role is Role.REVIEWER:
            return curator.datasets_report()
        return curator.outline(who.analyst)
