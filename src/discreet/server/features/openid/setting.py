"""The file that `discreet serve --openid FILE` names: which provider, and who is whom."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from discreet.core.system.regular_file import read_text
from discreet.errors import InvalidInput
from discreet.server.access.tokens import Role
from discreet.server.settings import is_loopback

KEYS = {
    "issuer": "The provider's address, https://...",
    "client_id": "What the provider calls this server.",
    "client_secret_env": "The environment variable that holds the client's secret; without it PKCE alone.",
    "address": "The address by which browsers reach this server.",
    "claim": "Which claim says who somebody is; `sub` unless named.",
    "people": "Maps each value of the claim to an analyst, or to `role:owner` or `role:reviewer`.",
}
"""What the file may say."""
_ROLES = {f"role:{role.value}": role for role in (Role.OWNER, Role.REVIEWER)}


@dataclass(frozen=True, slots=True)
class OpenIdSettings:
    """What the owner declared. `people` maps the value of `claim` to an analyst or to a role."""

    issuer: str
    client_id: str
    client_secret: str
    address: str
    claim: str
    people: Mapping[str, str]

    @property
    def callback(self) -> str:
        """Return the address that the provider sends browsers back to; register it there."""
        return f"{self.address}/openid/callback"

    def holder(self, who: str) -> tuple[Role, str | None] | None:
        """Return role and analyst of a person; None for one who is not listed."""
        found = self.people.get(who)
        if found is None:
            return None
        return (_ROLES[found], None) if found in _ROLES else (Role.ANALYST, found)


def read_openid(path: Path) -> OpenIdSettings:
    """Return what the file says, or refuse it with one sentence."""
    try:
        raw = tomllib.loads(read_text(path))
    except (OSError, UnicodeDecodeError):
        raise InvalidInput(f"There is no readable file '{path}'.") from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path.name} is not valid TOML: {error}.") from None
    unknown = sorted(raw.keys() - KEYS.keys())
    if unknown:
        raise InvalidInput(f"{path.name} has an unknown setting '{unknown[0]}'.")
    people = raw.get("people", {})
    if not isinstance(people, dict) or not all(isinstance(v, str) and v for v in people.values()):
        raise InvalidInput(f"{path.name}: [people] maps persons to analysts or 'role:owner'.")
    wrong = [v for v in people.values() if v.startswith("role:") and v not in _ROLES]
    if wrong:
        raise InvalidInput(f"{path.name}: '{wrong[0]}' is none of {', '.join(sorted(_ROLES))}.")
    return OpenIdSettings(
        issuer=_address(_text(raw, "issuer", path), "issuer", path),
        client_id=_text(raw, "client_id", path),
        client_secret=_secret(raw.get("client_secret_env"), path),
        address=_address(_text(raw, "address", path), "address", path).rstrip("/"),
        claim=_text(raw, "claim", path) if "claim" in raw else "sub",
        people=people,
    )


def require_safe(address: str, *, here: bool = True) -> str:
    """Return an address that nobody on the way can change: TLS, or, if it may be `here`, this very machine."""
    plain = address.isascii() and address.isprintable() and not set(address) & set(' \\"<>')
    try:
        parts = urlsplit(address)
        _ = parts.port  # a wrong one raises
        usable = plain and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        usable = False
    if usable and (
        parts.scheme == "https" or (here and parts.scheme == "http" and is_here(address))
    ):
        return address
    raise InvalidInput("An OpenID Connect address must be https://...")


def is_here(address: str) -> bool:
    """Return whether an address is one of this very machine."""
    return is_loopback(urlsplit(address).hostname or "")


def _text(raw: Mapping[str, Any], name: str, path: Path) -> str:
    value = raw.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{path.name} must say '{name}'.")
    return value


def _address(value: str, name: str, path: Path) -> str:
    try:
        return require_safe(value)
    except InvalidInput:
        raise InvalidInput(f"{path.name}: '{name}' must be an https:// address.") from None


def _secret(variable: object, path: Path) -> str:
    """Return the client's secret, from the environment: never from the file itself."""
    if variable is None:
        return ""  # a public client: PKCE alone
    if not isinstance(variable, str) or not os.environ.get(variable):
        raise InvalidInput(f"{path.name}: 'client_secret_env' names a variable that is not set.")
    return os.environ[variable]
