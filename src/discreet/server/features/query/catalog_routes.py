"""What may be asked about."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from discreet.server.access.auth import allow, api_router
from discreet.server.access.tokens import Role
from discreet.server.readable import readable_catalog

router = api_router("catalog")


@router.get("/catalog")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def catalog(request: Request) -> dict[str, Any]:
    """List the datasets that you may see: tables, columns, domains, units, and what is left."""
    return readable_catalog(request)
