"""Everything that the server is told at its front door, once."""

from __future__ import annotations

import ipaddress
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from discreet.base.files import read_text
from discreet.base.requests.server import ServeFields
from discreet.errors import InvalidInput

STATE = ".discreet"
"""The folder beside discreet.toml where tokens, snapshots and stored tables are kept."""

DEFAULT_PORT = ServeFields.port


def is_loopback(host: str) -> bool:
    """Return whether a host is this very machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Settings(ServeFields):
    """What the server is told: where things lie, whom it listens to, and how much it takes.

    What has an option of `discreet serve` is explained there. A long job is a copy, a model, a
    release or an attack.
    """

    config: Path = field()  # nobody serves what they did not name
    state: Path | None = None
    """The folder of tokens and sessions; `.discreet` beside discreet.toml unless named."""
    max_body_kb: int = 256
    """Largest body of a request that is no upload."""
    rate: float = 50.0
    """Requests a second of one token."""
    burst: int = 200
    """Requests of one token at once."""
    address_rate: float = 400.0
    """Requests a second of one network address."""
    address_burst: int = 2000
    """Requests of one network address at once."""
    survey_burst: int = 20_000
    """Reports to surveys of one network address at once."""
    workers: int = 8
    """Questions in work at a time."""
    in_work_each: int = 4
    """Questions of one caller in work at a time."""
    reading_each: int = 1
    """Questions of one caller that read data at a time, so that nobody can hold the whole engine."""
    waiting_each: int = 200
    """Questions of one caller that may wait."""
    session_hours: float = 12.0
    """How long a browser stays signed in."""
    spare_child: bool = True
    """Whether a process is kept ready for the next long job."""

    def __post_init__(self) -> None:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise InvalidInput("TLS needs both a certificate and its key.")
        if not self.upload_hours > 0:
            raise InvalidInput("Uploads must be kept for some time: give more than 0 hours.")
        if self.job_memory_mb < 0 or not self.job_seconds > 0:
            raise InvalidInput("Long jobs need some memory (0: no limit) and more than 0 seconds.")
        if not (self.loopback or self.tls or self.allow_plain_http):
            raise InvalidInput(
                f"'{self.host}' can be reached from other machines, and plain HTTP shows tokens "
                "and answers to everybody on the way.",
                hint="Give --tls-certificate and --tls-key, or --allow-plain-http behind a proxy "
                "that speaks TLS.",
            )

    @property
    def loopback(self) -> bool:
        """Return whether only this machine can connect."""
        return is_loopback(self.host)

    @property
    def tls(self) -> bool:
        """Return whether the server itself speaks TLS."""
        return self.tls_certificate is not None

    @property
    def state_folder(self) -> Path:
        """Return the folder of tokens and sessions."""
        return self.state or self.config.parent / STATE

    @property
    def address(self) -> str:
        """Return the address of the page."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    @property
    def cookie(self) -> str:
        """Return the name of the session cookie; browsers do not tell two ports apart.

        Over TLS it begins with `__Host-`: browsers then take it from this very host only, and only
        with Secure, so that no neighbour and nobody on the way can plant another.
        """
        return f"__Host-discreet_{self.port}" if self.tls else f"discreet_{self.port}"

    @property
    def secret_variables(self) -> tuple[str, ...]:
        """Return the variables of the environment that hold secrets of the server: no job sees them."""
        if self.openid is None:
            return ()
        try:
            named = tomllib.loads(read_text(self.openid)).get("client_secret_env")
        except (OSError, ValueError):
            return ()  # whoever reads that file for its own sake says what is wrong with it
        return (named,) if isinstance(named, str) else ()

    @property
    def exposed(self) -> bool:
        """Return whether tokens, cookies and answers may cross a network unencrypted."""
        return not (self.tls or self.loopback)
