"""`discreet serve`: the page, the HTTP API and the PostgreSQL endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port of the page.")] = 8765,
    pg_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Also speak PostgreSQL on this port.")
    ] = None,
    config: Annotated[
        Path, typer.Option(help="The discreet.toml to serve; one may be made on the Data page.")
    ] = Path("discreet.toml"),
    tls_certificate: Annotated[
        Path | None, typer.Option(help="Speak TLS with this certificate (PEM).")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's key (PEM).")] = None,
    allow_plain_http: Annotated[
        bool,
        typer.Option(
            "--allow-plain-http", help="Serve other machines without TLS (behind a proxy)."
        ),
    ] = False,
    max_upload_mb: Annotated[int, typer.Option(min=1, help="Largest upload.")] = 512,
    upload_hours: Annotated[
        float, typer.Option(min=0.01, help="Delete uploads that nobody confirmed for so long.")
    ] = 24.0,
    job_memory_mb: Annotated[
        int, typer.Option(min=0, help="How far the process of a long job may grow; 0: no limit.")
    ] = 8192,
    job_seconds: Annotated[
        float, typer.Option(min=1, help="A long job that takes longer is killed.")
    ] = 3600.0,
    default_epsilon: Annotated[
        str | None,
        typer.Option(help="For PostgreSQL clients that name no epsilon; none otherwise."),
    ] = None,
    openid: Annotated[
        Path | None, typer.Option(help="Also sign in by the OpenID Connect provider of this file.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log warnings only.")] = False,
) -> None:
    """Serve the datasets of one discreet.toml until stopped with Ctrl-C.

    Example: discreet serve --port 8765
    """
    from discreet.cli.extras import server_parts

    parts = server_parts()
    settings = parts.Settings(
        config=config / "discreet.toml" if config.is_dir() else config,
        host=host,
        port=port,
        pg_port=pg_port,
        allow_plain_http=allow_plain_http,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        max_upload_mb=max_upload_mb,
        upload_hours=upload_hours,
        job_memory_mb=job_memory_mb,
        job_seconds=job_seconds,
        default_epsilon=default_epsilon,
        openid=openid,
    )
    parts.refuse_taken(host, port)
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
