"""Versions of the data: which state of some tables questions read, by numbers that only grow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

BEGAN = {
    "first": "it was asked about for the first time",
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


@dataclass
class Versions:
    """The version in force of each group, and the greatest number that each table has had."""

    _latest: dict[str, DataVersion] = field(default_factory=dict)
    _greatest: dict[str, int] = field(default_factory=dict)

    def latest(self, group: str) -> DataVersion | None:
        """Return the version in force of a group."""
        return self._latest.get(group)

    def next_number(self, new: NewVersion) -> int:
        """Return a number that none of these tables has had."""
        return 1 + max((self._greatest.get(table, 0) for table in new.declared), default=0)

    def enter(self, version: DataVersion) -> None:
        """Count a version that began; one that is not above all before it is none of ours."""
        if version.number < self.next_number(version):
            raise ValueError(version.number)
        for table in version.declared:
            self.leave_out(table, version.number)
        self._latest[version.group] = version

    def leave_out(self, table: str, number: int) -> None:
        """Give no version of a table this number any more, or a smaller one."""
        self._greatest[table] = max(self._greatest.get(table, 0), number)

    def to_json(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {
            "latest": [asdict(version) for version in self._latest.values()],
            "greatest": self._greatest,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Versions:
        """Return what `to_json` was told of."""
        latest = [DataVersion(**each) for each in data["latest"]]
        return cls({each.group: each for each in latest}, dict(data["greatest"]))
