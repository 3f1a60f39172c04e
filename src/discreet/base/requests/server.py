"""What may be asked of a server: to serve, and for its access a token, or a class of analysts with a share each."""

from __future__ import annotations

from pathlib import Path

from discreet.base.numbers import Epsilon, Number
from discreet.base.requests.fields import FieldKind, asked, schema


def expires_days() -> float | None:
    """Return the field that says how long a token is valid."""
    return asked(  # type: ignore[no-any-return]  # a field
        FieldKind.NUMBER, "Valid for so many days.", default=None, above=0, most=36_500
    )


@schema
class ServeFields:
    """What `discreet serve` is told; `discreet.server.settings` checks it."""

    host: str = asked(FieldKind.TEXT, "The address to listen on.", default="127.0.0.1")
    port: int = asked(FieldKind.WHOLE, "The port of the page.", default=8765, least=1, most=65_535)
    pg_port: int | None = asked(
        FieldKind.WHOLE, "Also speak PostgreSQL on this port.", default=None, least=1, most=65_535
    )
    config: Path = asked(
        FieldKind.PATH,
        "The discreet.toml to serve; one may be made on the Data page.",
        default=Path("discreet.toml"),
    )
    tls_certificate: Path | None = asked(
        FieldKind.PATH, "Speak TLS with this certificate (PEM).", default=None
    )
    tls_key: Path | None = asked(FieldKind.PATH, "The certificate's key (PEM).", default=None)
    allow_plain_http: bool = asked(
        FieldKind.FLAG, "Serve other machines without TLS (behind a proxy).", default=False
    )
    max_upload_mb: int = asked(FieldKind.WHOLE, "Largest upload.", default=512, least=1)
    upload_hours: float = asked(
        FieldKind.NUMBER,
        "Delete uploads that nobody confirmed for so long.",
        default=24.0,
        least=0.01,
    )
    job_memory_mb: int = asked(
        FieldKind.WHOLE,
        "How far the process of a long job may grow; 0: no limit.",
        default=8192,
        least=0,
    )
    job_seconds: float = asked(
        FieldKind.NUMBER, "A long job that takes longer is killed.", default=3600.0, least=1
    )
    survey_reports: int = asked(
        FieldKind.WHOLE, "Reports to all surveys together, at most.", default=2_000_000, least=0
    )
    survey_mb: int = asked(
        FieldKind.WHOLE, "Size of the reports to all surveys together.", default=2048, least=0
    )
    survey_rate: float = asked(
        FieldKind.NUMBER,
        "Reports to surveys that one address may send a second, in the long run.",
        default=200.0,
        least=0.01,
    )
    free_disk_mb: int | None = asked(
        FieldKind.WHOLE,
        "Surveys take nothing while less disk than this is free; 1024 or 5% of the disk, "
        "whichever is less, if not said.",
        default=None,
        least=0,
    )
    default_epsilon: str | None = asked(
        FieldKind.TEXT,
        "For PostgreSQL clients that name no epsilon; none otherwise.",
        default=None,
    )
    openid: Path | None = asked(
        FieldKind.PATH, "Also sign in by the OpenID Connect provider of this file.", default=None
    )


@schema
class TokenFields:
    """One token as it is asked for; `discreet.server.access.tokens` checks it."""

    role: str | None = asked(
        FieldKind.TEXT,
        "owner, analyst or reviewer; analyst if one is named.",
        default=None,
        longest=40,
    )
    analyst: str | None = asked(
        FieldKind.TEXT,
        "The analyst of discreet.toml; added there with --epsilon.",
        default=None,
        shortest=1,
        longest=200,
    )
    expires_days: float | None = expires_days()
    label: str = asked(FieldKind.TEXT, "A note for the list.", default="", longest=100)


@schema
class ClassFields:
    """A class as it is asked for: how many students, under which names, and what each may spend."""

    name: str = asked(
        FieldKind.TEXT,
        "Names of a class: PREFIX001 and so on.",
        default="student",
        longest=40,
        option="--prefix",
    )
    size: int | None = asked(
        FieldKind.WHOLE,
        "This many new analysts.",
        default=None,
        least=1,
        most=10_000,
        option="--class",
    )
    epsilon: Number | Epsilon | None = asked(
        FieldKind.AMOUNT,
        "The share of each new analyst in each dataset.",
        default=None,
        reads=Epsilon.of,
    )
    expires_days: float | None = expires_days()
