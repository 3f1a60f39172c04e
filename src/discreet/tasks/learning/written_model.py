"""A model that was learned, the file that keeps it, and the rows that it is tested on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.errors import InvalidInput
from discreet.learn.model_files import AnyModel
from discreet.learn.recommender import Recommending
from discreet.learn.regression import Regressed
from discreet.learn.training import Trained


@dataclass(frozen=True, slots=True)
class HeldOutFile:
    """Rows to test a model on; `public`: their owner declared them so, and the test is exact and free."""

    path: Path
    public: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WrittenModel(ShownInLines):
    """What was learned and what a test says of it, in a file that was written."""

    model: AnyModel
    found: Trained | Regressed | Recommending
    out: Path
    score: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return self.found.to_json() | dict(self.score) | {"out": str(self.out)}

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return [*self.found.lines(), ("kept in", str(self.out))]


def check_held_out(test: Path) -> None:
    """Refuse a test file that is not there, before anything is paid."""
    if not test.is_file():
        raise InvalidInput(f"There is no file '{test}' to test on.")


def usual_name(table: str, kind: str) -> Path:
    """Return the file that keeps a model of a table, where no other is named.

    >>> usual_name("town.people", "job-model").name
    'people-job-model.zip'
    """
    return Path(f"{table.rpartition('.')[2]}-{kind}.zip")
