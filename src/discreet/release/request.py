"""What somebody asks: the words of the outside world, checked once."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.numbers import Epsilon, Number, to_fraction
from discreet.errors import InvalidInput
from discreet.sql.parse import Written
from discreet.sql.spelling.options import PricedStatement, priced


@dataclass(frozen=True, slots=True)
class Wanted:
    """The greatest acceptable noise of any cell at 95%: absolute, or a share of the value."""

    error: Fraction
    relative: bool

    @classmethod
    def of(cls, written: Number) -> Wanted:
        """Return the error as written: 50, "50" or "5%"."""
        text = str(written).strip()
        relative = text.endswith("%")
        error = to_fraction(text[:-1] if relative else written, name="the wanted error")
        if error <= 0:
            raise InvalidInput("The wanted error must be greater than 0.")
        return cls(error / 100 if relative else error, relative)


@dataclass(frozen=True, slots=True)
class Request:
    """One question and who pays for it. Exactly one of `epsilon` and `wanted` is given.

    `named`: the caller chose the request id, and may send it again.
    """

    sql: str | Written
    epsilon: Epsilon | None
    wanted: Wanted | None
    analyst: str | None
    request_id: str
    fresh: bool
    max_rows: int | None
    named: bool = False
    unit: str | None = None
    """The column that the statement itself calls the privacy unit; it must be the catalog's."""
    seed: int | None = None
    """A rehearsal's seed. Only `api.rehearsal` sets it, and the kernel refuses it for private rows."""
    part: str = ""
    """Which question of a statement it is. Callers cannot say it, so no text of theirs is taken for one."""

    @classmethod
    def of(
        cls,
        sql: str | Written,
        *,
        epsilon: Number | Epsilon | None = None,
        within: Number | None = None,
        analyst: str | None = None,
        request_id: str | None = None,
        fresh: bool = False,
        max_rows: int | None = None,
    ) -> Request:
        """Return a checked request; the budget never has a silent default.

        A price that stands in the statement (WITH DIFFERENTIAL_PRIVACY) is the one that counts.
        """
        found = priced(sql) if isinstance(sql, str) else PricedStatement(str(sql), unit=sql.unit)
        if isinstance(sql, str):
            sql = found.text
        if found.epsilon is not None:
            epsilon, within = found.epsilon, None
        if (epsilon is None) == (within is None):
            raise InvalidInput(
                "Say either how much budget to use or how small the noise must be.",
                hint="For example epsilon=0.1, or within=50 for at most 50 either way.",
            )
        if max_rows is not None and (type(max_rows) is not int or max_rows < 1):
            raise InvalidInput("max_rows must be a whole number of at least 1.")
        return cls(
            sql=sql,
            epsilon=None if epsilon is None else Epsilon.of(epsilon),
            wanted=None if within is None else Wanted.of(within),
            analyst=analyst,
            request_id=request_id or uuid.uuid4().hex,
            fresh=fresh,
            max_rows=max_rows,
            named=bool(request_id),
            unit=found.unit,
        )

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again."""
        asked = f"epsilon {self.epsilon}" if self.wanted is None else f"within {self.wanted}"
        which = f"\npart {self.part}" if self.part else ""
        seed = "" if self.seed is None else f"\nseed {self.seed}"
        return f"{self.sql}\n{asked}\nfresh {self.fresh}\nmax_rows {self.max_rows}{seed}{which}"
