"""What may be asked in SQL, explained, or rehearsed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.numbers import Epsilon, Number, to_fraction
from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class NoiseLimit:
    """The greatest acceptable noise of any cell at 95%: absolute, or a share of the value."""

    error: Fraction
    relative: bool

    @classmethod
    def of(cls, written: Number) -> NoiseLimit:
        """Return the error as written: 50, "50" or "5%"."""
        text = str(written).strip()
        relative = text.endswith("%")
        error = to_fraction(text[:-1] if relative else written, name="the wanted error")
        if error <= 0:
            raise InvalidInput("The wanted error must be greater than 0.")
        return cls(error / 100 if relative else error, relative)

    def __str__(self) -> str:
        """Return what stored requests say of it: the same id is the same request in every version."""
        return f"Wanted(error={self.error!r}, relative={self.relative!r})"


@dataclass(frozen=True, kw_only=True)
class QuestionFields:
    """One question as it is asked; `discreet.release.request` checks it.

    `group_size` is for explaining it, `seed` for rehearsing it.
    """

    sql: str = asked(FieldKind.TEXT, "One SELECT statement with aggregates.", longest=100_000)
    epsilon: Number | Epsilon | None = paid.epsilon(None)  # noqa: RUF009  # a field
    within: Number | None = asked(  # noqa: RUF009  # a field
        FieldKind.AMOUNT,
        "The greatest noise of any cell at 95%, such as 50.",
        None,
        reads=NoiseLimit.of,
    )
    fresh: bool = asked(FieldKind.FLAG, "Never reuse paid answers.", False)  # its default
    analyst: str | None = paid.analyst()
    request_id: str | None = paid.request_id("answer")
    max_rows: int | None = asked(
        FieldKind.WHOLE, "At most this many rows of one person count.", None, least=1, most=10**9
    )
    group_size: int | None = asked(
        FieldKind.WHOLE,
        "With --explain: the noise of a mean of so many rows.",
        None,
        least=1,
        most=10**12,
    )
    seed: int | None = asked(
        FieldKind.WHOLE,
        "Not private: the noise of this seed, on rows declared public. Free.",
        None,
        least=0,
        most=2**63 - 1,
        option="--rehearse",
    )


REHEARSED = ("sql", "seed", "epsilon", "within", "max_rows")
ASKED = ("sql", "epsilon", "within", "fresh", "analyst", "request_id", "max_rows")
SCHEDULED = ("sql", "epsilon", "within", "analyst", "max_rows")
EXPLAINED = ("sql", "epsilon", "within", "fresh", "analyst", "max_rows", "group_size")
"""The fields that each use of a question reads."""
