"""`discreet serve`: the page, the HTTP API and the PostgreSQL endpoint; and `discreet demo`.

The demo is the made-up town behind a page of its own, in one command. What of the server is not installed is
named in the sentence that says how to.
"""

from __future__ import annotations

import html
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from discreet.base.requests.fields import request_fields
from discreet.base.requests.server import ServeFields
from discreet.cli.command import waiting, with_options
from discreet.cli.terminal import say
from discreet.errors import InvalidInput, MissingExtra

_SERVER = {
    "Settings": "settings",
    "DEFAULT_PORT": "settings",
    "AccessDb": "access.tokens",
    "Tokens": "access.tokens",
    "Role": "access.tokens",
    "serve": "start",
    "owner_token": "start",
    "refuse_taken": "start",
}


def server_parts(*names: str) -> SimpleNamespace:
    """Return parts of the server by name, all of them if none is named."""
    found = {}
    for name in names or _SERVER:
        try:
            module = import_module(f"discreet.server.{_SERVER[name]}")
        except ModuleNotFoundError as error:
            package = (error.name or "fastapi").partition(".")[0]
            if package == "discreet":
                raise
            raise MissingExtra(package, extra="server") from None
        found[name] = getattr(module, name)
    return SimpleNamespace(**found)


@with_options(ServeFields, limited=request_fields(ServeFields))
def serve(
    *,
    quiet: Annotated[bool, typer.Option("--quiet", help="Log warnings only.")] = False,
    **asked: Any,
) -> None:
    """Serve the datasets of one discreet.toml until stopped with Ctrl-C.

    Example: discreet serve --port 8765
    """
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


def demo(
    *,
    people: Annotated[int, typer.Option(min=1000, help="How many people live there.")] = 20_000,
    folder: Annotated[
        Path | None,
        typer.Option(help="Where the town is kept; under your home if it can be written."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port of the page; 8765 if free.")
    ] = None,
    pg_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Also speak PostgreSQL on this port.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
) -> None:
    """Make the example town once, serve it, and open Ask signed in as the owner.

    Example: discreet demo --no-browser --port 8765
    """
    from discreet.lab.town import town

    parts = server_parts()
    chosen = _port(parts, port)
    name = "town" if people == 20_000 else f"town-{people}"
    home, note = (folder, "") if folder else state_folder(name)
    if note:
        say(note)
    with waiting("Building the town"):
        # The other tables in proportion; at 20,000 people they have their usual sizes.
        made = town(
            people=people,
            folder=home,
            ratings=people * 50,
            genotypes=max(100, people // 10),
            patients=max(500, people // 4),
        )
    settings = parts.Settings(config=made.toml, port=chosen, pg_port=pg_port)
    address = f"{settings.address}/ask?token={_token(parts, settings)}"

    def ready() -> None:
        say(f"A made-up town of {people:,} people: {home}")
        say(f"Open {address}")
        if pg_port is not None:
            say(f"PostgreSQL clients: port {pg_port}, user owner, the token as password.")
        say("Stop with Ctrl-C.")
        if not no_browser and _has_display():
            _open_browser(leading_to(address, redirect_page))

    redirect_page = settings.state_folder / "open.html"
    try:
        parts.serve(settings, ready=ready, log_level="WARNING")
    finally:
        redirect_page.unlink(missing_ok=True)


def state_folder(name: str) -> tuple[Path, str]:
    """Return a folder that can be written, made if need be, and a sentence if it is not under home.

    The home folder comes first, then `.discreet` in the working folder. The last resort is a fresh
    temporary folder: one with a name that can be guessed might be somebody else's.
    """
    wanted = list(_kept(name))
    for folder in wanted:
        if _writable(folder):
            first = folder == wanted[0]
            return folder, "" if first else f"The home folder cannot be written: using {folder}."
    folder = Path(tempfile.mkdtemp(prefix=f"discreet-{name}-"))
    return (
        folder,
        f"Neither home nor this folder can be written: using {folder}, for this run only.",
    )


def _kept(name: str) -> Iterator[Path]:
    with suppress(RuntimeError, OSError):  # nobody's home is known; no working folder
        yield Path.home() / ".local" / "share" / "discreet" / name
    with suppress(OSError):
        yield Path.cwd() / ".discreet" / name


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _port(parts: Any, wanted: int | None) -> int:
    """Return the wanted port, or the first free one from the usual one on, said if it is another."""
    if wanted is not None:
        parts.refuse_taken("127.0.0.1", wanted)
        return wanted
    for port in range(parts.DEFAULT_PORT, parts.DEFAULT_PORT + 20):
        try:
            parts.refuse_taken("127.0.0.1", port)
        except InvalidInput:
            continue
        if port != parts.DEFAULT_PORT:
            say(f"Port {parts.DEFAULT_PORT} is taken: using {port}.")
        return port
    raise InvalidInput("No port near 8765 is free.", hint="Choose one with --port.")


def _token(parts: Any, settings: Any) -> str:
    """Return an owner token for this run; addresses end up in histories, so it lives a week."""
    with closing(parts.AccessDb(settings.state_folder)) as access:
        made = parts.Tokens(access).new(parts.Role.OWNER, label="demo", expires_days=7)
        return str(made.text)


def _has_display() -> bool:
    return sys.platform in {"darwin", "win32"} or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def leading_to(address: str, redirect_page: Path) -> str:
    """Return the address of a page, for our eyes only, that leads on to `address`.

    A browser is started with what it shall open on its command line, which everybody on this
    machine can read; so that must not be the address with the token in it.
    """
    shown = html.escape(address)
    redirect_page.unlink(missing_ok=True)
    handle = os.open(redirect_page, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={shown}"><title>discreet</title>'
            f'<p><a href="{shown}">Open Discreet</a></p>\n'
        )
    return redirect_page.resolve().as_uri()


def _open_browser(address: str) -> None:
    """Open the page from a thread of its own: some browsers hold the caller."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
