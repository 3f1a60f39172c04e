"""The Learn page: epsilon in pictures."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.server.access.auth import GuardedRoute, everybody
from discreet.server.rendering import page

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)


@router.get("/learn")
@everybody
def learn(request: Request) -> Response:
    """Show epsilon in pictures; all of it is worked out in the browser."""
    return page(request, "learn.html", "Learn")
