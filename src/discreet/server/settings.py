"""Everything that the server is told at its front door, once."""

from __future__ import annotations

import ipaddress
import tomllib
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import InvalidInput

STATE = ".discreet"
"""The folder beside discreet.toml where tokens, snapshots and stored tables are kept."""

DEFAULT_PORT = 8765


@dataclass(frozen=True, slots=True)
class Settings:
    """What the server is told: where things lie, whom it listens to, and how much it takes.

    `rate` and `burst` limit one token, `address_rate` and `address_burst` one network address, in
    requests a second and at once. `workers` questions are in work at a time, `in_work_each` of one
    caller and `waiting_each` waiting; `reading_each` of them read data at once, so that nobody can
    hold the whole engine. `default_epsilon` is for clients of the PostgreSQL endpoint that name
    none; None means that every question must name its own. An upload that nobody has confirmed or
    looked at for `upload_hours` is deleted. The process of a long job (a copy, a model, a release, an
    attack) may grow by `job_memory_mb`, 0 for no limit, and is killed after `job_seconds`;
    with `spare_child` one such process waits for the next job. `openid` is the file of a sign-in
    provider.
    """

    config: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    pg_port: int | None = None
    state: Path | None = None
    allow_plain_http: bool = False
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    max_upload_mb: int = 512
    upload_hours: float = 24.0
    max_body_kb: int = 256
    rate: float = 50.0
    burst: int = 200
    address_rate: float = 400.0
    address_burst: int = 2000
    workers: int = 8
    in_work_each: int = 4
    reading_each: int = 1
    waiting_each: int = 200
    session_hours: float = 12.0
    job_memory_mb: int = 8192
    job_seconds: float = 3600.0
    spare_child: bool = True
    default_epsilon: str | None = None
    openid: Path | None = None

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
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

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
            named = tomllib.loads(self.openid.read_text(encoding="utf-8")).get("client_secret_env")
        except (OSError, ValueError):
            return ()  # whoever reads that file for its own sake says what is wrong with it
        return (named,) if isinstance(named, str) else ()

    @property
    def exposed(self) -> bool:
        """Return whether tokens, cookies and answers may cross a network unencrypted."""
        return not (self.tls or self.loopback)
