"""The columns of an answer, as they are known before anything is paid."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class OutputType(Enum):
    """What the cells of a column are."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of an answer."""

    name: str
    type: OutputType
    noisy: bool
