"""Versions of the data: which state of some tables questions read, by numbers that only grow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

BEGAN = {
    "first": "it was asked about for the first time as it is declared now",
    "owner": "its owner said so",
    "period": "a new period began",
    "change": "its rows had changed",
    "declaration": "its declaration had changed",
    "lost": "the stored rows of the one before were gone",
}
"""Why versions begin."""


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A version that is to begin: of which tables, which state of each, how declared, when and why.

    `group` is a table by the engine's name, or all tables of a dataset whose units are rows. `prints`
    has the fingerprint of each table that could be read: it depends on rows, so it is for the ledger
    and the owner alone. `declared` has a hash of every table's declaration.
    """

    group: str
    prints: Mapping[str, str]
    declared: Mapping[str, str]
    period: str
    why: str

    def to_json(self) -> dict[str, Any]:
        """Return what the history keeps."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DataVersion(NewVersion):
    """A version with its number, and when it began."""

    number: int = 0
    began: str = ""

    @classmethod
    def of(cls, data: Mapping[str, Any], *, began: str) -> DataVersion:
        """Return what the history kept."""
        if data["why"] not in BEGAN or type(data["number"]) is not int:
            raise ValueError(data["why"])
        return cls(
            group=data["group"],
            prints=dict(data["prints"]),
            declared=dict(data["declared"]),
            period=data["period"],
            why=data["why"],
            number=data["number"],
            began=began,
        )


UNKNOWN_LOSS = 1_000_000
"""More versions than a ledger of which nobody knows how much was lost can have had."""


@dataclass
class Versions:
    """The version in force of each group, and the greatest number that each table has had."""

    _latest: dict[str, DataVersion] = field(default_factory=dict)
    _greatest: dict[str, int] = field(default_factory=dict)
    _floor: int = 0
    """A number that no table has had, of those that have none here."""

    def latest(self, group: str) -> DataVersion | None:
        """Return the version in force of a group."""
        return self._latest.get(group)

    def next_number(self, new: NewVersion) -> int:
        """Return a number that none of these tables has had."""
        return 1 + max((self._number_of(table) for table in new.declared), default=self._floor)

    def enter(self, version: DataVersion) -> None:
        """Count a version that began; one that is not above all before it is none of ours.

        Guarantee: it ends every version of any of its tables, in whatever group that was.
        """
        if version.number < self.next_number(version):
            raise ValueError(version.number)
        for table in version.declared:
            self.leave_out(table, version.number)
        tables = version.declared.keys()
        going_on = {g: v for g, v in self._latest.items() if tables.isdisjoint(v.declared)}
        self._latest = {**going_on, version.group: version}

    def leave_out(self, table: str, number: int) -> None:
        """Give no version of a table this number any more, or a smaller one."""
        self._greatest[table] = max(self._number_of(table), number)

    def end_all(self, lost: int) -> None:
        """End every version after a restore; `lost` entries may each have begun one, -1 if unknown."""
        more = UNKNOWN_LOSS if lost < 0 else lost
        self._latest = {}
        self._greatest = {table: number + more for table, number in self._greatest.items()}
        self._floor += more

    def _number_of(self, table: str) -> int:
        return self._greatest.get(table, self._floor)

    def to_json(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {
            "latest": [asdict(version) for version in self._latest.values()],
            "greatest": self._greatest,
            "floor": self._floor,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Versions:
        """Return what `to_json` was told of."""
        latest = [DataVersion(**each) for each in data["latest"]]
        return cls({each.group: each for each in latest}, dict(data["greatest"]), data["floor"])
