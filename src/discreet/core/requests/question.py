"""What may be asked in SQL, explained, or rehearsed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.numbers import Epsilon, Number, to_fraction
from discreet.core.requests import paid
from discreet.core.requests.request_fields import FieldKind, asked, like
from discreet.core.requests.schema import schema
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


@schema
class StatementFields:
    """A statement and its price: what every use of it reads."""

    sql: str = asked(
        FieldKind.TEXT, "One SELECT statement with aggregates.", longest=100_000, kw_only=False
    )
    epsilon: Number | Epsilon | None = paid.epsilon(default=None)
    within: Number | None = asked(
        FieldKind.AMOUNT,
        "The greatest noise of any cell at 95%, such as 50.",
        default=None,
        reads=NoiseLimit.of,
    )
    max_rows: int | None = asked(
        FieldKind.WHOLE,
        "At most this many rows of one person count, instead of the table's max_rows.",
        default=None,
        least=1,
        most=10**9,
    )


@schema
class RehearseFields(StatementFields):
    """One rehearsal as it is asked for: nobody pays for it."""

    seed: int = asked(
        FieldKind.WHOLE,
        "Not private: the noise of this seed, on rows declared public. Free.",
        least=0,
        most=2**63 - 1,
        option="--rehearse",
    )


@schema
class ScheduleFields(StatementFields):
    """One question as a line of a schedule asks it."""

    analyst: str | None = paid.analyst(default=None)


@schema
class PricedFields(ScheduleFields):
    """One question whose price counts: it may be reused for nothing, unless it must be fresh."""

    fresh: bool = asked(FieldKind.FLAG, "Never reuse paid answers.", default=False)


@schema
class QueryFields(PricedFields):
    """One question as it is asked, to be answered."""

    request_id: str | None = paid.request_id("answer", default=None)


@schema
class ExplainFields(PricedFields):
    """One question as it is asked, to be explained."""

    group_size: int | None = asked(
        FieldKind.WHOLE,
        "With --explain: the noise of a mean of so many rows.",
        default=None,
        least=1,
        most=10**12,
    )


@schema
class QuestionFields(QueryFields, ExplainFields):
    """All that may be said with a question; `discreet.release.desk` checks it."""

    seed: int | None = like(RehearseFields, "seed", default=None)
