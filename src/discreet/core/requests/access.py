"""What may be asked of a server's access: a token, or a class of analysts with a share each."""

from __future__ import annotations

from discreet.core.numbers import Epsilon, Number
from discreet.core.requests.request_fields import FieldKind, asked
from discreet.core.requests.schema import schema


def expires_days() -> float | None:
    """Return the field that says how long a token is valid."""
    return asked(  # type: ignore[no-any-return]  # a field
        FieldKind.NUMBER, "Valid for so many days.", default=None, above=0, most=36_500
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
