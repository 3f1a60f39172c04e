"""The optional parts that commands need, or the sentence that says what to install."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

from discreet.errors import MissingExtra

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
