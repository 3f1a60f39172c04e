"""What `discreet init` proposes, before it becomes text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from discreet.core.numbers import Delta, Epsilon

ENGINE, LEDGER = "duckdb:", "sqlite:ledger.db"
"""Files are read by an engine of our own, and what was spent is remembered beside discreet.toml."""

Setting: TypeAlias = (
    bool
    | int
    | Decimal
    | str
    | dt.date
    | dt.datetime
    | tuple[str, ...]
    | Mapping[str, tuple[str, ...]]
)


@dataclass(frozen=True, slots=True)
class ColumnProposal:
    """One column: its settings as they will be written, and what the owner should know.

    `missing` is the share of the rows without a value; None where the column was not read.
    """

    name: str
    settings: Mapping[str, Setting]
    seen: tuple[str, ...] = ()
    missing: float | None = None

    @property
    def type(self) -> str:
        """Return the proposed type."""
        return str(self.settings["type"])


@dataclass(frozen=True, slots=True)
class TableProposal:
    """One table. `unit` is None until the owner says it; `suggested_rows` was seen in the data.

    `warnings` are about whom the table would protect.
    """

    name: str
    source: str
    columns: tuple[ColumnProposal, ...]
    unit: str | None = None
    max_rows: int | None = None
    suggested_rows: int | None = None
    seen: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A whole discreet.toml to be. `epsilon` is None until the owner says it."""

    dataset: str
    tables: tuple[TableProposal, ...]
    engine_url: str = ENGINE
    ledger_url: str = LEDGER
    epsilon: Epsilon | None = None
    delta: Delta | None = None
    accepted: bool = False
