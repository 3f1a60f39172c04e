"""A series of running totals as it is asked for: fixed for its whole horizon when it is charged."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.numbers import Delta, Epsilon
from discreet.core.requests.checked import checked
from discreet.core.requests.publish import TotalsFields
from discreet.errors import InvalidInput
from discreet.publish.specification.spec import Spec, TableSpec

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, kw_only=True)
class TotalsRequest(TotalsFields):
    """Running totals of the rows of one table by their date, from `start` on, for `days` days."""

    if TYPE_CHECKING:
        start: dt.date
        epsilon: Epsilon
        delta: Delta

    @classmethod
    def of(cls, name: str, **words: Any) -> TotalsRequest:
        """Return a checked request from the fields of `TotalsFields`."""
        asked = TotalsFields(name, **words)
        series_name(name)
        for word in (asked.table, asked.column):
            if not _WORD.fullmatch(word):
                raise InvalidInput(f"'{word[:60]}' is not the plain name of a table or column.")
        found = cls(**checked(asked) | {"start": _date(asked.start)})
        if found.start.toordinal() + found.days > dt.date.max.toordinal():
            raise InvalidInput("The horizon ends after the last date there is.")
        if not found.delta.value:
            raise InvalidInput("Running totals need a delta above 0: their noise is Gaussian.")
        return found

    @property
    def last(self) -> dt.date:
        """Return the last day of the horizon."""
        return self.start + dt.timedelta(days=self.days - 1)

    @property
    def body(self) -> str:
        """Return what the name stands for: asked again, all of it must be the same."""
        asked = {
            "dataset": self.dataset,
            "table": self.table,
            "column": self.column,
            "start": self.start.isoformat(),
            "days": self.days,
            "epsilon": str(self.epsilon.value),
            "delta": str(self.delta.value),
        }
        return "totals " + json.dumps(asked, sort_keys=True)

    def spec(self) -> Spec:
        """Return the daily counts as one published table: they are read and sealed like any other."""
        between = f"{self.column} >= DATE '{self.start}' AND {self.column} <= DATE '{self.last}'"
        sql = f"SELECT {self.column}, COUNT(*) AS n FROM {self.table} WHERE {between} GROUP BY {self.column}"
        return Spec(
            name=self.name,
            dataset=self.dataset,
            epsilon=self.epsilon,
            delta=self.delta,
            tables=(TableSpec("days", sql),),
            cuts=(),
            facts=(),
            rules=(),
            text=self.body,
            base=Path(),
        )

    def days_through(self, day: dt.date | str) -> int:
        """Return how many days of the horizon are over when `day` is the last one that is."""
        through = _date(day)
        if not self.start <= through <= self.last:
            raise InvalidInput(
                f"The horizon is {self.start} to {self.last}; {through} is not in it."
            )
        return (through - self.start).days + 1


def series_name(name: str) -> str:
    """Return the name of a series, which is also that of a file."""
    if not _NAME.fullmatch(name):
        raise InvalidInput("The name of a series may hold letters, digits, - and _, at most 64.")
    return name


def _date(value: dt.date | str) -> dt.date:
    if isinstance(value, dt.datetime) or not isinstance(value, dt.date | str):
        raise InvalidInput("A day is a date such as 2026-01-31.")
    try:
        return value if isinstance(value, dt.date) else dt.date.fromisoformat(value)
    except ValueError:
        raise InvalidInput(f"'{str(value)[:20]}' is not a date such as 2026-01-31.") from None
