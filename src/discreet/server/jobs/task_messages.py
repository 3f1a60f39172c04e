"""What a server tells a child process to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from discreet.api import SeenLedger
    from discreet.catalog.catalog import Catalog

Told: TypeAlias = tuple[int, Mapping[tuple[str, str | None], int]]
"""An hour, and how often whom a ledger told in it that others leave no room."""


class Refusals(Protocol):
    """The count of a ledger's refusals, as a job's process goes on with it."""

    def so_far(self) -> Told:
        """Return how often whom, in this hour."""

    def add(self, told: Iterable[tuple[int, str, str | None, int]]) -> None:
        """Count what such a process has told."""


@dataclass(frozen=True, slots=True)
class JobOrder:
    """One long job for a child: a function of ours by its name, and what it was asked in plain data.

    `task` is "package.module:function"; it is called as function(context, **asked). Without a `catalog` it
    gets no ledger and no engine. `folder` is its own, and goes when it ends. It may grow by `memory_mb`
    (0: as far as the machine goes). `told` is how often callers were told this hour that others leave
    no room: its ledger counts on from there. `known` is what the server has seen of that ledger.
    """

    task: str
    asked: Mapping[str, Any]
    asker: str
    folder: Path
    memory_mb: int
    catalog: Catalog | None = None
    told: Told = (-1, {})
    known: SeenLedger | None = None
