"""`discreet serve`: the page, the HTTP API and the PostgreSQL endpoint."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli.request_options import with_options
from discreet.core.requests.request_fields import request_fields
from discreet.core.requests.server import ServeFields


@with_options(ServeFields, limited=request_fields(ServeFields))
def serve(
    *,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log warnings only.")] = False,
    **asked: Any,
) -> None:
    """Serve the datasets of one discreet.toml until stopped with Ctrl-C.

    Example: discreet serve --port 8765
    """
    from discreet.cli.extras import server_parts

    parts = server_parts()
    given = asked["config"]
    place = given / "discreet.toml" if given.is_dir() else given
    settings = parts.Settings(**asked | {"config": place})
    parts.refuse_taken(settings.host, settings.port)
    first = parts.owner_token(settings)

    def ready() -> None:
        if first is not None:
            print(f"Owner token, shown this once: {first}", flush=True)
        print(f"Discreet listens on {settings.address}", flush=True)
        if settings.exposed:
            print(
                "Warning: plain HTTP. Without a proxy that speaks TLS in front, tokens, cookies "
                "(which go without Secure) and answers can be read on the way.",
                flush=True,
            )

    parts.serve(settings, ready=ready, log_level="WARNING" if quiet else "INFO")
