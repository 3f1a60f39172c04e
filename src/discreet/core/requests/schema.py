"""`@schema`: the frozen dataclass that a request is, with a constructor that type checkers know exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from discreet.core.progress import Progress, silent
from discreet.core.requests import paid
from discreet.core.requests.request_fields import asked, beside, like

Fields = TypeVar("Fields")


@dataclass_transform(
    kw_only_default=True,
    frozen_default=True,
    field_specifiers=(
        field,
        asked,
        beside,
        like,
        paid.word,
        paid.column,
        paid.columns,
        paid.condition,
        paid.table,
        paid.epsilon,
        paid.delta,
        paid.analyst,
        paid.request_id,
    ),
)
def schema(fields: type[Fields]) -> type[Fields]:
    """Return the class as a frozen dataclass whose fields are given by name, unless one says otherwise."""
    return dataclass(frozen=True, kw_only=True)(fields)


@schema
class WithProgress:
    """A call that may take long; derive from it first, so that it stands last."""

    progress: Progress = beside("Told how far the work is: done, of, what.", default=silent)
