"""Desk and request: what paid work is done with, and what was asked of it.

The desk is catalog, ledger, engine and random source as one object, passed to all paid work. A request is a question
that is to be answered, checked once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from discreet.ask.sql.parse import ParsedQuestion
from discreet.ask.sql.post_processing.steps import NO_STEPS, LaterSelection
from discreet.ask.sql.spelling import PricedStatement, priced
from discreet.base.numbers import Epsilon
from discreet.base.requests.fields import checked
from discreet.base.requests.paid import NoiseLimit, QuestionFields
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.base import Engine
from discreet.errors import InvalidInput
from discreet.privacy.ledger.ledger import Ledger
from discreet.privacy.noise.rng import Rng


class Desk(Protocol):
    """A curator's desk: `discreet.Curator` is one, which opens its ledger and engine when needed."""

    @property
    def catalog(self) -> Catalog:
        """What the owner declared."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Who has paid for what."""
        ...

    @property
    def engine(self) -> Engine:
        """Where the rows are, and what computes."""
        ...

    @property
    def rng(self) -> Rng:
        """Where chance comes from."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PlainDesk:
    """A desk with everything open."""

    catalog: Catalog
    ledger: Ledger
    engine: Engine
    rng: Rng


@dataclass(frozen=True, kw_only=True)
class Request(QuestionFields):
    """One question and who pays for it, checked. Exactly one of `epsilon` and `within` is given.

    `named`: the caller chose the request id, and may send it again. `seed` is a rehearsal's: only
    `api.rehearsal` sets it, and the kernel refuses it for private rows.
    """

    named: bool = False
    unit: str | None = None
    """The column that the statement itself calls the privacy unit; it must be the catalog's."""
    part: str = ""
    """Which question of a statement it is. Callers cannot say it, so no text of theirs is taken for one."""
    later: LaterSelection = NO_STEPS
    """How the steps after it may select among its cells by noise."""

    if TYPE_CHECKING:
        sql: str | ParsedQuestion  # type: ignore[assignment]  # a text until it is parsed
        epsilon: Epsilon | None
        within: NoiseLimit | None  # type: ignore[assignment]  # as it was written until it is checked
        request_id: str

    @classmethod
    def of(cls, sql: str | ParsedQuestion, **words: Any) -> Request:
        """Return a checked request from the fields of `QuestionFields`; the budget never has a silent default."""
        return cls.of_asked(QuestionFields(**words | {"sql": sql}))

    @classmethod
    def of_asked(cls, asked: QuestionFields) -> Request:
        """Return the request of what was asked.

        A price that stands in the statement (WITH DIFFERENTIAL_PRIVACY) is the one that counts.
        """
        sql: str | ParsedQuestion = asked.sql
        found = priced(sql) if isinstance(sql, str) else PricedStatement(str(sql), unit=sql.unit)
        if found.epsilon is not None:
            asked = replace(asked, epsilon=found.epsilon, within=None)
        if (asked.epsilon is None) == (asked.within is None):
            raise InvalidInput(
                "Say either how much budget to use or how small the noise must be.",
                hint="For example epsilon=0.1, or within=50 for at most 50 either way.",
            )
        said = {"sql": found.text} if isinstance(sql, str) else {}
        more = {"named": bool(asked.request_id), "unit": found.unit}
        return cls(**checked(asked) | said | more)

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again."""
        asked = f"epsilon {self.epsilon}" if self.within is None else f"within {self.within}"
        which = f"\npart {self.part}" if self.part else ""
        seed = "" if self.seed is None else f"\nseed {self.seed}"
        return f"{self.sql}\n{asked}\nfresh {self.fresh}\nmax_rows {self.max_rows}{seed}{which}"
