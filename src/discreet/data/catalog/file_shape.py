"""The shape of discreet.toml: which keys there are and what kind of value each takes."""

from __future__ import annotations

import datetime as dt
import difflib
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError
from pydantic_core import ErrorDetails

from discreet.errors import CatalogError

# Strict one by one: with parse_float=Decimal a TOML number is an int or a Decimal, never a bool.
_Number = StrictInt | Decimal
_Texts = Annotated[tuple[StrictStr, ...], Field(strict=False)]
_Words = Annotated[tuple[StrictStr | StrictInt, ...], Field(strict=False)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class EngineShape(_Shape):
    """`[engine]`."""

    url: StrictStr = "duckdb:"
    allow_superuser: StrictBool = False


class LedgerShape(_Shape):
    """`[ledger]`."""

    url: StrictStr = "sqlite:ledger.db"


class StorageShape(_Shape):
    """`[storage]`."""

    encrypted: StrictBool = False
    vouched: StrictStr = ""


class ColumnShape(_Shape):
    """One column: `age = { type = "integer", lower = 0, upper = 120 }`."""

    type: StrictStr
    lower: StrictInt | Decimal | dt.datetime | dt.date | StrictStr | None = None
    upper: StrictInt | Decimal | dt.datetime | dt.date | StrictStr | None = None
    step: _Number | None = None
    values: tuple[StrictStr | StrictInt, ...] | None = Field(default=None, strict=False)
    values_from: StrictStr | None = None
    format: StrictStr | _Texts | None = None
    trim: StrictBool = False
    any_case: StrictBool = False
    empty: _Words = ()
    same: dict[str, _Words] = Field(default_factory=dict)
    thousands: StrictStr | None = None
    decimal: StrictStr | None = None
    signs: _Texts = ()
    missing: StrictBool = False
    complete: StrictBool = False
    hidden: StrictBool = False
    constant: StrictBool = False
    immutable: StrictBool = False
    review: StrictBool = False


class TableShape(_Shape):
    """`[datasets.NAME.tables.NAME]`."""

    source: StrictStr
    encoding: StrictStr | None = None
    unit: StrictStr | None = None
    public: StrictBool = False
    version: StrictStr | StrictInt | Decimal | dt.datetime | dt.date | None = None
    max_rows: StrictInt | None = Field(default=None, ge=1)
    rows_kept: _Number | None = None
    bound: StrictStr | None = None
    snapshot: StrictStr | None = None
    key_copies: StrictInt | None = Field(default=None, ge=1)
    rules: tuple[StrictStr, ...] = Field(default=(), strict=False)
    parent: StrictStr | None = None
    events: StrictStr | None = None
    columns: dict[str, ColumnShape] = Field(default_factory=dict)


class RenewShape(_Shape):
    """`renew = { every = "quarter", since = "2026-Q4", epsilon = 0.5, at_most = 4 }`."""

    every: StrictStr
    since: StrictStr
    epsilon: _Number
    delta: _Number | None = None
    share: _Number | None = None
    at_most: StrictInt
    granted: _Texts = ()


class BudgetShape(_Shape):
    """`[budgets.NAME]`: one budget for several datasets of the same people."""

    epsilon: _Number | None = None
    delta: _Number | None = None
    neighbours: StrictStr | None = None
    renew: RenewShape | None = None
    alert: _Number | None = None


class DatasetShape(BudgetShape):
    """`[datasets.NAME]`: with a budget of its own, unless it names one."""

    budget: StrictStr | None = None
    accepted: StrictBool = False
    seconds: _Number | None = None
    memory: StrictStr | StrictInt | None = None
    second_person: StrictBool = False
    public_rows: StrictBool = False
    refresh: StrictStr | None = None
    tables: dict[str, TableShape] = Field(default_factory=dict)


class CapShape(_Shape):
    """What an analyst may spend on one dataset."""

    epsilon: _Number
    delta: _Number | None = None


class AnalystShape(_Shape):
    """`[analysts.NAME]`."""

    datasets: dict[str, CapShape]


class FileShape(_Shape):
    """The whole file."""

    engine: EngineShape = EngineShape()
    ledger: LedgerShape = LedgerShape()
    storage: StorageShape = StorageShape()
    datasets: dict[str, DatasetShape] = Field(default_factory=dict)
    budgets: dict[str, BudgetShape] = Field(default_factory=dict)
    analysts: dict[str, AnalystShape] = Field(default_factory=dict)


def shape_of(raw: dict[str, Any], *, file: str) -> FileShape:
    """Return the file's content in its declared shape, or refuse it with one sentence."""
    try:
        return FileShape.model_validate(raw)
    except ValidationError as error:
        raise CatalogError(f"{file}: {_sentence(error.errors()[0])}") from None


_LEVELS = {"datasets": "dataset", "tables": "table", "columns": "column"}
_LEVELS |= {"budgets": "budget", "analysts": "analyst"}

_KEYS: tuple[tuple[tuple[str, ...], type[BaseModel]], ...] = (
    ((), FileShape),
    (("engine",), EngineShape),
    (("ledger",), LedgerShape),
    (("storage",), StorageShape),
    (("datasets", "*"), DatasetShape),
    (("datasets", "*", "tables", "*"), TableShape),
    (("datasets", "*", "tables", "*", "columns", "*"), ColumnShape),
    (("budgets", "*"), BudgetShape),
    (("analysts", "*"), AnalystShape),
    (("analysts", "*", "datasets", "*"), CapShape),
)


def _sentence(error: ErrorDetails) -> str:
    """Return one sentence that names the place, the key and what to write."""
    where = tuple(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{_place(where[:-1])} has an unknown setting '{where[-1]}'.{_near(where)}"
    if error["type"] == "missing":
        return f"{_place(where[:-1])} needs the setting '{where[-1]}'."
    path, key = _split_key(where)
    if not key or error["type"] in ("model_type", "dict_type"):
        return f"{_place(where)} must be a table of settings."
    return f"{_place(path)}: '{key}' {_wanted(error, key)}."


def _split_key(where: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the place and the setting within it; union members end the location and are cut."""
    for pattern, shape in sorted(_KEYS, key=lambda pair: -len(pair[0])):
        depth = len(pattern)
        if len(where) > depth and _matches(where[:depth], pattern):
            if where[depth] in shape.model_fields:
                return where[:depth], where[depth]
            return (), ""
    return (), ""


def _matches(where: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    return all(mine in (theirs, "*") for theirs, mine in zip(where, pattern, strict=True))


def _place(where: tuple[str, ...]) -> str:
    """Return "table 'people' of dataset 'census'" for a path into the file."""
    names = [
        f"{_LEVELS[level]} '{name}'"
        for level, name in zip(where[::2], where[1::2], strict=False)
        if level in _LEVELS
    ]
    if names:
        return " of ".join(reversed(names))
    return f"[{'.'.join(where)}]" if where else "the file"


def _near(where: tuple[str, ...]) -> str:
    for pattern, shape in _KEYS:
        if len(pattern) == len(where) - 1 and _matches(where[:-1], pattern):
            known = list(shape.model_fields)
            close = difflib.get_close_matches(where[-1], known, n=1)
            named = f" Did you mean '{close[0]}'?" if close else ""
            return named or f" It may have: {', '.join(known)}."
    return ""


_WANTED = {
    "url": 'must be a text such as "duckdb:"',
    "values": "must be a list of texts",
    "empty": "must be a list of texts",
    "signs": "must be a list of texts",
    "format": 'must be a text such as "%d/%m/%Y", or a list of them',
    "same": 'must be a table such as { Female = ["F", "f"] }',
    "rules": "must be a list of texts",
    "tables": "must be a table of settings",
    "columns": "must be a table of settings",
    "datasets": "must be a table of settings",
    "max_rows": "must be a whole number of at least 1",
    "key_copies": "must be a whole number of at least 1",
    "bound": 'must be "query" or "table"',
    "snapshot": 'must be "copy" or "live"',
    "refresh": 'must be a text such as "manual"',
    "version": "must be a text, a number or a date",
    "memory": 'must be a text such as "4 GB"',
    **dict.fromkeys(
        ("epsilon", "delta", "step", "seconds", "rows_kept"), "must be a number without quotes"
    ),
    **dict.fromkeys(("lower", "upper"), "must be a finite number or a date"),
    **dict.fromkeys(
        (
            *("missing", "complete", "hidden", "constant", "immutable", "review", "public"),
            *("accepted", "allow_superuser", "second_person", "trim", "any_case", "public_rows"),
            "encrypted",
        ),
        "must be true or false",
    ),
}


def _wanted(error: ErrorDetails, key: str) -> str:
    if error["type"] == "string_type":
        return _WANTED.get(key, "must be a text in quotes")
    return _WANTED.get(key, "has the wrong kind of value")
